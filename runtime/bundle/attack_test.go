package bundle

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"weir/privacy"
)

// signedBundle returns a bundle signed by the first signer, and how it is judged.
func signedBundle(t *testing.T) ([]byte, Means) {
	b := newReleased(t).bundle()
	if err := b.Sign(signer(1)); err != nil {
		t.Fatal(err)
	}
	m := means()
	m.Key = signer(1).Public().(ed25519.PublicKey)
	return bytesOf(t, b), m
}

// TestOneByte: any byte of a bundle that is changed has it refused, and one of a member is told by the member's name.
func TestOneByte(t *testing.T) {
	data, m := signedBundle(t)
	if why := refused(t, data, m); why != "" {
		t.Fatal(why)
	}
	members := map[string]bool{}
	for i := 0; i < len(data); i += 1 + i%17 {
		other := bytes.Clone(data)
		other[i] ^= 1 << (i % 8)
		why := refused(t, other, m)
		if why == "" {
			t.Fatalf("byte %d of %d: changed from %q to %q and passes", i, len(data), data[i], other[i])
		}
		name, _, _ := strings.Cut(why, ":")
		members[name] = true
	}
	for _, name := range []string{"statement.json", "ledger.jsonl", "croissant.json", "ro-crate-metadata.json",
		"release/PRIVACY.md", "release/sample.csv", "release/train.model", "release/BILL.txt"} {
		if !members[name] {
			t.Errorf("no change was told by the name %s", name)
		}
	}
}

// TestLength: bytes before, behind and between have a bundle refused, and so have bytes that are gone.
func TestLength(t *testing.T) {
	data, m := signedBundle(t)
	for name, other := range map[string][]byte{"one more at the end": append(bytes.Clone(data), 0),
		"one less": data[:len(data)-1], "one more in front": append([]byte{0}, data...), "half": data[:len(data)/2],
		"nothing": {}, "twice": append(bytes.Clone(data), data...)} {
		if why := refused(t, other, m); why == "" {
			t.Errorf("%s: passes", name)
		}
	}
}

// TestMembers: members under other names, more of them, fewer, or in another order.
func TestMembers(t *testing.T) {
	for _, c := range []struct {
		want   string
		change func(b *Bundle)
	}{
		{"release/samples.csv: is not in the statement; release/sample.csv: is missing", func(b *Bundle) {
			b.find("release/sample.csv").name = "release/samples.csv"
		}},
		{"ledger.json: is not in the statement; ledger.jsonl: is missing", func(b *Bundle) {
			b.find("ledger.jsonl").name = "ledger.json"
		}},
		{"release/more.csv: is not in the statement", func(b *Bundle) {
			b.members = append(b.members, memberOf("release/more.csv", []byte(canary)))
			b.sort()
		}},
		{"release/train.model: is missing", func(b *Bundle) { b.remove("release/train.model") }},
		{"is the same file as an earlier entry", func(b *Bundle) { b.members = append(b.members, b.members[0]); b.sort() }},
		{"is not a name that every system takes alike", func(b *Bundle) { b.find("ledger.jsonl").name = "../ledger.jsonl" }},
		{"is not a name that every system takes alike", func(b *Bundle) { b.find("ledger.jsonl").name = "/ledger.jsonl" }},
		{"is not a name that every system takes alike",
			func(b *Bundle) { b.find("ledger.jsonl").name = `release\ledger.jsonl` }},
		{"is not a name that every system takes alike",
			func(b *Bundle) { b.find("ledger.jsonl").name = "ledger\u202e.jsonl" }},
		{"is not a name that every system takes alike", func(b *Bundle) { b.find("ledger.jsonl").name = "ledger.jsonl." }},
		{"is not a name that every system takes alike", func(b *Bundle) { b.find("ledger.jsonl").name = "c:ledger.jsonl" }},
		{"is the same file as an earlier entry",
			func(b *Bundle) { b.find("ledger.jsonl").name = "RELEASE/Sample.csv"; b.sort() }},
		{"release/sample.csv: has other bytes", func(b *Bundle) { b.replace("release/sample.csv", "age,ward\n1,north\n") }},
		{"in another order", func(b *Bundle) { b.members[0], b.members[1] = b.members[1], b.members[0] }},
	} {
		b := newReleased(t).bundle()
		c.change(b)
		if why := refused(t, bytesOf(t, b), means()); !strings.Contains(why, c.want) {
			t.Errorf("%q, must say %q", why, c.want)
		}
	}
}

