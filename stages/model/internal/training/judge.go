package training

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"weir/pipeline"
	"weir/stages/internal/columns"
	"weir/stages/model/artifact"
	"weir/stages/prep"
	"weir/train"
	"weir/train/net"
)

// judge scores encoded rows, private ones and generated ones by one function: decoded
// to what they were before encode, a one-hot group to its greatest number, they are shown to the detector.
type judge struct {
	scorer  artifact.Scorer
	rows    *prep.RowDecoder
	label   []float32 // zeros, as many as rows of nets of labels lack
	labelAt int
}

// LeftOut makes a training of the tables of a stage ready to leave anomalies out (see Begin).
func (r *Removal) LeftOut(env *pipeline.Env, in pipeline.Tables) func(context.Context, *Learning) error {
	return func(ctx context.Context, l *Learning) (err error) {
		l.Worst, err = r.Worst(ctx, env, in, l.Table)
		return err
	}
}

// Worst ranks the private rows of the table that a stage has read by its released detector, before
// anything is paid. nil where no anomalies are left out.
func (r *Removal) Worst(ctx context.Context, env *pipeline.Env, in pipeline.Tables, table *columns.Encoded) (*train.Worst, error) {
	return r.WorstOfLabels(ctx, env, in, table, -1)
}

// WorstOfLabels is Worst where generated rows have zeros in the one-hot column of that place, which
// holds their label.
func (r *Removal) WorstOfLabels(ctx context.Context, env *pipeline.Env, in pipeline.Tables, table *columns.Encoded, column int) (*train.Worst, error) {
	if r.RemoveAnomalies == 0 {
		return nil, nil
	}
	h := in["in"].Header
	rows, err := table.Rows()
	if err != nil {
		return nil, err
	}
	scorer, err := artifact.Read[artifact.Scorer](ctx, in["detector"], env.Readers)
	if err != nil {
		return nil, err
	}
	j := &judge{scorer: scorer, labelAt: -1}
	if j.rows, err = prep.NewRowDecoder(h); err != nil {
		return nil, err
	}
	if column >= 0 {
		j.labelAt = 0
		for _, c := range h.Domain.Columns[:column] {
			j.labelAt += c.Encoding.Width
		}
		j.label = make([]float32, h.Domain.Columns[column].Encoding.Width)
	}
	scores, err := j.all(ctx, rows)
	if err != nil {
		return nil, err
	}
	return train.NewWorst(r.RemoveAnomalies, scores, contents(rows), j.generated), nil
}

// judged is how many private rows are scored at a time.
const judged = 1024

// all are the scores of private rows. Of a table without rows it scores one of zeros, so that
// what a detector cannot read is known before anything is paid.
func (j *judge) all(ctx context.Context, rows *train.Rows) ([]float64, error) {
	if _, err := j.scores(net.NewMatrix(1, rows.Width()), -1); err != nil {
		return nil, err
	}
	m, scores := net.NewMatrix(judged, rows.Width()), make([]float64, 0, rows.Len())
	for at := 0; at < rows.Len(); at += judged {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		index := make([]int32, min(judged, rows.Len()-at))
		for i := range index {
			index[i] = int32(at + i)
		}
		rows.Gather(m, index)
		some, err := j.scores(m.Slice(0, len(index)), -1)
		if err != nil {
			return nil, err
		}
		scores = append(scores, some...)
	}
	return scores, nil
}

// generated are the scores of generated rows. Whether rows can be scored follows from the domain and
// was tried before the charge, so that there are no errors here; if there were, they must not stop a
// training that has been paid for, and all rows would rank alike.
func (j *judge) generated(x net.Matrix, label int) []float64 {
	scores, err := j.scores(x, label)
	if err != nil {
		return make([]float64, x.Rows)
	}
	return scores
}

func (j *judge) scores(x net.Matrix, label int) ([]float64, error) {
	dense := make([]float32, 0, x.Rows*x.Cols)
	for i := range x.Rows {
		dense = append(dense, x.Row(i)...)
		if j.labelAt >= 0 && label >= 0 {
			group := dense[i*x.Cols+j.labelAt:][:len(j.label)]
			copy(group, j.label)
			group[label] = 1
		}
	}
	rec, err := j.rows.Decode(dense, prep.Draw{Argmax: true}, nil)
	if err != nil {
		return nil, err
	}
	h := j.rows.Out
	h.Rows = rec.NumRows()
	frame, err := columns.Read(context.Background(), pipeline.FromRecords(h, rec)) // of rows at hand: nothing to wait for
	if err != nil {
		return nil, err
	}
	scores, err := j.scorer.Scores(frame)
	if err == nil && len(scores) != x.Rows {
		err = errors.New("a detector whose scores are not one for each row")
	}
	if err != nil {
		return nil, fmt.Errorf("detector: %w", err)
	}
	return scores, nil
}

// contents compares rows by their numbers.
func contents(rows *train.Rows) func(i, j int32) int {
	a, b := net.NewMatrix(1, rows.Width()), net.NewMatrix(1, rows.Width())
	return func(i, j int32) int {
		rows.Gather(a, []int32{i})
		rows.Gather(b, []int32{j})
		return slices.Compare(a.Row(0), b.Row(0))
	}
}
