package net

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

func headBlocks() []Block {
	return []Block{{Activation: "softmax", Width: 3}, {Activation: "sigmoid", Width: 2}, {Activation: "linear", Width: 1},
		{Activation: "softmax", Width: 2}, {Activation: "tanh", Width: 1}}
}

// headReference is the loss of one row by its definition: logarithms of the
// probabilities that the blocks put out, and squared errors.
func headReference(y, t []float64, skip int) (sum float64) {
	at := 0
	for i, b := range headBlocks() {
		total := 0.0
		for j := at; j < at+b.Width; j++ {
			total += math.Exp(y[j])
		}
		for j := at; j < at+b.Width && i != skip; j++ {
			switch b.Activation {
			case "softmax":
				sum -= t[j] * math.Log(math.Exp(y[j])/total)
			case "sigmoid":
				sum -= t[j]*math.Log(sigma(y[j])) + (1-t[j])*math.Log(1-sigma(y[j]))
			case "linear":
				sum += (y[j] - t[j]) * (y[j] - t[j])
			case "tanh":
				sum += (math.Tanh(y[j]) - t[j]) * (math.Tanh(y[j]) - t[j])
			}
		}
		at += b.Width
	}
	return sum
}

// TestHeads compares values with the definition and gradients with its central
// differences, for several rows at once and with a block left out.
func TestHeads(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	y, target, dy := NewMatrix(4, 9), NewMatrix(4, 9), NewMatrix(4, 9)
	for i := range 4 {
		for j := range 9 {
			y.Row(i)[j], target.Row(i)[j] = float32(2*r.NormFloat64()), r.Float32()
		}
		for _, block := range [][2]int{{0, 3}, {6, 8}} { // one-hot, as rows are
			clear(target.Row(i)[block[0]:block[1]])
			target.Row(i)[block[0]+r.IntN(block[1]-block[0])] = 1
		}
	}
	for _, skip := range []int{-1, 0, 3} {
		h, err := NewHeads(headBlocks(), skip)
		if err != nil {
			t.Fatal(err)
		}
		for i := range dy.Data {
			dy.Data[i] = 7 // of another batch
		}
		loss := []float64{9, 9, 9, 9}
		h.Loss(dy, y, target, loss)
		for i := range 4 {
			at, to := widen(y.Row(i)), widen(target.Row(i))
			value := func() float64 { return headReference(at, to, skip) }
			near(t, "value", loss[i:i+1], []float64{value()}, 1e-6)
			near(t, "gradient", widen(dy.Row(i)), differences(at, value), 1e-5)
			if dy.Data[i*dy.LD+9] != 0 {
				t.Error("the extra column of the gradient is not zero")
			}
		}
	}
	if _, err := NewHeads([]Block{{Activation: "linear", Width: 1}, {Activation: "gumbel_softmax", Width: 2}}, -1); err == nil || !strings.Contains(err.Error(), "blocks[1].activation") {
		t.Errorf("a block without a loss gives %v, must be named", err)
	}
}

// TestHeadsFarOut: losses stay finite where exponentials would not.
func TestHeadsFarOut(t *testing.T) {
	y, target, dy := NewMatrix(1, 9), NewMatrix(1, 9), NewMatrix(1, 9)
	for j := range 9 {
		y.Row(0)[j] = float32([]float64{1e4, -1e4, 3e3}[j%3])
	}
	target.Row(0)[1], target.Row(0)[6] = 1, 1
	h, err := NewHeads(headBlocks(), -1)
	if err != nil {
		t.Fatal(err)
	}
	loss := make([]float64, 1)
	h.Loss(dy, y, target, loss)
	// 2e4 of the first block, 1e4 of columns 3 (and 0 of column 4), 3e3^2 of column 5, 0
	// of the second block, 1 of column 8.
	if want := 2e4 + 1e4 + 9e6 + 0 + 1; loss[0] != want {
		t.Errorf("the loss is %g, must be %g", loss[0], want)
	}
	for j, d := range dy.Row(0) {
		if d-d != 0 {
			t.Errorf("gradient %d is %g, must be finite", j, d)
		}
	}
}
