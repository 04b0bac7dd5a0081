package main

import (
	"math"
	"os"
	"reflect"
	"strings"
	"testing"

	"weir/specs"
)

// TestInventoryIsWhole: every item names a spec that there is, and every file of runs has figures of the inventory
// alone.
func TestInventoryIsWhole(t *testing.T) {
	lines, err := Lines()
	if err != nil {
		t.Fatal(err)
	}
	type key struct{ spec, cell, at, figure string }
	keys := map[key]bool{}
	for _, l := range lines {
		keys[key{l.Spec, l.Cell, l.At, l.Figure}] = true
		if !math.IsNaN(l.Printed) && (l.Spec == "" || l.Figure == "" || l.Better == "") {
			t.Errorf("%s, %s: %g is printed, and no figure of a spec stands beside it", l.Source, l.What, l.Printed)
		}
		if l.Spec == "" && l.Note == "" {
			t.Errorf("%s, %s: has no spec, and no note says why", l.Source, l.What)
		}
	}
	entries, err := os.ReadDir("../../../specs/results")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		name := strings.TrimSuffix(e.Name(), ".csv")
		if e.Name() == inventory || e.Name() == spreads {
			continue
		}
		if _, is := specs.Read(name); !is {
			t.Errorf("%s: there is no spec of this name", e.Name())
		}
		values, err := Values(name)
		if err != nil {
			t.Error(err)
		}
		for _, v := range values {
			if v.Spec != name || !keys[key{v.Spec, v.Cell, v.At, v.Figure}] && !keys[key{v.Spec, v.Cell, Best, v.Figure}] {
				t.Errorf("%s: the inventory has no line for %s of cell %q at %q", e.Name(), v.Figure, v.Cell, v.At)
			}
		}
	}
}

// TestValuesOfASpecAreLines: the experiment of a spec holds what its paper prints; each value is a line of its own.
func TestValuesOfASpecAreLines(t *testing.T) {
	lines, err := Lines()
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range lines { // tables 5.2 to 5.10 of GANAD: PATE-GAN on Cardio, control at epsilon 10
		if l.Spec == "ganad-pate-gan-cardio-published" && l.Cell == "control" && l.At == "10" && l.Figure == "utility.auroc" {
			if l.Printed != .627 {
				t.Errorf("%g is printed, must be .627", l.Printed)
			}
			if l.SD != math.Sqrt(.00025) { // printed as .627 +- .000, a variance
				t.Errorf("its deviation is %g, must be the root of .00025: what rounds to .000 is below .0005", l.SD)
			}
			return
		}
	}
	t.Error("no line has the value")
}

func TestVerdict(t *testing.T) {
	nan := math.NaN()
	for name, c := range map[string]struct {
		line Line
		want string
	}{
		// .01 within 2 sqrt(.01^2/5 + .01^2)
		"met":                   {Line{Item{Printed: .75, SD: nan, Better: "high"}, 5, .76, .01}, Reproduced},
		"above, high is better": {Line{Item{Printed: .75, SD: nan, Better: "high"}, 5, .78, .01}, BetterThan},
		"above, low is better":  {Line{Item{Printed: .75, SD: nan, Better: "low"}, 5, .78, .01}, WorseThan},
		"below, low is better":  {Line{Item{Printed: .75, SD: nan, Better: "low"}, 5, .72, .01}, BetterThan},
		"away":                  {Line{Item{Printed: .75, SD: nan, Better: "near"}, 5, .78, .01}, Differs},
		// 2 se are .0028
		"of many printed runs":    {Line{Item{Printed: .75, SD: nan, Of: 100, Better: "high"}, 100, .755, .01}, BetterThan},
		"a printed spread counts": {Line{Item{Printed: .75, SD: .05, Of: 1, Better: "high"}, 5, .80, .01}, Reproduced},
		"four runs, wide apart":   {Line{Item{Printed: .75, SD: nan, Better: "high"}, 4, .75, .3}, NoVerdict},
		"one run":                 {Line{Item{Printed: .75, SD: nan, Better: "high"}, 1, .5, nan}, NoVerdict},
		"one value in all runs":   {Line{Item{Printed: .75, SD: nan, Better: "near"}, 5, .76, 0}, NoVerdict},
		"one value, and a spread": {Line{Item{Printed: .75, SD: .01, Of: 1, Better: "high"}, 5, .5, 0}, WorseThan},
		"nothing printed":         {Line{Item{Printed: nan, SD: nan, Better: "high"}, 5, .5, .1}, NoVerdict},
	} {
		if got := c.line.Verdict(); got != c.want {
			t.Errorf("%s: %s, must be %s", name, got, c.want)
		}
	}
}

// TestCoarse: a line is coarse where it is reproduced and half of the printed value would be too.
func TestCoarse(t *testing.T) {
	line := Line{Item{Printed: .75, SD: .1, Of: 1, Better: "high"}, 5, .7, .1} // 2 se are .22
	if line.Coarse() {
		t.Errorf("a line of two standard errors of .22 at .75 is coarse")
	}
	line.SD = .2 // .41
	if !line.Coarse() {
		t.Errorf("a line of two standard errors of .41 at .75 is not coarse")
	}
	if line.Mean = .2; line.Coarse() {
		t.Errorf("a line that is %s is coarse", line.Verdict())
	}
}

