package record

import "encoding/json"

// planned is what the release documents need of a plan (pipeline.Plan as JSON), all of it
// public: it is computed from the spec before any data is read.
type planned struct {
	Stages   []plannedStage `json:"stages"`
	Findings []Finding      `json:"findings"`
	Dataset  struct {
		Demo       string `json:"demo"`
		RowsPublic int64  `json:"rows_public"`
		Columns    int    `json:"columns"`
	} `json:"dataset"`
	Naive       *float64     `json:"epsilon_by_addition"`
	PublicFiles []publicFile `json:"public_files"`
}

type plannedStage struct {
	ID       string          `json:"id"`
	Kind     string          `json:"kind"`
	Class    string          `json:"class"`
	Settings json.RawMessage `json:"settings"`
	Spends   []Spend         `json:"spends"`
	Cost
}

// Cost is what the bill says of one stage; nil where there is no such number.
type Cost struct {
	NoiseMultiplier *float64 `json:"noise_multiplier"`
	Share           *float64 `json:"share"`              // of the budget
	Alone           *float64 `json:"epsilon_alone"`      // of this stage
	Cumulative      *float64 `json:"epsilon_cumulative"` // of all up to it
	Published       *float64 `json:"epsilon_published"`
	PublishedMethod string   `json:"published_method"`
	Unproven        string   `json:"unproven"` // why nothing is proven
}

// Finding is an audit rule that the plan touches.
type Finding struct {
	Rule    string `json:"rule"`
	Level   string `json:"level"`
	Stage   string `json:"stage"`
	Message string `json:"message"`
	Fix     string `json:"fix"`
}

// Spend is one mechanism of a stage as the bill lists it.
type Spend struct {
	Name        string `json:"name"`
	Mechanism   string `json:"mechanism"`
	Sensitivity string `json:"sensitivity"`
	Uses        int64  `json:"uses"`
}

// publicFile is a further file that the spec declares to hold no private row.
type publicFile struct {
	Stage string `json:"stage"`
	Name  string `json:"name"` // without its folder
	By    string `json:"declared_by"`
}

func (r *Run) planned() (planned, error) {
	var p planned
	if len(r.Plan) == 0 {
		return p, nil
	}
	err := json.Unmarshal(r.Plan, &p)
	return p, err
}
