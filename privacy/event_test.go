package privacy

import (
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"
)

// everyEvent holds one event of each kind, nested as a pipeline nests them.
func everyEvent() Event {
	return Composed{[]Event{
		Repeated{10000, PoissonSampled{0.002, Gaussian{1.1}}},
		SampledWithoutReplacement{64, 1000, Laplace{2}},
		Parallel{[]Event{DiscreteGaussian{3}, DiscreteLaplace{4}}},
		Exponential{0.5}, RandomizedResponse{math.Inf(1)}, ZCDP{0.1}, Pure{0}, Approximate{1, 1e-9},
	}}
}

func TestEventJSONRoundTrip(t *testing.T) {
	b, err := MarshalEvent(everyEvent())
	if err != nil {
		t.Fatal(err)
	}
	got, err := ParseEvent(b)
	if err != nil || !reflect.DeepEqual(got, everyEvent()) {
		t.Fatalf("got %#v, %v from %s", got, err, b)
	}
	// The form that docs/design.md section 9 fixes.
	const want = `{"composed":{"events":[{"repeated":{"count":10000,"event":{"poisson_sampled":{"sampling_rate":0.002,"event":{"gaussian":{"noise_multiplier":1.1}}}}}},` +
		`{"sampled_without_replacement":{"sample_size":64,"population":1000,"event":{"laplace":{"noise_multiplier":2}}}},` +
		`{"parallel":{"events":[{"discrete_gaussian":{"noise_multiplier":3}},{"discrete_laplace":{"noise_multiplier":4}}]}},` +
		`{"exponential":{"epsilon":0.5}},{"randomized_response":{"epsilon":"inf"}},{"zcdp":{"rho":0.1}},{"pure":{"epsilon":0}},{"approximate":{"epsilon":1,"delta":1e-9}}]}}`
	if string(b) != want {
		t.Errorf("got  %s\nwant %s", b, want)
	}
}

func TestEventInDocument(t *testing.T) {
	doc := struct{ Event JSON }{JSON{Gaussian{1}}}
	b, err := json.Marshal(doc)
	if err != nil || string(b) != `{"Event":{"gaussian":{"noise_multiplier":1}}}` {
		t.Fatalf("got %s, %v", b, err)
	}
	doc.Event = JSON{}
	if err := json.Unmarshal(b, &doc); err != nil || doc.Event.Event != (Gaussian{1}) {
		t.Fatalf("got %v, %v", doc, err)
	}
	if err := json.Unmarshal([]byte(`{"Event":null}`), &doc); err != nil || doc.Event.Event != nil {
		t.Fatalf("got %v, %v", doc, err)
	}
}

func TestParseEventRejects(t *testing.T) {
	deep := strings.Repeat(`{"composed":{"events":[`, 5000)
	cases := []struct{ name, json, want string }{
		{"two keys", `{"gaussian":{"noise_multiplier":1},"pure":{"epsilon":1}}`, "has 2 keys"},
		{"no key", `{}`, "has 0 keys"},
		{"unknown event", `{"gauss":{"noise_multiplier":1}}`, `event: is "gauss", must be one of gaussian`},
		{"unknown field", `{"gaussian":{"noise_multiplier":1,"sigma":2}}`, "event.gaussian.sigma: is not a field"},
		{"case matters", `{"gaussian":{"Noise_Multiplier":1}}`, "event.gaussian.noise_multiplier: is missing"},
		{"twice", `{"gaussian":{"noise_multiplier":1,"noise_multiplier":9}}`,
			"event.gaussian.noise_multiplier: is given twice"},
		{"string number", `{"gaussian":{"noise_multiplier":"1"}}`, "is a string, must be a number"},
		{"infinite noise", `{"gaussian":{"noise_multiplier":"inf"}}`, "is a string, must be a number"},
		{"overflow", `{"gaussian":{"noise_multiplier":1e999}}`, "out of the range"},
		{"negative", `{"laplace":{"noise_multiplier":-1}}`, "event.laplace.noise_multiplier: is -1"},
		{"NaN", `{"laplace":{"noise_multiplier":NaN}}`, "is not JSON"},
		{"rate", `{"poisson_sampled":{"sampling_rate":1.5,"event":{"gaussian":{"noise_multiplier":1}}}}`,
			"event.poisson_sampled.sampling_rate: is 1.5"},
		{"fraction", `{"repeated":{"count":1.5,"event":{"pure":{"epsilon":1}}}}`, "is 1.5, must be a whole number"},
		{"count 0", `{"repeated":{"count":0,"event":{"pure":{"epsilon":1}}}}`, "event.repeated.count: is 0"},
		{"null", `{"composed":{"events":null}}`, "event.composed.events: is null, must be a list"},
		{"null inner", `{"composed":{"events":[null]}}`, "event.composed.events[0]: is null, must be an object"},
		{"sample", `{"sampled_without_replacement":{"sample_size":9,"population":3,"event":{"pure":{"epsilon":1}}}}`,
			"sample_size: is 9"},
		{"delta", `{"approximate":{"epsilon":1,"delta":2}}`, "event.approximate.delta: is 2"},
		{"trailing", `{"pure":{"epsilon":1}} 5`, "text after the object"},
		{"truncated", `{"pure":{"epsilon":1}`, "is not JSON"},
		{"deep", deep, "nested deeper than 64"},
	}
	for _, c := range cases {
		if _, err := ParseEvent([]byte(c.json)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want it to contain %q", c.name, err, c.want)
		}
	}
}

