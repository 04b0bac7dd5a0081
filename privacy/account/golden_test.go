package account

import (
	"encoding/json"
	"math"
	"testing"

	"weir/internal/stattest"
	"weir/privacy"
)

// goldenCase is one case of accounting.json; its sources are named in the file.
type goldenCase struct {
	ID, Group, Kind string
	Adjacency       privacy.Adjacency
	Inputs          json.RawMessage
	Expected        json.RawMessage
	Tolerance       struct {
		Rel, Abs float64
		PldRel   float64 `json:"pld_rel"`
		PldAbs   float64 `json:"pld_abs"`
	}
	t *testing.T
}

func (c goldenCase) decode(in, want any) {
	c.t.Helper()
	for _, p := range []struct {
		raw json.RawMessage
		to  any
	}{{c.Inputs, in}, {c.Expected, want}} {
		if err := json.Unmarshal(p.raw, p.to); err != nil {
			c.t.Fatal(err)
		}
	}
}

// near passes where |got-want| <= abs + rel*|want|, as the file's README says.
func (c goldenCase) near(what string, got, want float64) {
	c.t.Helper()
	if !(math.Abs(got-want) <= c.Tolerance.Abs+c.Tolerance.Rel*math.Abs(want)) {
		c.t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// nearOrder grants 1e-3: a search over real orders ends where epsilon is flat.
func (c goldenCase) nearOrder(what string, got, want float64) {
	c.t.Helper()
	if !(math.Abs(got-want) <= 1e-3*want) {
		c.t.Errorf("%s: order %v, want %v", what, got, want)
	}
}

func (c goldenCase) atLeast(what string, got, floor float64) {
	c.t.Helper()
	if !(got >= floor) {
		c.t.Errorf("%s: got %v, below %v", what, got, floor)
	}
}

// goldenKinds lists the kinds of accounting.json that this package answers; the other kinds belong to
// packages pld and published.
func goldenKinds() map[string]func(goldenCase) {
	return map[string]func(goldenCase){
		"rdp_poisson_gaussian_per_order":   rdpPerOrder,
		"rdp_epsilon_after_steps":          rdpAfterSteps,
		"rdp_wor_gaussian_per_order":       worPerOrder,
		"wor_gaussian_epsilon_after_steps": worAfterSteps,
	}
}

func TestGoldenAccounting(t *testing.T) {
	var file struct{ Cases []goldenCase }
	stattest.LoadGolden(t, "accounting.json", &file)
	for _, c := range file.Cases {
		if check, ok := goldenKinds()[c.Kind]; ok {
			t.Run(c.ID, func(t *testing.T) { c.t = t; check(c) })
		}
	}
}

func mustEpsilon(t *testing.T, a privacy.Accountant, events []privacy.Event, adj privacy.Adjacency,
	delta float64) float64 {
	t.Helper()
	eps, err := a.Epsilon(events, adj, delta)
	if err != nil {
		t.Fatal(err)
	}
	return eps
}

func sgd(q, s float64, steps int64) []privacy.Event {
	return []privacy.Event{privacy.Repeated{Count: steps, Event: privacy.PoissonSampled{SamplingRate: q,
		Event: privacy.Gaussian{NoiseMultiplier: s}}}}
}

func rdpPerOrder(c goldenCase) {
	var in struct {
		Q, NoiseMultiplier float64 `json:"-"`
		Rate               float64 `json:"q"`
		Noise              float64 `json:"noise_multiplier"`
		Alphas             []float64
	}
	var want struct{ Rdp []float64 }
	c.decode(&in, &want)
	for i, a := range in.Alphas {
		c.near("rdp", rdpAt(c.t, sgd(in.Rate, in.Noise, 1)[0], c.Adjacency, a), want.Rdp[i])
	}
}

func rdpAfterSteps(c goldenCase) {
	var in struct {
		Q     float64
		Noise float64 `json:"noise_multiplier"`
		Steps int64
		Delta float64
	}
	type pair struct {
		Classic       float64 `json:"classic_epsilon"`
		ClassicOrder  float64 `json:"classic_alpha"`
		Improved      float64 `json:"improved_epsilon"`
		ImprovedOrder float64 `json:"improved_alpha"`
	}
	var want struct {
		Integer    pair `json:"integer_orders_2_to_64"`
		Grid       pair `json:"default_order_grid"`
		Continuous pair `json:"continuous_optimum"`
	}
	c.decode(&in, &want)
	for _, v := range []struct {
		what   string
		orders []float64
		want   pair
	}{{"integer", IntegerOrders(2, 64), want.Integer}, {"grid", DefaultOrders(), want.Grid},
		{"continuous", nil, want.Continuous}} {
		for conv, w := range map[Conversion][2]float64{Classic: {v.want.Classic, v.want.ClassicOrder},
			Improved: {v.want.Improved, v.want.ImprovedOrder}} {
			best, err := RDP{conv, v.orders}.epsilon("rdp", sgd(in.Q, in.Noise, in.Steps), c.Adjacency, in.Delta)
			if err != nil {
				c.t.Fatal(err)
			}
			c.near(v.what+" "+conv.String(), best.epsilon, w[0])
			c.nearOrder(v.what+" "+conv.String(), best.order, w[1])
		}
	}
}

func worPerOrder(c goldenCase) {
	var in struct {
		Gamma  float64
		Noise  float64 `json:"noise_multiplier"`
		Alphas []float64
	}
	var want struct {
		Theorem9, Theorem27 []float64
		Lower               []float64 `json:"lower_bound"`
	}
	c.decode(&in, &want)
	general := newWithoutReplacement(in.Gamma, zcdpCurve(rho(in.Noise), ""), nil)
	sharp := newWithoutReplacement(in.Gamma, zcdpCurve(rho(in.Noise), ""),
		func(l int) float64 { return gaussianMoment(in.Noise, l) })
	for i, a := range in.Alphas {
		c.near("theorem 9", general.bound(int(a), general.theorem9)/(a-1), want.Theorem9[i])
		if int(a) <= maxTightOrder {
			c.near("theorem 27", sharp.bound(int(a), sharp.theorem27)/(a-1), want.Theorem27[i])
		}
		c.atLeast("lower bound", sharp.cumulantAt(a), want.Lower[i]*(1-1e-7))
	}
}

func worAfterSteps(c goldenCase) {
	var in struct {
		Gamma float64
		Noise float64 `json:"noise_multiplier"`
		Steps int64
		Delta float64
	}
	var want map[string]json.RawMessage
	c.decode(&in, &want)
	eps := func(key string, got, order float64) {
		var v struct{ Epsilon, Alpha float64 }
		if err := json.Unmarshal(want[key], &v); err != nil {
			c.t.Fatal(err)
		}
		c.near(key, got, v.Epsilon)
		c.nearOrder(key, order, v.Alpha)
	}
	const n = 1 << 40
	sampled := []privacy.Event{privacy.Repeated{Count: in.Steps, Event: privacy.SampledWithoutReplacement{
		SampleSize: int64(math.Round(in.Gamma * n)), Population: n, Event: privacy.Gaussian{NoiseMultiplier: in.Noise}}}}
	general := newWithoutReplacement(in.Gamma, zcdpCurve(rho(in.Noise), ""), nil)
	one := []release{{count: float64(in.Steps), curve: curve{at: general.cumulantAt}}}
	for _, conv := range []Conversion{Classic, Improved} {
		v, order := RDP{conv, IntegerOrders(2, 128)}.minimise(one, func(a, rdp float64) float64 {
			return conv.epsilon(a, rdp,
				in.Delta)
		})
		eps("theorem9_"+conv.String()+"_integer_orders_2_to_128", v, order)
		best, err := RDP{conv, DefaultOrders()}.epsilon("rdp", sampled, c.Adjacency, in.Delta)
		if err != nil {
			c.t.Fatal(err)
		}
		eps("theorem27_"+conv.String()+"_default_grid", best.epsilon, best.order)
	}
}