func (b *Bundle) find(name string) *member {
	for i := range b.members {
		if b.members[i].name == name {
			return &b.members[i]
		}
	}
	panic(name)
}

func (b *Bundle) remove(name string) {
	var rest []member
	for _, m := range b.members {
		if m.name != name {
			rest = append(rest, m)
		}
	}
	b.members = rest
}

func (b *Bundle) replace(name, text string) { *b.find(name) = memberOf(name, []byte(text)) }

// restated writes the bundle as an attacker does who can compute digests: the statement lists the members as they are.
func (b *Bundle) restated(t *testing.T) []byte {
	b.Statement.Subject = nil
	if err := b.state(); err != nil {
		t.Fatal(err)
	}
	return bytesOf(t, b)
}

// TestOneLineOfTheLedger: a charge that was changed, exchanged, left out or told twice, with digests that fit.
func TestOneLineOfTheLedger(t *testing.T) {
	for name, change := range map[string]func(r *released, line string) string{
		"a digit of the noise": func(_ *released, line string) string { return strings.Replace(line, `:5}`, `:6}`, 1) },
		"another charge":       func(r *released, _ string) string { return lineOf(r, 0) },
		"gone":                 func(*released, string) string { return "" },
		"twice":                func(_ *released, line string) string { return line + line },
		"one more":             func(r *released, line string) string { return line + lineOf(r, 0) },
		"no newline":           func(_ *released, line string) string { return strings.TrimSpace(line) },
	} {
		r := newReleased(t)
		b := r.bundle()
		b.replace(ledgerName, change(r, lineOf(r, 1)))
		if err := b.redescribed(); err != nil {
			t.Fatal(err)
		}
		if why := refused(t, b.restated(t), means()); !strings.HasPrefix(why, "ledger.jsonl: ") {
			t.Errorf("%s: %q", name, why)
		}
	}
}

// redescribed writes the descriptions for catalogues again.
func (b *Bundle) redescribed() error {
	b.remove(croissantName)
	b.remove(crateName)
	return b.describe()
}

// lineOf returns a line of the ledger of a run.
func lineOf(r *released, i int) string {
	text, err := os.ReadFile(r.dir + "/l.jsonl")
	if err != nil {
		r.t.Fatal(err)
	}
	return strings.SplitAfter(string(text), "\n")[i]
}

