package record

import (
	"encoding/json"
	"maps"
	"slices"

	"weir/privacy"
)

// Public is what of a run may be told to anyone: a whitelist, since a field that nobody put here does not leave. It is
// enough to render PRIVACY.md, BILL.txt and DATASHEET.md anew. Absent are times, which tell how many private rows there
// are, folders of the owner's machine, errors, figures against real rows and all that is internal.
type Public struct {
	Weir          string        `json:"weir"`            // version of the program
	Build         string        `json:"build,omitempty"` // digest of the program
	Run           string        `json:"run"`
	Name          string        `json:"name"`
	Insecure      bool          `json:"not_private,omitempty"` // noise from a seed: no epsilon holds
	SpecDigest    string        `json:"spec_digest"`
	Commit        string        `json:"commit,omitempty"` // of git, at which the spec stood as it was run
	Dataset       PublicDataset `json:"dataset"`
	Terms         Terms         `json:"terms"`
	Charges       []Charge      `json:"charges"`
	KeyCommitment string        `json:"noise_key_sha256"`
	Repeat        int           `json:"repeat,omitempty"`
	Plan          planned       `json:"plan"`
	Bill          string        `json:"bill"` // the plan's text
	Tables        []Table       `json:"tables"`
	Release       []File        `json:"release"`
	Remarks       []Remark      `json:"remarks,omitempty"`
}

// PublicDataset is a dataset as a release may name it: its ledger by count and hash, not by folder.
type PublicDataset struct {
	Name        string `json:"name"` // without its folder
	Invented    string `json:"invented,omitempty"`
	ID          string `json:"id"`
	Version     string `json:"version"`
	Unit        string `json:"privacy_unit"`
	LedgerCount int    `json:"ledger_count,omitempty"`
	LedgerHead  string `json:"ledger_head,omitempty"`
}

// Public returns what of the run may be told. It errs where the plan cannot be read.
func (r *Run) Public() (Public, error) {
	plan, err := r.planned()
	if err != nil {
		return Public{}, err
	}
	for i := range plan.Stages {
		plan.Stages[i].Settings = plan.Stages[i].public()
	}
	d := r.Dataset
	return Public{Weir: r.Weir, Build: r.Build, Run: r.ID, Name: r.Name, Insecure: r.Insecure,
		SpecDigest: r.SpecDigest, Commit: r.Commit,
		Dataset: PublicDataset{Name: d.Name, Invented: d.Invented, ID: d.ID, Version: d.Version, Unit: d.Unit,
			LedgerCount: d.LedgerCount, LedgerHead: d.LedgerHead},
		Terms: r.Terms, Charges: r.Charges, KeyCommitment: r.KeyCommitment, Repeat: r.Repeat, Plan: plan, Bill: r.Bill,
		Tables: r.Tables, Release: r.Release, Remarks: r.Remarks}, nil
}

// Record returns a record of what is public, from which the documents of the release can be rendered.
func (p Public) Record() (*Run, error) {
	plan, err := json.Marshal(p.Plan)
	d := p.Dataset
	return &Run{Weir: p.Weir, Build: p.Build, ID: p.Run, Name: p.Name, Status: Done, Insecure: p.Insecure,
		SpecDigest: p.SpecDigest, Commit: p.Commit,
		Dataset: Dataset{Name: d.Name, Invented: d.Invented, ID: d.ID, Version: d.Version, Unit: d.Unit,
			LedgerCount: d.LedgerCount, LedgerHead: d.LedgerHead},
		Terms: p.Terms, Charges: p.Charges, KeyCommitment: p.KeyCommitment, Repeat: p.Repeat, Plan: plan, Bill: p.Bill,
		Tables: p.Tables, Release: p.Release, Remarks: p.Remarks}, err
}

// Spend is what a stage of the plan spends: its events, or why nothing is proven of them.
type Spend struct {
	Stage    string
	Names    []string // of the spends, in the order of the events
	Events   []privacy.Event
	Unproven privacy.Unproven
}

// Spends lists the stages that spend, in the order of the plan.
func (p Public) Spends() (list []Spend) {
	for _, s := range p.Plan.Stages {
		if len(s.Spends) == 0 {
			continue
		}
		spend := Spend{Stage: s.ID, Unproven: s.Unproven}
		for _, line := range s.Spends {
			spend.Names = append(spend.Names, line.Name)
		}
		for _, e := range s.Events {
			spend.Events = append(spend.Events, e.Event)
		}
		list = append(list, spend)
	}
	return list
}

// LedgerEvent returns the event that the ledger has of a charge of the run; nil where nothing is proven of its stage,
// since the ledger has no event then.
func (p Public) LedgerEvent(c Charge) privacy.Event {
	for _, s := range p.Plan.Stages {
		if s.ID == c.Stage && s.Unproven != (privacy.Unproven{}) {
			return nil
		}
	}
	return c.Event.Event
}

// Output is an output of a stage of a kind as it was planned.
type Output struct{ Kind, Port, Form, Class string }

// Outputs lists the outputs of a stage of the plan by port, and the class of the first; nil where there is no such
// stage.
func (p Public) Outputs(stage string) (class string, list []Output) {
	for _, s := range p.Plan.Stages {
		if s.ID != stage {
			continue
		}
		class = s.Class
		for _, port := range slices.Sorted(maps.Keys(s.Outputs)) {
			list = append(list, Output{s.Kind, port, s.Outputs[port].Form, s.Outputs[port].Class})
		}
	}
	return class, list
}

// Findings lists the audit rules that the plan touches.
func (p Public) Findings() []Finding { return p.Plan.Findings }

// StaysIn names the database that kept the rows and counted them; "" where they came to weir.
func (p Public) StaysIn() string { return p.Plan.Dataset.Stays }
