package tailored

import (
	"math"

	"weir/pipeline"
	"weir/privacy"
	"weir/privacy/mechanism"
)

// Shares says that the budget of a stage is one for several such stages.
type Shares struct {
	Queries int `yaml:"queries" json:"queries" min:"1" max:"1000" doc:"How many stages like this one the budget is for, the T of \"from how many questions on does a synthetic table win\": this one is charged for all of them and has the noise of one."`
}

// leastSigma is the least noise of whole numbers (mechanism.ReleaseIntegers).
const leastSigma = 0x1p-10

// purse spends a filter, part by part.
type purse struct {
	paid *privacy.Handle
	mechanism.GaussianFilter
}

func openPurse(env *pipeline.Env, name string) (purse, error) {
	paid, err := env.Privacy.Open(name)
	if err != nil {
		return purse{}, err
	}
	return purse{paid, paid.Mechanism().(mechanism.GaussianFilter)}, nil
}

// release adds noise to a tally for a share of the filter's total, and says how much: a
// standard deviation, 0 where the run is without privacy.
func (p purse) release(tally []int64, moves mechanism.Moves, share float64) ([]int64, float64, error) {
	sigma := 0.0
	if p.NoiseMultiplier > 0 {
		sigma = max(p.Noise(moves, p.Total()*share), leastSigma)
	}
	noisy, err := mechanism.ReleaseIntegers(p.paid, tally, moves, sigma)
	return noisy, sigma, err
}

// alike is the multiplier of one Gaussian release that costs what several equal ones do,
// each of the given multiplier: their composition is Gaussian too, of the root of their
// number times the sensitivity (Dong, Roth, Su 2022, corollary 3.3).
func alike(multiplier float64, several int) float64 {
	return multiplier / math.Sqrt(float64(several))
}
