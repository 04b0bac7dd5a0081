package bundle

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"fmt"
	"strings"
	"testing"

	"weir/privacy"
	"weir/record"
)

// signer returns a key that everyone knows.
func signer(b byte) ed25519.PrivateKey { return ed25519.NewKeyFromSeed(bytes.Repeat([]byte{b}, 32)) }

// TestBundleHolds: what was gathered is written, read and found to hold, with what cannot be known here listed.
func TestBundleHolds(t *testing.T) {
	r := newReleased(t)
	b := r.bundle()
	if err := b.Sign(signer(1)); err != nil {
		t.Fatal(err)
	}
	m := means()
	m.Key = signer(1).Public().(ed25519.PublicKey)
	found, err := verdict(t, bytesOf(t, b), m)
	if err != nil || len(found.Differ) > 0 {
		t.Fatalf("%v, %v", err, found.Differ)
	}
	for _, want := range []string{"signed by the key", "all 9 files have the SHA-256", "PRIVACY.md says what",
		"BILL.txt says what", "DATASHEET.md says what", "croissant.json says what", "ro-crate-metadata.json says what",
		"every mechanism of the bill was charged, 1 in all",
		"compose to epsilon " + record.Bound(*r.rec.Terms.Proven) + " at delta 1e-06 (zcdp, add_remove)",
		"sample.csv has the stated rows", "train.model is a model"} {
		if !strings.Contains(strings.Join(found.Holds, "\n"), want) {
			t.Errorf("holds: lacks %q:\n%s", want, strings.Join(found.Holds, "\n"))
		}
	}
	if text := strings.Join(found.Unchecked, "\n"); strings.Contains(text, "integrity") || !strings.Contains(text,
		"weir verify RUN") || !strings.Contains(text, "weir ledger show") {
		t.Errorf("unchecked:\n%s", text)
	}
	for _, said := range []string{"postgres 17", "W33"} {
		if !bytes.Contains(b.statement, []byte(said)) {
			t.Errorf("the statement lacks %s", said)
		}
	}
}

// TestEqualRunsGiveEqualBytes: neither times nor folders of the owner's machine are in a bundle, nor the order of maps.
func TestEqualRunsGiveEqualBytes(t *testing.T) {
	one, other := newReleased(t), newReleased(t)
	other.rec.Started, other.rec.Dir = fixedClock().AddDate(0, 1, 0), "elsewhere"
	a, b := one.bundle(), other.bundle()
	if err := errors.Join(a.Sign(signer(1)), b.Sign(signer(1))); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(bytesOf(t, a), bytesOf(t, b)) {
		t.Error("two bundles of one run differ")
	}
}

// TestGoldenArchive: equal members give equal bytes in every version of Go, or a later weir would refuse what an
// earlier one wrote. The digest is of what Python's zipfile (3.11) writes of the same entries: stored, ZipInfo(name,
// (1980, 1, 1, 0, 0, 0)), create_system 0, external_attr 0.
func TestGoldenArchive(t *testing.T) {
	b := &Bundle{statement: []byte("{}\n"), members: []member{memberOf("a.txt", []byte("one")), memberOf("b/ü.txt", nil)}}
	const want = "sha256:f2cd8366f9b784a0d2daddd70101964e2ff4b3320b91688779462502437fc603"
	if got := privacy.Digest(bytesOf(t, b)); got != want {
		t.Errorf("the archive is %s, must be %s", got, want)
	}
}

