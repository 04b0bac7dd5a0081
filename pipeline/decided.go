package pipeline

import "weir/schema"

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
