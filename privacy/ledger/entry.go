// Package ledger keeps what was spent on a dataset: a file of JSON lines, one
// for each charge, each naming the hash of the line before it. See
// docs/design/ledger.md for what it can and cannot show.
package ledger

import (
	"encoding/json"
	"fmt"
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
	Cap       *Terms            `json:"cap,omitempty"`    // under which it did; a filter without one is of an earlier weir
	Origin    *Origin           `json:"origin,omitempty"` // where a merge moved the line from
	Hash      string            `json:"hash,omitempty"`   // of the line without this field
}

// Origin is the place in the chain that a line had when it was written.
type Origin struct {
	Prev string `json:"prev"`
	Hash string `json:"hash"`
}

// genesis is what the first line of a dataset's ledger names as its predecessor.
func genesis(dataset string) string { return privacy.Digest([]byte("weir ledger 2\n" + dataset)) }

// Terms are what a cap promised when it admitted a charge, so that a later reader
// sees a spec that raised or dropped it.
type Terms struct {
	Epsilon float64 `json:"epsilon"`
	Delta   float64 `json:"delta"`
}

// entry is c as a line of the dataset's ledger, not yet in its chain.
func (c Charge) entry(dataset string, at time.Time, by admission) Entry {
	return Entry{Time: at, Run: c.Run, Spec: c.Spec, Dataset: dataset, Version: c.Version, Stage: c.Stage, Name: c.Name,
		Recipe: c.Recipe, Unit: c.Unit, Event: privacy.JSON{Event: c.Event}, Adjacency: c.Adjacency, ID: c.ID,
		Published: c.Published, Unproven: c.Unproven, Filter: by.filter, Cap: by.terms}
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

// Identity is the hash that e was written with, whatever merges moved it.
func (e Entry) Identity() string {
	if e.Origin != nil {
		return e.Origin.Hash
	}
	return e.Hash
}
