// Package ledger keeps what was spent on a dataset: a file of JSON lines, one
// for each charge, each naming the hash of the line before it. See
// docs/design/ledger.md for what it can and cannot show.
package ledger

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"weir/privacy"
)

// Charge is what a run pays for. Event is nil only where Unproven says why no
// bound exists (claims: published or none); a total over it is infinite.
type Charge struct {
	ID        string            // unique in the ledger
	Run       string            // id of the run
	Spec      string            // digest of the spec
	Version   string            // of the dataset, as declared; never computed from its content
	Stage     string            // the payer
	Name      string            // of the spend in its stage
	Recipe    string            // public digest of how the stage is made
	Unit      Unit              // for whose change the event holds
	Adjacency privacy.Adjacency // under which the event holds
	Event     privacy.Event
	Published *float64 // epsilon by the paper's own arithmetic, if the run claims it
	Unproven  string
}

// Entry is one line. The field order is the order in the file.
type Entry struct {
	Prev      string            `json:"prev"` // hash of the line before; of the dataset's id for the first
	Time      time.Time         `json:"time"`
	Run       string            `json:"run"`
	Spec      string            `json:"spec"`
	Dataset   string            `json:"dataset"` // a random id: a digest of the content could be guessed against
	Version   string            `json:"version"`
	Stage     string            `json:"stage"`
	Name      string            `json:"name,omitempty"`
	Recipe    string            `json:"recipe,omitempty"`
	Unit      Unit              `json:"unit"`
	Event     privacy.JSON      `json:"event"`
	Adjacency privacy.Adjacency `json:"adjacency"`
	ID        string            `json:"id"`
	Published *float64          `json:"epsilon_published,omitempty"`
	Unproven  string            `json:"unproven,omitempty"`
	Filter    *Filter           `json:"filter,omitempty"` // that admitted the charge, if a cap was set
	Cap       *CapTerms         `json:"cap,omitempty"`    // under which it did; a filter without one is of an earlier weir
	Origin    *Origin           `json:"origin,omitempty"` // where a merge moved the line from
	Hash      string            `json:"hash,omitempty"`   // of the line without this field
}

// Origin is the place in the chain that a line had when it was written.
type Origin struct {
	Prev string `json:"prev"`
	Hash string `json:"hash"`
}

// genesis returns what the first line of a dataset's ledger names as its predecessor.
func genesis(dataset string) string { return privacy.Digest([]byte("weir ledger 2\n" + dataset)) }

// CapTerms are what a cap promised when it admitted a charge, so that a later reader
// sees a spec that raised or dropped it.
type CapTerms struct {
	Epsilon float64 `json:"epsilon"`
	Delta   float64 `json:"delta"`
}

// entry returns c as a line of the dataset's ledger, not yet in its chain.
func (c Charge) entry(dataset string, at time.Time, key admission) Entry {
	return Entry{Time: at, Run: c.Run, Spec: c.Spec, Dataset: dataset, Version: c.Version, Stage: c.Stage, Name: c.Name,
		Recipe: c.Recipe, Unit: c.Unit, Event: privacy.JSON{Event: c.Event}, Adjacency: c.Adjacency, ID: c.ID,
		Published: c.Published, Unproven: c.Unproven, Filter: key.filter, Cap: key.terms}
}

// seal sets the hash of e.
func (e Entry) seal() (Entry, error) {
	e.Hash = ""
	b, err := json.Marshal(e)
	if err != nil {
		return e, fmt.Errorf("charge %q: %w", e.ID, err)
	}
	e.Hash = privacy.Digest(b)
	return e, nil
}

// line returns e as it stands in the file, with its newline.
func (e Entry) line() ([]byte, error) {
	b, err := json.Marshal(e)
	return append(b, '\n'), err
}

// original returns e as it was before any merge.
func (e Entry) original() (Entry, error) {
	if e.Origin == nil {
		return e.seal()
	}
	e.Prev, e.Origin = e.Origin.Prev, nil
	return e.seal()
}

// Identity returns the hash that e was written with, whatever merges moved it.
func (e Entry) Identity() string {
	if e.Origin != nil {
		return e.Origin.Hash
	}
	return e.Hash
}

// ErrTampered marks a ledger that was altered after it was written.
var ErrTampered = errors.New("the ledger was altered after it was written")

// lineError names the line at which the chain breaks.
type lineError struct {
	Line   int // from 1
	Reason string
}

func (e *lineError) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Reason) }
func (e *lineError) Unwrap() error { return ErrTampered }

// atLine names the line of err. A ledger of an earlier format was not tampered with.
func atLine(line int, err error) error {
	if errors.Is(err, ErrOldFormat) {
		return fmt.Errorf("line %d: %w", line, err)
	}
	return &lineError{line, err.Error()}
}

