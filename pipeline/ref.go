package pipeline

import "strings"

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

// MarshalText is String, so that plans and specs show stage.port.
func (r Ref) MarshalText() ([]byte, error) { return []byte(r.String()), nil }
