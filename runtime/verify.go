package runtime

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"sort"

	"weir/internal/disk"
	"weir/record"
	"weir/runtime/payment"
	"weir/runtime/store"
)

// Differences lists what of a finished run is not as its replay has it: files of
// the release, documents rendered anew, and what the record claims. Nothing is
// left out because it names the run: the replay is given the run's name.
func Differences(old, again *record.Run, dir string) ([]string, error) {
	replayed := *again
	replayed.ID = old.ID
	differ, err := differentFiles(old, &replayed, dir)
	if err != nil {
		return nil, err
	}
	differ = append(differ, differentDocuments(&replayed, dir)...)
	differ = append(differ, differentClaims(old, &replayed)...)
	differ = append(differ, differentFigures(old, &replayed)...)
	differ = append(differ, unknownKeys(dir)...)
	differ = append(differ, payment.DifferentLedger(old, len(again.Charges) > 0)...)
	sort.Strings(differ)
	return slices.Compact(differ), nil
}

// ErrOtherContent marks a replay on other rows than its run read.
var ErrOtherContent = errors.New("the dataset has changed since the run")

// sameContent reports that a replay reads what its run read.
func (r *Replay) sameContent(content string) error {
	if r == nil || (store.RunDir{Path: r.Dir}).HasRead(content) {
		return nil
	}
	return ErrOtherContent
}

// differentFiles compares what is recorded, what the replay made and what lies
// in the release now.
func differentFiles(old, again *record.Run, dir string) ([]string, error) {
	recorded, replayed := store.Digests(old.Release), store.Digests(again.Release)
	listed, err := (store.RunDir{Path: dir}).Listing()
	if err != nil {
		return nil, err
	}
	names := map[string]bool{}
	for _, of := range []map[string]string{recorded, replayed, listed} {
		for name := range of {
			names[name] = true
		}
	}
	var differ []string
	for name := range names {
		if name == privacyFile && recorded[name] == listed[name] && listed[name] != "" {
			continue // rendered anew below: it names the run
		}
		if listed[name] != recorded[name] || listed[name] != replayed[name] {
			differ = append(differ, name)
		}
	}
	return differ, nil
}

const privacyFile = "release/PRIVACY.md"

// differentDocuments renders what the release says of itself anew.
func differentDocuments(again *record.Run, dir string) []string {
	text, err := disk.ReadFile(filepath.Join(dir, filepath.FromSlash(privacyFile)), 0)
	if err != nil || string(text) != record.PrivacyStatement(again) {
		return []string{privacyFile}
	}
	return nil
}

// differentClaims compares what a record says with what the replay found: all but
// the time, the place, and the ledger's own hashes.
func differentClaims(old, again *record.Run) []string {
	var differ []string
	claim := func(name string, a, b any) {
		if one, other := store.Compact(a), store.Compact(b); one != other {
			differ = append(differ, "run.json: "+name)
		}
	}
	claim("status", old.Status, record.Done)
	claim("name", old.Name, again.Name)
	claim("spec_digest", old.SpecDigest, again.SpecDigest)
	claim("plan", old.Plan, again.Plan)
	claim("bill", old.Bill, again.Bill)
	claim("terms", old.Terms, again.Terms)
	claim("dataset", [4]string{old.Dataset.Name, old.Dataset.ID, old.Dataset.Version, old.Dataset.Unit},
		[4]string{again.Dataset.Name, again.Dataset.ID, again.Dataset.Version, again.Dataset.Unit})
	claim("not_private", old.Insecure, again.Insecure)
	claim("tables", old.Tables, again.Tables)
	claim("remarks", old.Remarks, again.Remarks)
	claim("charges", payment.Charged(old), payment.Promised(again))
	claim("stages", recipes(old), recipes(again))
	return differ
}

func recipes(r *record.Run) map[string]string {
	stages := map[string]string{}
	for _, s := range r.Stages {
		stages[s.ID] = s.Kind + " " + s.Recipe
	}
	return stages
}

// differentFigures compares what a run measured, which follows from its seed and its
// noise like everything else: weir report shows it.
func differentFigures(old, again *record.Run) []string {
	if store.Compact([]any{old.Metrics, old.Notes}) != store.Compact([]any{again.Metrics, again.Notes}) {
		return []string{"internal/" + store.MetricsFile}
	}
	return nil
}

// unknownKeys reads the record again as strictly as it was written: what weir did not
// write it does not vouch for, and a reader may take it for weir's word.
func unknownKeys(dir string) (differ []string) {
	for name, value := range map[string]any{"run.json": &record.Run{}, "internal/" + store.MetricsFile: &store.Figures{}} {
		data, err := disk.ReadFile(filepath.Join(dir, filepath.FromSlash(name)), 0)
		if errors.Is(err, fs.ErrNotExist) {
			continue // whoever misses it says so
		}
		if err == nil {
			err = decodeStrictly(data, value)
		}
		if err != nil {
			differ = append(differ, name+": "+store.Reason(err).Error())
		}
	}
	return differ
}

// decodeStrictly reads one JSON value that has no key of another's and nothing behind.
func decodeStrictly(data []byte, value any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(value); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("has trailing data")
	}
	return nil
}
