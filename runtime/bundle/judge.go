package bundle

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"weir/pipeline"
	"weir/privacy"
	"weir/privacy/account"
	"weir/privacy/ledger"
	"weir/record"
	"weir/runtime/store"
)

// Judgement is what a check of a bundle found.
type Judgement struct {
	Holds     []string `json:"holds"`     // what was checked, and is so
	Differ    []string `json:"differ"`    // what is not as the statement or the release says, each with its name
	Unchecked []string `json:"unchecked"` // what could not be checked here, and who can
}

// Means is what a judgement needs beside the bundle.
type Means struct {
	Build string            // digest of this program, whose words and numbers are its own
	Key   ed25519.PublicKey // of whoever should have signed; nil: nobody is asked for
	Names Names             // of files that kinds release
	// Model reads a released model or detector.
	Model func(ctx context.Context, files []pipeline.File) error
	// Plan compiles a canonical spec; plan is JSON.
	Plan func(spec []byte) (digest string, plan []byte, err error)
	Spec *Compiled // a spec that lies elsewhere and should be the one of the release; nil: none is at hand
}

// Compiled is what a spec compiles to.
type Compiled struct {
	Name   string // of its file
	Digest string
	Plan   []byte // JSON
}

// judge is a judgement at work.
type judge struct {
	*Bundle
	Means
	Judgement
	rows    map[string]count // of the tables that were read, by stage
	source  string           // what states the facts, as people call it
	file    string           // that holds it
	partial bool             // a run, which has no ledger lines and no descriptions
}

// Judge checks all of a bundle that can be checked without data, keys and the ledger. An error says that a member could
// not be read or ctx ended; what it found otherwise is in the judgement.
func (b *Bundle) Judge(ctx context.Context, m Means) (Judgement, error) {
	return b.judged(ctx, m, false)
}

// JudgeRun does what Judge does with a bundle that OfRun made.
func (b *Bundle) JudgeRun(ctx context.Context, m Means) (Judgement, error) {
	return b.judged(ctx, m, true)
}

func (b *Bundle) judged(ctx context.Context, m Means, partial bool) (Judgement, error) {
	b.names = m.Names
	j := &judge{Bundle: b, Means: m, partial: partial, rows: map[string]count{}, source: "the statement",
		file: statementName}
	if partial {
		j.source, j.file = recordName, recordName
		j.ofRun()
	} else {
		j.signature()
		j.secret()
	}
	if whole, err := j.digests(); !whole || err != nil {
		return j.Judgement, err // what else is wrong follows from it
	}
	if j.listed(); len(j.Differ) > 0 {
		return j.Judgement, nil
	}
	for _, check := range []func() error{j.documents, j.catalogues, j.spec, j.charges} {
		if err := check(); err != nil {
			return j.Judgement, err
		}
	}
	j.epsilon()
	err := j.content(ctx)
	j.outOfReach()
	return j.Judgement, err
}

func (j *judge) affirm(format string, args ...any) {
	j.Holds = append(j.Holds, fmt.Sprintf(format, args...))
}
func (j *judge) differs(format string, args ...any) {
	j.Differ = append(j.Differ, fmt.Sprintf(format, args...))
}
func (j *judge) open(format string, args ...any) {
	j.Unchecked = append(j.Unchecked, fmt.Sprintf(format, args...))
}

// signature checks who stands behind the statement.
func (j *judge) signature() {
	switch {
	case j.Signed && j.checkEnvelope() != nil:
		j.differs("%v", j.checkEnvelope())
	case j.Key != nil && !j.Signed:
		j.differs("%s: is not there, must be signed by the key that was given", envelopeName)
	case j.Key != nil:
		if err := j.verify(j.Key); err != nil {
			j.differs("%s: %v", envelopeName, err)
			return
		}
		j.affirm("the statement was signed by the key that was given")
	case j.Signed:
		j.open("who made it: it is signed, and --key names whose signature it should be; until then it proves integrity only")
	default:
		j.open("who made it: it is unsigned, which proves integrity only; whoever changes it can state other digests")
	}
}

// ofRun tells what a folder may hold that no bundle does: files that the run did not release, and noise from a seed.
func (j *judge) ofRun() {
	if j.edited != nil {
		j.differs("%v", j.edited)
	}
	if j.Statement.Predicate.Insecure {
		j.open("%s", record.NotPrivate)
	}
}

