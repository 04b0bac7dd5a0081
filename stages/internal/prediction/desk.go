package prediction

import (
	"fmt"
	"math/rand/v2"

	"weir/stages/internal/columns"
	"weir/stages/internal/features"
	"weir/stages/internal/learn"
	"weir/stages/internal/metric"
)

// Desk is a training and a test table of which each column is predicted from the others. Rows are drawn and columns encoded once:
// the design of a target is the design of all columns without its own.
type Desk struct {
	train, test *columns.Frame
	scaling     features.Scaling
	encoder     *features.Encoder
	x, tested   learn.Matrix // tested is empty where the test rows are more than a block
	notes       string
}

// NewDesk draws maxRows training rows at random where there are more (0: no bound), and encodes.
func NewDesk(train, test *columns.Frame, scaling features.Scaling, maxRows int, rng *rand.Rand) *Desk {
	d := &Desk{train: train, test: test, scaling: scaling}
	if maxRows > 0 && train.Rows > maxRows {
		d.notes = fmt.Sprintf("%d of %d training rows, drawn at random", maxRows, train.Rows)
		d.train = train.Take(rng.Perm(train.Rows)[:maxRows])
	}
	d.encoder = features.NewEncoder(features.Options{Scaling: scaling}, nil, d.train, test)
	d.x = d.encoder.Encode(d.train).Listed()
	if test.Rows <= features.BlockRows {
		d.tested = d.encoder.Encode(test).Listed()
	}
	return d
}

// Trial is the question of one target. Where rows have none they are left out, which makes a design of its own.
func (d *Desk) Trial(target string) *Trial {
	if d.train.Column(target).Missing()+d.test.Column(target).Missing() > 0 {
		t := NewTrial(d.train, d.test, target, d.scaling, 0, nil)
		t.Notes = metric.Notes(d.notes, t.Notes)
		return t
	}
	t := &Trial{Train: d.train, Test: d.test, Notes: d.notes, target: target, encoder: d.encoder}
	t.first, t.width = d.encoder.Place(target)
	t.x = d.x.Without(t.first, t.width)
	if len(d.tested.Cols) > 0 {
		t.tested = d.tested.Without(t.first, t.width)
	}
	return t
}
