package prep

import (
	"context"
	"fmt"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/pipeline/relation"
	"weir/privacy"
	"weir/privacy/mechanism"
	"weir/schema"
	"weir/stages/internal/columns"
)

// DPCount releases the number of rows of a table.
//
// Input: a table of stability rows(c). Mechanism: discrete Laplace noise on the number of
// rows (mechanism.LaplaceTotal). Sensitivity: a changed row moves it by at most 1, under
// either adjacency. Guarantee: as for discrete Laplace noise, used once; that no number
// below 0 comes out is post-processing. Reference: Ghosh, Roughgarden, Sundararajan 2009.
type DPCount struct {
	NoiseMultiplier float64 `yaml:"noise_multiplier,omitempty" json:"noise_multiplier,omitempty" exclusiveMin:"0" doc:"Scale of the noise on the number of rows; found from the budget where it is not given."`
}

func dpCountKind() pipeline.Kind {
	return pipeline.Kind{
		Name: "dp_count", Version: 2, In: tableIn(), Late: true,
		Out: []pipeline.Port{{Name: "out", Form: pipeline.FormCount, Doc: "the noisy number of rows",
			Files: []string{columns.RowCountFile}}},
		Doc: "Releases the number of rows of a table, for a small charge. Use it where the number is private (add_remove, " +
			"several rows a unit, a filter before) " +
			"and the synthetic table should have as many rows: sample takes it under rows_from. Models of marginals do not: " +
			"their columns give the total well enough that their shares would not change. release/ gets STAGE.count.yaml.",
		New: func() pipeline.Stage { return &DPCount{} },
	}
}

// Plan implements pipeline.Stage.
func (s *DPCount) Plan(in pipeline.Headers) (pipeline.Work, error) {
	var ps schema.Problems
	h := in["in"]
	if h.Rows > 0 {
		ps.Add("from", fmt.Sprintf("a table whose number of rows, %d, is public", h.Rows),
			"one whose number of rows is private")
	}
	out := filesHeader(h)
	out.Form = pipeline.FormCount
	return pipeline.Work{Out: pipeline.Headers{"out": out}, Counts: oneOfAll, Run: func(ctx context.Context,
		env *pipeline.Env, in pipeline.Tables) (pipeline.Tables, error) {
		c, err := countRows(ctx, env, in["in"])
		if err != nil {
			return nil, err
		}
		t, err := columns.WriteRowCount(out, env.Stage, c)
		return pipeline.Tables{"out": t}, err
	}, Pricing: pipeline.Pricing{Scale: s.NoiseMultiplier},
		Spends: []pipeline.Spend{{Name: "rows", Doc: "the noisy number of rows",
			Mechanism: func(scale float64) privacy.Mechanism {
				return mechanism.LaplaceTotal{NoiseMultiplier: max(scale, noNoise), Releases: 1}
			}}},
	}, ps.Err()
}

func countRows(ctx context.Context, env *pipeline.Env, t pipeline.Table) (c columns.RowCount, err error) {
	rows, err := countOf(ctx, t)
	if err != nil {
		return c, err
	}
	paid, err := env.Privacy.Open("rows")
	if err != nil {
		return c, err
	}
	noisy, err := mechanism.ReleaseCounts(paid, []int64{rows})
	if err != nil {
		return c, err
	}
	c = columns.RowCount{Rows: max(0, noisy[0]), Source: domain.StageSource(env.Stage)}
	if m, ok := paid.Mechanism().(privacy.Additive); ok {
		c.Deviation = m.Deviation()
	}
	return c, nil
}

// countOf counts the rows of a table, wherever they are.
func countOf(ctx context.Context, t pipeline.Table) (rows int64, err error) {
	if t.Pushed != nil {
		return countThere(ctx, t.Pushed)
	}
	for r, err := range t.Open(ctx) {
		if err != nil {
			return 0, err
		}
		rows += r.NumRows()
	}
	return rows, nil
}

// oneOfAll keeps of each row that it is there, and counts by that.
func oneOfAll(r relation.Relation) (kept relation.Relation, keys []relation.Key) {
	one := relation.Named{Name: "row", Expr: relation.Constant{Of: relation.Whole}}
	return r.With(relation.Layer{Columns: []relation.Named{one}}),
		[]relation.Key{{Expr: relation.Column{Of: relation.Whole}, Of: 1}}
}

// countThere counts rows that stay in a database: those whose only value is 0.
func countThere(ctx context.Context, p *pipeline.Pushed) (rows int64, err error) {
	ones, keys := oneOfAll(p.Relation)
	retained, err := p.Session.Keep(ctx, ones)
	if err != nil {
		return 0, err
	}
	err = retained.Count(ctx, keys, func(_ int, counts []int64) error {
		rows = counts[0]
		return nil
	})
	return rows, err
}
