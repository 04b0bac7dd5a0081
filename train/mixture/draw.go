package mixture

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
)

// Drawer draws codes of a label.
type Drawer struct {
	radius float64
	shares []float64 // of labels, added up
	labels []drawn
}

type drawn struct {
	components []*axes
	weights    []float64 // added up
}

// NewDrawer judges mixtures, which may come from anyone: those of Fit for codes of dim
// numbers inside the given radius.
func NewDrawer(all []Mixture, dim int, radius float64) (*Drawer, error) {
	if !(radius > 0) || math.IsInf(radius, 1) {
		return nil, fmt.Errorf("radius: is %g, must be a finite number above 0", radius)
	}
	d := &Drawer{radius: radius}
	total := 0.0
	for l, m := range all {
		if !(m.Share >= 0) || math.IsInf(m.Share, 1) {
			return nil, fmt.Errorf("labels[%d].share: is %g, must be a finite number of at least 0", l, m.Share)
		}
		total += m.Share
		d.shares = append(d.shares, total)
		of, err := newDrawn(m.Components, dim)
		if err != nil {
			return nil, fmt.Errorf("labels[%d].%w", l, err)
		}
		d.labels = append(d.labels, of)
	}
	if !(total > 0) {
		return nil, errors.New("labels: have no share that is above 0")
	}
	return d, nil
}

func newDrawn(components []Gaussian, dim int) (drawn, error) {
	var out drawn
	total := 0.0
	for k, g := range components {
		err := g.check(dim)
		if err != nil {
			return out, fmt.Errorf("components[%d].%w", k, err)
		}
		a, err := g.axes()
		if err != nil {
			return out, fmt.Errorf("components[%d].%w", k, err)
		}
		total += g.Weight
		out.components, out.weights = append(out.components, a), append(out.weights, total)
	}
	if !(total > 0) || math.IsInf(total, 1) {
		return out, fmt.Errorf("components: have weights of %g together, must be a finite number above 0", total)
	}
	return out, nil
}

// Label draws a label by the shares.
func (d *Drawer) Label(r *rand.Rand) int { return choose(d.shares, r) }

// Code sets x to a code of a label: a draw of one of its components, drawn back into
// the radius that codes were clipped to.
func (d *Drawer) Code(x []float64, label int, r *rand.Rand) {
	of := d.labels[label]
	of.components[choose(of.weights, r)].draw(x, r)
	inside(x, d.radius)
}

// choose draws an index by weights that are added up.
func choose(upTo []float64, r *rand.Rand) int {
	u := r.Float64() * upTo[len(upTo)-1]
	for i, v := range upTo {
		if u < v {
			return i
		}
	}
	return len(upTo) - 1
}
