package record

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"testing"

	"weir/privacy"
)

func pointer(x float64) *float64 { return &x }

// sampled returns the record of a made-up run; the texts marked internal must never
// be in a release document.
func sampled() *Run {
	return &Run{
		Weir: "1.2.3", ID: "20261121-1", Name: "clinic", Dir: "/home/internal-folder", SpecDigest: "sha256:spec",
		KeyCommitment: "sha256:key",
		Dataset: Dataset{Name: "internal-file.csv", ID: "ds-0123456789abcdef", Ledger: "/secure/internal-ledger",
			Unit: "patient_id (at most 4 rows each)"},
		Terms: Terms{Adjacency: privacy.AddRemove, Accountant: "pld", Claims: "proven", Delta: 1e-5,
			Proven: pointer(0.98765432)},
		Plan: json.RawMessage(`{"dataset": {"columns": 3, "rows_public": 1000}, "findings": [{"rule": "W07", "level": "warning", "message": "delta is large"}], "public_files": [{"stage": "census", "name": "census.csv", "declared_by": "the statistics office"}],
			"stages": [{"id": "train", "kind": "dp_wgan", "class": "released", "settings": {"steps": 10, "file": "internal-reference.csv"}, "spends": [{"name": "train", "mechanism": "DP-SGD | clipped", "sensitivity": "C", "uses": 10}],
			"noise_multiplier": 1.5, "epsilon_alone": 0.98765432, "epsilon_cumulative": 0.98765432}]}`),
		Charges: []Charge{{Stage: "train", Name: "train",
			Event: privacy.JSON{Event: privacy.Gaussian{NoiseMultiplier: 1.5}}}},
		Release: []File{{Path: "release/sample.csv", SHA256: "sha256:csv"}, {Path: "release/PRIVACY.md",
			SHA256: "sha256:itself"}},
		Tables: []Table{{Stage: "sample", Rows: 500, Columns: []Column{
			{Name: "age", Type: "integer", Bounds: &[2]float64{18, 90}, Missing: true, Doc: "Age | in years."},
			{Name: "region", Type: "categorical", Categories: strings.Split("a,b,c,d,e,f,g,h,i,j,k,l,m,n", ","),
				Source: "stage regions"},
		}}},
		Internal: []File{{Path: "internal/report.html", SHA256: "sha256:internal-report"}},
		Metrics:  map[string]float64{"internal-metric": 0.123456},
		Notes:    map[string]string{"internal-metric": "internal-note"},
		Error:    "internal-error",
	}
}

func TestReleaseDocumentsHoldPublicFactsOnly(t *testing.T) {
	r := sampled()
	for name, text := range map[string]string{"PRIVACY.md": PrivacyStatement(r), "DATASHEET.md": Datasheet(r)} {
		for _, secret := range []string{"internal-", "0.123456", "sha256:itself"} {
			if strings.Contains(text, secret) {
				t.Errorf("%s holds %q", name, secret)
			}
		}
	}
}

func lacks(t *testing.T, text string, wanted ...string) {
	t.Helper()
	for _, w := range wanted {
		if !strings.Contains(text, w) {
			t.Errorf("the document lacks %q:\n%s", w, text)
		}
	}
}

func TestPrivacyStatement(t *testing.T) {
	lacks(t, PrivacyStatement(sampled()), "**epsilon = 0.98766** (proven, rounded up", "delta = 1e-05",
		"patient_id (at most 4 rows each)", "added to or left out of",
		"`{\"gaussian\":{\"noise_multiplier\":1.5}}`", `DP-SGD \| clipped`, "W07, warning: delta is large",
		"`sample.csv` (sha256:csv)", "`census.csv` (stage `census`), declared public by the statistics office",
		// e^0.98765432/(1+e^0.98765432) = 0.72863 by hand, and e^0.98765432 = 2.68493.
		"at most 72.9 %", "(2.685)")
	r := sampled()
	r.Insecure = true
	lacks(t, PrivacyStatement(r), "NOT PRIVATE", "No epsilon holds")
	if strings.Contains(PrivacyStatement(r), "**epsilon = ") {
		t.Error("a test with a known seed promises an epsilon")
	}
	lacks(t, Datasheet(r), "NOT PRIVATE")
}

