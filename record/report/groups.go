package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg/draw"
)

// Grouping is the rows of both tables by the categories of one column.
type Grouping struct {
	Column string
	Target string // whose share is the prevalence, such as "smoker = yes"; "" where there is none
	Parts  []RowGroup
}

// RowGroup compares the rows of one category. NaN is undefined.
type RowGroup struct {
	Name                                string
	Real, Synthetic                     int         // rows
	RealShare, SyntheticShare           float64     // of the rows of each table
	Variation                           float64     // total variation of the other columns, their mean
	VariationOther                      float64     // the same of other real rows of the group
	Losses                              []GroupLoss // columns by descending excess
	PrevalenceReal, PrevalenceSynthetic float64     // share of the rows with a target that have it
	FromSynthetic, FromReal             GroupScore  // of learners of synthetic and of real rows
}

// GroupLoss is the total variation of a column within a group. Other is the total variation of other real rows of the
// group.
type GroupLoss struct {
	Column       string
	Value, Other float64
}

// Excess returns by how much synthetic rows are further from the real ones than other real rows are, where these are
// known.
func (l GroupLoss) Excess() float64 {
	if math.IsNaN(l.Other) {
		return l.Value
	}
	return l.Value - l.Other
}

// GroupScore is an AUROC over the real rows of a group with its interval.
type GroupScore struct{ Value, Low, High float64 }

// Shown writes the score.
func (s GroupScore) Shown() string { return Number(s.Value) }

// Interval writes the ends of the interval; "" where there is none.
func (s GroupScore) Interval() string {
	if math.IsNaN(s.Low + s.High) {
		return ""
	}
	return fmt.Sprintf("(%s to %s)", Number(s.Low), Number(s.High))
}

// Few says which rows are too few for the figures of the group to be more than chance; "" where none are.
func (g RowGroup) Few() string {
	switch {
	case g.Real+g.Synthetic == 0:
		return "no rows"
	case g.Real < leastRows && g.Synthetic < leastRows:
		return fmt.Sprintf("few: %d real and %d synthetic %s", g.Real, g.Synthetic, rows(g.Synthetic))
	case g.Real < leastRows:
		return fmt.Sprintf("few: %d real %s", g.Real, rows(g.Real))
	case g.Synthetic < leastRows:
		return fmt.Sprintf("few: %d synthetic %s", g.Synthetic, rows(g.Synthetic))
	}
	return ""
}

func rows(n int) string {
	if n == 1 {
		return "row"
	}
	return "rows"
}

// mostGroupLosses of a group are listed.
const mostGroupLosses = 3

// Worst lists the columns of the group that lost most beyond other real rows.
func (g RowGroup) Worst() (list []GroupLoss) {
	for _, l := range g.Losses {
		if len(list) < mostGroupLosses && l.Excess() > 0 {
			list = append(list, l)
		}
	}
	return list
}

// Scored reports whether some group has an AUROC.
func (g Grouping) Scored() bool {
	return slices.ContainsFunc(g.Parts, func(p RowGroup) bool {
		return !math.IsNaN(p.FromSynthetic.Value) || !math.IsNaN(p.FromReal.Value)
	})
}

// AnyFew reports whether some group has few rows.
func (g Grouping) AnyFew() bool {
	return slices.ContainsFunc(g.Parts, func(p RowGroup) bool { return p.Few() != "" })
}

// Furthest says which group with enough rows is furthest from its real rows, beyond other real rows where these are
// known; "" where no group has enough.
func (g Grouping) Furthest() string {
	enough := slices.DeleteFunc(slices.Clone(g.Parts), func(p RowGroup) bool {
		return p.Few() != "" || math.IsNaN(p.Variation)
	})
	if len(enough) < 2 {
		return ""
	}
	p := slices.MaxFunc(enough, func(a, b RowGroup) int { return cmp.Compare(a.loss().Excess(), b.loss().Excess()) })
	if math.IsNaN(p.VariationOther) {
		return fmt.Sprintf("Of groups with enough rows %s is furthest from its real rows: by %s on average.",
			p.Name, Number(p.Variation))
	}
	return fmt.Sprintf("Of groups with enough rows %s loses most beyond other real rows: its columns are %s from real "+
		"rows "+
		"on average, other real rows %s.", p.Name, Number(p.Variation), Number(p.VariationOther))
}

func (g RowGroup) loss() GroupLoss { return GroupLoss{Value: g.Variation, Other: g.VariationOther} }

// groupPictures draws of each column of groups how far the rows of each group are from real ones.
func groupPictures(h text.Handler, list []Grouping) (pictures []*Picture) {
	for _, g := range list {
		labels, other, synthetic := g.bars()
		if len(labels) == 0 {
			continue
		}
		p := &Picture{name: "groups-" + fileName(g.Column), title: "Errors within groups of " + g.Column, text: h, w: 4,
			h: 0.9 + float64(0.24*float64(len(labels))), keys: []key{{"synthetic", orange(), "area"}},
			alt: fmt.Sprintf("Bars of the mean total variation of the other columns within each group of %s.", g.Column)}
		if greatest(other) > 0 {
			p.keys = append([]key{{"other real rows", blue(), "area"}}, p.keys...)
		}
		p.draw = func(dc draw.Canvas) { bars(h, "mean total variation", labels, other, synthetic, dc) }
		pictures = append(pictures, p)
	}
	return pictures
}

// bars returns the mean total variation of groups that have one, 0 where other real rows have none.
func (g Grouping) bars() (labels []string, other, synthetic []float64) {
	for _, p := range g.Parts {
		if math.IsNaN(p.Variation) {
			continue
		}
		labels, synthetic = append(labels, p.Name), append(synthetic, p.Variation)
		if math.IsNaN(p.VariationOther) {
			p.VariationOther = 0
		}
		other = append(other, p.VariationOther)
	}
	return labels, other, synthetic
}
