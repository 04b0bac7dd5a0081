// Package rowcount is the artifact of a released number of rows: what dp_count writes
// and sample reads.
package rowcount

import (
	"context"
	"fmt"
	"strings"

	"weir/pipeline"
	"weir/privacy"
	"weir/schema"
)

// suffix ends the name of the artifact's one file, behind the name of the stage.
const suffix = ".count.yaml"

// Count is a released number of rows.
type Count struct {
	Rows      int64   `yaml:"rows" json:"rows" doc:"Noisy number of rows, at least 0."`
	Deviation float64 `yaml:"deviation" json:"deviation" doc:"Standard deviation of the noise."`
	Source    string  `yaml:"source" json:"source" doc:"The stage that released it."`
}

// Public is the number of rows of a private table where it is public, else 0: under
// replace_one, with a row as unit, of a table whose count the header states and whose
// rows are their own. Everywhere else it is private.
func Public(h pipeline.Header) int64 {
	if h.Terms.Adjacency == privacy.ReplaceOne && h.Terms.Unit.Column == "" && h.OwnRows && h.Stability == pipeline.Rows(1) {
		return max(0, h.Rows)
	}
	return 0
}

// Write is the artifact of a count; h is a header of files.
func Write(h pipeline.Header, stage string, c Count) (pipeline.Table, error) {
	text, err := schema.Canonical(c)
	return pipeline.WriteFiles(h, []pipeline.File{{Name: stage + suffix, Data: text}}), err
}

// Read returns the count of an artifact, which may come from anyone.
func Read(ctx context.Context, t pipeline.Table) (c Count, err error) {
	files, err := pipeline.ReadFiles(ctx, t)
	if err != nil {
		return c, err
	}
	if len(files) != 1 || !strings.HasSuffix(files[0].Name, suffix) {
		return c, fmt.Errorf("is no released number of rows, must be what a stage of kind dp_count gives")
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
func (c Count) judge(name string) error {
	var ps schema.Problems
	if c.Rows < 0 || c.Rows > mostRows {
		ps.Add("rows", fmt.Sprint(c.Rows), fmt.Sprintf("from 0 to %d", int64(mostRows)))
	}
	if !(c.Deviation >= 0 && c.Deviation <= mostRows) {
		ps.Add("deviation", fmt.Sprint(c.Deviation), "at least 0, and finite")
	}
	if err := ps.Err(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// mostRows is twice what counts and their noise are clamped to (mechanism.ReleaseCounts).
const mostRows = 1 << 62