// TestPrivacyStatementOfReusedNoise: a bound for mechanisms that were fixed ahead is proven
// without more where one run charged all of them; else whoever wrote the second spec may have
// seen what the first released, whichever run shows both.
func TestPrivacyStatementOfReusedNoise(t *testing.T) {
	gaussian := func(stage, run string) Charge {
		return Charge{Stage: stage, Name: stage, Run: run, Event: privacy.JSON{Event: privacy.Gaussian{NoiseMultiplier: 1.5}}}
	}
	const ahead, alone, filter = "before anything that was made of the noise of another was looked at",
		"This run charged nothing", "the filter of the dataset's budget"
	for name, c := range map[string]struct {
		charges []Charge
		budget  bool
		wants   []string
		not     []string
	}{
		"own": {[]Charge{gaussian("a", ""), gaussian("b", "")}, true, nil,
			[]string{ahead, alone, "is proven if"}},
		"of one run": {[]Charge{gaussian("a", "one"), gaussian("b", "one")}, true, []string{alone},
			[]string{ahead, "is proven if"}},
		"of one run and own": {[]Charge{gaussian("a", "one"), gaussian("b", "")}, true,
			[]string{ahead, filter, "in 2 runs, and this is proven if"}, []string{alone}},
		"of two runs": {[]Charge{gaussian("a", "one"), gaussian("b", "two")}, true,
			[]string{ahead, filter, "in 2 runs, and this is proven if"}, []string{alone}},
		"of two, and no budget": {[]Charge{gaussian("a", "one"), gaussian("b", "two")}, false,
			[]string{ahead, "nothing is proven here for all"}, []string{alone, filter}},
	} {
		r := sampled()
		r.Charges = c.charges
		if c.budget {
			r.Plan = json.RawMessage(strings.Replace(string(r.Plan), `"columns": 3`, `"columns": 3, "budget": {"epsilon": 3}`,
				1))
		}
		text := PrivacyStatement(r)
		lacks(t, text, c.wants...)
		for _, not := range c.not {
			if strings.Contains(text, not) {
				t.Errorf("%s: the document says %q:\n%s", name, not, text)
			}
		}
	}
}

func TestPrivacyStatementWithoutProof(t *testing.T) {
	r := sampled()
	r.Terms.Proven, r.Terms.Published, r.Terms.Claims, r.Terms.Reason = nil, pointer(6.45), "published",
		"stage train: rule W37"
	text := PrivacyStatement(r)
	lacks(t, text, "**No epsilon is proven for this run**", "Stage train: rule W37.", "epsilon (published) = 6.45",
		"not a claim of this release")
	if strings.Contains(text, "together are differentially private") {
		t.Error("a release without proof is said to be private")
	}
	r.Plan = json.RawMessage(strings.Replace(string(r.Plan), `"spends"`,
		`"unproven": {"rule": "W37", "why": "states depend on secret draws"}, "spends"`, 1))
	text = PrivacyStatement(r) + Datasheet(r)
	lacks(t, text, "Stage `train` has no proven bound: W37: states depend on secret draws.",
		"`train`: no event, since nothing is proven of it (W37)", "nothing bounds what that can reveal",
		"no total of the\nledger")
	for _, bound := range []string{"It bounds what", "the bound above", "bound of `PRIVACY.md`", `{"gaussian"`} {
		if strings.Contains(text, bound) {
			t.Errorf("a release without proof speaks of a bound: %q", bound)
		}
	}
	r.Terms = Terms{Claims: "none"}
	lacks(t, PrivacyStatement(r), "No privacy is claimed")
	r.Plan = json.RawMessage(`[]`)
	lacks(t, PrivacyStatement(r), "cannot be read")
	lacks(t, Datasheet(r), "cannot be read")
}

func TestDatasheet(t *testing.T) {
	lacks(t, Datasheet(sampled()), "`sample`: 500 rows, 2 columns",
		`| age | integer | 18 to 90 | yes | public | Age \| in years. |`,
		"a, b, c, d, e, f, g, h, i, j, k, l and 2 more | no | stage regions",
		"1. `train`, kind dp_wgan (released): `{\"steps\":10}`", "row count, 1000, is public", "sha256:spec")
	lacks(t, Datasheet(&Run{Name: "nothing"}), "No table is released", "No stage is on record")
}

