// Package auditreport tells an auditor who spent what on datasets: from their ledgers, the records of runs and
// releases, as text, Markdown, JSON and one page. No figure of it is computed from rows.
package auditreport

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"weir/pipeline/words"
	"weir/privacy"
	"weir/privacy/ledger"
	"weir/record"
)

// Report is what an auditor is told of some ledgers.
type Report struct {
	AsOf     *time.Time `json:"as_of"` // of the last charge or start of a run in it; nil: there is none
	Accounts []Account  `json:"accounts"`
	Looked   bool       `json:"runs_looked_at"` // false: no folder of runs was named
}

// Account is how the ledger of one dataset stands.
type Account struct {
	Ledger    string            `json:"ledger"` // as it was named
	Dataset   string            `json:"dataset"`
	Names     []string          `json:"names"` // by which the specs of its runs read it
	Unit      string            `json:"unit"`
	Adjacency privacy.Adjacency `json:"adjacency"`
	Delta     float64           `json:"delta"`
	DeltaFrom string            `json:"delta_from,omitempty"` // why at this delta; "" where a budget says it
	Fixed     Epsilon           `json:"epsilon_fixed"`        // if all charges had been fixed in advance
	Budget    *Budget           `json:"budget"`               // nil: no charge was made under one
	Charges   []Charge          `json:"charges"`
	Course    []Point           `json:"course"` // after the runs that charged, oldest first
	Runs      []Run             `json:"runs"`
	Copied    bool              `json:"owner_copy"` // the ledger was held against the copy that its owner keeps
	Disagree  []string          `json:"disagree"`   // what record, ledger or release say otherwise than another of them

	oneOfMany bool // another account is of the same dataset
}

// Epsilon is a bound, or why there is none.
type Epsilon struct {
	Value  *float64 `json:"value"` // in nats; nil: nothing is proven, or no finite bound exists
	Reason string   `json:"reason,omitempty"`
}

// Budget is what the last capped charge says, and what is left of it.
type Budget struct {
	Epsilon float64 `json:"epsilon"`
	Delta   float64 `json:"delta"`
	Filter  string  `json:"filter"`
	Spent   Epsilon `json:"spent"` // by the filter, however runs were chosen
	Left    float64 `json:"left"`
}

// Charge is a line of the ledger.
type Charge struct {
	Line    int          `json:"line"`
	Time    time.Time    `json:"time"`
	Run     string       `json:"run"`
	Stage   string       `json:"stage"`
	Spend   string       `json:"spend"`
	Version string       `json:"version"` // of the dataset
	Event   privacy.JSON `json:"event"`
	Why     string       `json:"unproven,omitempty"` // there is no event
}

// Point is what charges came to after one of them.
type Point struct {
	Time   time.Time `json:"time"`
	Run    string    `json:"run"`
	Fixed  *float64  `json:"epsilon_fixed"`
	Filter *float64  `json:"epsilon_filter"`
}

// Run is a run that charged the dataset, or names it.
type Run struct {
	ID       string           `json:"run"`
	Name     string           `json:"name,omitempty"`
	Started  time.Time        `json:"-"`      // as the id says; zero without a record
	Status   string           `json:"status"` // of its record, or NoRecord
	Spec     string           `json:"spec_digest"`
	Commit   string           `json:"commit,omitempty"` // at which its spec stood in git as it was run; "" is not recorded
	Weir     string           `json:"weir,omitempty"`
	Proven   *float64         `json:"epsilon_proven"`
	Delta    float64          `json:"delta,omitempty"`
	Claims   string           `json:"claims,omitempty"`
	Test     bool             `json:"not_private,omitempty"`
	Charges  int              `json:"charges"`                 // of its own in the ledger
	Former   string           `json:"former_ledger,omitempty"` // charged before, and gone when the run began
	Release  []string         `json:"release"`
	Warnings []record.Finding `json:"warnings"`
}

// NoRecord is the status of a run whose record was not found.
const NoRecord = "no record here"

// bound returns a bound as a report has it.
func bound(epsilon float64, reason string) Epsilon {
	if math.IsInf(epsilon, 1) || math.IsNaN(epsilon) {
		return Epsilon{nil, reason}
	}
	return Epsilon{&epsilon, reason}
}

