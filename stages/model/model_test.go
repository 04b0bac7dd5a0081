package model

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"weir/pipeline"
	"weir/pipeline/pipelinetest"
	"weir/privacy"
)

func TestConformance(t *testing.T) {
	for name, l := range learners(t) {
		t.Run(name, func(t *testing.T) {
			pipelinetest.Check(t, l.kind, pipelinetest.Case{Name: "small", Whole: true, In: map[string]pipelinetest.Input{"in": l.in},
				Stage: func() pipeline.Stage { return &paying{rated(l.stage())} }})
		})
	}
	model, _, _ := trained(t, smallWGAN(), ward(t, 0), nil)
	files, err := model.Collect(t.Context())
	must(t, err)
	in := map[string]pipelinetest.Input{"in": {Header: model.Header, Rows: files}}
	pipelinetest.Check(t, sampleKind(),
		pipelinetest.Case{Name: "drawn", Whole: true, In: in, Stage: func() pipeline.Stage { return &Sample{Rows: 50, Categorical: "sample"} }},
		pipelinetest.Case{Name: "most probable", Whole: true, In: in, Stage: func() pipeline.Stage { return &Sample{Rows: 5, Categorical: "argmax"} }},
		pipelinetest.Case{Name: "no rows", Whole: true, In: in, Stage: func() pipeline.Stage { return &Sample{Categorical: "sample"} }})
}

// rated gives DP-SGD its rate, which a table without rows does not.
func rated(s pipeline.Stage) pipeline.Stage {
	if w, ok := s.(*DPWGAN); ok {
		w.SamplingRate = 0.25
	}
	return s
}

// TestRunSpendsThePlan: a run pays once, and exactly the event that was planned.
// The events are written out by hand: rate 10/40 of 12 steps; 12*4 draws of one
// of 5 shards; 12 releases with the multiplier doubled, since the accountant
// halves it under replace_one (accounting notes, sections 3.5 and 4).
func TestRunSpendsThePlan(t *testing.T) {
	want := map[string]privacy.Event{
		"dp_wgan": privacy.Repeated{Count: 12, Event: privacy.PoissonSampled{SamplingRate: 0.25, Event: privacy.Gaussian{NoiseMultiplier: 1.5}}},
		"gs_wgan sample": privacy.Repeated{Count: 48, Event: privacy.SampledWithoutReplacement{SampleSize: 1, Population: 5,
			Event: privacy.Gaussian{NoiseMultiplier: 1.5}}},
		"gs_wgan mean": privacy.Repeated{Count: 12, Event: privacy.Gaussian{NoiseMultiplier: 3}},
	}
	for name, l := range learners(t) {
		o, err := l.stage().Plan(pipeline.Headers{"in": l.in.Header})
		must(t, err)
		_, w, _ := trained(t, l.stage(), l.in, nil)
		if diff := cmp.Diff([]privacy.Event{want[name]}, w.paid); diff != "" {
			t.Errorf("%s: paid (-want +got):\n%s", name, diff)
		}
		if diff := cmp.Diff(want[name], o.Cost.Event(1.5)); diff != "" {
			t.Errorf("%s: planned (-want +got):\n%s", name, diff)
		}
	}
}

// TestGroupsArePaid: on rows(2) the run pays for a change of two rows: rate
// 1-(1-q)^2, half the multiplier (accounting notes, section 8).
func TestGroupsArePaid(t *testing.T) {
	in := ward(t, 0)
	in.Header.Stability = pipeline.Rows(2)
	o, err := smallWGAN().Plan(pipeline.Headers{"in": in.Header})
	must(t, err)
	_, w, _ := trained(t, smallWGAN(), in, nil)
	if diff := cmp.Diff([]privacy.Event{o.Cost.Event(1.5)}, w.paid); diff != "" {
		t.Errorf("paid (-planned +got):\n%s", diff)
	}
	single := smallWGAN().dpsgd(1.5, 0.25).Event()
	if cmp.Equal(w.paid[0], single) {
		t.Errorf("a table of stability rows(2) pays %v, the price of rows(1)", single)
	}
}

// TestAllCriticsAreScheduled: 0 stands for the number of shards.
func TestAllCriticsAreScheduled(t *testing.T) {
	for scheduled, want := range map[int]int{0: 5, 2: 2} {
		s := smallGSWGAN("mean")
		s.Scheduled = scheduled
		if got := s.config(1, 5, 0).Scheduled; got != want {
			t.Errorf("scheduled %d trains %d of 5 critics at each step, must be %d", scheduled, got, want)
		}
	}
}

// TestResumedRunGivesTheSameModel: from each checkpoint.
func TestResumedRunGivesTheSameModel(t *testing.T) {
	for name, l := range learners(t) {
		whole, _, states := trained(t, l.stage(), l.in, nil)
		if len(states) < 2 {
			t.Fatalf("%s: %d checkpoints of 12 steps, must be at least 2", name, len(states))
		}
		for i, state := range states {
			resumed, _, more := trained(t, l.stage(), l.in, state)
			if want := len(states) - 1 - i; len(more) != want {
				t.Errorf("%s: resumed from checkpoint %d a run writes %d more, must write %d: it starts anew", name, i, len(more), want)
			}
			if !bytes.Equal(bytesOf(t, whole), bytesOf(t, resumed)) {
				t.Errorf("%s: the model of a run resumed from checkpoint %d differs", name, i)
			}
		}
	}
}

