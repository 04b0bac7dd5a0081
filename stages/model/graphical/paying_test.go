package graphical

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"

	"weir/pipeline"
	"weir/pipeline/bill"
	"weir/pipeline/pipelinetest"
	"weir/privacy"
	"weir/privacy/noise"
)

// tried carries a stage out on a table and says how many of its mechanisms it opened, each of which is a charge.
func tried(t *testing.T, stage pipeline.Stage, in pipeline.Table, counting pipeline.Counting) (opened int, err error) {
	t.Helper()
	kind, h := pipeline.Kind{In: tableIn()}, pipeline.Headers{"in": in.Header}
	w, err := stage.Plan(h)
	must(t, err)
	plan, err := bill.Price(&kind, h, w, 0.2, in.Terms.Adjacency)
	must(t, err)
	payer := &till{Payer: &pipelinetest.Ledger{Key: noise.Key{4, 7}, Plan: plan}}
	env := pipelinetest.Env(2)
	env.Privacy, env.Counting = payer, counting
	_, err = w.Run(t.Context(), env, pipeline.Tables{"in": in})
	return payer.opened, err
}

// till counts what is opened.
type till struct {
	privacy.Payer
	opened int
}

func (c *till) Open(name string) (*privacy.Handle, error) {
	c.opened++
	return c.Payer.Open(name)
}

// TestRowsThatCannotBeReadCostNothing: every kind reads the table whole before it opens a mechanism, which is what is
// charged.
func TestRowsThatCannotBeReadCostNothing(t *testing.T) {
	in := ward(60)
	broken := pipeline.Table{Header: in.Header, Open: func(context.Context) pipeline.Batches {
		return func(yield func(arrow.Record, error) bool) {
			if yield(in.Rows, nil) {
				yield(nil, errors.New("line 61: is no row"))
			}
		}
	}}
	for _, stage := range every() {
		for _, counting := range []pipeline.Counting{pipeline.CountHeld, pipeline.CountPasses} {
			opened, err := tried(t, stage, broken, counting)
			if opened != 0 || err == nil || !strings.Contains(err.Error(), "line 61") {
				t.Errorf("%T, %s: %d mechanisms were opened, must be none; error %v", stage, counting, opened, err)
			}
			if opened, err = tried(t, stage, pipeline.FromRecords(in.Header, in.Rows), counting); opened == 0 || err != nil {
				t.Errorf("%T, %s: %d mechanisms were opened on rows that can be read; error %v", stage, counting, opened, err)
			}
		}
	}
}
