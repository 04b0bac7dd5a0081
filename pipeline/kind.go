package pipeline

import (
	"context"

	"weir/privacy"
)

// Kind is a sort of stage: what it is called, its sockets, and how to make one.
// New returns the defaults; the settings of a spec decode over it.
type Kind struct {
	Name, Doc string
	In, Out   []Port
	New       func() Stage
	Version   int // raised when results change for equal settings; part of the cache key
}

// Port is a socket of a kind. The YAML key of the input port "in" is `from`;
// that of any other input port is its name. The first output port is the
// default: `from: split` is `from: split.train`.
type Port struct {
	Name     string
	Form     Form
	Doc      string
	Optional bool
	Lends    bool // only the header is read, such as a domain that another table shares; no rows go in
	Many     bool // takes a list; without one, every stage above whose default output has Form
}

// Stage is one configured stage of a spec.
type Stage interface {
	// Plan says, from headers alone, what Run returns and what it spends.
	// It returns every problem at once (see Problems).
	Plan(in Headers) (Outline, error)
	// Run does the work. It touches nothing but its inputs and env.
	Run(ctx context.Context, env *Env, in Tables) (Tables, error)
}

// Outline is what a stage will do.
type Outline struct {
	Out      Headers
	Cost     *Cost     // nil: the stage spends nothing
	Write    []string  // formats (csv, parquet) in which the first output is written: a result that a user asked for, not a step on the way
	Secret   bool      // Run draws from Env.Secret
	Files    []string  // further files that Run opens; their content is part of what determines the output
	Lazy     bool      // output is computed row by row as it is read, and not stored
	Findings []Finding // audit rules that the settings touch without refusing
}

// Cost is what a stage spends, as a function of one noise multiplier, so that
// calibration and execution read the same value.
type Cost struct {
	Mechanism       string                                      // such as "Poisson-subsampled Gaussian on critic gradients"
	Sensitivity     string                                      // in words and field's symbols, for the bill
	Steps           int64                                       // noisy releases
	NoiseMultiplier float64                                     // fixed by the spec; 0: to be calibrated
	Event           func(noiseMultiplier float64) privacy.Event // group size included
	Published       *Published                                  // nil: the papers claim nothing
	Unproven        string                                      // why no proven bound exists; allowed only under claims: published
}

// Published is the accounting of a paper for the same stage.
type Published struct {
	Method  string                                                // which arithmetic, with its citation
	Epsilon func(noiseMultiplier, delta float64) (float64, error) // of this stage alone
}

// Level is how grave a finding is.
type Level string

const (
	LevelError   Level = "error"
	LevelWarning Level = "warning"
	LevelNote    Level = "note"
)

// Finding is one audit rule (shared AUDIT) that a stage touches.
type Finding struct {
	Rule    string `json:"rule"` // such as W03
	Level   Level  `json:"level"`
	Stage   string `json:"stage,omitempty"`
	Message string `json:"message"`
	Fix     string `json:"fix,omitempty"`
}
