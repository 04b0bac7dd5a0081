package train

import (
	"math"
	"math/rand/v2"
	"testing"

	"weir/train/net"
)

// vae returns a variational autoencoder over one softmax block, one sigmoid and one
// linear column: encoder 4-5-4 (two means, two log variances), decoder 2-4-5.
func vae(t *testing.T, rows *Rows) *Variational {
	blocks := []net.Block{{Activation: "softmax", Width: 3}, {Activation: "sigmoid", Width: 1},
		{Activation: "linear", Width: 1}}
	heads, err := net.NewHeads(blocks, -1)
	must(err)
	o, err := NewVariational(build(t, 5, net.Dense(5), net.Activation("tanh"), net.Dense(4)),
		build(t, 2, net.Dense(4), net.Activation("tanh"), net.Dense(5)), rows, heads.Loss, 0.3)
	must(err)
	return o
}

// layer returns a dense layer in float64: rows of w, then a bias.
func layer(w, x []float64, out int) []float64 {
	y := make([]float64, out)
	for j := range y {
		y[j] = w[len(x)*out+j]
		for i, v := range x {
			y[j] += v * w[i*out+j]
		}
	}
	return y
}

func tanhOf(x []float64) []float64 {
	for i, v := range x {
		x[i] = math.Tanh(v)
	}
	return x
}

// elbo returns minus the evidence lower bound of one row with its divergence weighted by
// 0.3, for given noise e, written out from Kingma, Welling 2014 in float64.
func elbo(w, x, e []float64) float64 {
	code := layer(w[30:], tanhOf(layer(w, x, 5)), 4)
	wd := w[30+24:]
	z := []float64{code[0] + math.Exp(code[2]/2)*e[0], code[1] + math.Exp(code[3]/2)*e[1]}
	y := layer(wd[12:], tanhOf(layer(wd, z, 4)), 5)
	total := math.Exp(y[0]) + math.Exp(y[1]) + math.Exp(y[2])
	loss := (y[4] - x[4]) * (y[4] - x[4])
	for j := range 3 {
		loss -= x[j] * math.Log(math.Exp(y[j])/total)
	}
	p := 1 / (1 + math.Exp(-y[3]))
	loss -= x[3]*math.Log(p) + (1-x[3])*math.Log(1-p)
	for j := range 2 {
		loss += 0.3 * (math.Exp(code[2+j]) + code[j]*code[j] - 1 - code[2+j]) / 2
	}
	return loss
}

// TestVariationalGradient compares a row's gradient, encoder and decoder together,
// and its loss with float64 differences of the bound for the noise that the step
// draws. Central differences of step 1e-5 err by about 1e-9; 2e-5 of the largest
// component is the float32 arithmetic.
func TestVariationalGradient(t *testing.T) {
	rows := NewRows(3)
	must(Categorical(rows, []uint8{2, 0, 1}, 3))
	must(rows.Numeric([]float32{0.25, 1, 0}))
	must(rows.Numeric([]float32{-1.5, 0.3, 2}))
	o := vae(t, rows)
	w := start(o)
	g := newTestGradient(o, "vae", math.Inf(1))
	for row := range int32(3) {
		g.compute(w, []int32{row}, int64(row), true)
		r := rand.New(streamOf("vae", int(row), "examples"))
		e := net.NewMatrix(1, 2)
		normal(e, r)
		x := net.NewMatrix(1, 5)
		rows.Gather(x, []int32{row})
		in, noise, places := wide(x.Row(0)), wide(e.Row(0)), wide(w)
		if want := elbo(places, in, noise); math.Abs(g.loss-want) > 1e-5 {
			t.Errorf("row %d: loss %g, must be %g", row, g.loss, want)
		}
		top := norm(g.sum)
		for i := range places {
			want := difference(places, i, func() float64 { return elbo(places, in, noise) })
			if got := float64(g.sum[i]); !(math.Abs(got-want) <= 2e-5*top) {
				t.Fatalf("row %d: gradient %d is %g, must be %g", row, i, got, want)
			}
		}
	}
}

func wide(x []float32) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = float64(v)
	}
	return out
}

func difference(places []float64, i int, f func() float64) float64 {
	const h = 1e-5
	v := places[i]
	places[i] = v + h
	up := f()
	places[i] = v - h
	down := f()
	places[i] = v
	return (up - down) / (2 * h)
}
