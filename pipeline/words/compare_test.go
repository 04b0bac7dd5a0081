package words

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the golden Markdown")

// specOf is a canonical spec, cut to what is compared.
const specOf = `weir: 1
name: study
dataset:
  file: data.csv
  domain:
    columns:
      - name: age
        type: integer
        bounds: [0, 120]
      - name: group
        type: categorical
        categories: [a, b, c]
  version: "1"
privacy:
  epsilon: 1
  delta: 1e-05
  split:
    train: 1
seed: 3
stages:
  clean:
    kind: bounds
    from: dataset
    outside: missing
  train:
    kind: auto
    from: clean
  sample:
    kind: sample
    from: train
    rows: 50
experiment:
  grid:
    stages.train.steps: ["1", "2"]
`

// planOf is the plan of specOf; %s is what its bill says of train.
const planOf = `{"name": "study", "digest": "sha256:1", "seed": 3, "dataset": {"file": "data.csv", "privacy_unit": "row", "columns": 2},
"adjacency": "add_remove", "accountant": "pld", "claims": "proven", "budget_epsilon": 1, "delta": 0.00001, "epsilon": {"published": null, "proven": 0.99},
"stages": [
 {"id": "clean", "kind": "bounds", "version": 1, "inputs": {"in": ["dataset"]}, "settings": {"outside": "missing"}, "class": "private", "events": []},
 {"id": "train", "kind": "auto", "version": 2, "inputs": {"in": ["clean"]}, "settings": {}, "class": "released",
  "decided": [{"setting": "bins", "value": "15", "why": "n"}],
  "spends": [{"name": "marginals", "mechanism": "noisy", "sensitivity": "1", "uses": 1, "event": {"gaussian": {"noise_multiplier": 8}}}],
  "noise_multiplier": 8, "share": 1, "epsilon_alone": 0.99, "epsilon_cumulative": 0.99},
 {"id": "sample", "kind": "sample", "version": 1, "inputs": {"in": ["train"]}, "settings": {"rows": 50}, "class": "released"}]}`

func specSide(text string) Side {
	return Side{Name: "x.yaml", Kind: SpecSide, Digest: text, Canonical: []byte(text), Plan: []byte(planOf)}
}

// words returns the changes of a list, one line each, with their marks.
func words(all []Change) (lines []string) {
	for _, c := range all {
		_, mark := c.mark()
		lines = append(lines, mark+" "+c.Line())
	}
	return lines
}