// secret refuses a release whose noise is known: weir makes no bundle of one.
func (j *judge) secret() {
	if j.Statement.Predicate.Insecure {
		j.differs("%s: not_private: is true, and no bundle is made of a test", statementName)
	}
}

// digests compares every member with the statement, and reports whether all are as it says.
func (j *judge) digests() (whole bool, err error) {
	stated := map[string]string{}
	for _, s := range j.Statement.Subject {
		if _, twice := stated[s.Name]; twice {
			j.differs("%s: %.80q is listed twice", statementName, s.Name)
		}
		stated[s.Name] = s.Digest.SHA256
	}
	before := len(j.Differ)
	for i, m := range j.members {
		found, err := m.sum(io.Discard)
		if err != nil {
			return false, err
		}
		want, listed := stated[m.name]
		delete(stated, m.name)
		j.members[i] = found
		switch {
		case !listed:
			j.differs("%s: is not in the statement", m.name)
		case found.sha256 != want || found.crc != m.crc:
			j.differs("%s: has other bytes than the statement says", m.name)
		}
	}
	for _, s := range j.Statement.Subject {
		if _, missing := stated[s.Name]; missing {
			j.differs("%s: is missing", s.Name)
		}
	}
	if len(j.Differ) == before {
		n := len(j.members)
		if j.partial {
			n = len(j.release())
		}
		j.affirm("all %d files have the SHA-256 that %s gives", n, j.source)
	}
	return len(j.Differ) == before, nil
}

// listed compares the release with what the run says it released, and each file with the plan.
func (j *judge) listed() {
	p, before := j.Statement.Predicate, len(j.Differ)
	stated := map[string]string{}
	for _, f := range p.Release {
		stated[f.Path] = f.SHA256
	}
	for _, m := range j.release() {
		if stated[releaseDir+m.name] != "sha256:"+m.sha256 {
			j.differs("%s%s: is not the file that the run released", releaseDir, m.name)
		}
		if err := j.names.admit(p.Public, m.name); err != nil {
			j.differs("%s%s: %v", releaseDir, m.name, err)
		}
		delete(stated, releaseDir+m.name)
	}
	for _, f := range p.Release {
		if _, missing := stated[f.Path]; missing {
			j.differs("%s: was released by the run and is missing", f.Path)
		}
	}
	known := []string{ledgerName, specName, croissantName, crateName}
	for _, m := range j.members {
		if !strings.HasPrefix(m.name, releaseDir) && !slices.Contains(known, m.name) {
			j.differs("%s: is not a member that weir puts into a bundle", m.name)
		}
	}
	if len(j.Differ) == before {
		j.affirm("the release is that of the run, and each file of it is one that the plan releases")
	}
}

// documents renders what the release says of itself anew. Where another build of weir wrote it, other words may be
// right; the facts must stand there all the same.
func (j *judge) documents() error {
	rec, err := j.Statement.Predicate.Record()
	if err != nil {
		return err
	}
	for _, d := range []struct {
		name, want string
		facts      []string
	}{{privacyName, record.PrivacyStatement(rec), j.facts()}, {billName, record.BillText(rec), []string{rec.SpecDigest,
		rec.Bill}}, {datasheetName, record.Datasheet(rec), []string{rec.SpecDigest}}} {
		text, err := j.text(releaseDir + d.name)
		if err != nil {
			return err
		}
		j.rendered(releaseDir+d.name, string(text), d.want, d.facts)
	}
	return nil
}

// hidden begins text that a page does not show. No build of weir writes it, and facts could stand there alone.
const hidden = "<!--"

// rendered compares a document with what the statement makes it.
func (j *judge) rendered(name, text, want string, facts []string) {
	absent := slices.IndexFunc(facts, func(fact string) bool { return !strings.Contains(text, fact) })
	switch {
	case text == want:
		j.affirm("%s says what %s says, word by word", name, j.source)
	case absent >= 0 || j.Build == j.Statement.Predicate.Build || strings.Contains(text, hidden):
		j.differs("%s: does not say what %s says", name, j.source)
	case len(facts) == 0:
		j.open("what %s says: another build of weir wrote it", name)
	default:
		j.open("the words of %s, which another build of weir wrote: the numbers and digests of %s are in it, and whatever "+
			"else it says was not compared", name, j.source)
	}
}

