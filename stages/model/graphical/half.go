package graphical

import (
	"math"
	"slices"

	"weir/internal/bitmath"
)

// half is half the width of every cell's interval, which holds the count of the table in
// at least 95 of 100 releases: noise is a normal number rounded to whole ones, whose 95 %
// within h have h = 1.96 sd - .5, rounded up; of discrete Laplace noise it is that of its
// tails. It looks at all cells.
func (x measured) half() float64 {
	switch {
	case x.Noise == laplace && x.whole():
		return wholeLaplace95(x.Sigma)
	case x.Noise == laplace:
		return laplace95(x.Sigma)
	case x.whole():
		return max(math.Ceil(float64(normal95*math.Sqrt(max(float64(x.Sigma*x.Sigma)-1./12, 0)))-.5), 0)
	}
	return normal95 * x.Sigma
}

const (
	normal95 = 1.959963984540054 // the .975 quantile
	laplace  = "laplace"
)

// whole reports whether counts are whole numbers, as those with integer noise are.
func (x measured) whole() bool {
	return !slices.ContainsFunc(x.Y, func(y float64) bool { return y != math.Trunc(y) })
}

// laplace95 bounds Laplace noise of a standard deviation, with probability .95.
func laplace95(sd float64) float64 { return bitmath.Log(20) * sd / math.Sqrt2 }

// wholeLaplace95 is that of discrete Laplace noise, whose part beyond h is 2 a^(h+1)/(1+a)
// for a = exp(-1/b), or of rounded Laplace noise, whichever is wider.
func wholeLaplace95(sd float64) float64 {
	y := 1 / (math.Sqrt2 * sd)
	root := y + math.Sqrt(float64(y*y)+1)
	a := 1 / (root * root) // whose variance is sd²
	return max(math.Ceil(bitmath.Log(.025*(1+a))/bitmath.Log(a)-1), math.Ceil(laplace95(sd)-.5), 0)
}