// TestDatasheetOfNoFigures: nobody is sent to the owner for figures that no stage has computed.
func TestDatasheetOfNoFigures(t *testing.T) {
	r := sampled()
	lacks(t, Datasheet(r), "this run compared none with the real table")
	const judge = `{"stages": [{"id": "train", "outputs": {"model": {"form": "model"}}}, {"id": "judge", "outputs": {"out": {"form": "metrics", "class": "CLASS"}}}]}`
	r.Plan = json.RawMessage(strings.Replace(judge, "CLASS", "released", 1)) // of the release alone
	lacks(t, Datasheet(r), "this run compared none with the real table")
	r.Plan = json.RawMessage(strings.Replace(judge, "CLASS", "private", 1))
	lacks(t, Datasheet(r), "the owner, who has figures against real rows")
	if strings.Contains(Datasheet(r), "compared none") {
		t.Error("a run with figures says that it has none")
	}
}

// TestWarningsHaveTheirReasons: of each warning the page says why it is accepted, as text that is no Markdown, or that
// nobody says why; a note asks for no reason.
func TestWarningsHaveTheirReasons(t *testing.T) {
	r := sampled()
	r.Plan = json.RawMessage(`{"findings": [{"rule": "W07", "level": "warning", "message": "delta is large"},
		{"rule": "W25", "level": "warning", "message": "a row", "acknowledged": "one row ` + "`each`" + ` <b>"},
		{"rule": "W34", "level": "note", "message": "weak"}]}`)
	const want = "- W07, warning: delta is large\n  The spec gives no reason for accepting it.\n" +
		"- W25, warning: a row\n  Accepted, because: `one row 'each' <b>`\n- W34, note: weak\n"
	if got := PrivacyStatement(r); !strings.Contains(got, want) {
		t.Errorf("%s\nmust hold\n%s", got, want)
	}
}

// TestBound: never below the figure, and at most one unit of the fifth digit
// above.
func TestBound(t *testing.T) {
	for _, c := range []struct {
		x    float64
		want string
	}{{0.9995223, "0.99953"}, {1, "1"}, {10, "10"}, {0.1, "0.1"}, {6.45, "6.45"}, {1.000001, "1.0001"},
		{123456.7, "1.2346e+05"}, {1.2e-7, "1.2e-07"}, {0, "0"}, {math.Inf(1), "none"}} {
		if got := Bound(c.x); got != c.want {
			t.Errorf("Bound(%v) = %s, must be %s", c.x, got, c.want)
		}
	}
	for x := 1e-6; x < 1e6; x *= 1.0137 {
		got, err := strconv.ParseFloat(Bound(x), 64)
		if err != nil || got < x*(1-1e-11) || got > x*(1+1.01e-4) {
			t.Errorf("Bound(%v) reads %v (%v)", x, got, err)
		}
	}
}

// TestPrivacyOfARunThatPaidNothing: it says that no private row was looked at, and that
// this promises nothing to those whom somebody else's counts are of.
func TestPrivacyOfARunThatPaidNothing(t *testing.T) {
	r := sampled()
	r.Terms.Proven, r.Charges = pointer(0), nil
	r.Plan = json.RawMessage(
		`{"public_files": [{"stage": "train", "name": "counts.csv", "declared_by": "the office", "declared_terms": "epsilon 2, delta 1e-05 for one person"}]}`)
	text := PrivacyStatement(r)
	lacks(t, text, "Nothing beside this page was computed from the rows of the private table",
		"**epsilon = 0** of this run",
		"no promise to those whom `counts.csv` counts", "what the office declares of them: epsilon 2")
	for _, wrong := range []string{"times as likely", "50.1", "made by mechanisms"} {
		if strings.Contains(text, wrong) {
			t.Errorf("the page says %q where nothing was paid:\n%s", wrong, text)
		}
	}
}

