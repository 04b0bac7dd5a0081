package compile

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"weir/internal/stattest"
)

// goldenCase is a case of golden/accounting.json, whose values come from the libraries
// and papers that the file names.
type goldenCase struct {
	ID, Kind, Adjacency string
	Inputs              struct {
		Phases []struct {
			Q     float64
			Noise float64 `json:"noise_multiplier"`
			Steps int64
		}
		Q, Delta float64
		Target   float64 `json:"target_epsilon"`
		Steps    int64
	}
	Expected struct {
		Epsilon, PLD float64
		RDP          float64 `json:"rdp_integer_orders_2_to_512_improved"`
	}
}

func accounts(t *testing.T, ids ...string) []goldenCase {
	t.Helper()
	var file struct{ Cases []json.RawMessage } // of other kinds too, whose fields are others
	stattest.LoadGolden(t, "accounting.json", &file)
	var found []goldenCase
	for _, text := range file.Cases {
		var c goldenCase
		if err := json.Unmarshal(text, &c); slices.Contains(ids, c.ID) {
			if err != nil {
				t.Fatal(err)
			}
			found = append(found, c)
		}
	}
	if len(found) != len(ids) {
		t.Fatalf("%d of the cases %v are there", len(found), ids)
	}
	return found
}

// TestBillIsTheGoldenComposition: the bill of stages with fixed noise is what tight
// libraries give for their joint composition under the adjacency of the spec, and
// what is cumulative after the first stage is what that stage costs.
func TestBillIsTheGoldenComposition(t *testing.T) {
	first := map[string]string{"B17": "B03", "B18": "B04"} // the same events, alone
	for _, c := range accounts(t, "B01", "B02", "B17", "B18", "B21", "B22") {
		text := strings.Replace(head, "epsilon: 1, delta: 1e-5, adjacency: add_remove, accountant: rdp",
			fmt.Sprintf("epsilon: 100, delta: %g, adjacency: %s", c.Inputs.Delta, c.Adjacency), 1) + "stages:\n"
		for i, p := range c.Inputs.Phases {
			text += fmt.Sprintf("  s%d: {kind: learn, from: dataset, sampling_rate: %v, noise_multiplier: %v, steps: %d}\n", i,
				p.Q, p.Noise, p.Steps)
		}
		plan := mustCompile(t, text)
		near(t, c.ID, *plan.Epsilon.Proven, c.Expected.Epsilon, 2e-4, 5e-4) // the tolerance that the file states
		near(t, c.ID+" by addition", *plan.Naive, sumAlone(plan), 1e-12, 0)
		if other, ok := first[c.ID]; ok {
			near(t, c.ID+" after the first stage", *plan.Steps[0].Cumulative, accounts(t, other)[0].Expected.Epsilon, 2e-4, 5e-4)
		}
	}
}

// TestCalibrationIsGolden: the noise found for a budget is what the named accountant
// of a library finds, from above.
func TestCalibrationIsGolden(t *testing.T) {
	for _, c := range accounts(t, "D01", "D06") {
		for accountant, want := range map[string]float64{"pld": c.Expected.PLD, "rdp": c.Expected.RDP} {
			plan := mustCompile(t, head+fmt.Sprintf("stages:\n  train: {kind: learn, sampling_rate: %v, steps: %d}\n",
				c.Inputs.Q, c.Inputs.Steps),
				"privacy.accountant="+accountant, fmt.Sprintf("privacy.epsilon=%v", c.Inputs.Target),
				fmt.Sprintf("privacy.delta=%v", c.Inputs.Delta))
			near(t, c.ID+" "+accountant, *plan.Steps[0].NoiseMultiplier, want, 2e-3, 0)
			if *plan.Epsilon.Proven > c.Inputs.Target {
				t.Errorf("%s %s: the bill of %g is over the budget", c.ID, accountant, *plan.Epsilon.Proven)
			}
		}
	}
}