func TestProblemsAreReportedTogether(t *testing.T) {
	_, err := ParseEvent(
		[]byte(`{"composed":{"events":[{"pure":{"eps":1}},{"nope":{}},{"gaussian":{"noise_multiplier":true}}]}}`))
	for _, want := range []string{"events[0].pure.epsilon: is missing", "events[0].pure.eps: is not",
		`events[1]: is "nope"`, "events[2].gaussian.noise_multiplier: is a boolean"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want it to contain %q", err, want)
		}
	}
	err = Validate(Composed{[]Event{nil, Gaussian{math.NaN()}, &Gaussian{1}, Pure{-1}, Approximate{1, -1},
		ZCDP{math.Inf(1)}}})
	for _, want := range []string{"events[0]: is missing", "events[1].gaussian.noise_multiplier: is NaN",
		"*privacy.Gaussian", "pure.epsilon: is -1", "delta: is -1", "rho: is +Inf"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want it to contain %q", err, want)
		}
	}
}

// TestGroup: the expected values are the formulas of Group's comment at these inputs.
func TestGroup(t *testing.T) {
	cases := []struct {
		c        int
		in, want Event
	}{
		{1, DiscreteGaussian{2}, DiscreteGaussian{2}},
		{4, Gaussian{2}, Gaussian{0.5}},
		{2, PoissonSampled{0.1, Gaussian{2}}, PoissonSampled{groupRate(0.1, 2), Gaussian{1}}},
		{3, SampledWithoutReplacement{10, 100, Laplace{3}}, SampledWithoutReplacement{30, 100, Laplace{1}}},
		{3, SampledWithoutReplacement{50, 100, Laplace{3}}, SampledWithoutReplacement{100, 100, Laplace{1}}},
		{3, Repeated{7, ZCDP{0.5}}, Repeated{7, ZCDP{4.5}}},
		{3, Composed{[]Event{Pure{1}, Exponential{2}}}, Composed{[]Event{Pure{3}, Exponential{6}}}},
		{3, RandomizedResponse{1}, Repeated{3, RandomizedResponse{1}}},
		{2, Parallel{[]Event{Pure{1}, Pure{1}, Pure{1}}}, Repeated{2, Parallel{[]Event{Pure{2}, Pure{2}, Pure{2}}}}},
		{3, Parallel{[]Event{Pure{1}, Pure{1}}}, Composed{[]Event{Pure{3}, Pure{3}}}},
		{2, Parallel{[]Event{Pure{1}, Pure{2}}}, Composed{[]Event{Pure{2}, Pure{4}}}},
		{3, Approximate{0, 1e-6}, Approximate{0, 3e-6}},
		{900, Approximate{1, 1e-6}, Approximate{900, 1}},
	}
	for _, c := range cases {
		if got, err := Group(c.in, c.c); err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("Group(%v, %d) is %v, %v, want %v", c.in, c.c, got, err, c.want)
		}
	}
	if q := groupRate(0.1, 2); math.Abs(q-0.19) > 1e-15 {
		t.Errorf("rate for two rows at 0.1 is %v, want 0.19", q)
	}
	_, err := Group(Composed{[]Event{Repeated{2, DiscreteGaussian{1}}}}, 2)
	if !errors.Is(err, ErrUnsupported) || !strings.Contains(err.Error(),
		"event.composed.events[0].repeated.event.discrete_gaussian") {
		t.Errorf("got %v, want ErrUnsupported with the path", err)
	}
	if _, err := Group(Gaussian{1}, 0); err == nil {
		t.Error("a group of 0 rows passes")
	}
}

