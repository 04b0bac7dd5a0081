package noise

import (
	"math/bits"

	"weir/internal/bitmath"
)

// place is where a normal draw fell, its sign apart: in the u-th of 2^53 equal
// intervals of a layer's width or of a strip of the tail. The number drawn is
// uniform in that interval; its place in there is up to those who need it.
type place struct {
	layer int
	u     uint64
	strip int // for layer == tailLayer
}

// tailLayer marks a place beyond the base layer's edge.
const tailLayer = -1

// tail returns a place of a normal number given that it exceeds r = zigguratEdges[1] =
// 4.04: a strip by coins, a position, and acceptance of r + t, t = (j + U)/4, with what is
// left of the density, exp(-(r U/4 + t^2/2)). Strip j is [r + j/4, r + (j+1)/4). Its
// proposal is uniform, with exp(-r/4) to the power of j for its weight.
func (st *Stream) tail() place {
	for {
		p := place{layer: tailLayer}
		for st.Uint64() < tailCoin {
			p.strip++
		}
		p.u = st.Uint64() >> 11
		part := float64(float64(p.u) * 0x1p-55)
		t := float64(float64(p.strip)/4) + part
		if -bitmath.Log(st.unit()) > float64(zigguratEdges[1]*part)+float64(float64(t*t)/2) {
			return p
		}
	}
}

// float returns the near end of the interval, rounded.
func (p place) float() float64 {
	if p.layer == tailLayer {
		return zigguratEdges[1] + (float64(float64(p.strip)/4) + float64(float64(p.u)*0x1p-55))
	}
	return float64(p.u) * layers[p.layer].width
}

// placeBits is the resolution of fixed: every edge of the table is a multiple of
// 2^-58 below 2^3, and u a multiple of 2^-53 of it.
const placeBits = 58 + 53

// fixed returns floor(x 2^placeBits) for the number x that lies v/2^64 into the
// interval. All integers but v's product are exact, so the intervals of a layer
// join without gap or overlap.
func (p place) fixed(v uint64) wide {
	if p.layer == tailLayer {
		edge := uint64(zigguratEdges[1] * 0x1p50)
		lo, carry := bits.Add64(edge<<61, p.u<<56|v>>8, 0)
		return wide{edge>>3 + uint64(p.strip)<<45 + p.u>>8 + carry, lo}
	}
	edge := uint64(zigguratEdges[p.layer] * 0x1p58)
	part, _ := bits.Mul64(v, edge)
	hi, lo := bits.Mul64(p.u, edge)
	lo, carry := bits.Add64(lo, part, 0)
	return wide{hi + carry, lo}
}
