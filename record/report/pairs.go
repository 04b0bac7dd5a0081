package report

import (
	"math"

	"gonum.org/v1/plot/text"
)

// pair is two columns whose association changed.
type pair struct{ A, B, Real, Synthetic, Change string }

// worst lists the n pairs whose association changed most.
func (r *Relations) worst(n int) []pair {
	if r == nil {
		return nil
	}
	var list []pair
	var change []float64
	for i := range r.Names {
		for j := range i {
			d := r.Synthetic[i][j] - r.Real[i][j]
			if math.IsNaN(d) {
				continue
			}
			list = append(list, pair{r.Names[j], r.Names[i], number(r.Real[i][j]), number(r.Synthetic[i][j]), number(d)})
			change = append(change, math.Abs(d))
		}
	}
	var out []pair
	for _, i := range ranked(change)[:min(n, len(list))] {
		out = append(out, list[i])
	}
	return out
}

// scatters are the drawings of points: dimension-wise shares, scores learnt from
// synthetic against real rows, principal components.
func (r *Report) scatters(h text.Handler) []*picture {
	var list []*picture
	add := func(p *picture) {
		if p != nil {
			list = append(list, p)
		}
	}
	add(identityPicture(h, "dimension-wise-probability", "Dimension-wise probability", "share in real rows", "share in synthetic rows", r.Shares))
	for _, g := range r.Groups {
		for _, name := range g.paired() {
			add(identityPicture(h, "scores-"+plain(g.Stage)+"-"+plain(name), name+" of "+g.Stage, "learnt from real rows", "learnt from synthetic rows", g.points(name)))
		}
	}
	add(projectionPicture(h, r.Projection))
	return list
}

// leastPaired is the fewest points of a scatter that says more than a table.
const leastPaired = 3

// paired lists the metrics that are given by column (or learner) both as learnt
// from synthetic and from real rows.
func (g Group) paired() []string {
	var names []string
	seen := map[string]bool{}
	for _, f := range g.Figures {
		if !seen[f.Name] && f.Column != "" {
			seen[f.Name] = true
			if len(finite(g.points(f.Name))) >= leastPaired {
				names = append(names, f.Name)
			}
		}
	}
	return names
}

func (g Group) points(name string) []Point {
	real := map[string]float64{}
	for _, f := range g.Figures {
		if f.Column != "" && (f.Name == name+"_real_train" || f.Name == name+"_real") {
			real[f.Column] = f.Value
		}
	}
	var list []Point
	for _, f := range g.Figures {
		if x, ok := real[f.Column]; ok && f.Name == name {
			list = append(list, Point{X: x, Y: f.Value, Label: f.Column})
		}
	}
	return list
}