// hockeyStick returns sum max(0, p_x - a q_x) for scale b discrete Laplace noise and a shift.
func hockeyStick(b, shift, a float64) float64 {
	r := math.Exp(-1 / b)
	sum := 0.0
	for x := -400.0; x <= 400+shift; x++ {
		p, q := math.Pow(r, math.Abs(x)), math.Pow(r, math.Abs(x-shift))
		sum += math.Max(0, p-a*q) * (1 - r) / (1 + r)
	}
	return sum
}

// TestGroupDiscreteLaplaceDominates: group's claim for discrete Laplace under both adjacencies: the charged pair
// (scale b/c, shift 1 or 2) is nowhere below the true pair (scale b, shift c or 2c).
func TestGroupDiscreteLaplaceDominates(t *testing.T) {
	for _, b := range []float64{0.7, 2, 5} {
		for _, c := range []float64{2, 3, 5} {
			for _, base := range []float64{1, 2} {
				for eps := -3.0; eps <= 6; eps += 0.1 {
					charged, truth := hockeyStick(b/c, base, math.Exp(eps)), hockeyStick(b, base*c, math.Exp(eps))
					if charged < truth-1e-12 {
						t.Fatalf("b=%v c=%v shift=%v eps=%v: charged %v, true %v", b, c, base, eps, charged, truth)
					}
				}
			}
		}
	}
}

func FuzzParseEvent(f *testing.F) {
	b, _ := MarshalEvent(everyEvent())
	f.Add(b)
	for _, s := range []string{`{}`, `null`, `[[[[`, `{"composed":{"events":[]}}`, `{"pure":{"epsilon":"inf"}}`,
		`{"repeated":{"count":1e18,"event":{"zcdp":{"rho":1}}}}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		e, err := ParseEvent(b)
		if err != nil {
			return
		}
		out, err := MarshalEvent(e)
		if err != nil {
			t.Fatalf("a parsed event does not marshal: %v", err)
		}
		again, err := ParseEvent(out)
		if err != nil || !reflect.DeepEqual(e, again) {
			t.Fatalf("%s does not round trip: %v", out, err)
		}
		if _, err := Group(e, 3); err != nil && !errors.Is(err, ErrUnsupported) {
			t.Fatalf("a parsed event has no group: %v", err)
		}
	})
}

func TestScaleNoise(t *testing.T) {
	if got, want := NoiseMultipliers(everyEvent()), []float64{1.1, 2, 3, 4}; !reflect.DeepEqual(got, want) {
		t.Errorf("noise multipliers are %v, want %v", got, want)
	}
	if got, want := NoiseMultipliers(ScaleNoise(everyEvent(), 2)), []float64{2.2, 4, 6, 8}; !reflect.DeepEqual(got, want) {
		t.Errorf("twice the noise is %v, want %v", got, want)
	}
	if !reflect.DeepEqual(ScaleNoise(everyEvent(), 1), everyEvent()) {
		t.Error("a factor of 1 changes the event")
	}
}

// TestExchanged: the expected values are the rules of Exchanged's comment.
func TestExchanged(t *testing.T) {
	sgd := Repeated{9, PoissonSampled{0.1, Gaussian{2}}}
	for _, c := range []struct{ in, want Event }{
		{sgd, sgd},
		{DiscreteGaussian{3}, DiscreteGaussian{3}},
		{Composed{[]Event{Pure{1}, Laplace{2}}}, Composed{[]Event{Pure{2}, Laplace{2}}}},
		{Parallel{[]Event{Exponential{1}, ZCDP{0.5}}}, Parallel{[]Event{Exponential{2}, ZCDP{2}}}},
		{PoissonSampled{0.1, Pure{1}}, PoissonSampled{0.1, Pure{2}}},
		{Approximate{0, 1e-6}, Approximate{0, 2e-6}},
	} {
		if got, err := Exchanged(c.in); err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("Exchanged(%v) is %v, %v, want %v", c.in, got, err, c.want)
		}
	}
	if _, err := Exchanged(Gaussian{-1}); err == nil {
		t.Error("an invalid event passes")
	}
}