// emptyAccount returns the account of a ledger without a charge.
func emptyAccount(path string) Account {
	return Account{Ledger: path, Names: []string{}, Charges: []Charge{}, Course: []Point{}, Runs: []Run{},
		Disagree: []string{}}
}

// accountOf adds up the charges of a ledger.
func accountOf(path string, entries []ledger.Entry, q ledger.Measure) (Account, error) {
	a := emptyAccount(path)
	o, err := ledger.Look(entries, q)
	if err != nil {
		return a, err
	}
	f := o.Fixed
	a.Unit, a.Adjacency, a.Delta, a.DeltaFrom = f.Unit.String(), f.Adjacency, f.Delta, o.DeltaFrom
	a.Fixed = bound(f.Epsilon, f.Reason)
	if b := o.Balance; b != nil {
		a.Budget = &Budget{b.Cap.Epsilon, b.Cap.Delta, b.Filter.String(), bound(b.Spent, b.Reason), b.Left}
		a.Disagree = append(a.Disagree, overspent(b, entries)...)
	}
	for i, e := range entries {
		a.Dataset = e.Dataset
		a.Charges = append(a.Charges, Charge{i + 1, e.Time, e.Run, e.Stage, e.Name, e.Version, e.Event, e.Unproven})
	}
	q.Unit, q.Adjacency, q.Delta = &f.Unit, f.Adjacency, &f.Delta // the last reading holds for all of the course
	a.Course, err = course(entries, q)
	return a, err
}

// overspent lists what was charged against the budget of the dataset: runs whose specs dropped or widened it.
func overspent(b *ledger.Balance, entries []ledger.Entry) (list []string) {
	if !(b.Spent <= b.Cap.Epsilon) {
		list = append(list, fmt.Sprintf("the budget of line %d, epsilon %.6g at delta %g, is exceeded: %s is spent", b.Line,
			b.Cap.Epsilon, b.Cap.Delta, bound(b.Spent, "").text()))
	}
	var before ledger.Cap
	line := 0
	for i, e := range entries {
		switch limit, n := ledger.LastCap(entries[i : i+1]); {
		case n == 0 && line > 0:
			list = append(list, fmt.Sprintf("line %d, of run %s, was charged without the budget of line %d", i+1, e.Run, line))
		case n > 0 && line > 0 && limit.Looser(before):
			list = append(list, fmt.Sprintf("line %d, of run %s, was charged under a looser budget than line %d", i+1, e.Run,
				line))
			before, line = limit, i+1
		case n > 0:
			before, line = limit, i+1
		}
	}
	return list
}

// mostPoints bounds how often the charges are composed again for the course of epsilon.
const mostPoints = 40

// course returns what the charges came to after runs, at most the given number, evenly, the last one among them.
func course(entries []ledger.Entry, q ledger.Measure) ([]Point, error) {
	var ends []int // of the charges of one run that follow each other
	for i := range entries {
		if i+1 == len(entries) || entries[i+1].Run != entries[i].Run {
			ends = append(ends, i+1)
		}
	}
	points := []Point{}
	for i, n := range ends {
		if last := i + 1; len(ends) > mostPoints && last < len(ends) && last*mostPoints/len(ends) == i*mostPoints/len(ends) {
			continue
		}
		o, err := ledger.Look(entries[:n], q)
		if err != nil {
			return nil, err
		}
		p := Point{Time: entries[n-1].Time, Run: entries[n-1].Run, Fixed: bound(o.Fixed.Epsilon, "").Value}
		if o.Filter != nil {
			p.Filter = bound(o.Filtered.Epsilon, "").Value
		}
		points = append(points, p)
	}
	return points, nil
}

// sees takes note of a time that the report tells of. The end of a run is none: it tells how long rows took.
func (r *Report) sees(t time.Time) {
	if t = t.UTC(); !t.IsZero() && (r.AsOf == nil || t.After(*r.AsOf)) {
		r.AsOf = &t
	}
}

// Disagrees reports whether anything disagrees anywhere.
func (r Report) Disagrees() bool {
	for _, a := range r.Accounts {
		if len(a.Disagree) > 0 {
			return true
		}
	}
	return false
}

