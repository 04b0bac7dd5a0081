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
	Unproven        string   `json:"unproven,omitempty"` // why nothing is proven
}
