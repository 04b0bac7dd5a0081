package prep

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/google/go-cmp/cmp"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/pipeline/pipelinetest"
)

// TestThereAndBack: a table that went through every invertible step comes back: same columns,
// types, categories, missing values and sentinels.
func TestThereAndBack(t *testing.T) {
	in := pipelinetest.After(t, clinicTable(), &Drop{Columns: []string{"patient_id"}})
	steps := []pipeline.Stage{
		&NotAvailable{Columns: map[string]float64{"visits": 99999}, Suffix: "_na"},
		&Filter{Keep: "pressure < 1000", Missing: "drop"}, &Filter{Keep: "age < 100", Missing: "keep"},
		&MissingIndicator{Columns: []string{"age"}, Suffix: "_missing"},
		&ImputeConstant{Numbers: map[string]float64{"age": 50, "pressure": 120}},
		&Encode{MinMax: [2]float64{-1, 1}, Missing: "category"},
	}
	retained := pipelinetest.After(t, in, &Filter{Keep: "pressure < 1000", Missing: "drop"}, &Filter{Keep: "age < 100",
		Missing: "keep"})
	back := pipelinetest.After(t, pipelinetest.After(t, in, steps...), &Decode{To: "source"})
	if diff := cmp.Diff(in.Header.Domain.Names(), back.Header.Domain.Names()); diff != "" {
		t.Fatalf("columns:\n%s", diff)
	}
	for i, c := range retained.Header.Domain.Columns {
		compare(t, c.Name, tolerance{Abs: 1e-9}, listed(t, back.Rows.Column(i)), listed(t, retained.Rows.Column(i)))
	}
	if retained.Rows.Column(0).NullN() == 0 {
		t.Error("no missing age left to come back: the test says nothing about it")
	}
}

// TestDecodeRowsHoldsBounds: rows of real numbers become values the source can hold, whatever they are.
func TestDecodeRowsHoldsBounds(t *testing.T) {
	enc := pipelinetest.After(t, complete(t), &Encode{MinMax: [2]float64{-1, 1}, Missing: "category"})
	width, err := denseWidth(enc.Header.Domain)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 3))
	dense := make([]float32, 500*width)
	for i := range dense {
		dense[i] = float32(rng.NormFloat64() * 3)
	}
	dense[0], dense[1], dense[2*width] = float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1))
	for _, draw := range []Draw{{Argmax: true}, {Logits: true}, {}} {
		r, err := DecodeRows(enc.Header, dense, draw, rng)
		if err != nil {
			t.Fatal(err)
		}
		decoded, err := DecodedHeader(enc.Header)
		if err != nil {
			t.Fatal(err)
		}
		if !r.Schema().Equal(decoded.Schema) {
			t.Fatalf("schema %v, want %v", r.Schema(), decoded.Schema)
		}
		for i, c := range decoded.Domain.Columns {
			checkHeld(t, c, listed(t, r.Column(i)))
		}
	}
	if _, err := DecodeRows(enc.Header, dense[1:], Draw{Argmax: true}, nil); err == nil {
		t.Error("half a row is accepted")
	}
	if _, err := DecodeRows(complete(t).Header, dense, Draw{Argmax: true}, nil); err == nil {
		t.Error("a table that is not encoded is accepted")
	}
}

// checkHeld: inside the bounds or categories, and a multiple of the step.
func checkHeld(t *testing.T, c domain.Column, values []*float64) {
	t.Helper()
	for _, v := range values {
		switch {
		case v == nil && !c.Nullable:
			t.Errorf("%s: a missing value", c.Name)
		case v == nil:
		case c.Type.Coded() && (*v < 0 || int(*v) >= len(c.Categories)):
			t.Errorf("%s: code %v", c.Name, *v)
		case c.Bounds != nil && (*v < c.Bounds[0] || *v > c.Bounds[1]):
			t.Errorf("%s: %v outside %v", c.Name, *v, *c.Bounds)
		case c.Step == 0.5 && *v*2 != float64(int(*v*2)):
			t.Errorf("%s: %v is no multiple of 0.5", c.Name, *v)
		}
	}
}

// TestInvertAfterDrop: steps whose columns were dropped since are left out on the way back.
func TestInvertAfterDrop(t *testing.T) {
	in := pipelinetest.After(t, complete(t), &Encode{MinMax: [2]float64{0, 1}, Missing: "category"},
		&Drop{Columns: []string{"age", "visits", "region"}})
	back := pipelinetest.After(t, in, &Decode{To: "source"})
	want := []string{"pressure", "grade", "smoker", "admission"}
	if diff := cmp.Diff(want, back.Header.Domain.Names()); diff != "" {
		t.Errorf("columns:\n%s", diff)
	}
}

