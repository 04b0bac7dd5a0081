package account

import (
	"fmt"
	"math"

	"weir/privacy"
)

// Explanation says how an epsilon came about.
type Explanation struct {
	Accountant string            `json:"accountant"`
	Adjacency  privacy.Adjacency `json:"adjacency"`
	Epsilon    float64           `json:"-"`
	Delta      float64           `json:"delta"`
	Conversion string            `json:"conversion,omitempty"` // rdp, moments, zcdp
	Order      float64           `json:"order,omitempty"`      // Renyi order used; 0 for the pure bound
	Lower      float64           `json:"-"`                    // pld: optimistic bound of the same pairs, else 0
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
func Explain(a privacy.Accountant, events []privacy.Event, adjacency privacy.Adjacency, delta float64) (Explanation, error) {
	eps, err := a.Epsilon(events, adjacency, delta)
	out := Explanation{Accountant: a.Name(), Adjacency: adjacency, Epsilon: eps, Delta: delta}
	if err != nil {
		return out, err
	}
	switch a := a.(type) {
	case RDP:
		return out, out.renyi(a, a.Name(), events)
	case Moments:
		return out, out.renyi(a.rdp(), a.Name(), events)
	case interface {
		Optimistic([]privacy.Event, privacy.Adjacency, float64) (float64, error)
	}:
		out.Lower, err = a.Optimistic(events, adjacency, delta)
		out.gap()
		return out, err
	}
	out.Why = append(out.Why, flatReason(a))
	return out, nil
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
	x.Why = append(x.Why, fmt.Sprintf("Renyi divergences added at order %.6g, the best one, and converted by the %s formula", best.order, r.Conversion))
	if added := totalDelta(best.releases); added > 0 {
		x.Why = append(x.Why, fmt.Sprintf("approximate events take %.6g of delta, the conversion has the rest", added))
	}
	return nil
}

func (x *Explanation) gap() {
	x.Why = append(x.Why, "privacy loss distributions of dominating pairs, composed by Fourier transform, every error on the pessimistic side",
		fmt.Sprintf("the same pairs cannot have less than %.9g: the numerical gap is %.2g", x.Lower, x.Epsilon-x.Lower))
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
