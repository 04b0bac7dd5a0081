package bundle

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"weir/internal/disk"
	"weir/pipeline"
	"weir/privacy/ledger"
	"weir/record"
	"weir/runtime/store"
	"weir/runtime/table"
)

// Request says what a bundle is made of.
type Request struct {
	Dir     string         // folder of the run
	Record  *record.Run    // of the run
	Ledger  []ledger.Entry // of the dataset; nil where nothing was charged
	Text    *pipeline.CSV  // how the run wrote text files
	Names   Names          // of files that kinds release
	Spec    bool           // put the spec in
	License string         // of the release, as its owner names it; "" leaves it open
}

// RefusedError is why no bundle is made of a run.
type RefusedError struct{ err error }

// Error returns where it is, what was found and what is accepted.
func (e *RefusedError) Error() string { return e.err.Error() }

// Unwrap returns the reason.
func (e *RefusedError) Unwrap() error { return e.err }

func refuse(format string, args ...any) error { return &RefusedError{fmt.Errorf(format, args...)} }

// Gather returns the bundle of a finished run. What enters is decided by class, as the plan has it: files of the
// release that stages made and whose class is not private, and documents that are rendered from public facts. Anything
// else in release/ is refused by name, and nothing else of the run is opened.
func Gather(q Request) (*Bundle, error) {
	if err := q.refused(); err != nil {
		return nil, err
	}
	b, err := q.statement()
	if err != nil {
		return nil, err
	}
	if err := b.Statement.Predicate.printable(); err != nil {
		return nil, refuse("%w", err)
	}
	if len(q.Record.Charges) > 0 {
		lines, err := q.lines()
		if err != nil {
			return nil, err
		}
		b.members = append(b.members, memberOf(ledgerName, lines))
	}
	if q.Spec {
		b.members = append(b.members, memberOf(specName, []byte(q.Record.Spec)))
	}
	if err := b.describe(); err != nil {
		return nil, err
	}
	return b, b.state()
}

// OfRun returns a finished run as a bundle that has its spec, but no ledger lines and no descriptions for catalogues,
// to be judged.
func OfRun(q Request) (*Bundle, error) {
	b, err := q.statement()
	if err != nil {
		return nil, err
	}
	b.members = append(b.members, memberOf(specName, []byte(q.Record.Spec)))
	b.edited = (store.RunDir{Path: q.Dir}).CheckRelease(q.Record)
	return b, b.state()
}

// refused says why an auditor would not put their name under a bundle of the run.
func (q Request) refused() error {
	switch rec := q.Record; {
	case rec.Status != record.Done:
		return refuse("the run is %s, must be done", rec.Status)
	case rec.Insecure:
		return refuse("the noise is from a seed, must be from the operating system: anyone can repeat it, so it is a test")
	}
	return (store.RunDir{Path: q.Dir}).CheckRelease(q.Record)
}

// statement begins a bundle with the files of the release.
func (q Request) statement() (*Bundle, error) {
	public, err := q.Record.Public()
	if err != nil {
		return nil, fmt.Errorf("run.json: plan: %w", err)
	}
	b := &Bundle{names: q.Names, Statement: Statement{Type: statementType, PredicateType: predicateType,
		Predicate: Predicate{License: q.License, Text: q.Text, Public: public}}}
	var refused []error
	for _, f := range public.Release {
		m, err := q.file(public, f)
		refused = append(refused, err)
		b.members = append(b.members, m)
	}
	return b, errors.Join(refused...)
}

// file admits a file of the release.
func (q Request) file(p record.Public, f record.File) (member, error) {
	name, is := strings.CutPrefix(f.Path, releaseDir)
	if !is {
		return member{}, refuse("%s: lies outside of release/, must lie in it", f.Path)
	}
	if err := q.Names.admit(p, name); err != nil {
		return member{}, refuse("%s: %w", f.Path, err)
	}
	path := filepath.Join(q.Dir, filepath.FromSlash(f.Path))
	m, err := member{name: f.Path, open: func() (fs.File, error) { return disk.Open(path) }}.sum(io.Discard)
	return m, err
}

