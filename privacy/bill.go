package privacy

// Line is a mechanism of a stage as a bill lists it.
type Line struct {
	Name        string `json:"name"`
	Mechanism   string `json:"mechanism"`
	Sensitivity string `json:"sensitivity"`
	Uses        int64  `json:"uses"` // -1: any number within a total
}

// Cost is what a bill says of one stage, in nats; nil where there is no such number.
type Cost struct {
	NoiseMultiplier *float64 `json:"noise_multiplier,omitempty"`
	Calibrated      bool     `json:"calibrated,omitempty"`         // noise found from the budget, not fixed by the spec
	Share           *float64 `json:"share,omitempty"`              // of the budget
	Alone           *float64 `json:"epsilon_alone,omitempty"`      // of this stage
	Cumulative      *float64 `json:"epsilon_cumulative,omitempty"` // of all up to it
	Published       *float64 `json:"epsilon_published,omitempty"`
	PublishedMethod string   `json:"published_method,omitempty"`
	Unproven        Unproven `json:"unproven,omitzero"` // why nothing is proven
}

// Unproven says why no bound is known for a mechanism: the audit rule that its proof breaks,
// and how. The zero value says that there is a proof.
type Unproven struct {
	Rule string `json:"rule"` // such as W13
	Why  string `json:"why"`
}

// String is the rule and why, such as "W13: the encoder has no noise"; "" where there is a proof.
func (u Unproven) String() string {
	if u == (Unproven{}) {
		return ""
	}
	return u.Rule + ": " + u.Why
}
