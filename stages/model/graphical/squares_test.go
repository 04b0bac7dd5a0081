package graphical

import (
	"context"
	"fmt"
	"testing"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/pipeline/pipelinetest"
)

// TestAllIsSpent: on every path the squares of what is released sum to the total,
// within 1e-9 of it; that they never pass it is held by the handle. Paths: pairs are
// chosen, noise drowns all of them, there are none, trees end at the root, the rows
// are private.
func TestAllIsSpent(t *testing.T) {
	one := table([]int{5}, []int{0, 1, 2, 3, 4, 4, 4})
	root := ward(40)
	root.Header.Domain = &domain.Domain{Columns: root.Header.Domain.Columns[1:2]}
	root = pipelinetest.Input{Header: header(root.Header.Domain, 40), Rows: pipelinetest.Rows(root.Header.Domain,
		make([]any, 40))}
	for what, in := range map[string]pipelinetest.Input{"ward": ward(400), "private": private(ward(400)),
		"one column": one, "nothing but missing": root} {
		for _, multiplier := range []float64{1e-2, 0.3, 20, 1e4} {
			for _, stage := range []pipeline.Stage{marginalTreeKind().New(), independentKind().New()} {
				if _, left := (attempt{stage: stage, in: in, multiplier: multiplier}).run(t); !(left <= 1e-9) {
					t.Errorf("%s, %T at %g: %.3g of the total is left", what, stage, multiplier, left)
				}
			}
		}
	}
}

// TestWrongSumIsSeen: the test above tells a stage that leaves some.
func TestWrongSumIsSeen(t *testing.T) {
	s := marginalTreeKind().New().(*MarginalTree)
	s.OneWay = 0.2
	a := attempt{stage: frugal{s}, in: ward(400), multiplier: 0.3}
	if _, left := a.run(t); left < 0.1 {
		t.Errorf("%.3g is left by a stage that measures columns alone at .2", left)
	}
}

// TestGroupsAndAdjacencyAreReckoned: the noise that is recorded is the noise of the plan.
// The squares of sensitivity over sigma, written out by hand: 1 for each histogram
// under add_remove and 2 under replace_one, whose total is 4/M^2; a distance moves by
// .5 or 1 and is not recorded, so that its part is missing.
func TestGroupsAndAdjacencyAreReckoned(t *testing.T) {
	for _, c := range []struct {
		in            pipelinetest.Input
		square, total float64
	}{{ward(400), 2, 4}, {private(ward(400)), 1, 1}} {
		s := marginalTreeKind().New().(*MarginalTree)
		s.Select = 0.1
		m := attempt{stage: s, in: c.in, multiplier: 0.2}.model(t)
		sum := 0.0
		for _, x := range m.Measured {
			sum += c.square / (x.Sigma*x.Sigma - 1./12)
		}
		if got, want := fmt.Sprintf("%.9f", sum*0.2*0.2/c.total), "0.900000000"; got != want {
			t.Errorf("histograms cost %s of the total, must cost %s", got, want)
		}
	}
}

// frugal measures columns for their part and forgets the rest.
type frugal struct{ *MarginalTree }

func (s frugal) Plan(in pipeline.Headers) (pipeline.Work, error) {
	h := in["in"]
	return oneEvent(h, 0, "columns", func(ctx context.Context, env *pipeline.Env, t pipeline.Table) (pipeline.Table,
		error) {
		f, p, err := begin(ctx, env, t, 0)
		if err != nil {
			return pipeline.Table{}, err
		}
		if err := f.singles(ctx, p, s.Columns, p.total()*s.OneWay); err != nil {
			return pipeline.Table{}, err
		}
		m, err := f.fit(ctx, s.limits(), env.Workers)
		if err != nil {
			return pipeline.Table{}, err
		}
		return f.release(treeName, t.Header, m, s.MaxModelSize)
	}), nil
}
