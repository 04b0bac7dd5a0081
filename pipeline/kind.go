package pipeline

import (
	"fmt"
	"strings"
)

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
	// Readers read back what it releases, in the format of today and in earlier ones.
	Readers []Reader
}

// Port is a socket of a kind. The YAML key of the input port "in" is `from`;
// the key of any other input port is its name. The first output port is the
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
	// Files names the files of an output that is released as files, behind the id of its stage and a dot: no others may
	// leave. A model or detector has none, since it leaves as one file.
	Files []string
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
	// Acknowledged is the reason that the spec gives for accepting the finding; "" where it gives none.
	Acknowledged string `json:"acknowledged,omitempty"`
}

// Warns reports whether a finding is a warning that the spec does not acknowledge.
func (f Finding) Warns() bool { return f.Level == LevelWarning && f.Acknowledged == "" }

// Key returns the YAML key of an input port: `from` for "in", else its name.
func (p Port) Key() string {
	if p.Name == "in" {
		return "from"
	}
	return p.Name
}

// Takes tells whether what has that form goes in.
func (p Port) Takes(f Form) bool { return f == p.Form || p.Or != "" && f == p.Or }

// Forms returns the forms that a port has or takes, such as "detector or model".
func (p Port) Forms() string {
	if p.Or == "" {
		return string(p.Form)
	}
	return string(p.Form) + " or " + string(p.Or)
}

// Summary returns the first sentence of what the kind says of itself; the full stop of "et al." ends none.
func (k *Kind) Summary() string {
	for start := 0; ; {
		i := strings.Index(k.Doc[start:], ". ")
		if i < 0 {
			return k.Doc
		}
		start += i + 2
		if !strings.HasSuffix(k.Doc[:start-2], "et al") {
			return k.Doc[:start-1]
		}
	}
}

// InByKey returns the input port with the YAML key, or nil.
func (k *Kind) InByKey(key string) *Port {
	for i := range k.In {
		if k.In[i].Key() == key {
			return &k.In[i]
		}
	}
	return nil
}

// OutPort returns the named output port, or the first where name is empty; nil
// where there is none.
func (k *Kind) OutPort(name string) *Port {
	if name == "" {
		return &k.Out[0]
	}
	for i := range k.Out {
		if k.Out[i].Name == name {
			return &k.Out[i]
		}
	}
	return nil
}

// Indexed returns the name under which the i-th input of a port that takes many
// stands in Headers and Tables.
func Indexed(port string, i int) string { return fmt.Sprintf("%s.%d", port, i) }

// All returns the headers of a port that takes many, in the order of the spec.
func (h Headers) All(port string) []Header { return all(h, port) }

// All returns the tables of a port that takes many, in the order of the spec.
func (t Tables) All(port string) []Table { return all(t, port) }

func all[T any](m map[string]T, port string) []T {
	var list []T
	for i := 0; ; i++ {
		v, ok := m[Indexed(port, i)]
		if !ok {
			return list
		}
		list = append(list, v)
	}
}

// DatasetID is the name by which stages refer to the source table.
const DatasetID = "dataset"

// Ref names an output of a stage: `split.train`, or `split` for its first.
type Ref struct {
	Stage string
	Port  string // "" is the stage's first output
}

// ParseRef splits stage.port.
func ParseRef(s string) Ref {
	stage, port, _ := strings.Cut(s, ".")
	return Ref{stage, port}
}

func (r Ref) String() string {
	if r.Port == "" {
		return r.Stage
	}
	return r.Stage + "." + r.Port
}

// MarshalText returns String, so that plans and specs show stage.port.
func (r Ref) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// Predictor is a stage that judges rows by how well a column is predicted from them.
type Predictor interface {
	// Predicts names the column.
	Predicts() string
}

// Aimed is a stage that knows which column its rows will be used to predict. Where a
// spec leaves the setting `target` out, it is what a Predictor of the same spec names:
// filled in when the spec is read, so that it is part of the canonical form, and with
// it of seed, cache and charge, like any other setting.
type Aimed interface {
	// AimAt is where the setting stands: a column, NoTarget, or "" where it was left out.
	AimAt() *string
}

// NoTarget is the setting `target` of a stage that prefers no column.
const NoTarget = "none"