// TestPrintedTwice: the epoch that DP-GAN of GANAD prints at .1 and at 1 has the variances of both columns, each beside
// its own value.
func TestPrintedTwice(t *testing.T) {
	lines, err := Lines()
	if err != nil {
		t.Fatal(err)
	}
	got := map[float64]float64{}
	for _, l := range lines {
		if l.place() == (place{"ganad-dp-gan-cervical-published", "control", "25", "utility.auroc"}) {
			got[l.Printed] = math.Round(1000*float64(l.SD*l.SD)) / 1000
		}
	}
	if want := map[float64]float64{.428: .018, .542: .016}; !reflect.DeepEqual(got, want) {
		t.Errorf("the control has the variances %v, must have %v", got, want)
	}
}

// TestSpreadsAreOfLines: each printed variance stands behind a value that is printed, and each value of GANAD has one.
func TestSpreadsAreOfLines(t *testing.T) {
	sd, err := printedSpreads()
	if err != nil {
		t.Fatal(err)
	}
	lines, err := Lines()
	if err != nil {
		t.Fatal(err)
	}
	used := map[place]bool{}
	for _, l := range lines {
		_, is := sd[l.place()]
		if is != (l.Source == "ganad" && !math.IsNaN(l.Printed)) {
			t.Errorf("%s, %s at %q, %s: has a printed variance: %v", l.Spec, l.Cell, l.At, l.Figure, is)
		}
		used[l.place()] = true
	}
	for place := range sd {
		if !used[place] {
			t.Errorf("no printed value has the variance of %v", place)
		}
	}
}

// TestFigureOfAll: the line of all columns adds up what each run has of them, and of no other figure or cell.
func TestFigureOfAll(t *testing.T) {
	value := func(run, cell, figure string, x float64) Value {
		return Value{Run: run, Cell: cell, Figure: figure, Value: x}
	}
	values := []Value{value("r1", "c", "m.kl.a", 1), value("r1", "c", "m.kl.b", 2), value("r1", "c", "m.kls.a", 64),
		value("r2", "c", "m.kl.a", 4), value("r2", "c", "u.x", 64), value("r2", "c", "m.kl.b", 8), value("r3", "d", "m.kl.a",
			64)}
	if got, want := (Item{Cell: "c", Figure: "m.kl.*"}).numbersOf(values), []float64{3, 12}; !reflect.DeepEqual(got,
		want) {
		t.Errorf("%v, must be %v", got, want)
	}
}

// TestBestRuns: of each repeat the run with the highest lead figure, whatever its other figures are.
func TestBestRuns(t *testing.T) {
	var values []Value
	for _, v := range []struct {
		cell, run string
		seed      uint64
		auroc     float64
	}{{"", "a", 1, .5}, {"", "b", 1, .7}, {"", "c", 1, .7}, {"", "d", 2, .4}, {"x", "e", 1, .3}} {
		values = append(values, Value{Cell: v.cell, Run: v.run, Seed: v.seed, Figure: "auroc", Value: v.auroc},
			Value{Cell: v.cell, Run: v.run, Seed: v.seed, Figure: "other", Value: 1 - v.auroc})
	}
	if got, want := BestRuns(values, "auroc"), map[string]bool{"b": true, "d": true, "e": true}; !reflect.DeepEqual(got,
		want) {
		t.Errorf("%v, must be %v", got, want)
	}
}

func TestValuesRoundTrip(t *testing.T) {
	old := []Value{{"a", "c1", "control", "10", "r1", 7, "utility.auroc", .75, 12}, {"a", "c1", "control", "10", "r2", 8,
		"utility.auroc", .5, 3}}
	again, err := Parse("a.csv", Format(old))
	if err != nil || !reflect.DeepEqual(again, old) {
		t.Errorf("%v, %v; must be %v", again, err, old)
	}
	better := Value{"a", "c2", "control", "10", "r2", 8, "utility.auroc", .6, 3}
	if merged := Merge(old, []Value{better}); !reflect.DeepEqual(merged, []Value{old[0], better}) {
		t.Errorf("%v: a run that is taken again replaces itself alone", merged)
	}
}

func TestParseSaysWhere(t *testing.T) {
	head := strings.Join(valueHead, ",") + "\n"
	for text, want := range map[string]string{
		"":                           "its head must be",
		"spec,commit\n":              "wrong number of fields",
		head + "a,b,c,d,e,f,g,h,i\n": `a.csv: line 2: seed is "f", must be a whole number`,
	} {
		if _, err := Parse("a.csv", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, must say %q", text, err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(strings.Join(valueHead, ",") + "\na,b,c,d,e,1,g,.5,3\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		values, err := Parse("a.csv", data)
		if err != nil {
			return
		}
		if _, err := Parse("a.csv", Format(values)); err != nil {
			t.Errorf("what was read is not read again: %v", err)
		}
	})
}
