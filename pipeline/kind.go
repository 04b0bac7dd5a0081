package pipeline

// Kind is a sort of stage: what it is called, its sockets, and how to make one.
// New returns the defaults; the settings of a spec decode over it.
type Kind struct {
	Name, Doc string
	In, Out   []Port
	New       func() Stage
	Version   int // raised when results change for equal settings; part of the cache key
	// Late says that Plan takes tables with late columns (Column.Late), and spends and
	// returns the same whatever they become.
	Late bool
	// Elsewhere says, by key, what is written instead of a setting that other kinds have and
	// this one cannot.
	Elsewhere map[string]string
	// Draws says that the rows of the first output are drawn from a model: they are nobody's.
	Draws bool
	// Called is what its first table is called at the end of a run where it is released; "" is a
	// released table.
	Called string
	// Figures declares every number that an output of FormMetrics holds.
	Figures Figures
	// Readers read back what it releases, in the format of today and in those of before.
	Readers []Reader
}

// Port is a socket of a kind. The YAML key of the input port "in" is `from`;
// that of any other input port is its name. The first output port is the
// default: `from: split` is `from: split.train`.
type Port struct {
	Name     string
	Form     Form
	Or       Form // another form that it takes; "" where it takes one
	Doc      string
	Optional bool
	Lends    bool // only the header is read, such as a domain that another table shares; no rows go in
	Many     bool // takes a list; without one, every stage above whose default output has Form
	Scoring  bool // a model that goes in must score rows (Header.Scores)
}

// Stage is one configured stage of a spec.
type Stage interface {
	// Plan says, from headers alone, what the stage returns, what it spends and how
	// it works. It returns every problem at once (see Problems).
	Plan(in Headers) (Work, error)
}

// Level is how grave a finding is.
type Level string

const (
	LevelWarning Level = "warning"
	LevelNote    Level = "note"
)

// Finding is one audit rule (docs/audit.md) that a stage touches.
type Finding struct {
	Rule    string `json:"rule"` // such as W03
	Level   Level  `json:"level"`
	Stage   string `json:"stage,omitempty"`
	Message string `json:"message"`
	Fix     string `json:"fix,omitempty"`
}
