package source

import (
	"context"
	"fmt"

	"weir/pipeline"
	"weir/schema"
)

// Demo is a table that a built-in generator draws from published statistics, or from a domain: nobody's rows.
type Demo struct {
	Demo string `yaml:"demo,omitempty" json:"demo,omitempty" enum:"adult|ard|carat|cardio|diagnoses|domain" doc:"A built-in generator instead of a file; domain makes rows up from dataset.domain alone."`
	Rows int64  `yaml:"demo_rows,omitempty" json:"demo_rows,omitempty" min:"1" max:"1000000000" doc:"Rows that the generator draws; its published size by default."`
}

func demoKind() pipeline.SourceKind {
	return pipeline.SourceKind{Name: "demo", New: func() pipeline.Source { return &Demo{} }}
}

// Invented returns the settings by which a spec of this source has so many rows of nobody: rows of its own generator,
// or rows that are made up from its domain.
func Invented(of pipeline.Declared, rows int64) []string {
	sets := []string{fmt.Sprintf("dataset.demo_rows=%d", rows)}
	if of.Invented == "" {
		sets = append(sets, "dataset.demo="+demoMade)
	}
	return sets
}

// Declare implements pipeline.Source.
func (s *Demo) Declare(declaring pipeline.Declaring) (pipeline.Declared, error) {
	d, err := demoDomain(s.Demo, s.Rows)
	if err != nil {
		var ps schema.Problems
		ps.Unknown("demo", "built-in generator", s.Demo, demoNames())
		return pipeline.Declared{}, ps.Err()
	}
	return pipeline.Declared{
		Name: "demo: " + s.Demo, Full: fmt.Sprintf("demo: %s of %d rows, seed %d", s.Demo, demoRows(s.Demo, s.Rows),
			declaring.Seed), Place: s.Demo,
		Invented: fmt.Sprintf("weir's built-in generator `%s`", s.Demo), Domain: d,
	}, nil
}

// Open implements pipeline.Source.
func (s *Demo) Open(_ context.Context, o pipeline.Opening) (pipeline.Opened, error) {
	t, err := openDemoRows(s.Demo, s.Rows, o.Seed, o.Columns, o.Unit)
	content := fmt.Sprintf("demo %s %d %d", s.Demo, t.Rows, o.Seed)
	if s.Demo == demoMade && o.Unit != "" {
		content += " unit " + o.Unit
	}
	return &openDemo{rows: t, content: content}, err
}

// openDemo is an opened Demo. Its rows are a function of the generator, their number and the seed.
type openDemo struct {
	rows    pipeline.Table
	content string
}

// Table implements pipeline.Opened.
func (d *openDemo) Table() pipeline.Table { return d.rows }

// Content implements pipeline.Opened.
func (d *openDemo) Content(context.Context) (string, error) { return d.content, nil }

// Unchanged implements pipeline.Opened.
func (d *openDemo) Unchanged(context.Context) error { return nil }

// Close implements pipeline.Opened.
func (d *openDemo) Close() error { return nil }