// Faults returns all that disagrees, in one line; of which ledger, where several are of one dataset.
func (r Report) Faults() string {
	var list []string
	for _, a := range r.Accounts {
		for _, why := range a.Disagree {
			if a.oneOfMany && !strings.Contains(why, a.Ledger) {
				why = a.Ledger + ": " + why
			}
			list = append(list, why)
		}
	}
	return strings.Join(list, "; ")
}

// branch is a ledger as it was read.
type branch struct {
	path    string
	entries []ledger.Entry
}

// equals reports whether two ledgers hold the same charges, such as one that is named twice.
func (b branch) equals(c branch) bool {
	return len(b.entries) > 0 && len(ledger.Lacking(b.entries, c.entries))+len(ledger.Lacking(c.entries, b.entries)) == 0
}

// parts says what two ledgers of one dataset lack of each other.
func (b branch) parts(c branch) string {
	lost, added := len(ledger.Lacking(c.entries, b.entries)), len(ledger.Lacking(b.entries, c.entries))
	switch {
	case lost == 0:
		return fmt.Sprintf("%s lacks %s of %s", b.path, words.Plural(added, "charge"), c.path)
	case added == 0:
		return fmt.Sprintf("%s lacks %s of %s", c.path, words.Plural(lost, "charge"), b.path)
	}
	return fmt.Sprintf("%s lacks %s of %s, which lacks %s of it", b.path, words.Plural(added, "charge"), c.path,
		words.Plural(lost, "charge"))
}

// forks lists what the first of some ledgers of one dataset and each other lack of each other, and what all of their
// charges come to: each ledger, read alone, shows too little. A fork arises where a table was copied with its ledger,
// or in two branches of git.
func forks(branches []branch, q ledger.Measure) (list []string) {
	chains := [][]ledger.Entry{branches[0].entries}
	for _, b := range branches[1:] {
		list = append(list, branches[0].parts(b))
		chains = append(chains, b.entries)
	}
	union, err := ledger.Together(chains...)
	var o ledger.Overview
	if err == nil {
		o, err = ledger.Look(union, q)
	}
	if err != nil {
		return append(list, "what the ledgers of this dataset come to together cannot be told: "+err.Error())
	}
	return append(list, "the ledgers of this dataset together: "+words.Plural(len(union), "charge")+total(o)+
		"; weir ledger merge makes one of them")
}

// fork tells in the first account of each dataset what its ledgers lack of each other.
func (r *Report) fork(read map[string][]branch, q ledger.Measure) {
	count := map[string]int{}
	for _, a := range r.Accounts {
		count[a.Dataset]++
	}
	for i := range r.Accounts {
		a := &r.Accounts[i]
		a.oneOfMany = a.Dataset != "" && count[a.Dataset] > 1
		branches := read[a.Dataset]
		if a.Dataset != "" && len(branches) > 1 && a.Ledger == branches[0].path {
			a.Disagree = append(a.Disagree, forks(branches, q)...)
		}
	}
}

// twin reports whether the charges of b were reported on, and whether the report that has them, or one of the same
// ledger, has all that disagrees in a.
func (r *Report) twin(read []branch, b branch, a Account) (equal, complete bool) {
	for _, c := range r.Accounts {
		i := slices.IndexFunc(read, func(d branch) bool { return d.path == c.Ledger })
		complete = complete || c.Ledger == a.Ledger || i >= 0 && read[i].equals(b) &&
			!slices.ContainsFunc(a.Disagree, func(why string) bool { return !slices.Contains(c.Disagree, why) })
	}
	return slices.ContainsFunc(read, b.equals), complete
}

// total says what the charges come to, and whether that is within the last budget.
func total(o ledger.Overview) string {
	text := ", composed epsilon " + bound(o.Fixed.Epsilon, "").text() + fmt.Sprintf(" at delta %g", o.Fixed.Delta)
	if b := o.Balance; b != nil {
		text += fmt.Sprintf(", %s spent of %.6g", bound(b.Spent, "").text(), b.Cap.Epsilon)
		if !(b.Spent <= b.Cap.Epsilon) {
			text += ", which is exceeded"
		}
	}
	return text
}
