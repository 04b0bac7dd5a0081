package prep

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"weir/pipeline"
	"weir/pipeline/bill"
	"weir/pipeline/domain"
	"weir/pipeline/pipelinetest"
	"weir/privacy"
	"weir/privacy/noise"
)

// TestReleasedBoundsHoldTheColumn: bounds are multiples of the step, whole for whole
// numbers, never empty, and as wide as can be where no bin was found.
func TestReleasedBoundsHoldTheColumn(t *testing.T) {
	s := &DPBounds{LowExponent: -10, HighExponent: 20}
	for _, c := range []struct {
		column    domain.Column
		low, high float64
		found     bool
		want      [2]float64
	}{
		{domain.Column{Type: domain.Numeric}, 0.5, 8, true, [2]float64{0.5, 8}},
		{domain.Column{Type: domain.Numeric, Step: 3}, 4, 8, true, [2]float64{3, 9}},
		{domain.Column{Type: domain.Numeric, Step: 0.25}, -0x1p-10, 1, true, [2]float64{-0.25, 1}},
		{domain.Column{Type: domain.Integer}, 0.25, 0.5, true, [2]float64{0, 1}},
		{domain.Column{Type: domain.Integer, Step: 5}, 16, 32, true, [2]float64{15, 35}},
		{domain.Column{Type: domain.Date}, -8, -0.5, true, [2]float64{-8, 0}},
		{domain.Column{Type: domain.Numeric}, 0x1p20, 0x1p20, true, [2]float64{0x1p19, 0x1p20}},
		{domain.Column{Type: domain.Numeric}, -0x1p20, -0x1p20, true, [2]float64{-0x1p20, -0x1p19}},
		{domain.Column{Type: domain.Numeric}, 0, 0, false, [2]float64{-0x1p20, 0x1p20}},
		{domain.Column{Type: domain.Date}, 0, 0, false, [2]float64{-719528, 0x1p20}}, // 0000-01-01
		{domain.Column{Type: domain.Date, Step: 7}, -0x1p20, -0x1p20, true, [2]float64{-719528, -524286}},
		{domain.Column{Type: domain.Date}, 0x1p22, 0x1p23, true, [2]float64{2932895, 2932896}}, // 9999-12-31
	} {
		column := c.column
		if s.fill(&column, c.low, c.high, c.found); *column.Bounds != c.want {
			t.Errorf("[%g, %g] becomes %v of %+v, must be %v", c.low, c.high, *column.Bounds, c.column, c.want)
		}
		if (column.Doc == "") != c.found {
			t.Errorf("found %v, and the column says %q", c.found, column.Doc)
		}
	}
}

// TestExtremesDoNotShow: the domain is the same whatever the least and the greatest number
// are, as long as they are where no other row is.
func TestExtremesDoNotShow(t *testing.T) {
	for name, far := range map[string][2]float64{"far": {1e9, 2e9}, "infinite": {math.Inf(1), math.Inf(-1)}} {
		if a, b := boundsOf(t, far[0]), boundsOf(t, far[1]); a != b || a != [2]float64{64, 128} {
			t.Errorf("%s: bounds are %v and %v, must be [64 128] both times", name, a, b)
		}
	}
}

// TestReleasedDomainSpellsDates as release/domain.yaml does. Days 64 and 128 are 1970-03-06
// and 1970-05-09.
func TestReleasedDomainSpellsDates(t *testing.T) {
	values := make([]any, 200)
	for i := range values {
		values[i] = 90 + i%20
	}
	d := &domain.Domain{Columns: []domain.Column{{Name: "seen", Type: domain.Date}}}
	h := pipeline.TableHeader(d, pipeline.Header{Class: pipeline.Private, Stability: pipeline.Rows(1),
		Terms: pipeline.Terms{Adjacency: privacy.AddRemove}})
	out, err := pipelinetest.Run(t, &DPBounds{LowExponent: 0, HighExponent: 20, Failure: 1e-6, NoiseMultiplier: 1},
		pipelinetest.Env(1),
		pipeline.Tables{"in": pipeline.FromRecords(h, pipelinetest.Rows(d, values))})
	if err != nil {
		t.Fatal(err)
	}
	files, err := pipeline.ReadFiles(t.Context(), out["domain"])
	if err != nil || !strings.Contains(string(files[0].Data), "bounds: [1970-03-06, 1970-05-09]") {
		t.Errorf("%v: %s", err, files)
	}
}