// TestSettings: pairs of specs, each made from one by replacing text, and all that differs
// between them.
func TestSettings(t *testing.T) {
	for name, c := range map[string]struct {
		edits []string // old, new, ...
		want  []string
	}{
		"nothing":           {nil, nil},
		"a number":          {[]string{"epsilon: 1\n", "epsilon: 2\n"}, []string{"~ privacy.epsilon: 1 -> 2"}},
		"spelling":          {[]string{"delta: 1e-05", "delta: 0.00001", "rows: 50", "rows: 5e1"}, nil},
		"text for a number": {[]string{"seed: 3", `seed: "4"`}, []string{"~ seed: 3 -> 4"}},
		"order of keys":     {[]string{"    from: train\n    rows: 50\n", "    rows: 50\n    from: train\n"}, nil},
		"order of stages": {[]string{"  clean:\n    kind: bounds\n    from: dataset\n    outside: missing\n", "",
			"experiment:",
			"  clean:\n    kind: bounds\n    from: dataset\n    outside: missing\nexperiment:"}, nil},
		"bounds of a column": {[]string{"[0, 120]", "[0, 99]"},
			[]string{"~ dataset.domain.columns.age.bounds: [0, 120] -> [0, 99]"}},
		"a category": {[]string{"[a, b, c]", "[a, b, c, d]"},
			[]string{"~ dataset.domain.columns.group.categories: [a, b, c] -> [a, b, c, d]"}},
		"a new column": {[]string{"  version:", "      - name: x.y\n        type: numeric\n  version:"},
			[]string{`+ dataset.domain.columns."x.y": {name: x.y, type: numeric}`}},
		"a stage more": {[]string{"experiment:", "  audit:\n    kind: disclosure\nexperiment:"},
			[]string{"+ stages.audit: {kind: disclosure}"}},
		"a stage less": {[]string{"  sample:\n    kind: sample\n    from: train\n    rows: 50\n", ""},
			[]string{"- stages.sample: {kind: sample, from: train, rows: 50}"}},
		"a setting of one": {[]string{"rows: 50", "rows: 50\n    decode: false"},
			[]string{"+ stages.sample.decode: false"}},
		"a new name": {[]string{"sample:\n", "draw:\n"}, []string{"~ stages.sample: is called draw now"}},
		"new names in a row": {[]string{"clean:\n", "tidy:\n", "from: clean", "from: tidy", "train:\n", "fit:\n",
			"from: train", "from: fit", "    train: 1", "    fit: 1", "stages.train", "stages.fit"},
			[]string{"~ stages.clean: is called tidy now", "~ stages.train: is called fit now"}},
		"a new name and a change": {[]string{"sample:\n", "draw:\n", "rows: 50", "rows: 60"},
			[]string{"~ stages.sample: is called draw now", "~ stages.draw.rows: 50 -> 60"}},
		"another kind": {[]string{"sample:\n    kind: sample", "draw:\n    kind: other"},
			[]string{"- stages.sample: {kind: sample, from: train, rows: 50}",
				"+ stages.draw: {kind: other, from: train, rows: 50}"}},
		"the name in a setting": {[]string{"outside: missing", "outside: train", "train:\n    kind", "fit:\n    kind",
			"from: train", "from: fit", "    train: 1", "    fit: 1", "stages.train", "stages.fit"},
			[]string{"~ stages.train: is called fit now", "~ stages.clean.outside: missing -> train"}},
		"order of columns": {[]string{"      - name: age\n        type: integer\n        bounds: [0, 120]\n", "",
			"  version:", "      - name: age\n        type: integer\n        bounds: [0, 120]\n  version:"},
			[]string{"~ dataset.domain.columns: in another order"}},
		"one of two names": {[]string{"  sample:\n    kind: sample\n    from: train\n    rows: 50\n",
			"  a:\n    kind: sample\n    from: train\n    rows: 50\n  b:\n    kind: sample\n    from: train\n    rows: 50\n"},
			[]string{"- stages.sample: {kind: sample, from: train, rows: 50}",
				"+ stages.a: {kind: sample, from: train, rows: 50}", "+ stages.b: {kind: sample, from: train, rows: 50}"}},
		"a grid": {[]string{`["1", "2"]`, `["1", "3"]`},
			[]string{`~ experiment.grid."stages.train.steps": [1, 2] -> [1, 3]`}},
	} {
		t.Run(name, func(t *testing.T) {
			b := specOf
			for i := 0; i+1 < len(c.edits); i += 2 {
				if !strings.Contains(b, c.edits[i]) {
					t.Fatalf("the spec does not hold %q", c.edits[i])
				}
				b = strings.ReplaceAll(b, c.edits[i], c.edits[i+1])
			}
			r, err := Compare(specSide(specOf), specSide(b))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(sortedLines(c.want), sortedLines(words(r.Settings))); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if r.Differ != (len(c.want) > 0) {
				t.Errorf("differ is %v", r.Differ)
			}
			back, err := Compare(specSide(b), specSide(specOf))
			if err != nil || len(back.Settings) != len(r.Settings) {
				t.Errorf("the other way round %d settings differ, must be %d (%v)", len(back.Settings), len(r.Settings), err)
			}
		})
	}
}

func sortedLines(lines []string) map[string]bool {
	m := map[string]bool{}
	for _, l := range lines {
		m[l] = true
	}
	return m
}

