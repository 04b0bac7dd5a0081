package pipelinetest

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"weir/privacy"
)

// Moved is how far what goes into a mechanism has moved from a to b, in the norm of
// its sensitivity and, where that is stated by block, in the block that moves
// farthest.
func Moved(s privacy.Sensitivity, a, b any) (float64, error) {
	x, y, err := pair(a, b)
	if err != nil {
		return 0, err
	}
	block := s.Block
	if block <= 0 {
		block = max(1, len(x))
	}
	most := 0.0
	for from := 0; from < len(x); from += block {
		to := min(from+block, len(x))
		d := distance(s.Norm, x[from:to], y[from:to])
		if math.IsNaN(d) {
			d = math.Inf(1)
		}
		most = max(most, d)
	}
	return most, nil
}

func distance(norm privacy.Norm, x, y []float64) (d float64) {
	for i := range x {
		switch diff := math.Abs(x[i] - y[i]); norm {
		case privacy.LInf:
			d = math.Max(d, diff) // keeps NaN
		case privacy.L1:
			d += diff
		default:
			d += float64(diff * diff)
		}
	}
	if norm == privacy.L2 {
		return math.Sqrt(d)
	}
	return d
}

// pair brings both inputs to numbers of equal places; what a map lacks counts 0.
func pair(a, b any) (x, y []float64, err error) {
	if m, ok := a.(map[string]int64); ok {
		n, ok := b.(map[string]int64)
		if !ok {
			return nil, nil, fmt.Errorf("takes in %T on one table and %T on the other", a, b)
		}
		for _, k := range slices.Sorted(maps.Keys(union(m, n))) {
			x, y = append(x, float64(m[k])), append(y, float64(n[k]))
		}
		return x, y, nil
	}
	if x, err = numbers(a); err != nil {
		return nil, nil, err
	}
	if y, err = numbers(b); err != nil {
		return nil, nil, err
	}
	if len(x) != len(y) {
		return nil, nil, fmt.Errorf("takes in %d numbers on one table and %d on the other: their number depends on the data", len(x), len(y))
	}
	return x, y, nil
}

func union(a, b map[string]int64) map[string]int64 {
	u := maps.Clone(a)
	if u == nil {
		u = map[string]int64{}
	}
	maps.Copy(u, b)
	return u
}

// numbers are what mechanisms take in, as float64.
func numbers(x any) ([]float64, error) {
	switch x := x.(type) {
	case float64:
		return []float64{x}, nil
	case int:
		return []float64{float64(x)}, nil
	case int64:
		return []float64{float64(x)}, nil
	case []float64:
		return x, nil
	case []float32:
		return floats(x), nil
	case []int64:
		return floats(x), nil
	case []int:
		return floats(x), nil
	case []int32:
		return floats(x), nil
	}
	return nil, fmt.Errorf("takes in a %T, of which the test knows no distance", x)
}

func floats[T float32 | int64 | int | int32](x []T) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = float64(v)
	}
	return out
}