// TestBinsComeBackInside: uniform draws fall inside the bin of the value; bounds and step hold.
func TestBinsComeBackInside(t *testing.T) {
	full := complete(t)
	for _, inverse := range []string{"midpoint", "uniform"} {
		back := pipelinetest.After(t, full, &Discretize{Strategy: "uniform", Bins: 4, Columns: []string{"pressure"},
			Inverse: inverse}, &Decode{To: "source"})
		edges := uniformEdges(60, 240, 4)
		original := listed(t, columnNamed(full, "pressure"))
		for i, v := range listed(t, columnNamed(back, "pressure")) {
			from := bin(edges, *original[i])
			if *v < edges[from]-0.25 || *v > edges[from+1]+0.25 {
				t.Errorf("%s: value %d comes back as %v, outside its bin", inverse, i, *v)
			}
		}
	}
}

// TestReadOpensFile: a file that the environment offers is read with the header that was planned.
func TestReadOpensFile(t *testing.T) {
	in := clinicTable()
	env := pipelinetest.Env(1)
	env.Files = func(path string, _ *pipeline.CSV, d *domain.Domain) (pipeline.Table, error) {
		return pipeline.FromRecords(pipeline.TableHeader(d, pipeline.Header{}), in.Rows), nil
	}
	for class, stability := range map[string]pipeline.Stability{"public": {}, "private": pipeline.Unbounded()} {
		out, err := pipelinetest.Run(t, &Read{File: "x.csv", Class: class, Columns: clinic().Columns}, env, nil)
		if err != nil {
			t.Fatal(err)
		}
		h := out["out"].Header
		if string(h.Class) != class || h.Stability != stability || !h.Schema.Equal(in.Rows.Schema()) {
			t.Errorf("class %s, stability %v, schema %v", h.Class, h.Stability, h.Schema)
		}
		like, err := (&Read{File: "x.csv", Class: class}).Plan(pipeline.Headers{"like": in.Header})
		if err != nil || !like.Out["out"].Schema.Equal(h.Schema) || string(like.Out["out"].Class) != class {
			t.Errorf("like another table: %v, error %v", like.Out["out"], err)
		}
	}
}