// lines returns the lines of the ledger by which the release was paid.
func (q Request) lines() ([]byte, error) {
	head := ledger.Head{Count: q.Record.Dataset.LedgerCount, Hash: q.Record.Dataset.LedgerHead}
	if err := ledger.Includes(q.Ledger, head); err != nil {
		return nil, err
	}
	var paid []ledger.Entry
	for _, c := range q.Record.Charges {
		i := slices.IndexFunc(q.Ledger, func(e ledger.Entry) bool { return e.Identity() == c.Ledger })
		if i < 0 {
			return nil, fmt.Errorf("ledger: lacks the charge %s, must hold all of the run: %w", c.ID, ledger.ErrTampered)
		}
		paid = append(paid, q.Ledger[i])
	}
	return ledger.Lines(paid)
}

// describe adds what catalogues read.
func (b *Bundle) describe() error {
	b.sort()
	croissant, err := b.croissant()
	if err != nil {
		return err
	}
	b.members = append(b.members, memberOf(croissantName, croissant))
	b.sort()
	crate, err := b.crate()
	b.members = append(b.members, memberOf(crateName, crate))
	return err
}

// sort puts the members into their order.
func (b *Bundle) sort() { slices.SortFunc(b.members, byName) }

func byName(x, y member) int { return strings.Compare(x.name, y.name) }

// state writes the statement over all members.
func (b *Bundle) state() (err error) {
	b.sort()
	for _, m := range b.members {
		s := Subject{Name: m.name}
		s.Digest.SHA256 = m.sha256
		b.Statement.Subject = append(b.Statement.Subject, s)
	}
	b.statement, err = written(b.Statement)
	return err
}

// Documents of a release, which are rendered from public facts.
const (
	privacyName   = "PRIVACY.md"
	billName      = "BILL.txt"
	datasheetName = "DATASHEET.md"
	domainName    = "domain.yaml"
)

// kindOf is what a file of a release is.
type kindOf int

// Kinds of files.
const (
	document kindOf = iota // rendered from public facts, see Judge
	tableFile
	modelFile    // or a detector
	artifactFile // of a stage that releases files, such as listed marginals
)

// Names returns what a kind calls the files of an output, behind the id of its stage and a dot (pipeline.Port).
type Names func(kind, port string) []string

// admit refuses a file of a release, named below its folder, that no stage of the plan released and that is no
// document.
func (n Names) admit(p record.Public, name string) error {
	_, err := n.classify(p, name)
	return err
}

// classify tells what a file of a release is by the plan: which outputs a stage has and of which class, not what the
// file is called, decides whether it is one of them.
func (n Names) classify(p record.Public, name string) (kindOf, error) {
	if slices.Contains([]string{privacyName, billName, datasheetName, domainName}, name) {
		return document, nil
	}
	id, rest, _ := strings.Cut(name, ".")
	first, outputs := p.Outputs(id)
	if outputs == nil {
		return 0, errors.New("is of no stage of the plan, must be a file that one releases, or a document of the release")
	}
	rest = strings.TrimPrefix(rest, "NOT-PRIVATE.")
	if rest == domainName {
		return document, nil
	}
	best := kindOf(-1)
	for _, o := range outputs {
		kind, is := n.writtenAs(o, rest)
		if is && o.Class != string(pipeline.Private) && (kind != tableFile || first == o.Class) && (best < 0 || kind < best) {
			best = kind
		}
	}
	if best < 0 {
		return 0,
			fmt.Errorf("is not a file that stage %s releases, must be one of its outputs that are not private, under the "+
				"name that its kind gives", id)
	}
	return best, nil
}

// writtenAs reports whether an output of a stage is written as a file whose name goes on with rest.
func (n Names) writtenAs(o record.Output, rest string) (kindOf, bool) {
	switch form := pipeline.Form(o.Form); {
	case form == pipeline.FormTable:
		return tableFile, slices.ContainsFunc(table.Writers(), func(w table.Writer) bool { return w.Name() == rest })
	case form == pipeline.FormModel || form == pipeline.FormDetector:
		ending := "." + string(form)
		return modelFile, "."+rest == ending || "."+rest == "."+o.Port+ending
	case form.IsFiles():
		return artifactFile, n != nil && slices.Contains(n(o.Kind, o.Port), rest)
	}
	return 0, false
}
