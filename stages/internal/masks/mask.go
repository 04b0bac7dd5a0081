package masks

import (
	"fmt"
	"slices"

	"weir/pipeline/domain"
)

// Mask is the combinations of codes of some columns that no row may have: structural
// zeros. Vars are places of columns, ascending; Forbidden is by combination, row-major,
// the last column fastest.
type Mask struct {
	Vars      []int
	Forbidden []bool
}

// Of is the mask of every rule that forbids something. bins are, by column of the domain,
// the set of values of each code, missing and merged categories included; columns of no
// rule need none. most bounds the combinations of one rule; the error names the rule.
func Of(d *domain.Domain, rules []domain.Rule, bins [][]domain.Values, most int64) ([]Mask, error) {
	var list []Mask
	for i := range rules {
		m, err := of(d, rules[i], bins, most)
		if err != nil {
			return nil, err
		}
		if slices.Contains(m.Forbidden, true) {
			list = append(list, m)
		}
	}
	return list, nil
}

func of(d *domain.Domain, r domain.Rule, bins [][]domain.Values, most int64) (Mask, error) {
	m := Mask{Vars: slices.Sorted(slices.Values(r.Columns))}
	cells := int64(1)
	var mine [][]domain.Values
	for _, at := range r.Columns {
		if cells *= int64(len(bins[at])); cells > most {
			return m, fmt.Errorf("the rule %s has more than %d combinations of codes, must have fewer: take fewer bins, or leave the rule out", r.Label, most)
		}
		mine = append(mine, bins[at])
	}
	m.Forbidden = transposed(domain.Forbidden(d, &r, mine), r.Columns, m.Vars, bins)
	return m, nil
}

// transposed brings combinations in the order of columns `from` to that of `to`.
func transposed(forbidden []bool, from, to []int, bins [][]domain.Values) []bool {
	out, code := make([]bool, len(forbidden)), make([]int, len(bins))
	for cell := range forbidden {
		rest := cell
		for i := len(from) - 1; i >= 0; i-- {
			code[from[i]], rest = rest%len(bins[from[i]]), rest/len(bins[from[i]])
		}
		at := 0
		for _, column := range to {
			at = at*len(bins[column]) + code[column]
		}
		out[at] = forbidden[cell]
	}
	return out
}