// boundsOf releases bounds of 200 numbers around 100 and one that is not.
func boundsOf(t *testing.T, far float64) [2]float64 {
	t.Helper()
	values := []any{far}
	for i := range 200 {
		values = append(values, 90+float64(i%20))
	}
	d := &domain.Domain{Columns: []domain.Column{{Name: "x", Type: domain.Numeric}}}
	h := pipeline.TableHeader(d, pipeline.Header{Class: pipeline.Private, Stability: pipeline.Rows(1),
		Terms: pipeline.Terms{Adjacency: privacy.AddRemove}})
	out, err := pipelinetest.Run(t, &DPBounds{LowExponent: 0, HighExponent: 40, Failure: 1e-6, NoiseMultiplier: 1},
		pipelinetest.Env(1),
		pipeline.Tables{"in": pipeline.FromRecords(h, pipelinetest.Rows(d, values))})
	if err != nil {
		t.Fatal(err)
	}
	r, err := out["out"].Collect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range must(floats(r.Column(0))) {
		if b := out["out"].Domain.Columns[0].Bounds; v < b[0] || v > b[1] {
			t.Errorf("%g is outside the released bounds", v)
		}
	}
	return *out["out"].Domain.Columns[0].Bounds
}

func must[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}

// TestSelectionSpendsItsPartOfDelta: over all columns and all rows of a unit the deltas of
// partition selection stay within the plan's, whatever epsilon the plan asks for.
func TestSelectionSpendsItsPartOfDelta(t *testing.T) {
	for _, c := range []struct{ columns, rows int }{{1, 1}, {4, 1}, {1, 5}, {3, 40}} {
		for _, a := range []privacy.Adjacency{privacy.AddRemove, privacy.ReplaceOne} {
			d := &domain.Domain{}
			for i := range c.columns {
				d.Columns = append(d.Columns, domain.Column{Name: fmt.Sprint("c", i), Type: domain.Text})
			}
			h := pipeline.TableHeader(d, pipeline.Header{Class: pipeline.Private, Stability: pipeline.Rows(c.rows),
				Terms: pipeline.Terms{Adjacency: a, Delta: 1e-6}})
			k, in := dpCategoriesKind(), pipeline.Headers{"in": h}
			w, err := k.New().Plan(in)
			if err != nil {
				t.Fatal(err)
			}
			for _, epsilon := range []float64{0.1, 1} { // of the stage
				list, err := bill.Price(&k, in, w, float64(c.columns*c.rows)/epsilon, a)
				if err != nil {
					t.Fatal(err)
				}
				if got := deltaOf(list[0].Event.Event); !(got >= 1e-7*(1-1e-9) && got <= 1e-7*math.Exp(epsilon)) {
					t.Errorf("%+v, %s, epsilon %g: delta is %g, must be a tenth of 1e-6, and at most e^epsilon of it", c, a, epsilon,
						got)
				}
			}
		}
	}
}

func deltaOf(e privacy.Event) float64 {
	switch e := e.(type) {
	case privacy.Repeated:
		return float64(e.Count) * deltaOf(e.Event)
	case privacy.Approximate:
		return e.Delta
	}
	return math.NaN()
}

// TestOddTextIsNoCategory: what no domain could list is not counted, however many rows
// have it, and becomes the category of all others.
func TestOddTextIsNoCategory(t *testing.T) {
	out := categorised(t, 9)
	if got := fmt.Sprint(out.Domain.Columns[0].Categories); got != "[fine well other]" {
		t.Errorf("categories are %s", got)
	}
	r, err := out.Collect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(r.Column(0).NullN(), must(codes(r.Column(0)))[1:8]); got != "1 [0 2 2 2 2 1 1]" {
		t.Errorf("nulls and codes are %s", got)
	}
	if got := fmt.Sprint(categorised(t, 1).Domain.Columns[0].Categories); got != "[well other]" {
		t.Errorf("of one category the most frequent must be kept, is %s", got)
	}
}

// TestWhatIsLeftOfValuesIsTold to the owner: counted by hand, of 400 times fine, other, a line break, a text that is
// too long, an empty one and twice well, where one category is kept. The empty text is a value here; 7 rows of 400 each
// have a value, two of which are well, so that 5/7 become other. Nothing of it is released.
func TestWhatIsLeftOfValuesIsTold(t *testing.T) {
	for most, want := range map[int]keptValues{1: {"x", 2, 1, 5. / 7}, 9: {"x", 2, 2, 4. / 7}} {
		out := foundCategories(t, most)["kept"]
		list, err := pipeline.ReadMetrics(t.Context(), out)
		if err != nil || out.Class != pipeline.Private {
			t.Fatalf("%v, of class %s, must be private", err, out.Class)
		}
		for name, v := range map[string]float64{otherShare: want.other, valuesHad: float64(want.values),
			valuesLeft: float64(want.left)} {
			i := slices.IndexFunc(list, func(m pipeline.Metric) bool { return m.Name == name && m.Column == "x" })
			if i < 0 || math.Abs(list[i].Value-v) > 1e-12 {
				t.Errorf("at most %d: %s of %v, must be %v", most, name, list, v)
			}
		}
		if note := fmt.Sprintf("x: %d of 2 values are left; %.0f %% of rows are other", want.left,
			100*want.other); list[0].Note != note {
			t.Errorf("the note is %q, must be %q", list[0].Note, note)
		}
	}
	if grouped(13929) != "13,929" || grouped(929) != "929" || grouped(1000000) != "1,000,000" {
		t.Errorf("%s, %s, %s", grouped(13929), grouped(929), grouped(1000000))
	}
}

