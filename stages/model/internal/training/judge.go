package training

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"weir/pipeline"
	"weir/schema"
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
func (r *Removal) Worst(ctx context.Context, env *pipeline.Env, in pipeline.Tables, table *columns.Encoded) (
	*train.Worst, error) {
	return r.WorstOfLabels(ctx, env, in, table, -1)
}

// WorstOfLabels returns Worst where generated rows have zeros in the one-hot column of that place, which
// holds their label.
func (r *Removal) WorstOfLabels(ctx context.Context, env *pipeline.Env, in pipeline.Tables, table *columns.Encoded,
	column int) (*train.Worst, error) {
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

// all returns the scores of private rows. Of a table without rows it scores one of zeros, so that
// what a detector cannot read is known before anything is paid.
func (j *judge) all(ctx context.Context, rows *train.Rows) ([]float64, error) {
	if _, err := j.scores(net.NewMatrix(1, rows.Width()), -1); err != nil {
		return nil, err
	}
	m, scores := net.NewMatrix(judged, rows.Width()), make([]float64, 0, rows.Len())
	for pos := 0; pos < rows.Len(); pos += judged {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		index := make([]int32, min(judged, rows.Len()-pos))
		for i := range index {
			index[i] = int32(pos + i)
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

// generated returns the scores of generated rows. Whether rows can be scored follows from the domain and
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

// Removal leaves anomalies out of the batches of a training (the GANAD thesis, where it is called
// mid): the rows that a released detector finds least like others, of the real ones and of the
// generated ones of each batch.
//
// Input: what the training reads, and a detector that is released (paid for by its own stage).
// Mechanism: the mechanism of the training. Given the detector, one row more brings one row to what is kept of a batch
// and takes none away, so that sensitivity, sampling and bill stay what they are: the proof is the comment
// of train.Worst. Detector and training compose like any two mechanisms of which the second is
// chosen by what the first released.
type Removal struct {
	RemoveAnomalies int `yaml:"remove_anomalies,omitempty" json:"remove_anomalies,omitempty" min:"1" max:"1000000" doc:"Rows that each batch leaves out, of those that detector finds least like others: so many of the real ones, and so many of the generated ones where there are such. It costs nothing beside the detector."`
}

// DetectorPort returns the input of a kind that has a Removal.
func DetectorPort() pipeline.Port {
	return pipeline.Port{Name: "detector", Form: pipeline.FormDetector, Or: pipeline.FormModel, Optional: true,
		Scoring: true,
		Doc: "For remove_anomalies: a released detector that was trained on the table that encode reads, or a model of " +
			"that table that tells how probable a row is."}
}

// Batch is a setting that says, in public, how many rows a batch has.
type Batch struct {
	Setting string
	Rows    float64
}

// CheckRemoval adds what keeps anomalies from being left out of batches of an encoded table of
// header h: in has its detector, if one is given.
func (r *Removal) CheckRemoval(in pipeline.Headers, ps *schema.Problems, batches ...Batch) {
	h, detector := in["in"], in["detector"]
	present := detector.Form != ""
	switch {
	case !present && r.RemoveAnomalies == 0:
		return
	case !present:
		ps.Add("detector", "missing, with remove_anomalies given", "a stage that releases a detector of the table that "+
			"encode reads, such as one of kind anomaly_detector")
	case r.RemoveAnomalies == 0:
		ps.Add("remove_anomalies", "missing, with detector given", "how many rows each batch leaves out, such as 5")
	}
	for _, b := range batches {
		if float64(r.RemoveAnomalies) >= b.Rows {
			ps.Add("remove_anomalies", fmt.Sprintf("%d, of %s %g", r.RemoveAnomalies, b.Setting, b.Rows),
				"fewer than a batch has")
		}
	}
	if !present {
		return
	}
	if r.unpaid(in) && h.Terms.Claims != pipeline.ClaimsPublished {
		ps.Refuse("W04", "detector", "fitted on private rows without a charge",
			"a released detector, such as anomaly_detector")
	}
	if detector.Domain == nil || len(*ps) > 0 {
		return
	}
	decoded, err := prep.DecodedHeader(h)
	if err != nil {
		return // what is not an encoded table has been told
	}
	var other schema.Problems
	artifact.SameColumns(decoded.Domain, detector.Domain, "detector", &other)
	for _, p := range other {
		p.Hint = "a detector is trained on the table that encode reads"
		*ps = append(*ps, p)
	}
}

func (r *Removal) unpaid(in pipeline.Headers) bool {
	return in["detector"].Class == pipeline.Private && !in["in"].Terms.NoPrivacy
}

// UnprovenBeside returns what is unproven of a stage, or what an unpaid detector breaks.
func (r *Removal) UnprovenBeside(in pipeline.Headers, stage pipeline.Unproven) pipeline.Unproven {
	if !r.unpaid(in) || stage.Rule != "" {
		return stage
	}
	return pipeline.Unproven{Rule: "W04", Why: "rows are left out of batches by a detector that nobody paid for, so " +
		"that one row may change which of all others are"}
}