// TestStatedFacts: a statement whose facts do not follow from each other is refused, whatever digests it gives.
func TestStatedFacts(t *testing.T) {
	half := 0.5
	for _, c := range []struct {
		want   string
		change func(p *Predicate)
	}{
		{"release/PRIVACY.md: does not say", func(p *Predicate) { p.Terms.Proven = &half }},
		{"epsilon is stated as 0.5", func(p *Predicate) { p.Terms.Proven = &half }},
		{"release/PRIVACY.md: does not say", func(p *Predicate) { p.Terms.Delta = 1e-9 }},
		{"release/PRIVACY.md: does not say", func(p *Predicate) { p.SpecDigest = privacy.Digest(nil) }},
		{"release/BILL.txt: does not say", func(p *Predicate) { p.Bill = "BILL: nothing\n" }},
		{"release/DATASHEET.md: does not say", func(p *Predicate) { p.Tables[0].Columns[0].Doc = "years" }},
		{"croissant.json: does not say", func(p *Predicate) { p.License = "MIT" }},
		{"is not the charge that the statement lists", func(p *Predicate) { p.Dataset.ID = "ds-other" }},
		{"was not charged so", func(p *Predicate) { p.Charges = nil }},
		{"has other columns than the statement", func(p *Predicate) {
			p.Tables[0].Columns[0].Bounds = &[2]float64{0, 200}
		}},
		{"is of another spec, version or unit", func(p *Predicate) { p.SpecDigest = "sha256:other" }},
		{"is of another spec, version or unit", func(p *Predicate) { p.Dataset.Version = "77" }},
		{"is of another spec, version or unit", func(p *Predicate) { p.Dataset.Unit = "hospital" }},
		{"must be text without control characters", func(p *Predicate) { p.Dataset.Version = "1\n\nchecked\n" }},
		{"must be text without control characters", func(p *Predicate) { p.Name = "study\x1b[1m" }},
		{"has 3 rows, must have as many as the statement says", func(p *Predicate) { p.Tables[0].Rows = 4 }},
		{"has more rows than the statement says", func(p *Predicate) { p.Tables[0].Rows = 2 }},
		{"not_private: is true", func(p *Predicate) { p.Insecure = true }},
		{"release/sample.csv: is not the file that the run released", func(p *Predicate) { p.Release[1].SHA256 = aSHA256 }},
		{"release/gone.csv: was released by the run and is missing", func(p *Predicate) {
			p.Release[1].Path = "release/gone.csv"
		}},
	} {
		b := newReleased(t).bundle()
		c.change(&b.Statement.Predicate)
		found, err := verdict(t, b.restated(t), means())
		if text := fmt.Sprint(found.Differ, err); !strings.Contains(text, c.want) {
			t.Errorf("%s, must say %q", text, c.want)
		}
	}
}

// TestAnotherBuild: other words for the same facts pass where another build of weir wrote them, and are listed; other
// facts do not, nor other words of this build.
func TestAnotherBuild(t *testing.T) {
	for _, c := range []struct{ build, old, words, differ, unchecked string }{
		{"sha256:other", "The same holds", "This holds", "", "the words of release/PRIVACY.md, which another build"},
		{"sha256:other", "**epsilon = ", "**epsilon = 0", "release/PRIVACY.md: does not say", ""},
		{"sha256:other", "The same holds", "<!-- The same holds -->", "release/PRIVACY.md: does not say", ""},
		{aSHA256, "The same holds", "This holds", "release/PRIVACY.md: does not say", ""},
	} {
		b := newReleased(t).bundle()
		text, err := b.text("release/PRIVACY.md")
		if err != nil || !bytes.Contains(text, []byte(c.old)) {
			t.Fatalf("%v: %s", err, text)
		}
		b.replace("release/PRIVACY.md", strings.Replace(string(text), c.old, c.words, 1))
		p := &b.Statement.Predicate
		p.Build, p.Release[len(p.Release)-1].SHA256 = c.build, "sha256:"+b.find("release/PRIVACY.md").sha256
		if err := b.redescribed(); err != nil {
			t.Fatal(err)
		}
		found, err := verdict(t, b.restated(t), means())
		if differ := strings.Join(found.Differ, "; "); err != nil || !strings.HasPrefix(differ, c.differ) ||
			(c.differ == "") != (differ == "") || !strings.Contains(fmt.Sprint(found.Unchecked), c.unchecked) {
			t.Errorf("%v: %+v", err, found)
		}
	}
}

