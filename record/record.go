// Package record holds what a run leaves behind and renders the documents
// that go with a release. It is pure: a record goes in, text comes out.
package record

import (
	"encoding/json"
	"strings"
	"time"

	"weir/privacy"
)

// Status of a run.
type Status string

const (
	Running     Status = "running"
	Done        Status = "done"
	Failed      Status = "failed"
	Interrupted Status = "interrupted"
)

// Run is run.json: whoever reruns or audits needs nothing else but the data and,
// for a replay, the noise key. It is internal; release/ has PRIVACY.md instead.
type Run struct {
	Weir          string          `json:"weir"`            // version of the program
	Build         string          `json:"build,omitempty"` // digest of the program
	ID            string          `json:"id"`
	Name          string          `json:"name"`
	Commit        string          `json:"commit,omitempty"` // of git, at which the spec's file was as it was run
	Status        Status          `json:"status"`
	Error         string          `json:"error,omitempty"`
	Started       time.Time       `json:"started"`
	Finished      *time.Time      `json:"finished,omitempty"`
	Dir           string          `json:"dir"` // folder that the spec's relative paths start in
	SpecDigest    string          `json:"spec_digest"`
	Spec          string          `json:"spec"` // canonical YAML, every default filled in
	Dataset       Dataset         `json:"dataset"`
	Plan          json.RawMessage `json:"plan"`
	Bill          string          `json:"bill"` // the plan's text
	Terms         Terms           `json:"terms"`
	Charges       []Charge        `json:"charges"`
	KeyCommitment string          `json:"noise_key_sha256"`
	KeyKept       bool            `json:"noise_key_kept"`
	Repeat        int             `json:"repeat,omitempty"`
	Insecure      bool            `json:"not_private,omitempty"` // noise from a seed: a test, no release
	InsecureSeed  *uint64         `json:"insecure_noise_seed,omitempty"`
	Stages        []Stage         `json:"stages"`
	Tables        []Table         `json:"tables"` // released tables, as planned
	Release       []File          `json:"release"`
	Remarks       []Remark        `json:"remarks,omitempty"` // what stages say of what they released, from that alone

	// Started, Finished and the seconds of stages tell roughly how many private rows there are, as
	// watching a run does: run.json is the owner's and the auditor's, and never published. What reveals
	// more of private rows is not in it: why a run failed lies in
	// internal/error.txt, figures against real rows lie in
	// internal/metrics.json, and the list of internal files, whose sizes count rows, in
	// internal/files.json.
	Internal []File             `json:"-"`
	Metrics  map[string]float64 `json:"-"`
	Notes    map[string]string  `json:"-"` // why a metric has no value
}

// Dataset is the source as it was read.
type Dataset struct {
	Name     string `json:"name"`               // what people call it: a file name, or demo: name
	Invented string `json:"invented,omitempty"` // what made the rows up; "" where they are people's
	ID       string `json:"id"`                 // random
	Version  string `json:"version"`            // as declared
	Ledger   string `json:"ledger"`
	Former   string `json:"former_ledger,omitempty"` // charged before, and gone when the run began
	Unit     string `json:"privacy_unit"`
	// LedgerCount and LedgerHead commit to the ledger as this run left it: a chain
	// alone cannot show that its end was removed.
	LedgerCount int    `json:"ledger_count,omitempty"`
	LedgerHead  string `json:"ledger_head,omitempty"`
}

// Terms is what the run claims.
type Terms struct {
	Adjacency  privacy.Adjacency `json:"adjacency"`
	Accountant string            `json:"accountant"`
	Claims     string            `json:"claims"`
	Delta      float64           `json:"delta"`
	Budget     any               `json:"budget_epsilon"` // a number, or inf
	Proven     *float64          `json:"epsilon_proven"`
	Published  *float64          `json:"epsilon_published"`
	Reason     string            `json:"reason,omitempty"`
}

// Charge is one paid event.
type Charge struct {
	Stage  string       `json:"stage"`
	Name   string       `json:"name"` // of the mechanism in its stage
	Event  privacy.JSON `json:"event"`
	ID     string       `json:"id"`
	Run    string       `json:"run,omitempty"` // that paid it, where this run takes the same noise again
	Ledger string       `json:"ledger_hash"`
}

// Remark is what a stage says of its released outputs, for readers of the end of a run.
type Remark struct {
	Stage string `json:"stage"`
	Text  string `json:"text"`
}

// Stage says what became of one step.
type Stage struct {
	ID      string  `json:"id"`
	Kind    string  `json:"kind"`
	Recipe  string  `json:"recipe"`         // public: what was done, whatever the rows
	From    string  `json:"from,omitempty"` // run whose noise it has: that one paid for it
	Reused  bool    `json:"reused,omitempty"`
	Seconds float64 `json:"seconds"`
}

// From returns the run whose noise a stage has; "" is the run's own. A nil record has none.
func (r *Run) From(stage string) string {
	if r != nil {
		for _, s := range r.Stages {
			if s.ID == stage {
				return s.From
			}
		}
	}
	return ""
}

// File is one file of a run, relative to its folder.
type File struct {
	Path   string `json:"path"`
	SHA256 string `json:"sha256,omitempty"` // of released files alone: rows can be guessed against the digest of a private one
	Bytes  int64  `json:"bytes"`
	What   string `json:"what,omitempty"`
}

const tableOf = "table of stage "

// TableOf returns what a file is that holds the table of a stage, whatever its format.
func TableOf(stage string) string { return tableOf + stage }

// Table returns the stage whose table the file holds, or "".
func (f File) Table() string {
	stage, is := strings.CutPrefix(f.What, tableOf)
	if !is {
		return ""
	}
	return stage
}

// Page returns the page of the run, seen from its folder; "" where it made none.
func (r *Run) Page() string {
	for _, f := range r.Internal {
		if strings.HasSuffix(f.Path, ".html") {
			return f.Path
		}
	}
	return ""
}

// Kinds returns the kinds of the run's stages by their names.
func (r *Run) Kinds() map[string]string {
	kinds := map[string]string{}
	for _, s := range r.Stages {
		kinds[s.ID] = s.Kind
	}
	return kinds
}
