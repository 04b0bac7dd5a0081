package published

import (
	"weir/privacy"
	"weir/privacy/account"
)

// Claim is the arithmetic of one paper: how it is cited, what would have to hold
// for it to bound the privacy loss, and whether that holds for the algorithm as
// published.
type Claim struct {
	Name, Paper, Condition string
	Valid                  bool
}

// Claims returns every published accountant of this package (docs/claims.md). Valid is about the
// algorithm as the paper or its program runs it.
func Claims() []Claim {
	return []Claim{
		{"dp_auto_gan", "Tantipongpipat et al. 2021, main text: Renyi accountant, classic conversion",
			"Poisson batches, add_remove, one joint clip over encoder and decoder and noise on both", true},
		{"dp_auto_gan_noiseless_encoder", "Tantipongpipat et al. 2021, appendix algorithm 3 and published code",
			"none: the un-noised encoder carries one record into the clipped gradients of all others", false},
		{"dp_vae", "Tantipongpipat et al. 2021, baseline: Renyi accountant, classic conversion",
			"Poisson batches, add_remove, one joint clip over encoder and decoder", true},
		{"dp_syn", "Abay et al. 2018, as in Tantipongpipat et al. 2021: a Renyi accountant a phase at half of delta, " +
			"epsilons added",
			"labels that are public, or shares of labels that are noisy; sizes of mixtures by the rows, or given; encoder and " +
				"decoder noised by one joint clip", false},
		{"dp_gan", "DP-GAN of the thesis of GANAD: a Renyi accountant of one class, classic conversion, add_remove",
			"labels that are public, as are their numbers of rows; Poisson batches; as run, batches are in the order of the file", false},
		{"rdp_cgan", "Torfi, Fox, Reddy 2022, as in the thesis of GANAD: a Renyi accountant of the GAN, classic conversion",
			"none: the autoencoder learns from the same rows and is charged nothing", false},
		{"gs_wgan", "Chen, Orekondy, Fritz 2020, evaluation/privacy_analysis.py (autodp): theorem 9 at rate 1/K, steps " +
			"times batch releases",
			"every generated sample draws its own discriminator, and discriminators train on a public schedule", false},
		{"gs_wgan_tabular", "the same script for tables",
			"as gs_wgan", false},
		{"uclanesl_moments", "UCLANESL, NIST challenge 2018: log moments up to 32, each weight tensor a separate release",
			"one clip over all tensors, or one release with the multiplier divided by the root of their number; Poisson batches",
			false},
		{"uclanesl_amortized", "UCLANESL, NIST challenge 2018, for epsilon up to 0.7: root of the sum of squares of " +
			"amplified epsilons",
			"none: strong composition has the factor sqrt(2 ln(1/delta)) and a drift", false},
		{"pate_gan", "Jordon, Yoon, van der Schaar 2019, data-dependent moments of the votes",
			"never: the number depends on private votes, and its flip probability belongs to another mechanism than the one " +
				"that runs", false},
		{"pate_gan_synthcity", "synthcity, the same with a precedence error in the exponent",
			"never", false},
		{"ganad_detector", "Crha 2025 (GANAD): the noise of one step, 0.1/epsilon clips of a batch's mean gradient",
			"never: every step adds it, and a row moves a batch's gradient by two clips", false},
		{"twinify", "twinify and d3p: Fourier accountant, substitute relation, pair for Poisson sampling",
			"Poisson batches; as run, batches are drawn without replacement", false},
		{"jalko", "Jälkö et al. 2021: twice the add_remove epsilon at half of delta, Renyi orders below 500, classic " +
			"conversion",
			"delta times (1+exp(epsilon/2))/2, and Poisson batches; as run, batches are drawn without replacement", false},
		{"priv_bayes", "Zhang et al. 2017: epsilon split between selections and marginals, added",
			"count noise for the adjacency of the selections; replace_one needs twice that of add_remove", true},
	}
}

// PrivBayes is the budget of Zhang et al. 2017: Beta of epsilon for the selections
// of a network of the given degree over attributes, the rest for its marginals.
type PrivBayes struct {
	Rows, Attributes, Degree int64
	Epsilon, Beta            float64
}

// Structure returns the epsilon of all selections and of one.
func (p PrivBayes) Structure() (all, each float64) {
	all = float64(p.Beta * p.Epsilon)
	return all, all / float64(p.Attributes-1)
}

// Marginals returns the epsilon of all noisy joint marginals and of one.
func (p PrivBayes) Marginals() (all, each float64) {
	all = float64((1 - p.Beta) * p.Epsilon)
	return all, all / float64(p.Attributes-p.Degree)
}

// Total returns what the paper adds up: selections and marginals, each pure for exchanged
// records (replace_one) where noise and scores are for those.
func (p PrivBayes) Total() float64 {
	structure, _ := p.Structure()
	marginals, _ := p.Marginals()
	return structure + marginals
}

// Jalko returns the epsilon that the programs of Jälkö et al. 2021 report under replace_one for
// phases of DP-SGD: twice the epsilon of Poisson batches under add_remove at half of delta, by
// Renyi divergences at integer orders below 500 and the classic conversion.
//
// It is not group privacy: of two moves, each (e, d), the second's delta is stretched by
// exp(e), so that what is proven of this epsilon has delta times (1+exp(epsilon/2))/2. Nor are
// the programs' batches Poisson: they are drawn without replacement.
func Jalko(delta float64, phases ...Phase) (float64, error) {
	accountant := account.RDP{Conversion: account.Classic, Orders: account.IntegerOrders(2, 499)}
	epsilon, err := accountant.Epsilon(Events(phases...), privacy.AddRemove, delta/2)
	return 2 * epsilon, err
}
