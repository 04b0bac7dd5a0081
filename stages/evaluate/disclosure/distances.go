package disclosure

import (
	"context"
	"fmt"

	"weir/pipeline"
	"weir/stages/internal/columns"
	"weir/stages/internal/metric"
	"weir/stages/internal/metric/disclosure"
)

// distances describes how far synthetic rows are from training rows, beside how
// far held-out rows are from them.
func (r *disclosureRun) distances(context.Context) error {
	if reason := r.lacking(false); reason != "" {
		r.Add("dcr", "median", metric.None(reason))
		r.Add("nndr", "median", metric.None(reason))
		return nil
	}
	space := disclosure.NewSpace(r.metric, r.train)
	r.describe("", space, r.drawn(r.synth, "synthetic rows"))
	if r.control != nil && r.control.Rows > 0 {
		r.describe("_control", space, r.drawn(r.control, "held-out rows"))
	}
	return nil
}

func (r *disclosureRun) describe(suffix string, space *disclosure.Space, from *columns.Frame) {
	var dcr, nndr []float64
	for _, n := range disclosure.NearestAll(space, from, r.train, r.env.Workers) {
		dcr, nndr = append(dcr, n.First), append(nndr, n.NNDR())
	}
	for _, d := range []struct {
		name string
		x    []float64
	}{{"dcr", dcr}, {"nndr", nndr}} {
		s := disclosure.Summarise(d.x)
		for _, v := range []struct {
			name  string
			value float64
		}{{"min", s.Min}, {"p5", s.P5}, {"p25", s.P25}, {"median", s.Median}, {"mean", s.Mean}} {
			f := metric.Or(v.value, "there are fewer than two training rows")
			if v.name == "median" {
				f = f.With(fmt.Sprintf("of %d rows", s.N))
			}
			r.Add(d.name+suffix, v.name, f)
		}
	}
	r.step()
}

// closer asks whether synthetic rows are nearer to training rows than to as many
// held-out ones; a half is what a model gives that copies nothing.
func (r *disclosureRun) closer(context.Context) error {
	if reason := r.lacking(true); reason != "" {
		r.Add("closer_to_train", "", metric.None(reason))
		return nil
	}
	n := min(r.train.Rows, r.control.Rows)
	train := r.train.Take(r.env.Rand("training rows of the comparison").Perm(r.train.Rows)[:n])
	control := r.control.Take(r.env.Rand("held-out rows of the comparison").Perm(r.control.Rows)[:n])
	space, synth := disclosure.NewSpace(r.metric, r.train), r.drawn(r.synth, "synthetic rows")
	a := disclosure.NearestAll(space, synth, train, r.env.Workers)
	b := disclosure.NearestAll(space, synth, control, r.env.Workers)
	nearer, trials := 0, 0
	for i := range a {
		if a[i].First != b[i].First {
			trials++
		}
		if a[i].First < b[i].First {
			nearer++
		}
	}
	rate := disclosure.NewRate(nearer, trials)
	r.rate("closer_to_train", rate, fmt.Sprintf("share of %d synthetic rows nearer to training rows than to as many held-out ones, ties aside; 0.5 is chance", trials),
		"all synthetic rows are as near to training as to held-out rows")
	return nil
}

// rate records a share and its interval.
func (r *disclosureRun) rate(name string, v disclosure.Rate, note, reason string) {
	r.Add(name, "", metric.Or(v.Share, reason).With(note))
	low, high := pipeline.IntervalEnds(name)
	r.Add(low, "", metric.Or(v.Low, reason))
	r.Add(high, "", metric.Or(v.High, reason))
}
