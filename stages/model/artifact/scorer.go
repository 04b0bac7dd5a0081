package artifact

import (
	"fmt"
	"slices"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/schema"
	"weir/stages/internal/columns"
)

// Scorer is what a stage that learns releases, read back to tell how unlike others a row is.
// Rows are scored from released numbers and public facts alone.
type Scorer interface {
	// Domain has the columns that it looks at.
	Domain() *domain.Domain
	// Scores has a number for each row of a frame with those columns, the higher the less
	// the row is like those that were learned from; never NaN. It is a function of
	// the row alone, to the last bit: neither the other rows nor its place have a say.
	Scores(f *columns.Frame) ([]float64, error)
}

// ScorerDecoder reads what rows are scored by.
type ScorerDecoder = DecoderOf[Scorer]

// SameColumns adds a problem, at path, for each column of a detector that a table lacks, or
// that means something else there, and one for all that are encoded. Other columns of the table are nobody's concern.
func SameColumns(table, detector *domain.Domain, path string, ps *schema.Problems) {
	var encoded []string
	for i := range detector.Columns {
		want := &detector.Columns[i]
		c := table.Column(want.Name)
		differs := func(found, accepted string) {
			ps.Add(path, "a table whose column "+want.Name+" "+found, accepted)
		}
		switch {
		case c == nil:
			differs("is missing", "a table with all columns that the detector looks at")
		case c.Encoding != nil:
			encoded = append(encoded, want.Name)
		case c.Type != want.Type:
			differs("is "+string(c.Type), "as the detector has it: "+string(want.Type))
		case !slices.Equal(c.Categories, want.Categories):
			differs("has other categories", "those that the detector has learned")
		case !sameBounds(c, want):
			differs("has other bounds", fmt.Sprintf("as the detector has it: %v", *want.Bounds))
		case c.Nullable && !want.Nullable:
			differs("may be missing", "as the detector has it: never missing")
		}
	}
	if len(encoded) > 0 {
		ps.Add(path, "a table whose "+pipeline.ColumnsAre(encoded)+" encoded", "a table as it is before the stage encode")
	}
}

func sameBounds(a, b *domain.Column) bool {
	return a.Type.Coded() || a.Bounds != nil && b.Bounds != nil && *a.Bounds == *b.Bounds
}