// TestCataloguesOfAnotherBuild: what catalogues read cannot be compared where another build of weir wrote it, and the
// verdict says so.
func TestCataloguesOfAnotherBuild(t *testing.T) {
	for build, want := range map[string]string{"sha256:other": "", aSHA256: croissantName + ": does not say"} {
		b := newReleased(t).bundle()
		b.Statement.Predicate.Build = build
		if err := b.redescribed(); err != nil {
			t.Fatal(err)
		}
		b.replace(croissantName, `{"description":"no personal data"}`)
		found, err := verdict(t, b.restated(t), means())
		differ := strings.Join(found.Differ, "; ")
		if err != nil || !strings.HasPrefix(differ, want) || (want == "") != (differ == "") {
			t.Errorf("%s: %v: %+v", build, err, found)
		}
		const told = "what " + croissantName + " says: another build"
		if unchecked := fmt.Sprint(found.Unchecked); want == "" && !strings.Contains(unchecked, told) {
			t.Errorf("not told as unchecked: %s", unchecked)
		}
	}
}

// TestContent: cells outside of the domain and models that cannot be read, with digests and documents that fit.
func TestContent(t *testing.T) {
	for _, c := range []struct{ file, text, want string }{
		{"sample.csv", "age,ward\n34,west\n", "release/sample.csv: "},
		{"sample.csv", "age,ward\n134,north\n", "release/sample.csv: column age: a value lies outside of its bounds"},
		{"sample.csv", "age,ward\n,north\n", "release/sample.csv: "},
		{"sample.csv", "age,ward,name\n34,north,Ann\n", "release/sample.csv: "},
		{"sample.csv", canary, "release/sample.csv: "},
		{"train.model", canary, "release/train.model: cannot be read as a model"},
		{"train.model", "PK\x03\x04", "release/train.model: cannot be read as a model"},
	} {
		r := newReleased(t)
		r.files[c.file] = c.text
		r.write()
		why := refused(t, bytesOf(t, r.bundle()), means())
		if !strings.HasPrefix(why, c.want) {
			t.Errorf("%q, must say %q", why, c.want)
		}
		if strings.Contains(why, canary) || strings.Contains(why, "134") || strings.Contains(why, "west") {
			t.Errorf("a cell is quoted: %s", why)
		}
	}
}

// TestSignature: an attacker who can make all digests fit cannot make the signature so.
func TestSignature(t *testing.T) {
	forge := func() *Bundle {
		r := newReleased(t)
		r.files["sample.csv"] = "age,ward\n99,north\n99,north\n99,north\n"
		r.write()
		return r.bundle()
	}
	_, m := signedBundle(t)
	real := newReleased(t).bundle()
	if err := real.Sign(signer(1)); err != nil {
		t.Fatal(err)
	}
	unsigned, other, grafted := forge(), forge(), forge()
	if err := other.Sign(signer(2)); err != nil {
		t.Fatal(err)
	}
	grafted.envelope = real.envelope
	for name, c := range map[string]struct {
		b    *Bundle
		want string
	}{"unsigned": {unsigned, "must be signed by the key that was given"}, "another key": {other, "no signature of the " +
		"statement is by the key"}, "the envelope of the true one": {grafted, "is around something else"}} {
		if why := refused(t, bytesOf(t, c.b), m); !strings.Contains(why, c.want) {
			t.Errorf("%s: %q, must say %q", name, why, c.want)
		}
	}
	found, err := verdict(t, bytesOf(t, forge()), means())
	if err != nil || len(found.Differ) > 0 || !strings.Contains(fmt.Sprint(found.Unchecked), "unsigned, which proves "+
		"integrity only") {
		t.Errorf("an unsigned forgery is whole, and it is said that this is all: %v %+v", err, found)
	}
}

