package mixture

import (
	"context"
	"math"
	"math/rand/v2"

	"weir/pipeline"
	"weir/privacy/mechanism"
	"weir/stages/internal/columns"
	"weir/stages/model/internal/training"
	"weir/train"
	"weir/train/posterior"
)

// learn reads the table, and then pays: one that cannot be read costs nothing.
func (s *Mixture) learn(ctx context.Context, env *pipeline.Env, t pipeline.Table, l *layout) (*model, error) {
	read, err := columns.ReadCodes(ctx, t, l.grids)
	if err != nil {
		return nil, err
	}
	of := l.stratumOf(read)
	o, err := posterior.New(l.posterior(), l.values(read), of)
	if err != nil {
		return nil, err
	}
	paid, hooks, err := training.Pay(env, s.CheckpointEvery)
	if err != nil {
		return nil, err
	}
	m := &model{Domain: t.Domain, Shape: s.Shape, layout: l}
	if err := s.sizes(env, m, of, t.Rows); err != nil {
		return nil, err
	}
	config := train.FitConfig{Optimiser: train.Adam(s.LearningRate, 0.9, 0.999), Average: s.Average}
	law, err := train.FitMeanField(ctx, config, o, o.Gradient(s.Prior), start(o.Params(), env.Rand("start")), read.Rows, env.Rand("theta").Uint64(), paid, hooks)
	if err != nil {
		return nil, err
	}
	m.keep(law, paid.Mechanism().(train.DPSGD))
	return m, nil
}

// start is a law of means near 0, different for each component, and of deviations that leave
// components apart.
func start(params int, r *rand.Rand) train.MeanField {
	law := train.MeanField{Mean: make([]float32, params), LogDeviation: make([]float32, params)}
	for i := range law.Mean {
		law.Mean[i], law.LogDeviation[i] = float32(float64(r.Float64())-0.5), startLogDeviation
	}
	return law
}

const startLogDeviation = -2

// stratumOf is the stratum of each row.
func (l *layout) stratumOf(read *columns.Codes) []uint16 {
	of := make([]uint16, read.Rows)
	for _, at := range l.stratify {
		cells := uint16(l.grids[at].Cells())
		for i, cell := range read.Columns[at] {
			of[i] = of[i]*cells + cell
		}
	}
	return of
}

// values are the parts of all rows.
func (l *layout) values(read *columns.Codes) []posterior.Values {
	list := make([]posterior.Values, len(l.parts))
	for i, p := range l.parts {
		cells, g := read.Columns[p.column], l.grids[p.column]
		switch {
		case p.absent:
			list[i].Cells = make([]uint16, len(cells))
			for row, cell := range cells {
				if int(cell) >= g.Values() {
					list[i].Cells[row] = 1
				}
			}
			continue
		case !g.Coded():
			for cell := range g.Cells() {
				list[i].Numbers = append(list[i].Numbers, l.number(p, cell))
			}
		}
		list[i].Cells = cells
	}
	return list
}

// sizes releases how many rows each stratum has, between 0 and the rows of the table where
// that number is public. Without strata there is nothing to release.
func (s *Mixture) sizes(env *pipeline.Env, m *model, of []uint16, public int64) error {
	if len(m.layout.stratify) == 0 {
		return nil
	}
	paid, err := env.Privacy.Open(sizesSpend)
	if err != nil {
		return err
	}
	counts := make([]int64, len(m.layout.strata))
	for _, stratum := range of {
		counts[stratum]++
	}
	if m.Sizes, err = mechanism.ReleaseCounts(paid, counts); err != nil {
		return err
	}
	m.deviation = paid.Mechanism().(mechanism.GaussianHistogram).Deviation()
	for i, n := range m.Sizes {
		if m.Sizes[i] = max(n, 0); public > 0 {
			m.Sizes[i] = min(m.Sizes[i], public)
		}
	}
	return nil
}

// keep takes the law of every stratum that has rows enough; the others have the prior. A
// stratum is small where its noisy size is below
//
//   - three deviations of the noise on it: it may have no row at all; or
//   - sigma sqrt(D)/(q sqrt(T)): all its gradients, each as long as the clip and in one direction,
//     q T of each row, are shorter than the noise of T steps on its D parameters.
//
// Both are functions of what is released and of settings.
func (m *model) keep(law train.MeanField, c train.DPSGD) {
	at := 0
	for i, s := range m.layout.strata {
		n := s.Params()
		if m.Sizes == nil || float64(m.Sizes[i]) >= m.leastSize(n, c) {
			m.mean, m.log = append(m.mean, law.Mean[at:][:n]...), append(m.log, law.LogDeviation[at:][:n]...)
		} else {
			m.PriorOnly = append(m.PriorOnly, i)
		}
		at += n
	}
}

func (m *model) leastSize(params int, c train.DPSGD) float64 {
	noise := c.NoiseMultiplier * math.Sqrt(float64(params)) / (c.SamplingRate * math.Sqrt(float64(c.Steps)))
	return math.Max(3*m.deviation, noise)
}
