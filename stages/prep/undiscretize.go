package prep

import (
	"encoding/json"
	"errors"
	"math/rand/v2"

	"github.com/apache/arrow/go/v15/arrow"

	"weir/pipeline"
)

// discretize undoes the step: bins with public edges become numbers.
func (u *undoing) discretize() error {
	var params []binned
	if err := json.Unmarshal(u.step.Params, &params); err != nil {
		return err
	}
	for _, p := range params {
		i, before, ok := u.find(p.Name)
		if !ok {
			continue
		}
		if u.h.Domain.Columns[i].Encoding != nil {
			return errors.New("column " + p.Name + " is still encoded")
		}
		u.set(i, before, u.h.Domain.Columns[i].Nullable, func() maker { return u.unbin(i, p, *before) })
	}
	return nil
}

func (u *undoing) unbin(i int, p binned, to pipeline.Column) maker {
	values, draw := restoring(to), func() float64 { return 0.5 }
	if p.Inverse == "uniform" {
		draw = u.seeded(i).Float64
	}
	return func(r arrow.Record) (arrow.Array, error) {
		from, err := codes(r.Column(i))
		if err != nil {
			return nil, err
		}
		x := make([]float64, len(from))
		for j, c := range from {
			x[j] = values.value(within(p.Edges, c, draw()))
		}
		return store(to.ArrowType(), x, present(r.Column(i))), nil
	}
}

// seeded is the random source of column i: its own, so that the draws of a
// column do not depend on how rows come in batches.
func (u *undoing) seeded(i int) *rand.Rand {
	base := u.random()
	var a, b uint64
	for range i + 1 {
		a, b = base.Uint64(), base.Uint64()
	}
	return rand.New(rand.NewPCG(a, b))
}
