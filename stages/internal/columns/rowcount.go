package columns

import (
	"context"
	"fmt"
	"strings"

	"weir/pipeline"
	"weir/privacy"
	"weir/schema"
)

// RowCountFile is the name of the artifact's one file, behind the id of the stage and a dot.
const RowCountFile = "count.yaml"

// RowCount is a released number of rows.
type RowCount struct {
	Rows      int64   `yaml:"rows" json:"rows" doc:"Noisy number of rows, at least 0."`
	Deviation float64 `yaml:"deviation" json:"deviation" doc:"Standard deviation of the noise."`
	Source    string  `yaml:"source" json:"source" doc:"The stage that released it."`
}

// PublicRows returns the number of rows of a private table where it is public, else 0: under
// replace_one, with a row as unit, of a table whose count the header states and whose
// rows are their own. Everywhere else it is private.
func PublicRows(h pipeline.Header) int64 {
	if h.Terms.Adjacency == privacy.ReplaceOne && h.Terms.Unit.Column == "" && h.OwnRows &&
		h.Stability == pipeline.Rows(1) {
		return max(0, h.Rows)
	}
	return 0
}

// WriteRowCount returns the artifact of a count; h is a header of files.
func WriteRowCount(h pipeline.Header, stage string, c RowCount) (pipeline.Table, error) {
	text, err := schema.Canonical(c)
	return pipeline.WriteFiles(h, []pipeline.File{{Name: stage + "." + RowCountFile, Data: text}}), err
}

// ReadRowCount returns the count of an artifact, which may come from anyone.
func ReadRowCount(ctx context.Context, t pipeline.Table) (c RowCount, err error) {
	files, err := pipeline.ReadFiles(ctx, t)
	if err != nil {
		return c, err
	}
	if len(files) != 1 || !strings.HasSuffix(files[0].Name, "."+RowCountFile) {
		return c, fmt.Errorf("is not a released number of rows, must be what a stage of kind dp_count gives")
	}
	doc, problems := schema.Parse(files[0].Name, files[0].Data)
	if len(problems) == 0 {
		problems = doc.Decode("", &c)
	}
	if len(problems) > 0 {
		return c, fmt.Errorf("%s", schema.Lines(problems))
	}
	return c, c.judge(files[0].Name)
}

// judge holds a count to what noise and the clamp at 0 can have left.
func (c RowCount) judge(name string) error {
	var ps schema.Problems
	if c.Rows < 0 || c.Rows > mostReleasedRows {
		ps.Add("rows", fmt.Sprint(c.Rows), fmt.Sprintf("from 0 to %d", int64(mostReleasedRows)))
	}
	if !(c.Deviation >= 0 && c.Deviation <= mostReleasedRows) {
		ps.Add("deviation", fmt.Sprint(c.Deviation), "at least 0, and finite")
	}
	if err := ps.Err(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// mostReleasedRows is twice what counts and their noise are clamped to (mechanism.ReleaseCounts).
const mostReleasedRows = 1 << 62