// TestReadKnowsAliases: the file is read by the aliases of its columns, of which the table knows nothing.
func TestReadKnowsAliases(t *testing.T) {
	env, columns := pipelinetest.Env(1), []domain.Column{{Name: "a", Type: domain.Categorical, Categories: []string{"no",
		"yes"}, Aliases: domain.Aliases{"yes": {"Yes"}}}}
	var other *domain.Domain
	env.Files = func(_ string, _ *pipeline.CSV, d *domain.Domain) (pipeline.Table, error) {
		other = d
		return pipeline.FromRecords(pipeline.TableHeader(d, pipeline.Header{})), nil
	}
	out, err := pipelinetest.Run(t, &Read{File: "x.csv", Class: "public", Columns: columns}, env, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(other.Columns[0].Aliases) != 1 || out["out"].Domain.Columns[0].Aliases != nil {
		t.Errorf("the file is read by the aliases %v, the table has %v; must be those of the stage, and none",
			other.Columns[0].Aliases, out["out"].Domain.Columns[0].Aliases)
	}
}

// TestReadSaysWhoVouches: who vouches for a file that is read is part of the plan.
func TestReadSaysWhoVouches(t *testing.T) {
	for _, c := range []struct {
		class, by string
		want      pipeline.FileUse
	}{
		{"public", "", pipeline.FileUse{Path: "x.csv", Public: true, By: "the spec"}},
		{"public", "Statistics Office, yearbook 2019", pipeline.FileUse{Path: "x.csv", Public: true,
			By: "Statistics Office, yearbook 2019"}},
		{"private", "", pipeline.FileUse{Path: "x.csv", By: "the spec"}},
	} {
		w, err := (&Read{File: "x.csv", Class: c.class, DeclaredBy: c.by, Columns: clinic().Columns}).Plan(nil)
		if err != nil || len(w.Files) != 1 || w.Files[0] != c.want {
			t.Errorf("%s by %q: %+v, error %v; want %+v", c.class, c.by, w.Files, err, c.want)
		}
	}
}

// TestEveryStepHasAnInverse: every step that a kind remembers can be undone, and no other.
func TestEveryStepHasAnInverse(t *testing.T) {
	remembered := map[string]bool{}
	for _, list := range conformance(t) {
		for _, c := range list {
			in := pipeline.Headers{}
			for port, i := range c.In {
				in[port] = i.Header
			}
			w, err := c.Stage().Plan(in)
			if err != nil {
				t.Fatal(err)
			}
			for _, h := range w.Out {
				if h.Domain == nil { // of files
					continue
				}
				for _, step := range h.Domain.History {
					remembered[step.Kind] = true
				}
			}
		}
	}
	if diff := cmp.Diff(sorted(remembered), sorted(inverses())); diff != "" {
		t.Errorf("steps remembered, and inverses:\n%s", diff)
	}
	h := clinicTable().Header
	h.Domain = h.Domain.Clone()
	remember(h.Domain, h.Domain, "fold", nil)
	if _, err := planInverse(h, len(h.Domain.History)); err == nil ||
		err.Error() != `undoing "fold": this step has no inverse` {
		t.Errorf("a step of no known kind: %v", err)
	}
}

// TestTwoCategoriesInOneNumber: the number of a column of two categories is the probability of
// the second, in the range of its encoding; the most probable one is above a half. Of 20,000
// rows a share is off by 5 standard errors with a probability below 6e-7.
func TestTwoCategoriesInOneNumber(t *testing.T) {
	d := &domain.Domain{Columns: []domain.Column{{Name: "f", Type: domain.Boolean, Categories: []string{"no", "yes"}}}}
	h := pipeline.TableHeader(d, pipeline.Header{Class: pipeline.Released, Stability: pipeline.Unbounded()})
	w, err := (&Encode{MinMax: [2]float64{-1, 1}, Missing: "error"}).Plan(pipeline.Headers{"in": h})
	if err != nil {
		t.Fatal(err)
	}
	dense := make([]float32, 20000)
	for i := range dense {
		dense[i] = -0.4 // three tenths of the way
	}
	for argmax, want := range map[bool]float64{true: 0, false: 0.3} {
		r, err := DecodeRows(w.Out["out"], dense, Draw{Argmax: argmax}, rand.New(rand.NewPCG(1, 3)))
		if err != nil {
			t.Fatal(err)
		}
		yes := 0.0
		for _, v := range r.Column(0).(*array.Int32).Int32Values() {
			yes += float64(v) / 20000
		}
		if math.Abs(yes-want) > 5*math.Sqrt(want*(1-want)/20000) {
			t.Errorf("argmax %t: a share of %.3f, must be %.1f", argmax, yes, want)
		}
	}
}

// TestSeparateCells: cells that are numbers of their own come back as the greatest, or drawn by their sizes: of .6 and
// .2 the first in three quarters of 20,000 rows, within 5 standard errors (false alarm 6e-7). Their table holds codes
// as ever.
func TestSeparateCells(t *testing.T) {
	d := &domain.Domain{Columns: []domain.Column{{Name: "g", Type: domain.Categorical, Categories: []string{"a", "b",
		"c"}}}}
	h := pipeline.TableHeader(d, pipeline.Header{Class: pipeline.Released, Stability: pipeline.Unbounded()})
	w, err := (&Encode{MinMax: [2]float64{-1, 1}, Missing: "error", Separate: true}).Plan(pipeline.Headers{"in": h})
	if err != nil {
		t.Fatal(err)
	}
	if e := w.Out["out"].Domain.Columns[0].Encoding; !e.Separate() || e.Width != 3 {
		t.Errorf("the encoding is %+v", e)
	}
	dense := make([]float32, 3*20000)
	for i := range 20000 {
		dense[3*i], dense[3*i+1] = 0.6, 0.2
	}
	for argmax, want := range map[bool]float64{true: 1, false: 0.75} {
		r, err := DecodeRows(w.Out["out"], dense, Draw{Argmax: argmax}, rand.New(rand.NewPCG(1, 3)))
		if err != nil {
			t.Fatal(err)
		}
		first := 0.0
		for _, v := range r.Column(0).(*array.Int32).Int32Values() {
			if v == 0 {
				first += 1. / 20000
			}
		}
		if math.Abs(first-want) > 5*math.Sqrt(want*(1-want)/20000)+1e-9 {
			t.Errorf("argmax %t: a share of %.3f, must be %g", argmax, first, want)
		}
	}
}