// Parse returns the entries of a ledger after checking every line and the chain.
// A last line that a crash cut short is an error here; Open repairs it.
func Parse(data []byte) ([]Entry, error) {
	entries, rest, err := parse(data, nil, "")
	if err == nil && len(rest) > 0 {
		return entries, &lineError{len(entries) + 1, fmt.Sprintf("is cut short after %d bytes: a crash while it was "+
			"written, which the next run mends, or the end of the file was removed", len(rest))}
	}
	return entries, err
}

// parse checks data as the continuation of the chain before, of the dataset where
// that is known. The rest is what a crash left of one line (reading.go); a whole
// last line without a newline is taken.
func parse(data []byte, before []Entry, dataset string) (entries []Entry, rest []byte, err error) {
	entries = before[:len(before):len(before)]
	for len(data) > 0 {
		line, tail, ended := bytes.Cut(data, []byte("\n"))
		if !ended {
			line, tail = unfilled(line)
		}
		e, err := parseLine(line)
		if err == nil {
			err = follows(e, entries)
		} else if last := !ended || len(tail) == 0 && bytes.IndexByte(data, 0) >= 0; last && !errors.Is(err, ErrOldFormat) {
			if remnant(data, entries, dataset) {
				return entries, data, nil
			}
			err = errNoRemnant(data)
		}
		if err != nil {
			return entries, nil, atLine(len(entries)+1, err)
		}
		entries, data = append(entries, e), tail
	}
	return entries, nil, nil
}

// headHash returns the hash that the line after the entries names as its predecessor.
func headHash(entries []Entry, dataset string) string {
	if n := len(entries); n > 0 {
		return entries[n-1].Hash
	}
	return genesis(dataset)
}

// parseLine reads one line and checks it on its own: spelling, content, hash.
func parseLine(line []byte) (Entry, error) {
	line = bytes.TrimSuffix(line, []byte("\r")) // git on Windows
	if conflictMarker(line) {
		return Entry{}, errors.New("is a git conflict marker; weir ledger merge resolves it")
	}
	var e Entry
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&e); err != nil {
		// and quotes nothing: the file may be the table itself
		return Entry{}, errors.New("is not a charge in the format of a ledger")
	}
	if isDigest(e.Dataset) {
		return Entry{}, ErrOldFormat
	}
	if err := e.check(); err != nil {
		return Entry{}, err
	}
	if again, err := e.line(); err != nil || !bytes.Equal(bytes.TrimSuffix(again, []byte("\n")), line) {
		return Entry{}, errors.New("is not written as weir writes it: it was edited")
	}
	return e, nil
}

func (e Entry) check() error {
	if err := e.valid(); err != nil {
		return err
	}
	if sealed, err := e.seal(); err != nil || sealed.Hash != e.Hash {
		return errors.New("does not have the hash that it states: it was edited")
	}
	if e.Origin == nil {
		return nil
	}
	if first, err := e.original(); err != nil || first.Hash != e.Origin.Hash {
		return errors.New("does not have the origin that it states: it was edited")
	}
	return nil
}

// valid checks what a charge must say, whoever wrote it.
func (e Entry) valid() error {
	if e.ID == "" || e.Version == "" {
		return errors.New("has no id or no version of the dataset, must have both")
	}
	if err := errors.Join(validDataset(e.Dataset), e.Unit.valid(), e.Filter.valid(), e.validCap()); err != nil {
		return err
	}
	if _, err := privacy.ParseAdjacency(string(e.Adjacency)); err != nil {
		return err
	}
	if e.Event.Event == nil {
		if e.Unproven == "" {
			return errors.New("has no event and no reason why nothing is proven, must have one")
		}
		return nil
	}
	return privacy.Validate(e.Event.Event)
}

// follows checks that e is the next entry of the chain.
func follows(e Entry, chain []Entry) error {
	if len(chain) == 0 {
		if e.Prev != genesis(e.Dataset) {
			return errors.New("is not a first line: lines before it were removed or moved")
		}
		return nil
	}
	last := chain[len(chain)-1]
	if e.Dataset != last.Dataset {
		return fmt.Errorf("is of dataset %s, the lines before are of %s", e.Dataset, last.Dataset)
	}
	if e.Prev != last.Hash {
		return fmt.Errorf("does not follow line %d: that line was replaced, or a line was removed, inserted or moved "+
			"between them", len(chain))
	}
	return nil
}

func conflictMarker(line []byte) bool {
	for _, mark := range []string{"<<<<<<<", "|||||||", "=======", ">>>>>>>"} {
		if bytes.HasPrefix(line, []byte(mark)) {
			return true
		}
	}
	return false
}

