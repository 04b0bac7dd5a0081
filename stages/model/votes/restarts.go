package votes

import (
	"context"
	"math"
	"math/rand/v2"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/stages/internal/learn"
	"weir/stages/internal/metric/score"
	"weir/stages/model/internal/training"
	"weir/train"
	"weir/train/net"
)

// program trains as the program does: several times, each until its accountant ends it, from whose
// generators one is chosen by the private rows. It has no checkpoints.
func (s *PATEGAN) program(ctx context.Context, env *pipeline.Env, l training.Learning, c train.PATEGANConfig, student, gen *net.Net, h pipeline.Header) ([]float32, error) {
	seeds, judged, done := env.Rand("restarts"), env.Rand("rival"), int64(0)
	c.Take = s.Steps
	one := func() ([]float32, error) {
		c.Stop = s.stop(h.Shards, h.Terms.Delta)
		w, err := train.PATEGAN(ctx, c, student, gen, l.Rows, l.Shards, l.Paid, train.Hooks{})
		c.Seed = seeds.Uint64()
		done += int64(s.Steps)
		env.Progress(done, int64(s.restarts())*int64(s.Steps))
		return w, err
	}
	if s.restarts() == 1 {
		return one()
	}
	v := newRival(h.Domain, s.Program.Column, l.Rows)
	return best(s.restarts(), one, func(w []float32) (float64, error) { return v.score(ctx, gen, w, judged) })
}

// best is, of so many that are made, the first of the greatest score.
func best(of int, one func() ([]float32, error), score func([]float32) (float64, error)) (found []float32, err error) {
	most := math.Inf(-1)
	for range of {
		w, err := one()
		if err != nil {
			return nil, err
		}
		at, err := score(w)
		if err != nil {
			return nil, err
		}
		if at > most {
			found, most = w, at
		}
	}
	return found, nil
}

// rival judges generators by what can be learned from their rows: AdaBoost of one column, fitted to
// generated rows and scored on the private ones. Its scores are private, and what is chosen by them
// is charged to nobody (W18).
type rival struct {
	real    learn.Matrix
	is      []bool // of private rows: they have the second category
	columns []int  // encoded columns that AdaBoost learns from
	at      int    // of the first encoded column of the label
	width   int    // of the label: one number, of which a half and more is the second category, or two
}

// newRival reads the private rows.
func newRival(d *domain.Domain, label string, rows *train.Rows) *rival {
	v := &rival{}
	for at, i := 0, 0; i < len(d.Columns); i++ {
		width := d.Columns[i].Encoding.Width
		for j := range width {
			if d.Columns[i].Name == label {
				v.at, v.width = at, width
			} else {
				v.columns = append(v.columns, at+j)
			}
		}
		at += width
	}
	all := net.NewMatrix(rows.Len(), rows.Width())
	index := make([]int32, rows.Len())
	for i := range index {
		index[i] = int32(i)
	}
	rows.Gather(all, index)
	v.real, v.is = v.read(all.Rows, all.Row)
	return v
}

// read takes rows apart into what is learned from and what is learned.
func (v *rival) read(n int, row func(i int) []float32) (x learn.Matrix, is []bool) {
	x, is = learn.NewMatrix(n, len(v.columns)), make([]bool, n)
	for i := range n {
		r := row(i)
		for j, c := range v.columns {
			x.Cols[j][i] = float64(r[c])
		}
		is[i] = v.second(r[v.at : v.at+v.width])
	}
	return x, is
}

// second says whether a label is the second category.
func (v *rival) second(label []float32) bool {
	if len(label) == 1 {
		return label[0] > middle
	}
	return label[1] > label[0]
}

// middle is halfway between two categories in one column, which are 0 and 1.
const middle = 0.5

// score is the AUROC of AdaBoost on the private rows; a half where generated rows, or private ones, are of one class.
func (v *rival) score(ctx context.Context, gen *net.Net, weights []float32, r *rand.Rand) (float64, error) {
	n := max(v.real.Rows, 2)
	made := train.Generate(gen, weights, n, train.StandardNormal, r)
	x, is := v.read(n, func(i int) []float32 { return made[i*gen.Out() : (i+1)*gen.Out()] })
	y, both := labels(is)
	if !both {
		return 0.5, nil
	}
	fitted, err := learn.AdaBoost{Rounds: 50, Real: true}.Fit(ctx, x, y, learn.Run{Rand: r, Workers: 1})
	if err != nil {
		return 0, err
	}
	area := score.NewCurve(v.is, fitted.Scores(v.real).Cols[1]).AUROC()
	if math.IsNaN(area) {
		return 0.5, nil
	}
	return area, nil
}

// labels are classes; both says whether there are two.
func labels(is []bool) (y learn.Labels, both bool) {
	y = learn.Labels{Y: make([]int, len(is)), Classes: 2}
	n := 0
	for i, second := range is {
		if second {
			y.Y[i] = 1
			n++
		}
	}
	return y, n > 0 && n < len(is)
}
