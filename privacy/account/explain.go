package account

import (
	"fmt"
	"math"

	"weir/privacy"
	"weir/privacy/pld"
)

// Explanation says how an epsilon came about.
type Explanation struct {
	Accountant string            `json:"accountant"`
	Adjacency  privacy.Adjacency `json:"adjacency"`
	Epsilon    float64           `json:"-"`
	Delta      float64           `json:"delta"`
	Conversion string            `json:"conversion,omitempty"`         // rdp, moments, zcdp
	Order      float64           `json:"order,omitempty"`              // Renyi order used; 0 for the pure bound
	Optimistic *float64          `json:"epsilon_optimistic,omitempty"` // pld: the same pairs have at least this; absent where infinite
	Bounds     []Bound           `json:"bounds"`
	Why        []string          `json:"why"`
}

// Bound is the rule used for one release.
type Bound struct {
	Path  string  `json:"path"`
	Count float64 `json:"count"`
	Rule  string  `json:"rule"`
}

// Explain computes epsilon at delta and says which bound stands behind it.
func Explain(a privacy.Accountant, events []privacy.Event, adjacency privacy.Adjacency, delta float64) (Explanation,
	error) {
	eps, err := a.Epsilon(events, adjacency, delta)
	out := Explanation{Accountant: a.Name(), Adjacency: adjacency, Epsilon: eps, Delta: delta, Bounds: []Bound{}}
	if err != nil {
		return out, err
	}
	switch a := a.(type) {
	case RDP:
		return out, out.renyi(a, a.Name(), events)
	case Moments:
		return out, out.renyi(a.rdp(), a.Name(), events)
	case *pld.Accountant:
		return out, out.distributions(a, events)
	}
	return out, out.parameters(a, events)
}

func (x *Explanation) renyi(r RDP, name string, events []privacy.Event) error {
	best, err := r.epsilon(name, events, x.Adjacency, x.Delta)
	if err != nil {
		return err
	}
	for _, b := range best.releases {
		x.Bounds = append(x.Bounds, Bound{b.path, b.count, b.curve.rule})
	}
	if math.IsInf(best.order, 1) {
		x.Why = append(x.Why, "the sum of the pure epsilons is the smallest bound (order infinity)")
		return nil
	}
	x.Order, x.Conversion = best.order, r.Conversion.String()
	x.Why = append(x.Why, fmt.Sprintf("Renyi divergences added at the best order, %.6g, and converted by the %s formula",
		best.order, r.Conversion))
	if added := totalDelta(best.releases); added > 0 {
		x.Why = append(x.Why, fmt.Sprintf("approximate events take %.6g of delta; the conversion gets the rest", added))
	}
	return nil
}

// distributions explains an answer of pld.
func (x *Explanation) distributions(a *pld.Accountant, events []privacy.Event) error {
	rules, err := a.Rules(events, x.Adjacency)
	if err != nil {
		return err
	}
	for _, r := range rules {
		x.Bounds = append(x.Bounds, Bound{r.Path, float64(r.Count), r.Rule})
	}
	x.Why = append(x.Why, "privacy loss distributions of dominating pairs, composed by Fourier transform, every error "+
		"on the pessimistic side")
	if math.IsInf(x.Epsilon, 1) {
		x.Why = append(x.Why, "no finite epsilon at this delta: losses without bound are more likely than delta")
		return nil
	}
	low, err := a.Optimistic(events, x.Adjacency, x.Delta)
	if err != nil {
		return err
	}
	x.Optimistic = &low
	x.Why = append(x.Why, fmt.Sprintf("the same pairs have at least %.9g: the numerical gap is at most %.2g", low,
		x.Epsilon-low))
	return nil
}

// parameters explains accountants that add parameters.
func (x *Explanation) parameters(a privacy.Accountant, events []privacy.Event) error {
	f := &flat{newCompiler(a.Name(), x.Adjacency)}
	releases, err := f.all(events, x.Adjacency)
	if err != nil {
		return err
	}
	for _, r := range releases {
		x.Bounds = append(x.Bounds, Bound{r.path, r.count, r.rule(a)})
	}
	x.Why = append(x.Why, flatReason(a))
	return nil
}

// rule says what is added up for one use.
func (r flatRelease) rule(a privacy.Accountant) string {
	text := fmt.Sprintf("epsilon %.6g, delta %.6g", r.pure, r.delta)
	rho, known := r.rho()
	_, addsRho := a.(ZCDP)
	switch {
	case addsRho && known:
		text = fmt.Sprintf("rho %.6g", rho)
	case r.kind == flatGaussian:
		text = fmt.Sprintf("Gaussian with noise %.6g over its sensitivity, exact at its share of delta (Balle, Wang 2018)",
			r.gauss)
	case r.kind == flatZCDP:
		text = fmt.Sprintf("rho %.6g, converted at its share of delta (Canonne, Kamath, Steinke 2020)", r.rhoIs)
	}
	if r.rate < 1 {
		text += fmt.Sprintf(", amplified by sampling at %.6g (Balle, Barthe, Gaboardi 2018)", r.rate)
	}
	return text
}

func flatReason(a privacy.Accountant) string {
	switch a.(type) {
	case ZCDP:
		return "rho of the releases added, converted at the best order (Bun, Steinke 2016; Canonne, Kamath, Steinke 2020)"
	case Advanced:
		return "smallest of the sum, Kairouz-Oh-Viswanath and Dwork-Rothblum-Vadhan over several splits of delta"
	}
	return "epsilons and deltas added"
}