// facts lists what PRIVACY.md must say, however it is worded.
func (j *judge) facts() []string {
	p := j.Statement.Predicate
	list := []string{p.Run, p.SpecDigest, p.Dataset.ID, p.KeyCommitment, p.Dataset.Unit}
	if e := p.Terms.Proven; e != nil && (*e > 0 || len(p.Charges) > 0) {
		list = append(list, "**epsilon = "+record.Bound(*e)+"**", fmt.Sprintf("**delta = %g**", p.Terms.Delta),
			string(p.Terms.Adjacency))
	}
	for _, f := range p.Release {
		if f.Path != releaseDir+privacyName {
			list = append(list, f.SHA256)
		}
	}
	return list
}

// catalogues renders the descriptions for catalogues anew.
func (j *judge) catalogues() error {
	if j.partial {
		return nil
	}
	croissant, err := j.croissant()
	if err != nil {
		return err
	}
	crate, err := j.crate()
	if err != nil {
		return err
	}
	for _, d := range []struct {
		name string
		want []byte
	}{{croissantName, croissant}, {crateName, crate}} {
		text, err := j.text(d.name)
		if err != nil {
			return err
		}
		j.rendered(d.name, string(text), string(d.want), nil)
	}
	return nil
}

// spec compiles the spec of the bundle again and compares digest, plan and bill with the statement, and so a spec that
// lies elsewhere.
func (j *judge) spec() error {
	text, err := j.text(specName)
	if err != nil {
		return err
	}
	if text == nil && j.Spec == nil {
		j.open("that plan and bill follow from the spec, and that no other stage looked at rows: the spec is not here " +
			"(whoever has it: weir verify --spec)")
	}
	if text != nil {
		compiled := Compiled{Name: specName}
		if j.partial {
			compiled.Name = "the spec in " + recordName
		}
		if compiled.Digest, compiled.Plan, err = j.Plan(text); err != nil {
			j.open("%s: it does not compile here: %v", compiled.Name, err)
		} else if err := j.follows(compiled); err != nil {
			return err
		}
	}
	if j.Spec == nil {
		return nil
	}
	return j.follows(*j.Spec)
}

// follows compares what a spec compiles to with the statement.
func (j *judge) follows(c Compiled) error {
	p := j.Statement.Predicate
	again, err := (&record.Run{Plan: c.Plan}).Public()
	if err != nil {
		return err
	}
	switch same := store.Compact(again.Plan) == store.Compact(p.Plan); {
	case c.Digest != p.SpecDigest:
		j.differs("%s: has the digest %s, must be the spec of %s", c.Name, c.Digest, j.source)
	case !same && j.Build == p.Build:
		j.differs("%s: has another plan than %s", c.Name, j.source)
	case !same:
		j.open("that the plan follows from %s: this build of weir plans it otherwise", c.Name)
	default:
		j.affirm("%s has the digest, the plan and the bill of %s", c.Name, j.source)
	}
	return nil
}

// charges holds the lines of the ledger against what the run says that it was charged, and both against the plan.
func (j *judge) charges() error {
	p, before := j.Statement.Predicate, len(j.Differ)
	if !j.partial {
		text, err := j.text(ledgerName)
		if err != nil {
			return err
		}
		lines, err := ledger.ParseLines(text)
		if err != nil {
			j.differs("%s: %v", ledgerName, err)
			return nil
		}
		j.paid(lines)
	}
	for _, s := range p.Spends() {
		j.spent(s)
	}
	switch {
	case len(j.Differ) > before:
	case len(p.Charges) == 0 && len(p.Spends()) > 0:
		j.affirm("nothing was charged, and no stage that adds no noise released anything")
	default:
		j.affirm("every mechanism of the bill was charged, %d in all, as the plan has it", len(p.Charges))
	}
	return nil
}

// paid compares each charge with its line.
func (j *judge) paid(lines []ledger.Entry) {
	p := j.Statement.Predicate
	if len(lines) != len(p.Charges) {
		j.differs("%s: holds %d lines, must hold %d, one for each charge", ledgerName, len(lines), len(p.Charges))
		return
	}
	// Which rows of a person are kept is not part of a charge.
	unit := strings.Replace(p.Dataset.Unit, ", those of the least hash", "", 1)
	for i, c := range p.Charges {
		e := lines[i]
		run := c.Run
		if run == "" {
			run = p.Run
		}
		if c.Run == "" && (e.Spec != p.SpecDigest || e.Version != p.Dataset.Version) || e.Unit.String() != unit {
			j.differs("%s: line %d: is of another spec, version or unit than the statement", ledgerName, i+1)
		}
		same := e.Identity() == c.Ledger && e.ID == c.ID && e.Run == run && e.Stage == c.Stage && e.Name == c.Name &&
			e.Dataset == p.Dataset.ID && e.Adjacency == p.Terms.Adjacency && ledger.SameEvent(e.Event.Event, p.LedgerEvent(c))
		if !same {
			j.differs("%s: line %d: is not the charge that the statement lists", ledgerName, i+1)
		}
	}
}

