package main

import (
	"errors"
	"math"
	"slices"
	"strings"

	"weir/privacy/ledger"
)

func (b budgetCap) same(c ledger.Cap) bool {
	return b.Epsilon == c.Epsilon && b.Delta == c.Delta && b.Unit == c.Unit.String() && b.Adjacency == string(c.Adjacency) && strings.HasPrefix(b.Filter, c.Filter)
}

// judge holds what is spent and planned against a budget, by its filter.
func judge(c setBudget, before, now, then, planned []ledger.Entry) budgetCap {
	j := budgetCap{Spec: c.spec, Epsilon: c.cap.Epsilon, Delta: c.cap.Delta, Filter: c.cap.Filter, Unit: c.cap.Unit.String(), Adjacency: string(c.cap.Adjacency)}
	filter, err := c.cap.Admit(now, planned)
	var over *ledger.OverBudgetError
	j.Over = err != nil
	switch {
	case errors.As(err, &over):
		filter, j.Why = over.Filter, over.Why
	case err != nil: // another filter than the ledger's, or an event that it cannot measure
		j.Grown, j.Why = len(now)+len(planned) > len(before)+len(then), err.Error()
		return j
	}
	j.Filter = filter.String()
	spent, _ := sumBy(filter, c.cap, now)
	old, counted := sumBy(filter, c.cap, before, then)
	all, more := sumBy(filter, c.cap, now, planned)
	j.Spent, j.Before, j.Now = orNil(spent), orNil(old), orNil(all)
	j.Grown = all > old*(1+1e-9) || math.IsInf(all, 1) && more > counted
	return j
}

// sumBy adds charges up by a filter; +Inf where nothing is proven. It counts them too.
func sumBy(f ledger.Filter, c ledger.Cap, lists ...[]ledger.Entry) (float64, int) {
	all := slices.Concat(lists...)
	t, err := ledger.SumFilter(all, f, c.Adjacency, c.Unit, c.Delta)
	if err != nil {
		return math.Inf(1), len(all)
	}
	return t.Epsilon, len(all)
}
