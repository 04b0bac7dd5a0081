// Package bundle makes one archive of what a run released, with a statement of it that can be signed, and judges such
// an archive where there are neither data nor keys. docs/bundle.md says what is in one and what a check of it shows.
package bundle

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"weir/internal/plaintext"
	"weir/pipeline"
	"weir/record"
)

// Members of a bundle that are not files of the release.
const (
	statementName = "statement.json"      // in-toto Statement: the digests of all members below, and public facts
	envelopeName  = "statement.dsse.json" // signature of the statement; absent where nobody signed
	ledgerName    = "ledger.jsonl"        // lines of the ledger by which the release was paid; absent where nothing was
	specName      = "spec.yaml"           // canonical; absent unless its owner put it in
	croissantName = "croissant.json"
	crateName     = "ro-crate-metadata.json"
	releaseDir    = "release/"
	recordName    = "run.json" // of a run that is judged without a bundle
)

// Types that the statement names (in-toto Attestation Framework, Statement v1).
const (
	statementType = "https://in-toto.io/Statement/v1"
	// predicateType is a name and no address. Its number goes up when an older weir would misread what is written.
	predicateType = "urn:weir:release:1"
)

// Statement is the in-toto statement of a bundle.
type Statement struct {
	Type          string    `json:"_type"`
	Subject       []Subject `json:"subject"` // every member but the statement and its envelope, by name
	PredicateType string    `json:"predicateType"`
	Predicate     Predicate `json:"predicate"`
}

// Subject is a member of the bundle.
type Subject struct {
	Name   string `json:"name"`
	Digest struct {
		SHA256 string `json:"sha256"` // 64 hexadecimal digits
	} `json:"digest"`
}

// Predicate is what the statement says of the release: public facts alone.
type Predicate struct {
	License string        `json:"license,omitempty"` // as the owner names it; weir knows none
	Text    *pipeline.CSV `json:"text,omitempty"`    // dialect of the released text files; nil: RFC 4180
	record.Public
}

// printable refuses facts that would be shown as lines of their own, or otherwise than they are.
func (p Predicate) printable() error {
	for _, fact := range [][2]string{{"run", p.Run}, {"name", p.Name}, {"weir", p.Weir},
		{"digest of the spec", p.SpecDigest},
		{"commit", p.Commit}, {"license", p.License}, {"name of the dataset", p.Dataset.Name},
		{"inventor of the dataset", p.Dataset.Invented}, {"id of the dataset", p.Dataset.ID},
		{"version of the dataset", p.Dataset.Version}, {"privacy unit", p.Dataset.Unit},
		{"commitment of the noise key", p.KeyCommitment},
		{"adjacency", string(p.Terms.Adjacency)}, {"accountant", p.Terms.Accountant},
		{"claims", p.Terms.Claims}, {"where rows stay", p.StaysIn()}} {
		if !plaintext.Printable(fact[1]) {
			return fmt.Errorf("%s: is %.60q, must be %s", fact[0], fact[1], plaintext.Accepted)
		}
	}
	return nil
}

// Bundle is a bundle that was gathered or read: its statement, and members that can be opened.
type Bundle struct {
	Statement Statement
	Signed    bool // an envelope is in it; whose it is, Judge says for a key

	statement, envelope []byte
	members             []member // of the subjects, in their order
	names               Names    // of files that kinds release
	edited              error    // why the release of a run is not as its record says
	close               func() error
}

// member is a file of a bundle.
type member struct {
	name   string
	size   int64
	crc    uint32 // IEEE, as ZIP has it
	sha256 string // hexadecimal
	open   func() (fs.File, error)
}

// Close closes the file that a bundle was read from.
func (b *Bundle) Close() error {
	if b.close == nil {
		return nil
	}
	return b.close()
}

// release lists the members that are files of the release, named below its folder.
func (b *Bundle) release() (list []member) {
	for _, m := range b.members {
		if name, is := strings.CutPrefix(m.name, releaseDir); is {
			m.name = name
			list = append(list, m)
		}
	}
	return list
}

// mostOfText bounds what is held in memory of a member that is text.
const mostOfText = 64 << 20

// text returns what a member holds; nil where there is none of this name.
func (b *Bundle) text(name string) ([]byte, error) {
	for _, m := range b.members {
		if m.name == name {
			return m.text()
		}
	}
	return nil, nil
}

func (m member) text() ([]byte, error) {
	if m.size > mostOfText {
		return nil, fmt.Errorf("%s: holds %d bytes, must be at most %d", m.name, m.size, mostOfText)
	}
	f, err := m.open()
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, m.size))
}

// written returns a value as it stands in a bundle.
func written(v any) ([]byte, error) {
	text, err := json.MarshalIndent(v, "", "  ")
	return append(text, '\n'), err
}

// reread reads a value as strictly as it was written: one spelling and no key that this weir does not know, since
// nobody would have judged what it says.
func reread(text []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return fmt.Errorf("%s, must be as this weir writes it", unquoted(err))
	}
	again, err := written(v)
	if err != nil || !bytes.Equal(again, text) {
		return errors.New("has other bytes than this weir writes for what it says, must be as this weir writes it")
	}
	return nil
}

// unquoted returns what a decoder says without the text that it met.
func unquoted(err error) string {
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &kind):
		return "holds a value of another type under the key " + kind.Field
	case strings.HasPrefix(err.Error(), "json: unknown field"):
		return "has a key that is not known"
	}
	return "is not JSON of this form"
}
