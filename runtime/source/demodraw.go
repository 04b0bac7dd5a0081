package source

import (
	"math"
	"math/rand/v2"
	"sort"

	"weir/internal/bitmath"
	"weir/pipeline/domain"
)

// quantile inverts a distribution function given at some points, linearly
// between them: p are the levels, from 0 to 1, x the values there.
func quantile(p, x []float64, u float64) float64 {
	i := sort.SearchFloat64s(p, u)
	if i == 0 {
		return x[0]
	}
	if i == len(p) {
		return x[len(x)-1]
	}
	return x[i-1] + (x[i]-x[i-1])*(u-p[i-1])/(p[i]-p[i-1])
}

// pick returns the index whose share u, uniform on [0,1), falls into; weights
// need not sum to 1.
func pick(weights []float64, u float64) int {
	total := 0.0
	for _, w := range weights {
		total += w
	}
	u = float64(u * total)
	for i, w := range weights {
		if u -= w; u < 0 {
			return i
		}
	}
	return len(weights) - 1
}

// normalCDF returns the distribution function of the standard normal.
func normalCDF(z float64) float64 { return bitmath.Erfc(-z/math.Sqrt2) / 2 }

func logistic(x float64) float64 { return 1 / (1 + bitmath.Exp(-x)) }

func chance(r *rand.Rand, p float64) float64 {
	if r.Float64() < p {
		return 1
	}
	return 0
}

// lose makes v missing with probability p.
func lose(r *rand.Rand, v *float64, p float64) {
	if r.Float64() < p {
		*v = math.NaN()
	}
}

func bounds(least, greatest float64) *[2]float64 { return &[2]float64{least, greatest} }

func whole(name string, least, greatest float64, doc string) domain.Column {
	return domain.Column{Name: name, Type: domain.Integer, Bounds: bounds(least, greatest), Step: 1, Source: "public",
		Doc: doc}
}

func coded(name string, t domain.ColumnType, doc string, categories ...string) domain.Column {
	return domain.Column{Name: name, Type: t, Categories: categories, Source: "public", Doc: doc}
}

func nullable(c domain.Column, missing ...string) domain.Column {
	c.Nullable, c.Missing = true, missing
	return c
}

// inGroups draws rows of yes and no: column j belongs to group j mod groups, which a row has with
// the given share; its frequency is the frequency in rows with the group or without, scaled by 1 - spread
// or 1 + spread for the whole row.
func inGroups(including, excluded []float64, groups int, share, spread float64) func(r *rand.Rand, _, _ int64,
	v []float64) {
	return func(r *rand.Rand, _, _ int64, v []float64) {
		scale := 1 - spread + 2*float64(spread*chance(r, 0.5))
		has := make([]bool, groups)
		for g := range has {
			has[g] = r.Float64() < share
		}
		for j := range v {
			p := excluded[j]
			if has[j%groups] {
				p = including[j]
			}
			v[j] = chance(r, scale*p)
		}
	}
}
