package main

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const sgdEvent = `{"repeated":{"count":1000,"event":{"poisson_sampled":{"sampling_rate":0.01,"event":{"gaussian":{"noise_multiplier":1}}}}}}`

// weirEpsilon runs the command and returns its exit code, output and errors.
func weirEpsilon(args ...string) (int, string, string) {
	var out, errs bytes.Buffer
	s := streams{in: strings.NewReader(""), out: &out, err: &errs}
	c := epsilonCommand(s)
	c.SilenceErrors, c.SilenceUsage = true, true
	c.SetArgs(args)
	c.SetErr(&errs)
	if err := c.ExecuteContext(context.Background()); err != nil {
		return exitCode(context.Background(), err), out.String(), err.Error()
	}
	return exitDone, out.String(), errs.String()
}

func jsonNumber(t *testing.T, out, key string) float64 {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal([]byte(out), &v); err != nil {
		t.Fatalf("%v in %q", err, out)
	}
	x, ok := v[key].(float64)
	if !ok {
		t.Fatalf("no number %s in %s", key, out)
	}
	return x
}

// TestEpsilonCommand: the expected values are cases A15, B01 and D01 of golden/accounting.json: 1000 steps at q
// 0.01, delta 1e-5.
func TestEpsilonCommand(t *testing.T) {
	file := filepath.Join(t.TempDir(), "sgd.json")
	if err := os.WriteFile(file, []byte(sgdEvent), 0o600); err != nil {
		t.Fatal(err)
	}
	cases := []struct {
		args []string
		key  string
		want float64
	}{
		{[]string{"--delta", "1e-5"}, "epsilon", 1.8282366653},
		{[]string{"--delta", "1e-5", "--accountant", "rdp", "--explain"}, "epsilon", 2.1013221312},
		{[]string{"--epsilon", "1.828", "--accountant", "pld"}, "delta", 1.0017977617e-5},
		{[]string{"--delta", "1e-5", "--epsilon", "1", "--calibrate"}, "noise_multiplier", 1.4146308513},
	}
	for _, c := range cases {
		code, out, errs := weirEpsilon(append(c.args, "--event", "@"+file, "--json")...)
		if code != exitDone {
			t.Errorf("%v: exit %d, %s", c.args, code, errs)
			continue
		}
		if got := jsonNumber(t, out, c.key); math.Abs(got-c.want) > 1e-3*c.want {
			t.Errorf("%v: %s is %v, want %v", c.args, c.key, got, c.want)
		}
	}
}

func TestEpsilonCommandModes(t *testing.T) {
	code, out, errs := weirEpsilon("--event", `{"gaussian":{"noise_multiplier":0}}`, "--delta", "1e-5", "--json")
	if code != exitDone || !strings.Contains(out, `"epsilon": "inf"`) {
		t.Errorf("no noise: %d %s %s", code, out, errs)
	}
	code, out, errs = weirEpsilon("--event", `{"pure":{"epsilon":0.5}}`, "--epsilon", "1.6", "--delta", "0", "--steps",
		"--accountant", "basic", "--json")
	if code != exitDone || jsonNumber(t, out, "steps") != 3 {
		t.Errorf("steps: %d %s %s, want 3", code, out, errs)
	}
	code, out, errs = weirEpsilon("--event", sgdEvent, "--curve", "--accountant", "rdp")
	if code != exitDone || strings.Count(out, "epsilon") != 12 {
		t.Errorf("curve: %d %s %s, want 12 points", code, out, errs)
	}
}

func TestEpsilonCommandRefuses(t *testing.T) {
	cases := []struct {
		args []string
		code int
		want string
	}{
		{[]string{"--delta", "1e-5"}, exitUsage, "--event: is missing"},
		{[]string{"--event", `{"gaussian":{"sigma":1}}`, "--delta", "1e-5"}, exitUsage, "event.gaussian.sigma"},
		{[]string{"--event", "@/nowhere", "--delta", "1e-5"}, exitUsage, "--event 1"},
		{[]string{"--event", sgdEvent}, exitUsage, "--delta or --epsilon"},
		{[]string{"--event", sgdEvent, "--delta", "2"}, exitUsage, "--delta: is 2"},
		{[]string{"--event", sgdEvent, "--delta", "NaN"}, exitUsage, "--delta: is NaN"},
		{[]string{"--event", sgdEvent, "--delta", "1e-5", "--accountant", "pdl"}, exitUsage, `--accountant: is "pdl"`},
		{[]string{"--event", sgdEvent, "--delta", "1e-5", "--adjacency", "x"}, exitUsage, `--adjacency: is "x"`},
		{[]string{"--event", sgdEvent, "--delta", "1e-5", "--accountant", "zcdp"}, exitPrivacy,
			"events[0].repeated.event.poisson_sampled"},
		{[]string{"--event", `{"pure":{"epsilon":2}}`, "--event", `{"laplace":{"noise_multiplier":1}}`, "--epsilon", "1",
			"--delta", "1e-5", "--calibrate", "--accountant", "rdp"}, exitPrivacy, "out of reach"},
		{[]string{"--event", `{"pure":{"epsilon":2}}`, "--epsilon", "1", "--delta", "1e-5", "--calibrate"}, exitUsage,
			"no event has a noise multiplier"},
	}
	for _, c := range cases {
		if code, _, errs := weirEpsilon(c.args...); code != c.code || !strings.Contains(errs, c.want) {
			t.Errorf("%v: exit %d, %q, want %d and %q", c.args, code, errs, c.code, c.want)
		}
	}
}

// TestEpsilonExplains: --explain names the bound of every event and, for pld, how far the answer can be from the
// tight one.
func TestEpsilonExplains(t *testing.T) {
	for accountant, want := range map[string][]string{
		"pld": {"events[0].repeated.event.poisson_sampled, 1000 times: Poisson sample", "Zhu, Dong, Wang 2022",
			"the numerical gap is"},
		"rdp": {"events[0].repeated.event.poisson_sampled, 1000 times: ", "Mironov, Talwar, Zhang 2019",
			"at the best order, 7.78", "improved formula"},
		"basic": {"exact at its share of delta", "amplified by sampling at 0.01", "epsilons and deltas added"},
	} {
		code, out, errs := weirEpsilon("--event", sgdEvent, "--delta", "1e-5", "--explain", "--accountant", accountant)
		for _, w := range want {
			if code != exitDone || !strings.Contains(out, w) {
				t.Errorf("%s: exit %d, %q %s, want %q in it", accountant, code, out, errs, w)
			}
		}
	}
	code, out, errs := weirEpsilon("--event", sgdEvent, "--delta", "1e-5", "--explain", "--json")
	var v struct {
		Epsilon     float64
		Explanation struct {
			Optimistic float64 `json:"epsilon_optimistic"`
			Bounds     []struct {
				Path, Rule string
				Count      float64
			}
			Why []string
		}
	}
	if err := json.Unmarshal([]byte(out), &v); err != nil || code != exitDone {
		t.Fatalf("%v, exit %d, %s", err, code, errs)
	}
	if x := v.Explanation; !(x.Optimistic < v.Epsilon && x.Optimistic > 0.999*v.Epsilon) || len(x.Bounds) != 1 ||
		x.Bounds[0].Count != 1000 {
		t.Errorf("epsilon %v, explanation %+v", v.Epsilon, x)
	}
}