// categorised returns a table of odd text beside two plain values, one twice as often.
func categorised(t *testing.T, most int) pipeline.Table {
	t.Helper()
	return foundCategories(t, most)["out"]
}

func foundCategories(t *testing.T, most int) pipeline.Tables {
	t.Helper()
	values := []any{nil}
	for range 400 {
		values = append(values, "fine", "other", "line\nbreak", strings.Repeat("x", longest+1), "", "well", "well")
	}
	d := &domain.Domain{Columns: []domain.Column{{Name: "x", Type: domain.Text, Nullable: true}}}
	h := pipeline.TableHeader(d, pipeline.Header{Class: pipeline.Private, Stability: pipeline.Rows(1),
		Terms: pipeline.Terms{Adjacency: privacy.AddRemove}})
	out, err := pipelinetest.Run(t, &DPCategories{Other: "other", Most: most, Delta: 1e-6, NoiseMultiplier: 1},
		pipelinetest.Env(1),
		pipeline.Tables{"in": pipeline.FromRecords(h, pipelinetest.Rows(d, values))})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestWithoutPrivacyNothingIsNoisy: epsilon: inf plans at scale 0.
func TestWithoutPrivacyNothingIsNoisy(t *testing.T) {
	for _, m := range []privacy.Mechanism{(&DPBounds{HighExponent: 4, Failure: 0.1}).mechanism(0, 1)} {
		if err := m.Check(); err != nil {
			t.Error(err)
		}
	}
	s := &DPCount{}
	h := clinicTable().Header
	h.Rows = 0
	w, err := s.Plan(pipeline.Headers{"in": h})
	if err != nil {
		t.Fatal(err)
	}
	l := &pipelinetest.Ledger{Key: noise.Key{1}, Plan: []pipeline.Planned{{Value: w.Spends[0].Mechanism(0),
		Line: privacy.Line{Name: "rows"}}}}
	env := pipelinetest.Env(1)
	env.Privacy = l
	in := clinicTable()
	out, err := w.Run(t.Context(), env, pipeline.Tables{"in": pipeline.FromRecords(in.Header, in.Rows)})
	if err != nil {
		t.Fatal(err)
	}
	files, err := pipeline.ReadFiles(t.Context(), out["out"])
	if err != nil || !strings.Contains(string(files[0].Data), "rows: 12\n") {
		t.Errorf("%s, %v", files[0].Data, err)
	}
}

// TestReleasedFileHasDates: the file of a released domain spells bounds of dates as
// domain.yaml does, not as days since 1970-01-01 (18628 is 2021-01-01, 19723 is 2024-01-01).
func TestReleasedFileHasDates(t *testing.T) {
	d := &domain.Domain{Columns: []domain.Column{{Name: "day", Type: domain.Date, Bounds: &[2]float64{18628, 19723}}}}
	h := pipeline.TableHeader(d, pipeline.Header{Class: pipeline.Private, Stability: pipeline.Rows(1),
		Terms: pipeline.Terms{Adjacency: privacy.AddRemove}})
	out, err := released(pipelinetest.Env(1), h, d, nil, pipeline.FromRecords(h))
	if err != nil {
		t.Fatal(err)
	}
	files, err := pipeline.ReadFiles(t.Context(), out["domain"])
	if err != nil || len(files) != 1 || !strings.Contains(string(files[0].Data), "[2021-01-01, 2024-01-01]") {
		t.Errorf("%v, %s", err, files)
	}
}

// TestDatesCanBeSpelled: bounds of dates beyond the years 0 to 9999 are refused where they
// are set, since rows that a model draws within them cannot be written once it is paid for.
func TestDatesCanBeSpelled(t *testing.T) {
	far, days := 1e7, &domain.Domain{Columns: []domain.Column{{Name: "day", Type: domain.Date}}}
	h := pipeline.TableHeader(days, pipeline.Header{Class: pipeline.Private, Stability: pipeline.Rows(1)})
	for _, s := range []pipeline.Stage{
		&Bounds{Outside: "clip", Bounds: map[string]Limits{"day": {Lower: new(float64), Upper: &far}}},
		&Derive{Columns: []Derived{{Name: "later", Type: domain.Date, Formula: "day", Bounds: &[2]float64{0, far}}}},
	} {
		if _, err := s.Plan(pipeline.Headers{"in": h}); err == nil || !strings.Contains(err.Error(), "the years 0 to 9999") {
			t.Errorf("%T: %v", s, err)
		}
	}
}
