package pipeline

// Budget caps the ledger of a dataset.
type Budget struct {
	Epsilon float64 `yaml:"epsilon" json:"epsilon" required:"true" exclusiveMin:"0" doc:"Greatest epsilon over all runs."`
	Delta   float64 `yaml:"delta" json:"delta" required:"true" exclusiveMin:"0" max:"1" doc:"Delta at which the cap is read."`
	Filter  string  `yaml:"filter" json:"filter" enum:"rdp|gaussian|basic" doc:"What adds up over runs chosen after looking at earlier ones: Renyi divergence at an order fixed by the first capped run, mu squared of unsampled Gaussians, or epsilon and delta; the first capped run fixes it."`
}

// SetDefaults is called for a budget that a spec sets.
func (b *Budget) SetDefaults() { b.Filter = "rdp" }
