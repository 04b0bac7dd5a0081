package net

import (
	"math"
)

// reference evaluates a Spec in float64, layer by layer, from the definitions in
// the papers that spec.go names: nothing is shared with the layers under test.
type reference struct{ w []float64 } // the weights not yet used

func (r *reference) take(n int) []float64 {
	part := r.w[:n]
	r.w = r.w[n:]
	return part
}

func (r *reference) run(layers []Layer, x [][]float64) [][]float64 {
	for _, l := range layers {
		x = r.layer(l, x)
	}
	return x
}

func each(x [][]float64, f func(float64) float64) [][]float64 {
	out := make([][]float64, len(x))
	for i, row := range x {
		for _, v := range row {
			out[i] = append(out[i], f(v))
		}
	}
	return out
}

func sigma(v float64) float64 { return 1 / (1 + math.Exp(-v)) }

func (r *reference) layer(l Layer, x [][]float64) [][]float64 {
	in := len(x[0])
	switch l.Type {
	case "dense":
		w, b := r.take(in*l.Units), r.take(l.Units)
		return rows(x, l.Units, func(y, x []float64) {
			for j := range y {
				y[j] = b[j]
				for i, v := range x {
					y[j] += v * w[i*l.Units+j]
				}
			}
		})
	case "leaky_relu", "relu":
		return each(x, func(v float64) float64 { return math.Max(v, 0) + l.Slope*math.Min(v, 0) })
	case "tanh":
		return each(x, math.Tanh)
	case "sigmoid":
		return each(x, sigma)
	case "layer_norm":
		g, b := r.take(in), r.take(in)
		return rows(x, in, func(y, x []float64) {
			m, s := stats(x)
			for j, v := range x {
				y[j] = (v-m)/s*g[j] + b[j]
			}
		})
	case "batch_norm":
		return r.batchNorm(x, l.Channels)
	case "instance_norm": // of one row, batch_norm's own
		var out [][]float64
		after := r.w[2*l.Channels:]
		for _, row := range x {
			alone := &reference{w: append(append([]float64(nil), r.w[:2*l.Channels]...), make([]float64, 2*l.Channels)...)}
			out = append(out, alone.batchNorm([][]float64{row}, l.Channels)...)
		}
		r.w = after
		return out
	case "blocks":
		return rows(x, in, func(y, x []float64) { blocksReference(l.Blocks, y, x) })
	case "residual":
		f := r.run(l.Layers, x)
		out := make([][]float64, len(x))
		for i := range x {
			if l.Join == "concat" {
				out[i] = append(append(out[i], f[i]...), x[i]...)
				continue
			}
			for j, v := range x[i] {
				out[i] = append(out[i], v+f[i][j])
			}
		}
		return out
	case "conv1d":
		return r.conv(l, x)
	case "conv1d_transpose":
		return r.convTranspose(l, x)
	}
	panic(l.Type)
}

func rows(x [][]float64, width int, f func(y, x []float64)) [][]float64 {
	out := make([][]float64, len(x))
	for i := range x {
		out[i] = make([]float64, width)
		f(out[i], x[i])
	}
	return out
}

func stats(x []float64) (mean, deviation float64) {
	for _, v := range x {
		mean += v / float64(len(x))
	}
	for _, v := range x {
		deviation += (v - mean) * (v - mean) / float64(len(x))
	}
	return mean, math.Sqrt(deviation + 1e-5)
}

// batchNorm returns algorithm 1 of Ioffe and Szegedy 2015, over rows and, with channels, over positions
// (their section 3.2); column p*channels+c is position p of channel c.
func (r *reference) batchNorm(x [][]float64, channels int) [][]float64 {
	in := len(x[0])
	if channels == 0 {
		channels = in
	}
	g, b := r.take(channels), r.take(channels)
	r.take(2 * channels)
	out := rows(x, in, func(_, _ []float64) {})
	for c := range channels {
		var values []float64
		for i := range x {
			for j := c; j < in; j += channels {
				values = append(values, x[i][j])
			}
		}
		m, s := stats(values)
		for i := range x {
			for j := c; j < in; j += channels {
				out[i][j] = (x[i][j]-m)/s*g[c] + b[c]
			}
		}
	}
	return out
}

func blocksReference(list []Block, y, x []float64) {
	pos := 0
	for _, b := range list {
		var sum float64
		for j := pos; j < pos+b.Width; j++ {
			switch b.Activation {
			case "linear":
				y[j] = x[j]
			case "tanh":
				y[j] = math.Tanh(x[j])
			case "sigmoid":
				y[j] = sigma(x[j])
			case "softmax":
				y[j] = math.Exp(x[j])
				sum += y[j]
			case "one_hot":
				if j == pos+b.Hot {
					y[j] = 1
				}
			}
		}
		if b.Activation == "softmax" {
			for j := pos; j < pos+b.Width; j++ {
				y[j] /= sum
			}
		}
		pos += b.Width
	}
}

func (r *reference) conv(l Layer, x [][]float64) [][]float64 {
	wide := len(x[0]) / l.Channels
	narrow := (wide+2*l.Padding-l.Kernel)/l.Stride + 1
	w, b := r.take(l.Kernel*l.Channels*l.Filters), r.take(l.Filters)
	return rows(x, narrow*l.Filters, func(y, x []float64) {
		for q := range narrow {
			for f := range l.Filters {
				y[q*l.Filters+f] = b[f]
				for k := range l.Kernel {
					for c := range l.Channels {
						if p := q*l.Stride - l.Padding + k; p >= 0 && p < wide {
							y[q*l.Filters+f] += x[p*l.Channels+c] * w[(k*l.Channels+c)*l.Filters+f]
						}
					}
				}
			}
		}
	})
}

func (r *reference) convTranspose(l Layer, x [][]float64) [][]float64 {
	narrow := len(x[0]) / l.Channels
	wide := (narrow-1)*l.Stride - 2*l.Padding + l.Kernel
	w, b := r.take(l.Channels*l.Kernel*l.Filters), r.take(l.Filters)
	return rows(x, wide*l.Filters, func(y, x []float64) {
		for p := range wide {
			copy(y[p*l.Filters:], b)
		}
		for q := range narrow {
			for k := range l.Kernel {
				p := q*l.Stride - l.Padding + k
				if p < 0 || p >= wide {
					continue
				}
				for c := range l.Channels {
					for f := range l.Filters {
						y[p*l.Filters+f] += x[q*l.Channels+c] * w[(c*l.Kernel+k)*l.Filters+f]
					}
				}
			}
		}
	})
}
