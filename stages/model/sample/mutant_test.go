package sample

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
)

// mutant returns a description with a few changes of a value, or of bytes.
func mutant(rng *rand.Rand, data []byte) []byte {
	if rng.IntN(12) == 0 {
		return bytesChanged(rng, data)
	}
	keep := rng.IntN(4) > 0 // numbers stay numbers
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var tree any
	if err := d.Decode(&tree); err != nil {
		panic(err)
	}
	for range 1 + rng.IntN(3) {
		var all []place
		places(tree, func(x any) { tree = x }, 1, &all)
		if len(all) == 0 {
			break
		}
		// Small places are met as often as the many numbers of large ones.
		weight := 0.0
		for _, p := range all {
			weight += p.weight
		}
		u, pos := rng.Float64()*weight, 0
		for ; pos < len(all)-1 && u > all[pos].weight; pos++ {
			u -= all[pos].weight
		}
		other := all[rng.IntN(len(all))].value
		if n, ok := all[pos].value.(json.Number); ok && keep {
			all[pos].set(otherNumber(rng, n))
			continue
		}
		if l, ok := all[pos].value.([]any); ok && keep && len(l) > 0 {
			if _, ok := l[0].(json.Number); ok {
				l = slices.Clone(l)
				v := otherNumber(rng, l[0].(json.Number))
				for k := range l {
					if rng.IntN(3) > 0 {
						l[k] = v
					}
				}
				all[pos].set(l)
				continue
			}
		}
		all[pos].set(changed(rng, all[pos].value, other))
	}
	out, err := json.Marshal(tree)
	if err != nil {
		return data
	}
	return out
}

type place struct {
	value  any
	set    func(any)
	weight float64
}

func places(x any, set func(any), weight float64, all *[]place) {
	*all = append(*all, place{x, set, weight})
	switch x := x.(type) {
	case map[string]any:
		keys := make([]string, 0, len(x))
		for k := range x {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		for _, k := range keys {
			places(x[k], func(v any) { x[k] = v }, 1, all)
		}
	case []any:
		for i := range x {
			places(x[i], func(v any) { x[i] = v }, max(weight, 1)/float64(len(x)), all)
		}
	}
}

var odd = []any{json.Number("0"), json.Number("-1"), json.Number("1"), json.Number("1e308"), json.Number("-1e308"),
	json.Number("5e-324"), json.Number("1e-200"), json.Number("1e17"),
	json.Number("9.9e17"), json.Number("9.9e14"), json.Number("9223372036854775807"), json.Number("65535"),
	json.Number("65536"), json.Number("1e-9"), json.Number("700"), json.Number("-745"), json.Number("0.5"),
	json.Number("2"), json.Number("1e29"),
	nil, "", "missing", "a", true, []any{}, map[string]any{}}

func changed(rng *rand.Rand, x, other any) any {
	switch rng.IntN(4) {
	case 0:
		return odd[rng.IntN(len(odd))]
	case 1:
		return clone(other)
	}
	switch x := x.(type) {
	case json.Number:
		f, _ := x.Float64()
		switch rng.IntN(5) {
		case 0:
			return json.Number(strconv.FormatFloat(f+1, 'g', -1, 64))
		case 1:
			return json.Number(strconv.FormatFloat(f-1, 'g', -1, 64))
		case 2:
			return json.Number(strconv.FormatFloat(-f, 'g', -1, 64))
		case 3:
			return json.Number(strconv.FormatFloat(max(-1e300, min(1e300, f*math.Pow(10, float64(rng.IntN(600)-300)))), 'g', -1,
				64))
		}
		return json.Number(strconv.FormatFloat(f*2, 'g', -1, 64))
	case []any:
		x = slices.Clone(x)
		if len(x) == 0 {
			return []any{clone(other)}
		}
		i, j := rng.IntN(len(x)), rng.IntN(len(x))
		switch rng.IntN(5) {
		case 0:
			return slices.Delete(x, i, i+1)
		case 1:
			return slices.Insert(x, i, clone(x[j]))
		case 2:
			x[i], x[j] = x[j], x[i]
			return x
		case 3: // all of them alike
			v := odd[rng.IntN(len(odd))]
			for k := range x {
				x[k] = v
			}
			return x
		}
		return append(x, clone(x).([]any)...)
	case map[string]any:
		keys := make([]string, 0, len(x))
		for k := range x {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		if len(keys) > 0 {
			k := keys[rng.IntN(len(keys))]
			if rng.IntN(2) == 0 {
				delete(x, k)
			} else {
				x[k] = clone(other)
			}
		}
		return x
	case string:
		return []string{x + x, "0.." + x, x + "..", "NA", "..", "1e400"}[rng.IntN(6)]
	case bool:
		return !x
	}
	return odd[rng.IntN(len(odd))]
}

// otherNumber returns another number, whole where it was whole.
func otherNumber(rng *rand.Rand, n json.Number) json.Number {
	if v, err := n.Int64(); err == nil && rng.IntN(3) > 0 {
		return json.Number(fmt.Sprint(v + []int64{1, -1, 2, 10, -v, 1 << 20}[rng.IntN(6)]))
	}
	return []json.Number{"0", "5e-324", "1e-300", "1e-223", "1e-160", "1e-9", "0.5", "1", "1e9", "9e14", "9e17", "9e29",
		"1e100", "1e300", "-1e17", "-1e300", "-700", "709", "1e5", "-1e5"}[rng.IntN(20)]
}

func clone(x any) any {
	switch x := x.(type) {
	case map[string]any:
		y := map[string]any{}
		for k, v := range x {
			y[k] = clone(v)
		}
		return y
	case []any:
		y := make([]any, len(x))
		for i, v := range x {
			y[i] = clone(v)
		}
		return y
	}
	return x
}

func bytesChanged(rng *rand.Rand, data []byte) []byte {
	out := slices.Clone(data)
	for range 1 + rng.IntN(4) {
		i, j := rng.IntN(len(out)), rng.IntN(len(out))
		switch rng.IntN(3) {
		case 0:
			out[i] = "0123456789-.e,[]{}\":"[rng.IntN(20)]
		case 1:
			i, j = min(i, j), min(max(i, j), min(i, j)+20)
			out = slices.Delete(out, i, j)
		case 2:
			i, j = min(i, j), min(max(i, j), min(i, j)+20)
			out = slices.Insert(out, i, slices.Clone(out[i:j])...)
		}
		if len(out) == 0 {
			return out
		}
	}
	return out
}
