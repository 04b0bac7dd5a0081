package report

import (
	"cmp"
	"math"
	"strings"

	"gonum.org/v1/plot/text"

	"weir/pipeline"
)

// pair is two columns whose association changed.
type pair struct{ A, B, Real, Synthetic, Change string }

// worst lists the n pairs whose association changed most, of those that changed beyond chance where that is known.
func (r *Relations) worst(n int) []pair {
	if r == nil {
		return nil
	}
	var list []pair
	var change []float64
	for i := range r.Names {
		for j := range i {
			d := r.Synthetic[i][j] - r.Real[i][j]
			if math.IsNaN(d) || r.Beyond != nil && !r.Beyond[i][j] {
				continue
			}
			list = append(list, pair{r.Names[j], r.Names[i], Number(r.Real[i][j]), Number(r.Synthetic[i][j]), Number(d)})
			change = append(change, math.Abs(d))
		}
	}
	var out []pair
	for _, i := range ranked(change)[:min(n, len(list))] {
		out = append(out, list[i])
	}
	return out
}

// scatters returns the drawings of points: dimension-wise shares, scores learnt from
// synthetic against real rows, principal components.
func (r *Report) scatters(h text.Handler) []*Picture {
	var list []*Picture
	add := func(p *Picture) {
		if p != nil {
			list = append(list, p)
		}
	}
	add(identityPicture(h, "dimension-wise-probability", "Dimension-wise probability", "share in real rows",
		"share in synthetic rows", r.Shares))
	for _, g := range r.Groups {
		for _, p := range g.paired() {
			if p.title == r.SharesPair && len(r.Shares) > 0 { // the same points
				continue
			}
			add(identityPicture(h, "pairs-"+fileName(g.Stage+"-"+p.title), g.Stage+": "+strings.ReplaceAll(p.title,
				"_", " "), p.real, p.synthetic, p.points))
		}
	}
	add(projectionPicture(h, r.Projection))
	return list
}

// Bounds on scatters of figures: fewer points say no more than a table, and a
// page needs no more scatters of one stage.
const (
	leastPaired = 3
	mostPaired  = 6
)

// paired is a figure by column, pair or learner on both sides.
type paired struct {
	title, real, synthetic string // of the scatter and its axes
	points                 []Point
}

// paired lists the figures of a stage that are declared to be drawn against real rows: as learnt
// from real and from synthetic rows, or as measured on them.
func (g Group) paired() []paired {
	var list []paired
	seen := map[string]bool{}
	for _, f := range g.Figures {
		d, p, _ := g.Declared.Find(f.Name)
		if f.Column == "" || seen[f.Name] || d.Pair == "" || !p.Itself() || len(list) == mostPaired {
			continue
		}
		seen[f.Name] = true
		if p := g.pair(d); len(finite(p.points)) >= leastPaired {
			list = append(list, p)
		}
	}
	return list
}

// pair draws a figure against the real side of it.
func (g Group) pair(d pipeline.Figure) paired {
	points := g.points(cmp.Or(d.Real, pipeline.RealTrain.Name(d.Name)), d.Name)
	if d.Learnt {
		return paired{d.Pair, "learnt from real rows", "learnt from synthetic rows", points}
	}
	return paired{d.Pair, "in real rows", "in synthetic rows", points}
}

func (g Group) points(realName, synthetic string) []Point {
	real := map[string]float64{}
	for _, f := range g.Figures {
		if f.Column != "" && f.Name == realName {
			real[f.Column] = f.Value
		}
	}
	var list []Point
	for _, f := range g.Figures {
		if x, ok := real[f.Column]; ok && f.Name == synthetic {
			list = append(list, Point{X: x, Y: f.Value, Label: f.Column})
		}
	}
	return list
}