func bytesOf(t *testing.T, model pipeline.Table) []byte {
	t.Helper()
	files, err := pipeline.ReadFiles(t.Context(), model)
	must(t, err)
	out, err := json.Marshal(files)
	must(t, err)
	return out
}

// TestModelHoldsNothingPrivate: the files are the description and one weight or
// bias for each layer of the generator, whose shapes follow from the public
// domain: 3 latents, 8 hidden units, 1+1+3+2 outputs. No critic, no optimiser.
func TestModelHoldsNothingPrivate(t *testing.T) {
	for name, l := range learners(t) {
		model, _, _ := trained(t, l.stage(), l.in, nil)
		if model.Class != pipeline.Released {
			t.Errorf("%s: the model's class is %s, must be %s", name, model.Class, pipeline.Released)
		}
		files, err := pipeline.ReadFiles(t.Context(), model)
		must(t, err)
		numbers := 0
		for _, f := range files {
			if f.Name == describedBy {
				checkDescription(t, name, f.Data, l.in.Header.Domain)
				continue
			}
			if !strings.HasPrefix(f.Name, weightPrefix) {
				t.Errorf("%s: the model holds %s", name, f.Name)
			}
			numbers += len(f.Data) / 4
		}
		if want := (3+1)*8 + (8+1)*7; numbers != want {
			t.Errorf("%s: the model holds %d weights, the generator has %d", name, numbers, want)
		}
	}
}

// checkDescription: kind, net and the domain that went in; no other key.
func checkDescription(t *testing.T, name string, data []byte, domain *pipeline.Domain) {
	t.Helper()
	var keys map[string]json.RawMessage
	must(t, json.Unmarshal(data, &keys))
	if got := slices.Sorted(maps.Keys(keys)); !slices.Equal(got, []string{"domain", "kind", "net"}) {
		t.Errorf("%s: the model describes %v, must describe domain, kind and net", name, got)
	}
	want, err := json.Marshal(domain)
	must(t, err)
	var a, b any
	must(t, json.Unmarshal(want, &a))
	must(t, json.Unmarshal(keys["domain"], &b))
	if diff := cmp.Diff(a, b); diff != "" {
		t.Errorf("%s: the model's domain is not the public one (-want +got):\n%s", name, diff)
	}
}

// TestWithoutRows: a private table without rows trains on noise alone and is
// released like any other; refusing it would tell that it is empty.
func TestWithoutRows(t *testing.T) {
	for name, l := range learners(t) {
		in := l.in
		in.Rows = in.Rows.NewSlice(0, 0)
		model, w, _ := trained(t, l.stage(), in, nil)
		if len(w.paid) != 1 {
			t.Errorf("%s: an empty table pays %d times, must pay once", name, len(w.paid))
		}
		if _, err := ReadGenerator(t.Context(), model); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestRefusals: tables that a kind has no proof or no numbers for.
func TestRefusals(t *testing.T) {
	rows, shards := ward(t, 0).Header, ward(t, 5).Header
	unknown := rows
	unknown.Rows = 0
	raw := rows
	raw.Domain = raw.Domain.Clone()
	raw.Domain.Columns[0].Encoding = nil
	for _, c := range []struct {
		stage pipeline.Stage
		h     pipeline.Header
		want  string
	}{
		{smallWGAN(), shards, "W03"},
		{smallWGAN(), unknown, "W05"},
		{smallWGAN(), raw, "column age"},
		{smallGSWGAN("mean"), rows, "W22"},
		{smallGSWGAN("mean"), raw, "column age"},
	} {
		_, err := c.stage.Plan(pipeline.Headers{"in": c.h})
		if text, _ := json.Marshal(err); err == nil || !strings.Contains(err.Error()+string(text), c.want) {
			t.Errorf("%T on %s: %v, must be a refusal with %s", c.stage, c.h.Stability, err, c.want)
		}
	}
}

// TestDamagedModel: files of other names, lengths or shapes are errors.
func TestDamagedModel(t *testing.T) {
	model, _, _ := trained(t, smallWGAN(), ward(t, 0), nil)
	files, err := pipeline.ReadFiles(t.Context(), model)
	must(t, err)
	for what, change := range map[string]func([]pipeline.File) []pipeline.File{
		"without its description": func(f []pipeline.File) []pipeline.File {
			return slices.DeleteFunc(f, func(f pipeline.File) bool { return f.Name == describedBy })
		},
		"without a weight":  func(f []pipeline.File) []pipeline.File { return f[:len(f)-1] },
		"with another file": func(f []pipeline.File) []pipeline.File { return append(f, pipeline.File{Name: "critic"}) },
		"with half a weight": func(f []pipeline.File) []pipeline.File {
			last := &f[len(f)-1]
			last.Data = last.Data[:len(last.Data)-2]
			return f
		},
		"with a short weight": func(f []pipeline.File) []pipeline.File {
			last := &f[len(f)-1]
			last.Data = last.Data[:len(last.Data)-4]
			return f
		},
	} {
		damaged := pipeline.WriteFiles(model.Header, change(slices.Clone(files)))
		out, err := (&Sample{Rows: 3, Categorical: "sample"}).Run(t.Context(), pipelinetest.Env(1), pipeline.Tables{"in": damaged})
		if err == nil {
			_, err = out["out"].Collect(t.Context())
		}
		if err == nil {
			t.Errorf("a model %s can be sampled", what)
		}
	}
}
