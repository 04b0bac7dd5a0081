package artifact

import (
	"weir/pipeline"
	"weir/stages/internal/columns"
)

// Scorer is what a stage that learns releases, read back to tell how unlike others a row is.
// Rows are scored from released numbers and public facts alone.
type Scorer interface {
	// Domain has the columns that it looks at.
	Domain() *pipeline.Domain
	// Scores has a number for each row of a frame with those columns, the higher the less
	// the row is like those that were learned from; never NaN. It is a function of
	// the row alone, to the last bit: neither the other rows nor its place have a say.
	Scores(f *columns.Frame) ([]float64, error)
}

// ScorerDecoder reads what rows are scored by.
type ScorerDecoder = DecoderOf[Scorer]
