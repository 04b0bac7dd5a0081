package training

import (
	"fmt"
	"math"
	"slices"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/privacy"
	"weir/privacy/mechanism"
	"weir/schema"
	"weir/train/net"
)

// LabelSetting says which column has the labels, and what is told of how many rows each has.
type LabelSetting struct {
	Label      string  `yaml:"label" json:"label" required:"true" format:"columns" doc:"One-hot encoded column, such as a target, whose categories have a GAN each. What is in a label without rows is noise."`
	Labels     string  `yaml:"labels" json:"labels" enum:"private|public|equal" doc:"Shares of labels among the drawn rows. private: noisy sizes, paid for by label_share; equal: as many rows of each, which costs nothing, and trains well where real labels are near equal; public: exact, which nothing proves."`
	LabelShare float64 `yaml:"label_share" json:"label_share" exclusiveMin:"0" exclusiveMax:"1" doc:"Share of the noisy sizes of private labels in the squared privacy loss of the stage; the nets have the rest."`
}

const (
	// LabelsSpend names the mechanism of the noisy sizes.
	LabelsSpend = "labels"

	leastNoise = 0x1p-10 // of integers: none shows; what a run without privacy has
	mostNoise  = 0x1p24

	// floor is the least share of the generated rows of a label in training, over an equal one.
	floor = 0.05
)

// LabelColumn returns the place of the one-hot column called name; a problem of the setting label where
// there is no such, or one of too many categories.
func LabelColumn(d *domain.Domain, name string, ps *schema.Problems) int {
	index := d.Index(name)
	if index < 0 {
		ps.Unknown("label", "column of the table", name, d.Names())
	} else if e := d.Columns[index].Encoding; e == nil || e.Form != domain.OneHot {
		ps.Add("label", "column "+name+", which is not one-hot encoded", "a column that encode lists in one_hot")
	} else if e.Width > MostParts {
		ps.Add("label", fmt.Sprintf("column %s, of %d categories", name, e.Width),
			fmt.Sprintf("a column of at most %d: each has a net in the model", MostParts))
	}
	return index
}

// LabelSpends returns what is paid for the shares of n labels beside so much DP-SGD: nothing unless
// they are private.
func (s LabelSetting) LabelSpends(sgd Sampling, rate float64, n int) []pipeline.Spend {
	if s.Labels != "private" {
		return nil
	}
	return []pipeline.Spend{{Name: LabelsSpend, Doc: fmt.Sprintf("how many rows each of %d labels has", n),
		Mechanism: func(scale float64) privacy.Mechanism {
			return mechanism.GaussianHistogram{NoiseMultiplier: s.LabelNoise(sgd, scale, rate), Releases: 1}
		}}}
}

// LabelNoise returns the multiplier of the sizes at a multiplier of DP-SGD.
func (s LabelSetting) LabelNoise(sgd Sampling, scale, rate float64) float64 {
	return math.Min(math.Max(sgd.NoiseBeside(scale, rate, s.LabelShare), leastNoise), mostNoise)
}

// UnprovenLabels says what is released without noise.
func (s LabelSetting) UnprovenLabels() pipeline.Unproven {
	if s.Labels != "public" {
		return pipeline.Unproven{}
	}
	return pipeline.Unproven{Rule: "W05", Why: "labels are taken as public, and the model holds how large a share of " +
		"the rows each has, without noise"}
}

// LabelShares of n labels add up to 1.
//
// Input: the label of each row, private. Mechanism, where labels are private: one histogram with Gaussian
// noise (mechanism.GaussianHistogram). Sensitivity: 1 under add_remove, sqrt(2) under replace_one, also where
// a row changes its label. Guarantee: as for its event. What follows of the noisy sizes is post-processing:
// one below zero counts as zero, and where none is above, labels have equal shares. So a label without
// rows has a share of no more than noise, and nothing fails.
func (s LabelSetting) LabelShares(env *pipeline.Env, group []int32, n int) ([]float64, error) {
	sizes := make([]int64, n)
	if s.Labels == "equal" {
		return shares(sizes), nil
	}
	for _, label := range group {
		sizes[label]++
	}
	if s.Labels == "public" {
		return shares(sizes), nil
	}
	paid, err := env.Privacy.Open(LabelsSpend)
	if err != nil {
		return nil, err
	}
	noisy, err := mechanism.ReleaseCounts(paid, sizes)
	return shares(noisy), err
}

func shares(sizes []int64) []float64 {
	out, sum := make([]float64, len(sizes)), 0.0
	for _, n := range sizes {
		sum += float64(max(n, 0))
	}
	for i, n := range sizes {
		if out[i] = float64(max(n, 0)) / sum; sum == 0 {
			out[i] = 1 / float64(len(sizes))
		}
	}
	return out
}

// SharesInTraining returns the weights that shares give the generated rows of labels: each at least a
// twentieth of an equal one, so that a critic of a label with a small or no noisy share sees generated rows too.
func SharesInTraining(shares []float64) []float64 {
	out := make([]float64, len(shares))
	for i, s := range shares {
		out[i] = math.Max(s, floor/float64(len(shares)))
	}
	return out
}

// OfLabel returns a generator of rows of d with the same weights, whose last layer is blocks that
// say its label in the one-hot column of that place, whatever the others are: no chance and
// no gradient decides which label a row of one generator has.
func OfLabel(n *net.Net, d *domain.Domain, column, label int) (*net.Net, error) {
	return labelled(n, d, column, func(width int) []net.Block {
		return []net.Block{{Activation: "one_hot", Width: width,
			Hot: label}}
	})
}

// WithoutLabel returns that generator with zeros in the column, for its training: beside rows
// that have zeros there too (columns.Encoded.RowsWithout).
func WithoutLabel(n *net.Net, d *domain.Domain, column int) (*net.Net, error) {
	return labelled(n, d, column, func(width int) []net.Block { return []net.Block{{Activation: "zeros", Width: width}} })
}

func labelled(n *net.Net, d *domain.Domain, column int, label func(width int) []net.Block) (*net.Net, error) {
	s := n.Spec()
	blocks := Outputs(d).Blocks
	last := net.Blocks(slices.Concat(blocks[:column], label(blocks[column].Width), blocks[column+1:])...)
	s.Layers = append(slices.Clone(s.Layers[:len(s.Layers)-1]), last)
	return net.New(s)
}
