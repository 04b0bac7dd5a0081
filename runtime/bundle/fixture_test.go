package bundle

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"weir/internal/disk"
	"weir/pipeline"
	"weir/privacy"
	"weir/privacy/account"
	"weir/privacy/ledger"
	"weir/record"
	"weir/runtime/store"
)

const (
	runID   = "20261127-120000-00000000000000000000000000000001"
	canary  = "SECRET73313" // stands wherever a record, a ledger or a folder of a run is private
	aSHA256 = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
)

// released is a run of three rows with its folder and its ledger, as the engine leaves them.
type released struct {
	t       testing.TB
	dir     string
	rec     *record.Run
	entries []ledger.Entry
	files   map[string]string // of the release, before the documents
}

// fixedClock tells when everything of the run happens.
func fixedClock() time.Time { return time.Date(2026, 11, 27, 12, 0, 1, 0, time.UTC) }

func newReleased(t testing.TB) *released {
	t.Helper()
	r := &released{t: t, dir: t.TempDir(), files: map[string]string{
		"sample.csv":  "age,ward\n34,north\n71,south\n58,north\n",
		"train.model": model(t),
		"domain.yaml": "columns:\n  - name: age\n    type: integer\n    bounds: [0, 100]\n  - name: ward\n" +
			"    type: categorical\n    categories: [north, south]\n",
	}}
	r.rec = r.record()
	r.charge()
	r.write()
	return r
}

