// Package pipeline is the contract of stages: kinds with their ports and figures, headers and tables, what a
// stage will do and may touch, and the plan that it is shown. What is publicly known of a table is in domain.
// Reading specs is in spec, planning them in compile, printing plans in show. None of them does I/O, starts a
// goroutine, reads a clock or draws randomness.
package pipeline

import (
	"encoding/json"

	"weir/privacy"
	"weir/schema"
)

// Plan is a compiled spec as data: what will be done and what it will cost. It is
// printed, kept in the record and read by reports. What else a run needs is in
// compile.Plan.
type Plan struct {
	Weir       int               `json:"weir"`
	Name       string            `json:"name"`
	Digest     string            `json:"digest"` // of the canonical spec
	Seed       uint64            `json:"seed"`
	Dataset    DatasetPlan       `json:"dataset"`
	Adjacency  privacy.Adjacency `json:"adjacency"`
	Accountant string            `json:"accountant"`
	Claims     Claims            `json:"claims"`
	Budget     schema.Float      `json:"budget_epsilon"` // in nats; inf: no privacy is claimed
	Delta      float64           `json:"delta"`
	Epsilon    EpsilonPair       `json:"epsilon"`
	Naive      *float64          `json:"epsilon_by_addition,omitempty"` // sum of the stages' own epsilons
	Steps      []*Step           `json:"stages"`
	Findings   []Finding         `json:"findings"`
	Public     []PublicFile      `json:"public_files,omitempty"`
	Compared   *Comparison       `json:"-"` // files are compared outside of a run; nil in a run
}

// Comparison is what is known of files that are compared outside of a run: not what made them, and so no bill.
type Comparison struct {
	LeftOut []string // columns that a file lacks, in words
}

// EpsilonPair shows what a paper's accounting says beside what is proven; null
// where there is no such number.
type EpsilonPair struct {
	Published *float64 `json:"published"`
	Proven    *float64 `json:"proven"`
	Reason    string   `json:"reason,omitempty"` // why nothing is proven
}

// DatasetPlan is the dataset as planned, before its source is opened.
type DatasetPlan struct {
	PrivacyUnit string  `json:"privacy_unit"`
	RowsPublic  int64   `json:"rows_public,omitempty"`
	Columns     int     `json:"columns"`
	Budget      *Budget `json:"budget,omitempty"`
	Stays       string  `json:"rows_stay_in,omitempty"` // program that keeps and counts the rows; "" where they come to weir

	Source    Declared  `json:"-"` // see MarshalJSON
	Stability Stability `json:"-"` // of the source table
}

// Step is a stage in a plan.
type Step struct {
	ID        string            `json:"id"`
	Kind      string            `json:"kind"`
	Version   int               `json:"version,omitempty"`
	Inputs    map[string][]Ref  `json:"inputs"`
	Settings  json.RawMessage   `json:"settings,omitempty"` // every default filled in
	Decided   []Decided         `json:"decided,omitempty"`  // what the spec leaves open
	Class     Class             `json:"class"`              // of the first output
	Stability string            `json:"stability,omitempty"`
	Outputs   map[string]Output `json:"outputs"`
	Lazy      bool              `json:"lazy,omitempty"`
	Sample    int64             `json:"sample,omitempty"`    // rows that it reads of the dataset's, which stay elsewhere; 0 where it reads none or all
	Sends     string            `json:"sends,omitempty"`     // where a released table is written beside its files: engine, table and reference to the connection
	Elsewhere string            `json:"elsewhere,omitempty"` // whether Declared.Program could compute it: yes, counted there, or no and the reason

	Spends []Planned      `json:"spends,omitempty"`
	Events []privacy.JSON `json:"events"` // of the spends, in order
	privacy.Cost

	First   string   `json:"-"` // name of the first output
	Write   []string `json:"-"` // formats in which a user asked for it (see Work)
	Draws   bool     `json:"-"` // as the kind declares, which a saved plan and a record name
	Figures Figures  `json:"-"` // likewise
}

// Planned is a spend at the scale of the plan: what the bill prints, the payer
// charges and the run opens.
type Planned struct {
	privacy.Line
	Event privacy.JSON `json:"event"`

	Value privacy.Mechanism `json:"-"`
	Group int               `json:"-"` // rows (or shards, always one) of what goes in that one unit changes
}

// PublicFile is a further file that a spec declares to hold no private row: what
// it says is not protected, so the bill names it and who vouches for it.
type PublicFile struct {
	Stage     string `json:"stage"`
	Name      string `json:"name"` // without its folder
	By        string `json:"declared_by"`
	Guarantee string `json:"declared_terms,omitempty"` // what they say that its noise keeps: no part of the proof
}

// Output is one output of a step.
type Output struct {
	Form      Form   `json:"form"`
	Class     Class  `json:"class"`
	Stability string `json:"stability,omitempty"`
	Rows      int64  `json:"rows,omitempty"`
	Columns   int    `json:"columns,omitempty"`
}

// Step returns the step of the named stage, or nil.
func (p *Plan) Step(id string) *Step {
	for _, s := range p.Steps {
		if s.ID == id {
			return s
		}
	}
	return nil
}

// Figures returns the declarations of the plan's stages.
func (p *Plan) Figures() StageFigures {
	subject := StageFigures{}
	for _, s := range p.Steps {
		subject[s.ID] = s.Figures
	}
	return subject
}

// Budget caps the ledger of a dataset.
type Budget struct {
	Epsilon float64 `yaml:"epsilon" json:"epsilon" required:"true" exclusiveMin:"0" doc:"Greatest epsilon over all runs."`
	Delta   float64 `yaml:"delta" json:"delta" required:"true" exclusiveMin:"0" max:"1" doc:"Delta at which the cap is read."`
	Filter  string  `yaml:"filter" json:"filter" enum:"rdp|gaussian|basic" doc:"What adds up over runs chosen after looking at earlier ones: Renyi divergence at an order fixed by the first capped run, mu squared of unsampled Gaussians, or epsilon and delta; the first capped run fixes it."`
}

// SetDefaults sets the defaults of a budget that a spec sets.
func (b *Budget) SetDefaults() { b.Filter = "rdp" }

// Decided is a setting that a spec leaves open: what it is, and which public facts say
// so. A plan prints it.
type Decided struct {
	Setting string `json:"setting"`
	Value   string `json:"value"`
	Why     string `json:"why"`
}

// Decision is what a stage decides, or warns of, once the noise of the plan is known.
type Decision struct {
	Decided  []Decided
	Findings []Finding       // warnings, which a spec may acknowledge
	Refused  schema.Problems // of settings that the stage cannot carry out under this noise: the plan is refused
}