// TestEnvelopeSaysNothingElse: a second signature, or words in the place of one, are refused whoever signed the first.
func TestEnvelopeSaysNothingElse(t *testing.T) {
	_, m := signedBundle(t)
	for name, change := range map[string]func(e *envelope){
		"a second signature": func(e *envelope) { e.Signatures = append(e.Signatures, e.Signatures[0]) },
		"words as a key":     func(e *envelope) { e.Signatures[0].KeyID = "approved" },
		"none":               func(e *envelope) { e.Signatures = nil },
	} {
		b := newReleased(t).bundle()
		if err := b.Sign(signer(1)); err != nil {
			t.Fatal(err)
		}
		var e envelope
		if err := json.Unmarshal(b.envelope, &e); err != nil {
			t.Fatal(err)
		}
		change(&e)
		var err error
		if b.envelope, err = written(e); err != nil {
			t.Fatal(err)
		}
		if why := refused(t, bytesOf(t, b), m); !strings.Contains(why, "must hold one signature") {
			t.Errorf("%s: %q", name, why)
		}
	}
}

// TestUnprovenStage: a statement cannot state an epsilon beside a stage of which nothing is proven.
func TestUnprovenStage(t *testing.T) {
	r := newReleased(t)
	r.rec.Plan = json.RawMessage(strings.Replace(string(r.rec.Plan), `"epsilon_alone"`,
		`"unproven":{"rule":"W13","why":"no noise"},"epsilon_alone"`, 1))
	r.write()
	if why := refused(t, bytesOf(t, r.bundle()), means()); !strings.Contains(why, "nothing is proven of stage train") {
		t.Error(why)
	}
}

// TestEncodedIsThatOfTheSpecification holds what is signed to the example of the DSSE specification (protocol.md, "Test
// vectors").
func TestEncodedIsThatOfTheSpecification(t *testing.T) {
	const want = "DSSEv1 29 http://example.com/HelloWorld 11 hello world"
	if got := encoded("http://example.com/HelloWorld", []byte("hello world")); string(got) != want {
		t.Errorf("%s", got)
	}
}

// TestKeys: keys as openssl writes them are read, all else is refused and not quoted. The pair stands in RFC 8410,
// section 10.
func TestKeys(t *testing.T) {
	const private = "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC\n" +
		"-----END PRIVATE KEY-----\n"
	const public = "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=\n" +
		"-----END PUBLIC KEY-----\n"
	key, err := PrivateKey([]byte(private))
	if err != nil {
		t.Fatal(err)
	}
	if pub, err := PublicKey([]byte(public)); err != nil || !pub.Equal(key.Public()) {
		t.Errorf("%v, %v", base64.StdEncoding.EncodeToString(pub), err)
	}
	damaged := "-----BEGIN PRIVATE KEY-----\n" + canary + "\n-----END PRIVATE KEY-----\n"
	for _, text := range []string{"", canary, public, damaged} {
		if _, err := PrivateKey([]byte(text)); err == nil || strings.Contains(err.Error(), canary) {
			t.Errorf("%q: %v", text, err)
		}
	}
	for _, text := range []string{"", canary, private} {
		if _, err := PublicKey([]byte(text)); err == nil || strings.Contains(err.Error(), canary) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// FuzzOpen: whatever the bytes are, they are read and judged or refused, without a panic.
func FuzzOpen(f *testing.F) {
	r := newReleased(f)
	b := r.bundle()
	f.Add(bytesOf(f, b))
	f.Add([]byte("PK\x03\x04"))
	f.Fuzz(func(t *testing.T, data []byte) {
		b, err := read(bytes.NewReader(data), int64(len(data)))
		if err == nil {
			_, _ = b.Judge(context.Background(), means())
		}
	})
}

// FuzzStatement: whatever a statement says, over members that fit it, it is refused or judged without a panic.
func FuzzStatement(f *testing.F) {
	r := newReleased(f)
	whole := r.bundle()
	f.Add(whole.statement)
	f.Fuzz(func(t *testing.T, text []byte) {
		b := *whole
		if json.Unmarshal(text, &b.Statement) != nil {
			return
		}
		b.Statement.Subject = whole.Statement.Subject
		var err error
		if b.statement, err = written(b.Statement); err == nil {
			_, _ = verdict(t, bytesOf(t, &b), means())
		}
	})
}
