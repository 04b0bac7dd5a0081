// Package training holds what the families that learn by steps share: how they
// begin, sample private rows, report, and continue.
package training

import (
	"context"

	"weir/pipeline"
	"weir/privacy"
	"weir/stages/internal/columns"
	"weir/train"
)

// Spend names the one mechanism of a stage that trains.
const Spend = "train"

// Learning is a training that is paid for.
type Learning struct {
	Table  *columns.Encoded
	Rows   *train.Rows
	Shards [][]int32    // rows of each shard; nil where the table is not sharded
	Worst  *train.Worst // rows that batches leave out; nil: none
	Paid   *privacy.Handle
	Hooks  train.Hooks
}

// Begin reads an encoded table, of k shards (0: not sharded), and then pays: a
// table that cannot be read, or not be made ready, costs nothing. every is how many steps lie between
// checkpoints.
func Begin(ctx context.Context, env *pipeline.Env, t pipeline.Table, k, every int, ready ...func(context.Context, *Learning) error) (l Learning, err error) {
	if l.Table, err = columns.ReadEncoded(ctx, t); err != nil {
		return l, err
	}
	if l.Rows, err = l.Table.Rows(); err != nil {
		return l, err
	}
	if k > 0 {
		if l.Shards, err = l.Table.ByShard(k); err != nil {
			return l, err
		}
	}
	for _, do := range ready {
		if err = do(ctx, &l); err != nil {
			return l, err
		}
	}
	l.Paid, l.Hooks, err = Pay(env, every)
	return l, err
}

// Pay pays for a training whose rows are read, and ties its loop to the stage.
func Pay(env *pipeline.Env, every int) (paid *privacy.Handle, h train.Hooks, err error) {
	if paid, err = env.Privacy.Open(Spend); err != nil {
		return nil, h, err
	}
	h, err = hooks(env, every)
	return paid, h, err
}
