//go:build long

package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"weir/internal/bitmath"
)

// TestInfluenceOfAPlantedRow writes the table of docs/design/anomalies.md: what one row of 2,000, 20
// deviations away in each of four numbers, changes in the released table, with removal before
// the model, after it and without. Both tables are run under the same noise, 30 times, so that
// the difference is the row's doing; Student's test of the 30 differences.
//
//	go test -tags long -run InfluenceOfAPlantedRow -v -timeout 1h ./cmd/weir
func TestInfluenceOfAPlantedRow(t *testing.T) {
	rows, repeats, epsilons := 2000, 30, []float64{1, 10, 100}
	if testing.Short() { // the slice of .ci/run: that it still runs
		repeats, epsilons = 2, epsilons[2:]
	}
	for _, epsilon := range epsilons {
		for _, placement := range []string{"control", "pre", "post"} {
			var plain, cleaned [3][]float64 // far rows in 10,000, mean, maximum
			for seed := range repeats {
				for planted, target := range map[bool]*[3][]float64{false: &plain, true: &cleaned} {
					s := anomalyStudy(t, rows, epsilon, planted, placements(rows)[placement])
					for i, x := range seenIn(t, released(t, s.result("--insecure-noise-seed", strconv.Itoa(100+seed)), "left.csv")) {
						target[i] = append(target[i], x)
					}
				}
			}
			line := fmt.Sprintf("| %g | %s |", epsilon, placement)
			for i := range plain {
				mean, half, p := paired(cleaned[i], plain[i])
				line += fmt.Sprintf(" %.4g | %+.3g ± %.2g (p %.2g) |", meanOf(plain[i]), mean, half, p)
			}
			t.Log(line)
		}
	}
}

// seenIn returns how many of 10,000 rows are more than ten deviations away in a number, the mean of
// all numbers and the greatest of them.
func seenIn(t *testing.T, csv string) (x [3]float64) {
	rows, far := farAway(t, csv)
	x[0] = 1e4 * float64(far) / float64(rows)
	for _, line := range strings.Split(strings.TrimSpace(csv), "\n")[1:] {
		for _, cell := range strings.Split(line, ",")[:4] {
			v, err := strconv.ParseFloat(cell, 64)
			if err != nil {
				t.Fatal(err)
			}
			x[1] += v / float64(4*rows)
			x[2] = max(x[2], v)
		}
	}
	return x
}

func meanOf(x []float64) (mean float64) {
	for _, v := range x {
		mean += v / float64(len(x))
	}
	return mean
}

// paired returns the mean difference, half of its 95 % interval, and the two-sided p-value.
func paired(a, b []float64) (mean, half, p float64) {
	d, n := make([]float64, len(a)), float64(len(a))
	for i := range a {
		d[i] = a[i] - b[i]
	}
	mean = meanOf(d)
	square := 0.0
	for _, x := range d {
		square += (x - mean) * (x - mean)
	}
	if square == 0 {
		return mean, 0, 1
	}
	error := math.Sqrt(square / (n - 1) / n)
	return mean, 2.045 * error, 2 * bitmath.StudentTail(n-1, math.Abs(mean)/error)
}