// TestBill: whatever a bill says of a stage, a changed one is seen.
func TestBill(t *testing.T) {
	for old, c := range map[string]struct{ new, want string }{
		`"noise_multiplier": 8, "share"`: {`"noise_multiplier": 7, "share"`, "train.noise_multiplier: 8 -> 7"},
		`{"gaussian": {"noise_multiplier": 8}}`: {`{"gaussian": {"noise_multiplier": 7}}`,
			"train.mechanisms.marginals.event.gaussian.noise_multiplier: 8 -> 7"},
		`"epsilon_alone": 0.99`: {`"epsilon_alone": 0.98, "epsilon_published": 0.5`,
			"train.epsilon_alone: 0.99 -> 0.98|train.epsilon_published: none -> 0.5"},
		`"uses": 1`:             {`"uses": 2`, "train.mechanisms.marginals.uses: 1 -> 2"},
		`"sensitivity": "1"`:    {`"sensitivity": "2"`, "train.mechanisms.marginals.sensitivity: 1 -> 2"},
		`"share": 1`:            {`"share": 0.5`, "train.share: 1 -> 0.5"},
		`"proven": 0.99`:        {`"proven": 0.997654321`, "total.epsilon_proven: 0.99 -> 0.99766"},
		`"published": null`:     {`"published": 0.5`, "total.epsilon_published: none -> 0.5"},
		`"add_remove"`:          {`"replace_one"`, "total.adjacency: add_remove -> replace_one"},
		`"pld"`:                 {`"rdp"`, "total.accountant: pld -> rdp"},
		`"delta": 0.00001`:      {`"delta": 0.00002`, "total.delta: 1e-05 -> 2e-05"},
		`"privacy_unit": "row"`: {`"privacy_unit": "id"`, "total.privacy_unit: row -> id"},
		`"privacy_unit": "row", "columns"`: {`"privacy_unit": "row", "budget": {"epsilon": 3}, "columns"`,
			"total.dataset_budget: {epsilon: 3}"},
		`"claims": "proven"`: {`"claims": "published"`, "total.claims: proven -> published"},
		`"epsilon_cumulative": 0.99`: {`"epsilon_cumulative": 0.99, "unproven": {"rule": "W13", "why": "why"}`,
			"train.unproven: W13: why"},
		`"name": "marginals", "mechanism": "noisy"`: {`"name": "marginals", "mechanism": "exact"`,
			"train.mechanisms.marginals.mechanism: noisy -> exact"},
		`"class": "released"}`: {`"class": "released", "spends": [{"name": "m"}]}`,
			"sample: {epsilon_alone: none, epsilon_published: none, epsilon_cumulative: no..."},
	} {
		b := specSide(specOf)
		if !strings.Contains(planOf, old) {
			t.Fatalf("the plan does not hold %q", old)
		}
		b.Plan = []byte(strings.Replace(planOf, old, c.new, 1))
		r, err := Compare(specSide(specOf), b)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, change := range r.Bill {
			got = append(got, change.Line())
		}
		if strings.Join(got, "|") != c.want || !r.Differ {
			t.Errorf("%s: the bill says %q, must say %q", c.new, got, c.want)
		}
	}
}

func TestFollows(t *testing.T) {
	b := specSide(specOf)
	b.Plan = []byte(strings.NewReplacer(`"value": "15"`, `"value": "18"`, `"kind": "bounds", "version": 1`,
		`"kind": "bounds", "version": 2`).Replace(planOf))
	r, err := Compare(specSide(specOf), b)
	want := []string{"~ clean.version: 1 -> 2", "~ train.decided.bins: 15 -> 18"}
	if diff := cmp.Diff(want, words(r.Follows)); err != nil || diff != "" || !r.Differ {
		t.Errorf("%v, -want +got:\n%s", err, diff)
	}
}

// TestPlansAlone: a saved plan is compared by what it holds, and says where its spec
// holds more that has changed.
func TestPlansAlone(t *testing.T) {
	plan := func(text string) Side {
		return Side{Name: "p.json", Kind: PlanSide, Plan: []byte(text), Digest: Digest([]byte(text))}
	}
	for old, c := range map[string]struct{ new, want string }{
		`"rows": 50`:           {`"rows": 60`, "~ stages.sample.rows: 50 -> 60"},
		`"seed": 3`:            {`"seed": 18446744073709551615`, "~ seed: 3 -> 18446744073709551615"},
		`"budget_epsilon": 1`:  {`"budget_epsilon": "inf"`, "~ privacy.epsilon: 1 -> inf"},
		`"in": ["train"]`:      {`"in": ["train", "clean"]`, "~ stages.sample.from: train -> [train, clean]"},
		`"id": "sample"`:       {`"id": "draw"`, "~ stages.sample: is called draw now"},
		`"outside": "missing"`: {`"outside": "clip"`, "~ stages.clean.outside: missing -> clip"},
		`"digest": "sha256:1"`: {`"digest": "sha256:2"`, ""},
	} {
		r, err := Compare(plan(planOf), plan(strings.Replace(planOf, old, c.new, 1)))
		if got := strings.Join(words(r.Settings), "|"); err != nil || got != c.want || !r.Differ {
			t.Errorf("%s: %q, %v, must be %q", c.new, got, err, c.want)
		}
		if c.want == "" && (len(r.Notes) != 1 || !strings.Contains(r.Notes[0], "domain")) {
			t.Errorf("the notes are %q, must name what a plan does not hold", r.Notes)
		}
	}
}

