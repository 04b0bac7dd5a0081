package dimension

import (
	"context"
	"fmt"
	"math/rand/v2"

	"weir/pipeline"
	"weir/stages/internal/columns"
	"weir/stages/internal/features"
	"weir/stages/internal/learn"
	"weir/stages/internal/metric"
	"weir/stages/internal/prediction"
)

// contest is each column learnt from each table but the one of the test rows, and scored on these.
type contest struct {
	*settings
	env   *pipeline.Env
	desks map[string]*prediction.Desk // by port
	test  *columns.Frame
	draws *prediction.Draws // of test rows
}

// scores holds the scores of one column, by the port of the table that it is learnt from.
type scores map[string]prediction.Score

// taught are the ports of tables to learn from.
func taught() []string { return []string{"real_train", "synthetic", "baseline"} }

func (s *settings) contest(env *pipeline.Env, frames map[string]*columns.Frame) *contest {
	c := &contest{settings: s, env: env, desks: map[string]*prediction.Desk{}, test: frames["real"]}
	for _, port := range taught() {
		if f := frames[port]; f != nil {
			c.desks[port] = prediction.NewDesk(f, c.test, features.Scaling(s.Scaling), s.MaxTrainRows, env.Rand("rows of "+port))
		}
	}
	c.draws = prediction.NewDraws(c.test.Rows, func(width int) *rand.Rand {
		return env.Rand(fmt.Sprintf("resampled test rows for %d categories", width))
	})
	return c
}

// column scores one column as learnt from each table.
func (c *contest) column(ctx context.Context, name string) (scores, error) {
	list := scores{}
	resampled := c.resampled(name)
	for _, port := range taught() {
		if c.desks[port] == nil {
			continue
		}
		f, err := c.one(ctx, port, name, resampled)
		if err != nil {
			return nil, fmt.Errorf("trained on %s: %w", port, err)
		}
		list[port] = f
	}
	return list, nil
}

// resampled are resamples of the test rows that have a value in the column.
func (c *contest) resampled(name string) *prediction.Resamples {
	target := c.test.Column(name)
	if missing := target.Missing(); missing > 0 {
		rng := c.env.Rand("resampled test rows of " + name)
		return prediction.NewDraws(c.test.Rows-missing, func(int) *rand.Rand { return rng }).Of(len(target.Categories))
	}
	return c.draws.Of(len(target.Categories))
}

func (c *contest) one(ctx context.Context, port, name string, resampled *prediction.Resamples) (prediction.Score, error) {
	t := c.desks[port].Trial(name)
	target, run := t.Test.Column(name), learn.Run{Rand: c.env.Rand(name + " from " + port), Workers: c.env.Workers}
	score := c.score(target)
	if !target.Coded() {
		f, err := t.ScoreNumbers(ctx, c.regressor(t.Train.Column(name).Numbers), []string{score}, resampled, run)
		return f[score], err
	}
	if why := c.sparse(t, name); why != "" && t.Impossible() == "" {
		return prediction.Score{Noted: metric.None(why)}, nil
	}
	f, err := t.ScoreClasses(ctx, prediction.Classifiers()[c.Classifier], min(1, len(target.Categories)-1), []string{score}, resampled, run)
	return f[score], err
}

// sparse says which table has too few rows outside the commonest category.
func (c *contest) sparse(t *prediction.Trial, column string) string {
	for i, f := range []*columns.Frame{t.Train, t.Test} {
		of, name := f.Column(column), [2]string{"training", "test"}[i]
		if f.Rows-commonest(of) < c.MinCount {
			return fmt.Sprintf("fewer than %d %s rows are outside the commonest category", c.MinCount, name)
		}
	}
	return ""
}

// commonest is how many rows have the commonest category.
func commonest(c *columns.Column) int {
	n, most := make([]int, len(c.Categories)), 0
	for _, k := range c.Codes {
		if k >= 0 {
			n[k]++
			most = max(most, n[k])
		}
	}
	return most
}
