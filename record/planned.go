package record

import (
	"encoding/json"

	"weir/privacy"
)

// planned is what the release documents need of a plan (pipeline.Plan as JSON), all of it
// public: it is computed from the spec before any data is read.
type planned struct {
	Stages   []plannedStage `json:"stages"`
	Findings []Finding      `json:"findings"`
	Dataset  struct {
		RowsPublic int64  `json:"rows_public"`
		Columns    int    `json:"columns"`
		Budget     any    `json:"budget"`       // nil: the dataset has none
		Stays      string `json:"rows_stay_in"` // database that counts the rows; "": they come to weir
	} `json:"dataset"`
	Naive       *float64     `json:"epsilon_by_addition"`
	PublicFiles []publicFile `json:"public_files"`
}

type plannedStage struct {
	ID       string          `json:"id"`
	Kind     string          `json:"kind"`
	Class    string          `json:"class"`
	Settings json.RawMessage `json:"settings"`
	Sample   int64           `json:"sample"` // rows of the dataset's that it reads at most, where they stay in a database
	Spends   []privacy.Line  `json:"spends"`
	Events   []privacy.JSON  `json:"events"` // of the spends, in order
	Outputs  map[string]struct {
		Form  string `json:"form"`
		Class string `json:"class"`
	} `json:"outputs"`
	privacy.Cost
}

// Compared reports whether a stage of the run computes figures from real rows.
func (r *Run) Compared() bool {
	p, err := r.planned()
	return err == nil && p.judged()
}

// judged reports whether a stage compares the release with real rows.
func (p planned) judged() bool {
	for _, s := range p.Stages {
		for _, out := range s.Outputs {
			if out.Form == "metrics" && out.Class == "private" {
				return true
			}
		}
	}
	return false
}

// Sample returns how many rows of a table that stays in a database the stages of the run read at most; 0 where they
// read none, and where the table does not stay.
func (r *Run) Sample() int64 {
	p, _ := r.planned() // a plan that cannot be read is told in the release documents
	return p.sample()
}

func (p planned) sample() (rows int64) {
	for _, s := range p.Stages {
		rows = max(rows, s.Sample)
	}
	return rows
}

// Finding is an audit rule that the plan touches.
type Finding struct {
	Rule    string `json:"rule"`
	Level   string `json:"level"`
	Stage   string `json:"stage"`
	Message string `json:"message"`
	Fix     string `json:"fix"`
	// Acknowledged is the reason that the spec gives for accepting the finding; "" where it gives none.
	Acknowledged string `json:"acknowledged"`
}

// publicFile is a further file that the spec declares to hold no private row.
type publicFile struct {
	Stage string `json:"stage"`
	Name  string `json:"name"` // without its folder
	By    string `json:"declared_by"`
	Terms string `json:"declared_terms"` // what they say that its noise keeps
}

func (r *Run) planned() (planned, error) {
	var p planned
	if len(r.Plan) == 0 {
		return p, nil
	}
	err := json.Unmarshal(r.Plan, &p)
	return p, err
}