// TestNothingPrivateEnters: no byte of a bundle is of what the owner alone may see.
func TestNothingPrivateEnters(t *testing.T) {
	r := newReleased(t)
	data := bytesOf(t, r.bundle())
	for _, private := range []string{canary, "73313", "/home/", "l.jsonl", "12:00:00", "13:00:01", "noise.key",
		"metrics.json", "internal/"} {
		if i := bytes.Index(data, []byte(private)); i >= 0 {
			t.Errorf("holds %q: ...%q...", private, data[max(0, i-60):min(len(data), i+60)])
		}
	}
	// The search finds what is there: members are stored as they are.
	for _, public := range []string{"34,north", runID, `"noise_multiplier\":5`, "noisy marginals"} {
		if !bytes.Contains(data, []byte(strings.ReplaceAll(public, `\`, ""))) {
			t.Errorf("lacks %q", public)
		}
	}
}

// TestOwnersFilesAreRefused: what lies in release/ and was not released does not enter, even where the record lists it.
func TestOwnersFilesAreRefused(t *testing.T) {
	for _, name := range []string{"noise.key", "metrics.json", "files.json", "audit.json", "canary.json", "run.json",
		"report.html", "sample.key", "marginals.csv", "part.csv", "part.train.csv", "marginals.metrics",
		"train.noise.key", "train.ledger.jsonl", "train.model.pem", "owner.weir-owner.json", "error.txt"} {
		r := newReleased(t)
		r.plant("release/"+name, canary)
		if _, err := Gather(r.request()); err == nil || !strings.Contains(err.Error(), "release/"+name) {
			t.Errorf("%s beside the release: %v", name, err)
		}
		r.rec.Release = append(r.rec.Release, record.File{Path: "release/" + name, SHA256: privacy.Digest([]byte(canary))})
		if _, err := Gather(r.request()); !errors.As(err, new(*RefusedError)) ||
			!strings.Contains(err.Error(), "release/"+name) {
			t.Errorf("%s in the record too: %v", name, err)
		}
	}
	r := newReleased(t)
	r.plant("release/sub/sample.csv", canary)
	if _, err := Gather(r.request()); err == nil || !strings.Contains(err.Error(), "release/sub") {
		t.Errorf("a folder in the release: %v", err)
	}
	r = newReleased(t)
	r.rec.Release = append(r.rec.Release, record.File{Path: "internal/noise.key", SHA256: privacy.Digest([]byte(canary))})
	if _, err := Gather(r.request()); err == nil || !strings.Contains(err.Error(), "internal/noise.key") {
		t.Errorf("a release that lists the noise key: %v", err)
	}
}

// TestRefusedRuns: no bundle is made of what is no release, of a test, or of a ledger that lacks a charge.
func TestRefusedRuns(t *testing.T) {
	for _, c := range []struct {
		want   string
		change func(*released)
	}{
		{"is running, must be done", func(r *released) { r.rec.Status = record.Running }},
		{"is failed, must be done", func(r *released) { r.rec.Status = record.Failed }},
		{"the noise is from a seed, must be from the operating system", func(r *released) { r.rec.Insecure = true }},
		{"release/sample.csv: is missing or has changed", func(r *released) { r.plant("release/sample.csv", "x") }},
		{"ledger: has 1 charges, had 2", func(r *released) { r.entries = r.entries[:1] }},
		{"ledger: has 0 charges, had 2", func(r *released) { r.entries = nil }},
		{`name: is "study\nsigned yes", must be text`, func(r *released) { r.rec.Name = "study\nsigned yes" }},
		{"lacks the charge", func(r *released) { r.rec.Charges[0].Ledger = aSHA256 }},
	} {
		r := newReleased(t)
		c.change(r)
		if _, err := Gather(r.request()); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, must say %q", err, c.want)
		}
	}
}

// TestUnprovenIsSaid: a release of which nothing is proven is bundled, and says so wherever it is looked at.
func TestUnprovenIsSaid(t *testing.T) {
	r := newReleased(t)
	published := 0.5
	r.rec.Terms.Claims, r.rec.Terms.Proven, r.rec.Terms.Published = "published", nil, &published
	r.rec.Terms.Reason = "stage train: W13: no noise"
	r.write()
	b := r.bundle()
	const said = "No epsilon is proven (claims: published)."
	if p := b.Statement.Predicate.Promise(); p != said {
		t.Error(p)
	}
	data := bytesOf(t, b)
	found, err := verdict(t, data, means())
	if err != nil || len(found.Differ) > 0 || !strings.Contains(strings.Join(found.Unchecked, "\n"), said) {
		t.Errorf("%v: %+v", err, found)
	}
	if n := bytes.Count(data, []byte(said)); n < 2 {
		t.Errorf("catalogues are told %d times", n)
	}
}

// TestRunOffline: the folder of a run alone is judged too, its edits found.
func TestRunOffline(t *testing.T) {
	r := newReleased(t)
	judged := func() (Judgement, error) {
		b, err := OfRun(Request{Dir: r.dir, Record: r.rec, Names: testNames})
		if err != nil {
			return Judgement{}, err
		}
		return b.JudgeRun(t.Context(), means())
	}
	if found, err := judged(); err != nil || len(found.Differ) > 0 || len(found.Holds) < 7 {
		t.Errorf("%v: %+v", err, found)
	}
	*r.rec.Terms.Proven = 0.1
	if found, err := judged(); err != nil || !strings.Contains(fmt.Sprint(found.Differ), "epsilon is stated as 0.1") {
		t.Errorf("%v: %+v", err, found)
	}
	r.plant("release/private.csv", canary)
	if found, err := judged(); err != nil ||
		!strings.Contains(fmt.Sprint(found.Differ), "release/private.csv: is not in the record") {
		t.Errorf("%v: %+v", err, found)
	}
	r.plant("release/sample.csv", "age,ward\n35,north\n")
	if found, err := judged(); err != nil || !strings.Contains(fmt.Sprint(found.Differ), "release/sample.csv") {
		t.Errorf("%v: %+v", err, found)
	}
}

// TestSpecFromElsewhere: a spec that is at hand is held to digest, plan and bill of the statement.
func TestSpecFromElsewhere(t *testing.T) {
	r := newReleased(t)
	data := bytesOf(t, r.bundle())
	for want, spec := range map[string]*Compiled{
		"":                            {Name: "mine.yaml", Digest: aSHA256, Plan: r.rec.Plan},
		"mine.yaml: has the digest":   {Name: "mine.yaml", Digest: "sha256:0", Plan: r.rec.Plan},
		"mine.yaml: has another plan": {Name: "mine.yaml", Digest: aSHA256, Plan: []byte(`{"stages":[]}`)},
	} {
		m := means()
		m.Spec = spec
		found, err := verdict(t, data, m)
		if differ := strings.Join(found.Differ, "; "); err != nil || (want == "") != (differ == "") ||
			!strings.Contains(differ, want) {
			t.Errorf("%v: %q, must say %q", err, differ, want)
		}
		holds := strings.Contains(strings.Join(found.Holds, "\n"), "mine.yaml has the digest, the plan and the bill")
		if holds != (want == "") || strings.Contains(fmt.Sprint(found.Unchecked), "the spec is not here") {
			t.Errorf("%q: %+v", want, found)
		}
	}
}
