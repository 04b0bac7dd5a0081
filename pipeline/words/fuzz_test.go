package words

import "testing"

// FuzzOf: whatever a record or a saved plan holds, nothing panics, and what is compared
// with itself does not differ.
func FuzzOf(f *testing.F) {
	f.Add(specOf, planOf, specOf)
	f.Add("a: [1, {name: x}, {name: x}]\nstages: {a: null, b: [1]}\n",
		`{"digest": "d", "stages": [null, {"id": "a", "inputs": {"in": null}, "spends": [null]}]}`,
		"stages: {b: {from: [a, 1, {}]}}\nprivacy: 1\nexperiment: {grid: {stages.: 1}}")
	f.Add("&a [*a]", `{"digest": "d", "stages": [], "budget_epsilon": "inf", "delta": 1e999}`, "a: !!int x")
	f.Fuzz(func(t *testing.T, canonical, plan, other string) {
		side := func(text string) Side {
			return Side{Name: "x", Kind: SpecSide, Digest: text, Canonical: []byte(text), Plan: []byte(plan)}
		}
		if r, err := Compare(side(canonical), side(canonical)); err == nil && r.Differ {
			t.Errorf("a spec differs from itself: %+v", r)
		}
		if r, err := Compare(side(canonical), side(other)); err == nil {
			r.Markdown()
			r.Text(func(_ Tone, l string) string { return l }, 0)
		}
		p := Side{Name: "p", Kind: PlanSide, Plan: []byte(plan)}
		if r, err := Compare(p, p); err == nil && r.Differ {
			t.Errorf("a plan differs from itself: %+v", r)
		}
	})
}