// spent reports whether what a stage spends by the plan was charged.
func (j *judge) spent(s record.Spend) {
	if s.Unproven != (privacy.Unproven{}) {
		return // charged without an event: nothing is proven of it
	}
	if j.withheld(s) {
		return
	}
	for i, name := range s.Names {
		charged := slices.ContainsFunc(j.Statement.Predicate.Charges, func(c record.Charge) bool {
			return c.Stage == s.Stage && c.Name == name && i < len(s.Events) && ledger.SameEvent(c.Event.Event, s.Events[i])
		})
		if !charged {
			j.differs("%s: stage %s: its mechanism %s is in the plan and was not charged so", j.file, s.Stage, name)
		}
	}
}

// withheld reports whether a stage adds no noise, under an infinite budget, and all that it made stayed private: the
// release has nothing of it, so nothing was charged.
func (j *judge) withheld(s record.Spend) bool {
	p := j.Statement.Predicate
	_, outputs := p.Outputs(s.Stage)
	return len(s.Events) == 0 && p.Terms.Budget == "inf" && p.Terms.Proven == nil &&
		!slices.ContainsFunc(outputs, func(o record.Output) bool { return o.Class != string(pipeline.Private) })
}

// closeness is how far an epsilon may lie from the stated one, relative to it, by the rounding of another processor.
const closeness = 1e-9

// epsilon composes the mechanisms of the bill again by the accountant that it names. More than is stated breaks the
// promise; less, where another build of weir has a better accountant, does not.
func (j *judge) epsilon() {
	p := j.Statement.Predicate
	t := p.Terms
	spends := p.Spends()
	for _, s := range spends {
		if t.Proven != nil && s.Unproven != (privacy.Unproven{}) {
			j.differs("%s: states an epsilon, and nothing is proven of stage %s", j.file, s.Stage)
			return
		}
	}
	if p.Insecure {
		return
	}
	if t.Proven == nil || len(spends) == 0 {
		if t.Proven != nil && *t.Proven != 0 {
			j.differs("%s: states an epsilon, and the plan spends nothing", j.file)
		}
		j.open("an epsilon: %s", p.Promise())
		return
	}
	found, err := composed(t, spends)
	switch {
	case err != nil:
		j.differs("%s: epsilon cannot be composed again: %v", j.file, err)
	case !(found <= *t.Proven*(1+closeness)) || j.Build == p.Build && found < *t.Proven*(1-closeness):
		j.differs("%s: epsilon is stated as %s, and the mechanisms of the bill compose to %s (%s)", j.file,
			record.Bound(*t.Proven), record.Bound(found), t.Accountant)
	default:
		j.affirm("the mechanisms of the bill compose to epsilon %s at delta %g (%s, %s)", record.Bound(found), t.Delta,
			t.Accountant, t.Adjacency)
	}
}

// composed returns the epsilon of all that a plan spends.
func composed(t record.Terms, spends []record.Spend) (float64, error) {
	var events []privacy.Event
	for _, s := range spends {
		events = append(events, s.Events...)
	}
	for _, e := range events {
		if e == nil {
			return math.Inf(1), errors.New("a mechanism has no event")
		}
		if err := privacy.Validate(e); err != nil {
			return math.Inf(1), err
		}
	}
	accountant, err := account.ByName(t.Accountant)
	if err != nil {
		return math.Inf(1), err
	}
	return accountant.Epsilon(events, t.Adjacency, t.Delta)
}

// outOfReach lists what no bundle can show.
func (j *judge) outOfReach() {
	p := j.Statement.Predicate
	if len(p.Charges) > 0 {
		j.open("that noise was drawn as charged, and that nothing else was looked at: the owner replays the run " +
			"(weir verify RUN), by data and noise key")
		j.open("what else was charged on dataset %s: its ledger has it (weir ledger show)", p.Dataset.ID)
	}
	if len(p.Tables) > 0 {
		j.open("steps of numbers, and rules between columns, in the cells of tables")
	}
	j.open("that what the domain takes as public is so, and that public files hold no private row")
}
