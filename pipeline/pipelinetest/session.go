package pipelinetest

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"weir/pipeline"
	"weir/pipeline/relation"
)

// Stays returns a table whose rows no reader gets, like a table that a database keeps: what is stated is computed
// by the interpreter, and counted. It panics where the rows cannot be read.
func Stays(t pipeline.Table) pipeline.Table {
	all, err := t.Collect(context.Background())
	if err != nil {
		panic(err)
	}
	t.Pushed = &pipeline.Pushed{Relation: pipeline.StoredRelation(t.Domain), Session: computed{valuesOf(t.Domain, all)}}
	t.Open = func(context.Context) pipeline.Batches {
		panic("pipelinetest: rows are read that stay where they are stored")
	}
	return t
}

// computed is rows that a relation.Session has, or keeps.
type computed struct{ rows [][]value }

// mostWhole is the greatest whole number that is kept.
const mostWhole = 1<<31 - 1

// Keep implements relation.Session.
func (c computed) Keep(_ context.Context, r relation.Relation) (relation.Kept, error) {
	return countable(interpret(r, c.rows))
}

func countable(rows [][]value) (relation.Kept, error) {
	for _, row := range rows {
		for j, v := range row {
			if n, is := v.(int64); !is || n < 0 || n > mostWhole {
				return nil, fmt.Errorf("column %d of kept rows: is not a whole number from 0 to %d in each row", j, mostWhole)
			}
		}
	}
	return rowsKept{rows}, nil
}

// Try implements relation.Session.
func (computed) Try(_ context.Context, subject relation.Type, values []float64, list []relation.Expr) ([][]int64, error) {
	out := make([][]int64, len(list))
	for i, e := range list {
		for _, x := range values {
			row := []value{x}
			if subject != relation.Real {
				row[0] = int64(x)
			}
			n, is := compute(e, row).(int64)
			if !is {
				return nil, fmt.Errorf("expression %d is not a whole number for a public one", i)
			}
			out[i] = append(out[i], n)
		}
	}
	return out, nil
}

// rowsKept is rows of whole numbers.
type rowsKept struct{ rows [][]value }

// Keep implements relation.Kept.
func (k rowsKept) Keep(_ context.Context, columns []relation.Named) (relation.Kept, error) {
	return countable(interpret(relation.Relation{Layers: []relation.Layer{{Columns: columns}}}, k.rows))
}

// Count implements relation.Kept.
func (k rowsKept) Count(ctx context.Context, keys []relation.Key, use func(key int, counts []int64) error) error {
	for i, key := range keys {
		counts := make([]int64, key.Of)
		for _, row := range k.rows {
			pos, is := compute(key.Expr, row).(int64)
			if !is || pos < 0 || pos >= int64(key.Of) {
				return fmt.Errorf("key %d: a value outside of 0 to %d", i, key.Of-1)
			}
			counts[pos]++
		}
		if err := use(i, counts); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// Sources lists a source for the specs of tests that plan and open no data: a file.
func Sources() []pipeline.SourceKind {
	return []pipeline.SourceKind{{Name: "file", New: func() pipeline.Source { return &unopened{} }}}
}

// unopened is a file that nobody opens.
type unopened struct {
	File string `yaml:"file,omitempty" format:"path" doc:"Path of a table."`
}

// Declare implements pipeline.Source.
func (s *unopened) Declare(pipeline.Declaring) (pipeline.Declared, error) {
	return pipeline.Declared{Name: filepath.Base(s.File), Full: s.File, Place: s.File, Files: []string{s.File}}, nil
}

// Open implements pipeline.Source.
func (*unopened) Open(context.Context, pipeline.Opening) (pipeline.Opened, error) {
	return nil, errors.New("is opened, must be planned only")
}