// TestPrivacyOfAnEpsilonOfZero: so much noise that delta alone covers the release is no
// release without a look at the rows.
func TestPrivacyOfAnEpsilonOfZero(t *testing.T) {
	r := sampled()
	r.Terms.Proven = pointer(0)
	text := PrivacyStatement(r)
	lacks(t, text, "**epsilon = 0** (proven, rounded up", "made by mechanisms")
	if strings.Contains(text, "Nothing beside this page was computed from the rows") {
		t.Errorf("the page denies what was charged:\n%s", text)
	}
}

// TestSmallEpsilonsKeepTheirDigits: no document shows a positive bound as 0, and none
// rounds it down.
func TestSmallEpsilonsKeepTheirDigits(t *testing.T) {
	r := sampled()
	r.Terms.Proven, r.Terms.Published = pointer(1.00001e-9), pointer(2.00001e-12)
	lacks(t, PrivacyStatement(r), "**epsilon = 1.0001e-09**", "epsilon (published) = 2.0001e-12",
		"right with a probability of at most 50.1 %")
}

// TestReasonStandsOnce: why nothing is proven is said in the head of the page; a test with
// a known seed has another head, and says it in the bill.
func TestReasonStandsOnce(t *testing.T) {
	r := sampled()
	why := "W37: states depend on secret draws"
	r.Terms.Proven, r.Terms.Claims, r.Terms.Reason = nil, "published", "stage train: "+why
	r.Plan = json.RawMessage(`{"findings": [{"rule": "W37", "level": "warning", "stage": "train", "message": "a mechanism of which ` + why + `"}, {"rule": "W37", "level": "note", "stage": "train", "message": "a note"}],
		"stages": [{"id": "train", "unproven": {"rule": "W37", "why": "states depend on secret draws"}, "spends": [{"name": "train"}]}]}`)
	text := PrivacyStatement(r)
	if n := strings.Count(text, why); n != 1 {
		t.Errorf("the reason stands %d times:\n%s", n, text)
	}
	lacks(t, text, "Stage train: "+why, "W37, warning, stage `train`: no epsilon is proven, as said above",
		"W37, note, stage `train`: a note")
	r.Insecure = true
	lacks(t, PrivacyStatement(r), "Stage `train` has no proven bound: "+why)
}

// TestBillBeginsInWords: what was promised and what paid for it stand before the plan, without marks of Markdown and
// without what is internal.
func TestBillBeginsInWords(t *testing.T) {
	r := sampled()
	r.Bill = "clinic  sha256:spec\nSTAGE\n"
	text := BillText(r)
	lacks(t, text, "Bill of clinic\n\nThe files beside this page", "epsilon = 0.98766 (proven",
		"is right with a probability of at most",
		"Stage train looked at the rows, for epsilon 0.98766 alone: DP-SGD | clipped.\n",
		"prints them:\n\nclinic  sha256:spec\nSTAGE\n")
	if strings.Contains(text, "**") || strings.Contains(text, "`") || strings.Contains(text, "internal") {
		t.Errorf("the bill is\n%s", text)
	}
	r.Insecure = true
	lacks(t, BillText(r), NotPrivate)
}

// TestDocumentsOfRowsThatStay: the release documents say where rows were counted and what left, and nothing of it where
// rows come to weir.
func TestDocumentsOfRowsThatStay(t *testing.T) {
	r := sampled()
	if text := PrivacyStatement(r) + Datasheet(r); strings.Contains(text, "stayed") {
		t.Errorf("rows that came to weir are said to have stayed:\n%s", text)
	}
	const plan = `{"dataset": {"columns": 3, "rows_stay_in": "PostgreSQL"}, "stages": [{"id": "judge", SAMPLE "outputs": {"out": {"form": "metrics", "class": "private"}}}]}`
	r.Plan = json.RawMessage(strings.Replace(plan, "SAMPLE", "", 1))
	lacks(t, PrivacyStatement(r), "stayed in PostgreSQL, which counted them", "counts, hashes of at most 4096 rows by "+
		"which the owner is told of tables that share them, and no row.")
	lacks(t, Datasheet(r), "Its rows stayed in PostgreSQL")
	r.Plan = json.RawMessage(strings.Replace(plan, "SAMPLE", `"sample": 1000,`, 1))
	lacks(t, PrivacyStatement(r), "and a sample of at most 1000 rows, for figures that only the owner sees.")
	lacks(t, Datasheet(r), "figures against a sample of at most 1000 real rows")
}
