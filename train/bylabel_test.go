package train

import (
	"math"
	"slices"
	"strings"
	"testing"

	"weir/train/net"
)

// labelled returns an objective by three labels, of which the last has no rows.
func labelled(t testing.TB, rows *Rows) (o *ByLabel, one Objective) {
	one, err := Autoencoder(build(t, 4, net.Dense(3), net.Activation("tanh"), net.Dense(4)), rows, net.MSE)
	must(err)
	labels := make([]int32, rows.Len())
	for i := range labels {
		labels[i] = int32(i * 7 % 5 % 2)
	}
	o, err = NewByLabel(one, labels, 3)
	must(err)
	return o, one
}

// TestEachLabelLearnsAlone: without a clip the gradient of all labels is the gradient of each
// label's rows alone, at that label's weights, side by side; so are the losses.
func TestEachLabelLearnsAlone(t *testing.T) {
	rows := normalRows(100, 4, 3)
	o, one := labelled(t, rows)
	w, each := start(o), one.Params()
	g := newTestGradient(o, "labels", math.Inf(1))
	g.compute(w, all(100), 0, true)
	loss := 0.0
	for l := range 3 {
		var index []int32
		for i, of := range o.Labels {
			if int(of) == l {
				index = append(index, int32(i))
			}
		}
		want := newTestGradient(one, "one", math.Inf(1))
		want.compute(w[l*each:][:each], index, 0, true)
		same(t, "gradient of a label", g.sum[l*each:][:each], want.sum)
		loss += want.loss
	}
	if math.Abs(loss-g.loss) > 1e-9 {
		t.Errorf("loss %g, must be %g", g.loss, loss)
	}
}

// TestOneClipForAllLabels: the clipped sum is the sum of the rows clipped one by one, and a
// row that changes its label and all else moves it by at most two clips, which such
// rows come near to.
func TestOneClipForAllLabels(t *testing.T) {
	rows := normalRows(60, 4, 5)
	o, _ := labelled(t, rows)
	w := start(o)
	const clip = 0.1 // below every norm
	g := newTestGradient(o, "labels", clip)
	g.compute(w, all(60), 0, false)
	sum := slices.Clone(g.sum)
	total := make([]float64, len(sum))
	for i := range int32(60) {
		g.compute(w, []int32{i}, 0, false)
		if n := norm(g.sum); !(n <= clip && n > 0.99*clip) {
			t.Fatalf("row %d: norm %g, must be just below the clip %g", i, n, clip)
		}
		for j, v := range g.sum {
			total[j] += float64(v)
		}
	}
	for j, v := range total {
		if math.Abs(v-float64(sum[j])) > 1e-5 {
			t.Fatalf("sum %d is %g, must be %g", j, sum[j], v)
		}
	}
	o.Labels[17] = 1 - o.Labels[17]
	g.compute(w, all(60), 0, false)
	for j := range sum {
		sum[j] -= g.sum[j]
	}
	if n := norm(sum); !(n <= 2*clip && n > 1.4*clip) { // two at right angles: sqrt 2
		t.Errorf("a row that changes its label moves the sum by %g clips", n/clip)
	}
}

// TestWrittenByLabel: gradients that are written out are clipped over the weights of the row's own label,
// which are all that it has: the sum is the sum of the rows one by one, and nobody else's weights move.
func TestWrittenByLabel(t *testing.T) {
	const clip = 0.1
	rows := normalRows(40, 4, 5)
	each := realScore{build(t, 4, net.Layer{Type: "conv1d", Channels: 2, Filters: 3, Kernel: 1, Stride: 1},
		net.Activation("tanh"), net.Dense(1)), rows, net.Wasserstein}
	labels := make([]int32, rows.Len())
	for i := range labels {
		labels[i] = int32(i * 7 % 5 % 2)
	}
	o, err := NewByLabel(each, labels, 3)
	must(err)
	w := start(o)
	g := newTestGradient(o, "labels", clip)
	total := make([]float64, o.Params())
	for i := range int32(40) {
		g.compute(w, []int32{i}, 0, false)
		own := g.sum[int(labels[i])*each.Params():][:each.Params()]
		if n, all := norm(own), norm(g.sum); n != all || !(n <= clip && n > 0.99*clip) {
			t.Fatalf("row %d: norm %g of its label, %g of all; both must be just below the clip %g", i, n, all, clip)
		}
		for j, v := range g.sum {
			total[j] += float64(v)
		}
	}
	g.compute(w, all(40), 0, false)
	for j, v := range total {
		if math.Abs(v-float64(g.sum[j])) > 1e-5 {
			t.Fatalf("sum %d is %g, must be %g", j, g.sum[j], v)
		}
	}
}

func TestByLabelRefuses(t *testing.T) {
	rows := normalRows(3, 4, 5)
	_, one := labelled(t, rows)
	if _, err := NewByLabel(one, []int32{0, 2, 1}, 2); err == nil || !strings.Contains(err.Error(), "0 to 1") {
		t.Errorf("a label outside: %v", err)
	}
}

// TestEncode: codes are what the first layers give for each row.
func TestEncode(t *testing.T) {
	rows := normalRows(300, 4, 5)
	n := build(t, 4, net.Dense(2))
	w := []float32{1, 0, 0, 1, 1, 0, 0, 1, 10, 20} // x0+x2+10, x1+x3+20
	index := []int32{299, 3, 3}
	got := Encode(n, w, rows, index)
	x := net.NewMatrix(3, 4)
	rows.Gather(x, index)
	for i := range index {
		r := x.Row(i)
		if a, b := r[0]+r[2]+10, r[1]+r[3]+20; math.Abs(float64(a-got[2*i])) > 1e-5 || math.Abs(float64(b-got[2*i+1])) >
			1e-5 {
			t.Errorf("row %d has the code %v, must be %g, %g", index[i], got[2*i:2*i+2], a, b)
		}
	}
	if len(Encode(n, w, rows, nil)) != 0 {
		t.Error("no rows have codes")
	}
}
