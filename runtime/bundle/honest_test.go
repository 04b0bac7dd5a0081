package bundle

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"weir/internal/disk"
	"weir/privacy"
	"weir/privacy/ledger"
	"weir/record"
)

// replan changes the plan of the run.
func (r *released) replan(pairs ...string) {
	r.t.Helper()
	plan := strings.NewReplacer(pairs...).Replace(string(r.rec.Plan))
	if plan == string(r.rec.Plan) {
		r.t.Fatal("the plan is as it was")
	}
	r.rec.Plan = json.RawMessage(plan)
}

// TestUnprovenCharge: a stage of which nothing is proven has an event in plan and record, and none in the ledger. Such
// a run holds; a ledger that has an event for it, or lacks the one of a proven stage, does not.
func TestUnprovenCharge(t *testing.T) {
	for _, c := range []struct{ planned, charged bool }{{true, true}, {true, false}, {false, true}} {
		r := newReleased(t)
		r.rec.Terms.Claims, r.rec.Terms.Proven = "published", nil
		if c.planned {
			r.replan(`"epsilon_alone":`, `"unproven":{"rule":"W14","why":"one step is charged"},"was":`)
		}
		if c.charged {
			r.chargeUnproven()
		}
		r.write()
		differ := refused(t, bytesOf(t, r.bundle()), means())
		if honest := c.planned == c.charged; honest != (differ == "") {
			t.Errorf("%+v: %q", c, differ)
		}
	}
}

// chargeUnproven writes the ledger anew: one charge of the run, without an event.
func (r *released) chargeUnproven() {
	r.t.Helper()
	l, err := ledger.Open(disk.Disk{}, filepath.Join(r.dir, "unproven.jsonl"), r.rec.Dataset.ID, fixedClock)
	if err != nil {
		r.t.Fatal(err)
	}
	written, err := l.Append(nil, ledger.Charge{ID: r.rec.ID + "/train/marginals", Run: r.rec.ID, Spec: aSHA256,
		Version: "1", Stage: "train", Name: "marginals", Recipe: aSHA256, Adjacency: privacy.AddRemove,
		Unproven: "W14: one step is charged"})
	if err != nil {
		r.t.Fatal(err)
	}
	r.rec.Charges = []record.Charge{{Stage: "train", Name: "marginals", Event: r.rec.Charges[0].Event,
		ID: written[0].ID, Ledger: written[0].Hash}}
	r.rec.Dataset.LedgerCount, r.rec.Dataset.LedgerHead = l.Head().Count, l.Head().Hash
	r.entries = l.Entries()
}

// TestInfiniteBudget: a run under epsilon inf adds no noise, is charged nothing and releases nothing of its stages. It
// holds; one that released what such a stage made does not, nor does one whose budget is finite.
func TestInfiniteBudget(t *testing.T) {
	const events = `"events":[{"gaussian":{"noise_multiplier":5}}]`
	const model = `"model":{"form":"model","class":"released"}`
	for want, change := range map[string]func(*released){
		"": func(*released) {},
		"was not charged so": func(r *released) {
			r.replan(`"form":"model","class":"private"`, `"form":"model","class":"released"`)
		},
		"was not charged so ": func(r *released) { r.rec.Terms.Budget = 4 },
	} {
		r := newReleased(t)
		r.rec.Terms = record.Terms{Adjacency: privacy.AddRemove, Accountant: "zcdp", Claims: "none", Delta: 1e-6,
			Budget: "inf", Reason: "no privacy is claimed"}
		r.replan(events, `"events":[]`, model, strings.Replace(model, "released", "private", 1))
		r.rec.Charges, r.entries = nil, nil
		delete(r.files, "train.model")
		if err := os.Remove(filepath.Join(r.dir, "release", "train.model")); err != nil {
			t.Fatal(err)
		}
		change(r)
		r.write()
		differ := refused(t, bytesOf(t, r.bundle()), means())
		if (want == "") != (differ == "") || !strings.Contains(differ, strings.TrimSpace(want)) {
			t.Errorf("%q, must say %q", differ, want)
		}
	}
}

// TestNamesOfFiles: outputs of files are released under the names that their kinds declare, and nothing else beside
// them is.
func TestNamesOfFiles(t *testing.T) {
	r := newReleased(t)
	r.replan(`"stages":[`, `"stages":[
		{"id":"cnt","kind":"dp_count","class":"released","outputs":{"out":{"form":"count","class":"released"}}},
		{"id":"fit","kind":"mst","class":"released","outputs":{"marginals":{"form":"files","class":"released"}}},
		{"id":"new","kind":"unknown","class":"released","outputs":{"marginals":{"form":"files","class":"released"}}},
		{"id":"own","kind":"mst","class":"private","outputs":{"marginals":{"form":"files","class":"private"}}},`)
	p, err := r.rec.Public()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"cnt.count.yaml", "fit.marginals.csv", "fit.pairs.csv",
		"fit.NOT-PRIVATE.marginals.csv"} {
		if kind, err := Names(testNames).classify(p, name); err != nil || kind != artifactFile {
			t.Errorf("%s: is %d: %v", name, kind, err)
		}
	}
	for _, name := range []string{"cnt.rows.txt", "cnt.count.json", "cnt.marginals.csv", "fit.rows.txt", "fit.csv",
		"fit.marginals.csv.csv", "new.marginals.csv", "own.marginals.csv", "train.marginals.csv"} {
		if err := Names(testNames).admit(p, name); err == nil {
			t.Errorf("%s: is admitted", name)
		}
	}
	if err := Names(nil).admit(p, "cnt.count.yaml"); err == nil {
		t.Error("is admitted where no kind is known")
	}
}
