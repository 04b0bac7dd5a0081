package associations

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"weir/pipeline"
	"weir/stages/internal/metric"
	"weir/stages/internal/metric/fresh"
)

// lossName ends the names of what is lost of a correlation beyond what fresh real rows lose.
const lossName = "_loss"

// correlations returns, for the measures that are judged against chance, how the columns of both tables are put on the
// scale that the measure multiplies.
func correlations() map[string]func(x [2][]float64) [2][]float64 {
	return map[string]func(x [2][]float64) [2][]float64{"pearson": fresh.Standard, "spearman": fresh.Ranks}
}

func lossFigures() (list pipeline.Figures) {
	for _, name := range []string{"pearson", "spearman"} {
		list = append(list, pipeline.Figure{Name: name + lossName, Parts: "pair", Better: pipeline.BetterLow, Headline: true,
			Worst: true, Beside: besides(),
			Doc: words(name) + ": greatest difference of a pair beyond what fresh real rows differ, 0 is best",
			Verdict: &pipeline.Verdict{Label: "Pairs of numbers: greatest loss of a " + words(name), Joint: true, Good: 0.1,
				Fair: 0.25}})
	}
	return list
}

// losses judges the correlations of all pairs together, for each table against the real one.
func (r *associationRun) losses(ctx context.Context, name string, list []measured) error {
	scale, judged := correlations()[name]
	if !judged {
		return nil
	}
	for k := 1; k < len(r.sides); k++ {
		told, err := r.told(ctx, name, scale, list, k)
		if err != nil {
			return err
		}
		role := ""
		if k > 1 {
			role = "_" + r.ports[k]
		}
		r.Add(name+lossName+role, "", greatest(told, list, k))
		if k > 1 {
			continue
		}
		r.lossesOfPairs(name, told, list)
	}
	return nil
}

// lossesOfPairs lists the losses of pairs, the greatest first, as far as Listed allows.
func (r *associationRun) lossesOfPairs(name string, told []float64, list []measured) {
	order := make([]int, len(told))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return byGap(told[a], told[b]) })
	for _, i := range order[:min(len(order), r.Listed)] {
		r.Add(name+lossName, list[i].names[0]+":"+list[i].names[1],
			metric.Or(told[i], "a column is constant, or missing throughout"))
	}
}

// told returns what is lost of each pair beyond chance.
func (r *associationRun) told(ctx context.Context, name string, scale func([2][]float64) [2][]float64, list []measured,
	k int) ([]float64, error) {
	real, other := r.sides[0].frame, r.sides[k].frame
	most := other.Rows
	if i := slices.Index(r.ports, "real_train"); i > 0 && r.sides[i].frame.Rows > 0 {
		most = r.sides[i].frame.Rows
	}
	rng := r.env.Rand("fresh rows of " + name + " against " + r.ports[k])
	b, family := fresh.NewBlocks(real.Rows, other.Rows, most, rng), &fresh.Family{}
	scaled := map[string][2][]float64{}
	for i := range real.Columns {
		if c := &real.Columns[i]; !c.Coded() {
			scaled[c.Name] = scale([2][]float64{c.Numbers, other.Columns[i].Numbers})
		}
	}
	pairs := make([]fresh.Statistic, len(list))
	err := r.eachPair(ctx, len(list), func(i int) {
		m := list[i]
		pairs[i] = family.Pair(b, m.names[0]+":"+m.names[1], scaled[m.names[0]], scaled[m.names[1]], m.values[0], m.values[k])
	})
	return family.Told(pairs), err
}

// greatest returns the greatest loss, with the pair that it is of.
func greatest(told []float64, list []measured, k int) metric.Noted {
	worst, count := -1, 0
	for i, v := range told {
		if v > 0 {
			count++
		}
		if !math.IsNaN(v) && (worst < 0 || cmp.Compare(v, told[worst]) > 0) {
			worst = i
		}
	}
	switch {
	case worst < 0:
		return metric.None("no pair of numbers has a correlation in both tables")
	case count == 0:
		return metric.Of(0, fmt.Sprintf("none of %d pairs is further than fresh real rows would be", len(told)))
	}
	m := list[worst]
	return metric.Of(told[worst], fmt.Sprintf("%d of %d pairs are further than fresh real rows would be", count, len(told)),
		fmt.Sprintf("%s:%s %.3g real, %.3g here", m.names[0], m.names[1], m.values[0], m.values[k]))
}
