//go:build unix

package learn

import (
	"compress/gzip"
	"encoding/csv"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"weir/internal/stattest"
)

// adultLike draws a table with the shape of UCI Adult: 48,842 rows, six numbers
// with 74, 22,000, 16, 119, 92 and 94 values and eight columns of 9, 16, 7, 15, 6,
// 5, 2 and 42 categories, whose signal is spread over several columns.
func adultLike(oneHot bool) (Matrix, Labels) {
	const rows = 48842
	rng := rand.New(rand.NewPCG(1, 1))
	score := make([]float64, rows)
	m := Matrix{Rows: rows}
	for j, values := range []int{74, 22000, 16, 119, 92, 94, 9, 16, 7, 15, 6, 5, 2, 42} {
		c, codes := make([]float64, rows), make([]int32, rows)
		for i := range c {
			codes[i] = int32(rng.Float64() * rng.Float64() * float64(values))
			c[i] = float64(codes[i])
			score[i] += c[i] / float64(values)
		}
		if oneHot && j >= 6 {
			m = withBlock(m, codes, values)
		} else {
			m.Cols = append(m.Cols, c)
		}
	}
	y := Labels{make([]int, rows), 2}
	for i, s := range score {
		if rng.Float64() < Sigmoid(4*(s-4.3)) {
			y.Y[i] = 1
		}
	}
	return m, y
}

func withBlock(m Matrix, codes []int32, width int) Matrix {
	m.Blocks = append(m.Blocks, Block{First: len(m.Cols), Width: width, Codes: codes})
	m.Cols = append(m.Cols, make([][]float64, width)...)
	return m
}

// mixedWide draws 20,000 rows of three columns of 340 categories.
func mixedWide() (Matrix, Labels) {
	rng := rand.New(rand.NewPCG(2, 2))
	m, y := Matrix{Rows: 20000}, Labels{make([]int, 20000), 2}
	score := make([]float64, m.Rows)
	for range 3 {
		codes := make([]int32, m.Rows)
		for i := range codes {
			codes[i] = int32(rng.Float64() * rng.Float64() * 340)
			score[i] += float64(codes[i]) / 340
		}
		m = withBlock(m, codes, 340)
	}
	for i, s := range score {
		if rng.Float64() < Sigmoid(4*(s-.75)) {
			y.Y[i] = 1
		}
	}
	return m, y
}

// adult returns the training and the test rows of UCI Adult; numbers are scaled by the
// extremes of the training rows, "?" is a category.
func adult(b *testing.B) (x, test Matrix, y, yTest Labels) {
	train, stored := adultRows(b, "adult.data.gz"), adultRows(b, "adult.test.gz")
	x.Rows, test.Rows = len(train), len(stored)
	for _, j := range []int{0, 2, 4, 10, 11, 12} {
		a, c := numbers(b, train, j), numbers(b, stored, j)
		lo, hi := slices.Min(a), slices.Max(a)
		for _, column := range [][]float64{a, c} {
			for i := range column {
				column[i] = (column[i] - lo) / (hi - lo)
			}
		}
		x.Cols, test.Cols = append(x.Cols, a), append(test.Cols, c)
	}
	for _, j := range []int{1, 3, 5, 6, 7, 8, 9, 13} {
		var names []string
		for _, row := range slices.Concat(train, stored) {
			names = append(names, row[j])
		}
		slices.Sort(names)
		names = slices.Compact(names)
		x, test = withBlock(x, places32(train, j, names), len(names)), withBlock(test, places32(stored, j, names), len(names))
	}
	return x, test, incomes(train), incomes(stored)
}

func adultRows(b *testing.B, name string) [][]string {
	b.Helper()
	f, err := os.Open(filepath.Join(stattest.PublicData(b), "adult", name))
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		b.Fatal(err)
	}
	r := csv.NewReader(z)
	r.TrimLeadingSpace, r.Comment = true, '|'
	rows, err := r.ReadAll()
	if err != nil {
		b.Fatal(err)
	}
	return rows
}

func numbers(b *testing.B, rows [][]string, j int) []float64 {
	b.Helper()
	c := make([]float64, len(rows))
	for i, row := range rows {
		v, err := strconv.ParseFloat(row[j], 64)
		if err != nil {
			b.Fatal(err)
		}
		c[i] = v
	}
	return c
}

func places32(rows [][]string, j int, names []string) []int32 {
	codes := make([]int32, len(rows))
	for i, row := range rows {
		codes[i] = int32(slices.Index(names, row[j]))
	}
	return codes
}

func incomes(rows [][]string) Labels {
	y := Labels{make([]int, len(rows)), 2}
	for i, row := range rows {
		if strings.HasPrefix(row[14], ">50K") {
			y.Y[i] = 1
		}
	}
	return y
}