// model returns an archive that the reader of the tests takes for a model.
func model(t testing.TB) string {
	var b bytes.Buffer
	if err := store.WriteArchive(&b, []pipeline.File{{Name: "artifact.json", Data: []byte("{}")}}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func (r *released) record() *record.Run {
	event := privacy.Gaussian{NoiseMultiplier: 5}
	accountant, err := account.ByName("zcdp")
	if err != nil {
		r.t.Fatal(err)
	}
	epsilon, err := accountant.Epsilon([]privacy.Event{event}, privacy.AddRemove, 1e-6)
	if err != nil {
		r.t.Fatal(err)
	}
	plan := fmt.Sprintf(`{"dir":%[1]q,"stages":[
		{"id":"train","kind":"independent","class":"released","settings":{"file":%[1]q,"bins":4},"outputs":{
			"model":{"form":"model","class":"released"}},
			"spends":[{"name":"marginals","mechanism":"noisy marginals","sensitivity":"1 (L2)","uses":2}],
			"events":[{"gaussian":{"noise_multiplier":5}}],"epsilon_alone":%[2]v},
		{"id":"sample","kind":"sample","class":"released","settings":{"rows":3},"outputs":{
			"out":{"form":"table","class":"released"}},"events":[]},
		{"id":"marginals","kind":"marginals","class":"private","settings":{},"outputs":{
			"out":{"form":"metrics","class":"private"}},"events":[]},
		{"id":"part","kind":"split","class":"private","settings":{},"outputs":{
			"train":{"form":"table","class":"private"}},"events":[]}],
		"findings":[{"rule":"W33","level":"warning","message":"promises little"}],
		"dataset":{"columns":2,"rows_stay_in":"postgres 17"}}`, "/home/"+canary, epsilon)
	finished := fixedClock().Add(time.Hour)
	return &record.Run{Weir: "1.0", Build: aSHA256, ID: runID, Name: "study", Status: record.Done,
		Error: canary, Started: fixedClock(), Finished: &finished, Dir: "/home/" + canary, SpecDigest: aSHA256,
		Spec: "weir: 1\n", Dataset: record.Dataset{Name: "patients.csv", ID: "ds-0123456789abcdef0123456789abcdef",
			Version: "1", Ledger: "/home/" + canary + "/l.jsonl", Unit: "row"},
		Plan: json.RawMessage(plan), Bill: "BILL\n", Terms: record.Terms{Adjacency: privacy.AddRemove, Accountant: "zcdp",
			Claims: "proven", Delta: 1e-6, Budget: 4, Proven: &epsilon},
		KeyCommitment: aSHA256, KeyKept: true,
		Stages: []record.Stage{{ID: "train", Kind: "independent", Recipe: aSHA256, Seconds: 73313}},
		Tables: []record.Table{{Stage: "sample", Rows: 3, Columns: []record.Column{
			{Name: "age", Type: "integer", Bounds: &[2]float64{0, 100}},
			{Name: "ward", Type: "categorical", Categories: []string{"north", "south"}}}}},
		Internal: []record.File{{Path: "internal/" + canary, Bytes: 73313}},
		Metrics:  map[string]float64{canary: 73313}, Notes: map[string]string{canary: canary}}
}

// charge writes the ledger: a charge of another run, then one of the run.
func (r *released) charge() {
	path := filepath.Join(r.dir, "l.jsonl")
	l, err := ledger.Open(disk.Disk{}, path, r.rec.Dataset.ID, fixedClock)
	if err != nil {
		r.t.Fatal(err)
	}
	for _, run := range []string{"another-" + canary, r.rec.ID} {
		written, err := l.Append(nil, ledger.Charge{ID: run + "/train/marginals", Run: run, Spec: aSHA256, Version: "1",
			Stage: "train", Name: "marginals", Recipe: aSHA256, Adjacency: privacy.AddRemove,
			Event: privacy.Gaussian{NoiseMultiplier: 5}})
		if err != nil {
			r.t.Fatal(err)
		}
		r.rec.Charges = []record.Charge{{Stage: "train", Name: "marginals", Event: written[0].Event, ID: written[0].ID,
			Ledger: written[0].Hash}}
	}
	r.rec.Dataset.LedgerCount, r.rec.Dataset.LedgerHead = l.Head().Count, l.Head().Hash
	r.entries = l.Entries()
}

// write writes the release and what is internal.
func (r *released) write() {
	r.rec.Release = nil
	for _, name := range []string{"train.model", "sample.csv", "domain.yaml"} {
		if text, is := r.files[name]; is {
			r.add(name, text)
		}
	}
	r.add("BILL.txt", record.BillText(r.rec))
	r.add("DATASHEET.md", record.Datasheet(r.rec))
	r.add("PRIVACY.md", record.PrivacyStatement(r.rec))
	r.plant("internal/noise.key", canary)
	r.plant("internal/metrics.json", `{"metrics":{"`+canary+`":1}}`)
}

func (r *released) add(name, text string) {
	r.plant("release/"+name, text)
	r.rec.Release = append(r.rec.Release, record.File{Path: "release/" + name, SHA256: privacy.Digest([]byte(text)),
		Bytes: int64(len(text))})
}

// plant writes a file of the run, whoever would have.
func (r *released) plant(name, text string) {
	r.t.Helper()
	path := filepath.Join(r.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		r.t.Fatal(err)
	}
}

// testNames names the files of two kinds.
func testNames(kind, port string) []string {
	return map[string][]string{"dp_count out": {"count.yaml"},
		"mst marginals": {"marginals.csv", "pairs.csv"}}[kind+" "+port]
}

func (r *released) request() Request {
	return Request{Dir: r.dir, Record: r.rec, Ledger: r.entries, Text: &pipeline.CSV{}, License: "CC0",
		Names: testNames}
}

// bundle gathers the run.
func (r *released) bundle() *Bundle {
	r.t.Helper()
	b, err := Gather(r.request())
	if err != nil {
		r.t.Fatal(err)
	}
	return b
}

// bytesOf returns a bundle as it is written.
func bytesOf(t testing.TB, b *Bundle) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := b.Write(&out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// means returns how the tests judge: by the build that wrote the bundle, any archive a model.
func means() Means {
	return Means{Build: aSHA256, Names: testNames, Model: func(_ context.Context, files []pipeline.File) error {
		if len(files) != 1 || files[0].Name != "artifact.json" {
			return errors.New("is no model")
		}
		return nil
	}, Plan: func([]byte) (string, []byte, error) { return "", nil, errors.New("no specs here") }}
}

// verdict reads and judges the bytes of a bundle.
func verdict(t testing.TB, data []byte, m Means) (Judgement, error) {
	t.Helper()
	b, err := read(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return Judgement{}, err
	}
	found, err := b.Judge(context.Background(), m)
	if err != nil {
		t.Fatal(err)
	}
	return found, nil
}

// refused judges the bytes of a bundle and returns why it is refused; "" where it is not.
func refused(t testing.TB, data []byte, m Means) string {
	t.Helper()
	found, err := verdict(t, data, m)
	if err != nil {
		return err.Error()
	}
	return strings.Join(found.Differ, "; ")
}