// Lines returns entries as they stand in the file of a ledger, for readers who are shown some of its charges.
func Lines(entries []Entry) ([]byte, error) {
	var b bytes.Buffer
	for _, e := range entries {
		line, err := e.line()
		if err != nil {
			return nil, err
		}
		b.Write(line)
	}
	return b.Bytes(), nil
}

// ParseLines returns entries that were taken out of one ledger (see Lines). Each is checked by itself: spelling,
// content and hash; all must be of one dataset, none twice. That a ledger holds them, and in which order, it alone can
// show.
func ParseLines(data []byte) (entries []Entry, err error) {
	seen := map[string]bool{}
	for n := 1; len(data) > 0; n++ {
		line, rest, ended := bytes.Cut(data, []byte("\n"))
		e, err := parseLine(line)
		switch {
		case err == nil && !ended:
			err = errors.New("has no newline at its end")
		case err == nil && seen[e.Identity()]:
			err = errors.New("stands twice")
		case err == nil && len(entries) > 0 && e.Dataset != entries[0].Dataset:
			err = errors.New("is of another dataset than the first")
		}
		if err != nil {
			return nil, atLine(n, err)
		}
		seen[e.Identity()] = true
		entries, data = append(entries, e), rest
	}
	return slices.Clip(entries), nil
}

// SameEvent reports whether two events are written alike; nil, of which nothing is proven, is like nil alone.
func SameEvent(a, b privacy.Event) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	one, err1 := privacy.MarshalEvent(a)
	other, err2 := privacy.MarshalEvent(b)
	return err1 == nil && err2 == nil && string(one) == string(other)
}

// ErrOldFormat marks a ledger that names its dataset by a digest of the content,
// as an earlier format did.
var ErrOldFormat = errors.New("is of an earlier format, which names the dataset by a digest of the private table: " +
	"whoever knows all rows but one can test guesses of the last, so do not publish this file. " +
	"Start a new ledger, and take what this one spent off the budget of the dataset: its charges still count")

// validDataset checks the id of a dataset. The ledger may be public, so an id
// must be drawn at random; what looks like a digest of the table is refused, and
// not repeated in the error.
func validDataset(id string) error {
	switch {
	case id == "":
		return errors.New("dataset: is missing, must be a random id such as ds- and 32 hex digits")
	case isDigest(id):
		return errors.New("dataset: is a digest, must be a random id such as ds- and 32 hex digits: a digest of the table " +
			"lets anyone test guesses of a row")
	}
	return nil
}

// isDigest reports whether id is spelled as a hash: sha256:... and its like, or 32
// bytes or more in hex.
func isDigest(id string) bool {
	id = strings.ToLower(id)
	scheme, _, named := strings.Cut(id, ":")
	for _, hash := range []string{"sha", "md5", "blake"} {
		if named && strings.HasPrefix(scheme, hash) {
			return true
		}
	}
	return len(id) >= 64 && strings.Trim(id, "0123456789abcdef") == ""
}

// Unit is whose change a charge holds for: one row, or all rows that share a
// value of Column, of which the run kept at most MaxRows. The zero value is a row.
type Unit struct {
	Column  string
	MaxRows int
}

func (u Unit) String() string {
	if u.Column == "" {
		return "row"
	}
	return fmt.Sprintf("%s (at most %d rows each)", u.Column, u.MaxRows)
}

func (u Unit) valid() error {
	switch {
	case u.Column == "" && u.MaxRows != 0:
		return fmt.Errorf("unit: max_rows: is %d, must be left out where the unit is a row", u.MaxRows)
	case u.Column != "" && u.MaxRows < 1:
		return fmt.Errorf("unit: max_rows: is %d, must be at least 1", u.MaxRows)
	}
	return nil
}

type unitFields struct {
	Column  string `json:"column"`
	MaxRows int    `json:"max_rows"`
}

// MarshalJSON writes "row" or {"column", "max_rows"}, as a spec does.
func (u Unit) MarshalJSON() ([]byte, error) {
	if u == (Unit{}) {
		return json.Marshal("row")
	}
	return json.Marshal(unitFields(u))
}

// UnmarshalJSON reads what MarshalJSON writes and nothing else.
func (u *Unit) UnmarshalJSON(b []byte) error {
	if bytes.Equal(b, []byte(`"row"`)) {
		*u = Unit{}
		return nil
	}
	var f unitFields
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&f); err != nil || f.Column == "" {
		return errors.Join(errors.New("unit: must be row, or column and max_rows"), err)
	}
	*u = Unit(f)
	return nil
}
