package prep

import (
	"compress/gzip"
	"context"
	"encoding/csv"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"weir/internal/stattest"
)

// cardioBounds are the plausibility bounds under which 1,264 rows of the Cardio data have
// something missing: height, weight, ap_hi, ap_lo by column of the file less id.
var cardioBounds = map[int][2]float64{2: {100, 220}, 3: {30, 200}, 4: {60, 240}, 5: {30, 160}}

// BenchmarkImputeKNN fills a generated table of the shape of the Cardio data:
// 70,000 rows, 11 features, about 1,264 rows with something missing.
func BenchmarkImputeKNN(b *testing.B) {
	rng := rand.New(rand.NewPCG(7, 8))
	data := make(knnColumns, 11)
	spread := []float64{2467, 0.48, 8, 14, 17, 9.5, 0.68, 0.57, 0.28, 0.22, 0.4}
	for c := range data {
		data[c] = make([]float64, 70000)
		for r := range data[c] {
			data[c][r] = math.Round(rng.NormFloat64() * spread[c])
			if c >= 2 && c <= 5 && rng.Float64() < 0.0046 {
				data[c][r] = math.NaN()
			}
		}
	}
	fillTwice(b, data)
}

// BenchmarkImputeKNNCardio is the same on the real file, where it is there.
func BenchmarkImputeKNNCardio(b *testing.B) {
	file, err := os.Open(filepath.Join(stattest.PublicData(b), "cardio", "cardio_train.csv.gz"))
	if err != nil {
		b.Skip(err)
	}
	defer file.Close()
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		b.Fatal(err)
	}
	reader := csv.NewReader(unzipped)
	reader.Comma = ';'
	lines, err := reader.ReadAll()
	if err != nil {
		b.Fatal(err)
	}
	fillTwice(b, cardio(b, lines[1:]))
}

func cardio(b *testing.B, lines [][]string) knnColumns {
	data := make(knnColumns, 11) // age .. active; id and the target cardio stay out
	for c := range data {
		data[c] = make([]float64, len(lines))
		for r, line := range lines {
			v, err := strconv.ParseFloat(line[c+1], 64)
			if err != nil {
				b.Fatal(err)
			}
			if limits, ok := cardioBounds[c]; ok && (v < limits[0] || v > limits[1]) {
				v = math.NaN()
			}
			data[c][r] = v
		}
	}
	return data
}

func fillTwice(b *testing.B, data knnColumns) {
	b.ReportMetric(float64(len(incomplete(data, allColumns(11)))), "receivers")
	for _, workers := range []int{1, 2} {
		b.Run("workers="+strconv.Itoa(workers), func(b *testing.B) {
			for b.Loop() {
				x := newKNNIndex(data, nil, knnOptions{Neighbors: 3})
				if _, err := x.Fill(context.Background(), data, nil, allColumns(11), workers); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkImputeKNNScattered has missing cells everywhere, so that hardly two
// rows observe the same columns: 3,000 rows of 40 columns, 5 % missing.
func BenchmarkImputeKNNScattered(b *testing.B) {
	data := scattered(rand.New(rand.NewPCG(3, 3)), 3000, 40, 0.05, false)
	for b.Loop() {
		if _, err := newKNNIndex(data, nil, knnOptions{Neighbors: 3}).Fill(context.Background(), data, nil, allColumns(40),
			2); err != nil {
			b.Fatal(err)
		}
	}
}
