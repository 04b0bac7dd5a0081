package ledger

import (
	"errors"
	"fmt"
	"math"

	"weir/privacy"
	"weir/privacy/account"
)

// ErrFilter marks a cap that asks for another filter than the ledger's.
var ErrFilter = errors.New("the filter of a ledger is fixed by its first capped charge")

// Filter is a rule that admits charges one after another such that the bound holds
// however each was chosen after looking at what the earlier ones released. It must
// be fixed before: a filter chosen after looking bounds nothing.
//
//   - rdp: the sum of Renyi divergences at one order (Feldman, Zrnic 2021; Lecuyer 2021).
//   - gaussian: the sum of mu^2 of unsampled Gaussian releases (Smith, Thakurta
//     2022; Koskela, Tobaben, Honkela 2023).
//   - basic: the sums of epsilon and delta of pure and approximate releases
//     (Rogers, Roth, Ullman, Vadhan 2016).
type Filter struct {
	Name  string  `json:"name"`
	Order float64 `json:"order,omitempty"` // of rdp
}

// filterNames lists the names of the filters, the default first.
func filterNames() []string { return []string{"rdp", "gaussian", "basic"} }

func (f Filter) String() string {
	if f.Name == "rdp" {
		return fmt.Sprintf("rdp at order %g", f.Order)
	}
	return f.Name
}

func (f *Filter) valid() error {
	switch {
	case f == nil, (f.Name == "gaussian" || f.Name == "basic") && f.Order == 0, f.Name == "rdp" && f.Order > 1 && !math.IsInf(f.Order, 1):
		return nil
	case f.Name == "rdp":
		return fmt.Errorf("filter: order: is %g, must be finite and above 1", f.Order)
	case f.Name == "gaussian" || f.Name == "basic":
		return fmt.Errorf("filter: order: is %g, must be left out: %s has none", f.Order, f.Name)
	}
	return fmt.Errorf("filter: is %q, must be rdp, gaussian or basic", f.Name)
}

// FilterOf returns the filter that the first capped charge fixed and its line, or
// nil. Two filters, which only a merge of branches can bring together, are an
// error: going on with either would be a choice made after looking.
func FilterOf(entries []Entry) (*Filter, int, error) {
	var first *Filter
	line := 0
	for i, e := range entries {
		switch {
		case e.Filter == nil:
		case first == nil:
			first, line = e.Filter, i+1
		case *e.Filter != *first:
			return nil, 0, fmt.Errorf("ledger: line %d is admitted by the filter %s, line %d by %s: merged branches fixed two, and no bound over both is proven: %w",
				line, first, i+1, e.Filter, ErrFilter)
		}
	}
	return first, line, nil
}

// Cost is what a filter adds up: Renyi divergence, mu^2, or epsilon and delta.
type Cost struct {
	Amount float64 `json:"amount"`
	Delta  float64 `json:"delta,omitempty"` // basic alone
}

func (c Cost) plus(d Cost) Cost { return Cost{c.Amount + d.Amount, c.Delta + d.Delta} }

func (c Cost) within(limit Cost) bool { return c.Amount <= limit.Amount && c.Delta <= limit.Delta }

// cost is a function of the event alone, so that the order of charges and what
// comes later change nothing in it.
func (f Filter) cost(e privacy.Event, pairs privacy.Adjacency) (Cost, error) {
	events := []privacy.Event{e}
	switch f.Name {
	case "gaussian":
		squared, err := account.SquaredMu(events, pairs)
		return Cost{Amount: squared}, err
	case "basic":
		epsilon, delta, err := account.Plain(events, pairs)
		return Cost{epsilon, delta}, err
	}
	at, err := account.Divergence(events, pairs)
	if err != nil {
		return Cost{}, err
	}
	return Cost{Amount: at(f.Order)}, nil
}

// limit is the most that the filter may add up to under (epsilon, delta).
func (f Filter) limit(epsilon, delta float64) Cost {
	switch f.Name {
	case "gaussian":
		noise := account.GaussianNoise(epsilon, delta)
		return Cost{Amount: 1 / (noise * noise)}
	case "basic":
		return Cost{epsilon, delta}
	}
	return Cost{Amount: epsilon - conversion(f.Order, delta)}
}

// conversion is what it costs to read a divergence at delta.
func conversion(order, delta float64) float64 {
	if delta == 0 {
		return math.Inf(1)
	}
	return account.Improved.Epsilon(order, 0, delta)
}

// epsilon reads a sum at delta; it inverts limit.
func (f Filter) epsilon(spent Cost, delta float64) float64 {
	switch {
	case spent == (Cost{}):
		return 0
	case f.Name == "gaussian":
		return account.GaussianEpsilon(1/math.Sqrt(spent.Amount), delta)
	case f.Name == "basic" && spent.Delta > delta:
		return math.Inf(1)
	case f.Name == "basic":
		return spent.Amount
	}
	return math.Max(0, spent.Amount+conversion(f.Order, delta))
}

// words says an amount of the filter.
func (f Filter) words(c Cost) string {
	switch f.Name {
	case "gaussian":
		return fmt.Sprintf("mu^2 %.6g", c.Amount)
	case "basic":
		return fmt.Sprintf("epsilon %.6g and delta %.3g", c.Amount, c.Delta)
	}
	return fmt.Sprintf("Renyi divergence %.6g", c.Amount)
}