// TestBillOfLaplaceNoise is in closed form: a Laplace mechanism of noise multiplier b
// spends 1/b, twice that where a row is replaced, c times that for a unit of c rows,
// and basic composition adds.
func TestBillOfLaplaceNoise(t *testing.T) {
	const stages = "stages:\n  bare: {kind: drop, columns: [sex]}\n  a: {kind: learn, from: bare, law: laplace}\n  b: " +
		"{kind: learn, from: bare, law: laplace}\n"
	const search = 3e-4 // within which the search meets the budget, from below
	basic := []string{"privacy.accountant=basic", "privacy.delta=0"}
	for name, c := range map[string]struct {
		set    []string
		factor float64
	}{
		"rows":     {nil, 1},
		"replaced": {[]string{"privacy.adjacency=replace_one"}, 2},
		"units":    {[]string{unit}, 4},
	} {
		plan := mustCompile(t, head+stages, append(append(c.set, basic...), "privacy.split={a: 0.25, b: 0.75}")...)
		for i, share := range []float64{0.25, 0.75} {
			s := plan.Step([]string{"a", "b"}[i])
			near(t, name+" share", *s.Share, share, 0, 0)
			near(t, name+" noise of "+s.ID, *s.NoiseMultiplier, c.factor/share, search, 0)
			near(t, name+" alone "+s.ID, *s.Alone, c.factor / *s.NoiseMultiplier, 1e-12, 0)
		}
		near(t, name+" bill", *plan.Epsilon.Proven, 1, search, 0)
		if *plan.Epsilon.Proven > 1 {
			t.Errorf("%s: the bill of %g is over the budget", name, *plan.Epsilon.Proven)
		}
		near(t, name+" naive", *plan.Naive, *plan.Epsilon.Proven, 1e-12, 0)
		fixed := mustCompile(t, head+stages, append(append(c.set, basic...), "privacy.epsilon=9",
			"stages.a.noise_multiplier=2", "stages.b.noise_multiplier=8")...)
		near(t, name+" fixed", *fixed.Epsilon.Proven, c.factor*(1./2+1./8), 1e-12, 0)
		near(t, name+" fixed, first", *fixed.Step("a").Cumulative, c.factor/2, 1e-12, 0)
	}
}

// TestOneShardIsCharged: a change inside one of five shards is charged as the
// mechanism on shards says, whatever the rows of a unit.
func TestOneShardIsCharged(t *testing.T) {
	const stages = "stages:\n  parts: {kind: cut, shards: 5}\n  bare: {kind: drop, columns: [sex]}\n  train: {kind: " +
		"learn, law: shards, shards: 5, noise_multiplier: 7, sampling_rate: 1, steps: 1}\n"
	s := mustCompile(t, head+stages, "privacy.epsilon=9", unit).Step("train").Spends[0]
	if !strings.Contains(s.Sensitivity, "when a shard changes") || s.Event.Event != s.Value.Event("add_remove") {
		t.Errorf("%s, %v", s.Sensitivity, s.Event.Event)
	}
}

// TestPublishedNumbersAdd as papers add them, and only where every paying stage has one.
func TestPublishedNumbersAdd(t *testing.T) {
	set := []string{"privacy.claims=published", "stages.first.unproven=true", "stages.first.published=finite",
		"privacy.split={first: 0.5, second: 0.5}"}
	if plan := mustCompile(t, two, set...); plan.Epsilon.Published != nil || plan.Epsilon.Proven != nil ||
		plan.Step("second").Alone == nil {
		t.Errorf("%+v, must be neither proven nor published", plan.Epsilon)
	}
	plan := mustCompile(t, two, append(set, "stages.second.unproven=true", "stages.second.published=finite",
		"privacy.split={second: 1}", "stages.first.noise_multiplier=4")...)
	near(t, "published", *plan.Epsilon.Published, 1/4. + 1 / *plan.Step("second").NoiseMultiplier, 1e-15, 0)
	if !strings.HasPrefix(plan.Epsilon.Reason, "stage ") || plan.Step("first").PublishedMethod != "the paper" {
		t.Errorf("%+v", plan.Epsilon)
	}
}

func near(t *testing.T, what string, got, want, rel, abs float64) {
	t.Helper()
	if !(math.Abs(got-want) <= rel*math.Abs(want)+abs) {
		t.Errorf("%s: is %.10g, must be %.10g", what, got, want)
	}
}

func sumAlone(p *Plan) float64 {
	sum := 0.0
	for _, s := range p.Steps {
		sum += *s.Alone
	}
	return sum
}

// TestPublishedNumbersAreOfOneRow: a paper's epsilon is about one row, and is not a number of a unit of four.
func TestPublishedNumbersAreOfOneRow(t *testing.T) {
	const stages = "stages:\n  bare: {kind: drop, columns: [sex]}\n  train: {kind: learn, steps: 50, published: finite, " +
		"noise_multiplier: 9}\n"
	if plan := mustCompile(t, head+stages, "privacy.epsilon=9"); plan.Epsilon.Published == nil {
		t.Error("a unit of one row has no published epsilon")
	}
	if plan := mustCompile(t, head+stages, "privacy.epsilon=9", unit); plan.Epsilon.Published != nil ||
		plan.Step("train").PublishedMethod != "" {
		t.Errorf("a unit of four rows has the published epsilon %g", *plan.Epsilon.Published)
	}
}

// TestInfiniteArithmeticIsWritten: what a paper's arithmetic says beside a proof decides nothing, and where it is
// infinite it must not keep the plan from being written.
func TestInfiniteArithmeticIsWritten(t *testing.T) {
	plan := mustCompile(t, two, "privacy.claims=published", "stages.first.published=infinite",
		"privacy.split={first: 0.5, second: 0.5}")
	if _, err := json.Marshal(plan); err != nil {
		t.Error(err)
	}
}