func TestMixedKinds(t *testing.T) {
	ledger := Side{Name: "l", Kind: LedgerSide, Charges: &Charges{}}
	if _, err := Compare(ledger, specSide(specOf)); err == nil || !strings.Contains(err.Error(),
		"a ledger is compared with a ledger") {
		t.Errorf("a ledger and a spec: %v", err)
	}
	if _, err := Compare(Side{Name: "p", Kind: PlanSide, Plan: []byte("{}")}, specSide(specOf)); err == nil ||
		!strings.Contains(err.Error(), "weir plan --json") {
		t.Errorf("JSON that is not a plan: %v", err)
	}
	bare := specSide(specOf)
	bare.Plan, bare.Why = nil, "the budget cannot be met"
	r, err := Compare(bare, specSide(strings.Replace(specOf, "seed: 3", "seed: 4", 1)))
	if err != nil || len(r.Settings) != 1 || r.Totals != nil || !strings.Contains(fmt.Sprint(r.Notes),
		"the budget cannot be met") {
		t.Errorf("a spec without a plan: %+v, %v", r, err)
	}
	if _, err := Compare(bare, Side{Name: "p.json", Kind: PlanSide, Plan: []byte(planOf)}); err == nil ||
		!strings.Contains(err.Error(), "the budget cannot be met") {
		t.Errorf("a spec without a plan against a plan: %v", err)
	}
}

// TestLongLists: of a long list, what came and went is named.
func TestLongLists(t *testing.T) {
	var a, b []any
	for i := range 100 {
		a = append(a, fmt.Sprintf("value %d", i))
	}
	b = append(append(b, a[1:]...), "x", "y")
	c := Change{Path: "p", What: Changed, Before: a, After: b}
	if got := c.Line(); got != "p: 100 values -> 101 values; 2 added: x, y; 1 removed: value 0" {
		t.Errorf("the line is %q", got)
	}
	c.After = append(append([]any{}, a[50:]...), a[:50]...)
	if got := c.Line(); got != "p: 100 values -> 100 values, in another order" {
		t.Errorf("the line is %q", got)
	}
}

// TestMarkdown: names and values that Markdown, HTML or GitHub would read stand as they
// are written, each row in its row; figures of runs are not among them.
func TestMarkdown(t *testing.T) {
	a, b := specSide(specOf), specSide(strings.NewReplacer("outside: missing", "outside: \"a|b`c<b>*x* @octocat #1 "+
		"https://e.org www.e.org\\n| d\"", "name: study", "name: other").Replace(specOf))
	a.Kind, b.Kind, b.Name = RunSide, RunSide, "<img>|`.yaml"
	b.Plan = []byte(strings.Replace(planOf, `"proven": 0.99`, `"proven": 1.99`, 1))
	a.Figures, b.Figures = &Figures{Values: map[string]float64{"u.auroc": 0.73313}},
		&Figures{Values: map[string]float64{"u.auroc": 0.83313}}
	r, err := Compare(a, b)
	if err != nil {
		t.Fatal(err)
	}
	got := r.Markdown()
	golden := filepath.Join("testdata", "report.md")
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("-golden +now:\n%s", diff)
	}
	for _, hostile := range []string{"<b>", "<img>", "`", "@octocat", "://", "www.", "0.73313", "0.7331", "u.auroc"} {
		if strings.Contains(got, hostile) {
			t.Errorf("the Markdown holds %q", hostile)
		}
	}
	text := r.Text(func(_ Tone, l string) string { return l }, 0)
	if !strings.Contains(text, "u.auroc") || !strings.Contains(text, "PRIVATE") {
		t.Errorf("the text must show the figure and mark it private:\n%s", text)
	}
	text = strings.Join(strings.Fields(r.Text(func(_ Tone, l string) string { return l }, 30)), " ")
	if !strings.Contains(text, "BILL: A -> B total epsilon_proven: 0.99 -> 1.99 RESULTS") ||
		!strings.Contains(text, "FIGURE: A -> B u.auroc: 0.7331 -> 0.8331 +0.1000") {
		t.Errorf("without room for tables each row is a sentence:\n%s", text)
	}
}
