//go:build unix

package learn

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"syscall"
	"testing"
)

// BenchmarkLearners is fit and prediction of learners on rows that are drawn, in CPU
// seconds (user and system): a table with the shape of UCI Adult with its one-hot
// columns in blocks, the same stored, the same as codes, and a table of 20,000 rows
// whose three columns have 340 categories each.
//
//	go test -run - -bench Learners -benchtime 3x ./stages/internal/learn
func BenchmarkLearners(b *testing.B) {
	oneHot, y := adultLike(true)
	codes, _ := adultLike(false)
	wide, z := mixedWide()
	for _, shape := range []struct {
		name string
		x    Matrix
		y    Labels
	}{{"one-hot", oneHot, y}, {"stored", oneHot.Dense(), y}, {"codes", codes, y}, {"wide", wide, z},
		{"wide-stored", wide.Dense(), z}} {
		for name, l := range benchmarked() {
			b.Run(shape.name+"/"+name, func(b *testing.B) { judged(b, l, shape.x, shape.x, shape.y, shape.y) })
		}
	}
}

// BenchmarkAdult learns from the training rows of UCI Adult (108 columns: six numbers
// scaled to 0 to 1, eight blocks) with seeds 0, 1, ... and predicts its test rows, which
// gives the area under the ROC curve and the accuracy too (docs/speed.md).
//
//	WEIR_DATA=... GOMAXPROCS=1 go test -run - -bench Adult -benchtime 5x ./stages/internal/learn
func BenchmarkAdult(b *testing.B) {
	x, test, y, yTest := adult(b)
	for name, l := range benchmarked() {
		b.Run(name, func(b *testing.B) { judged(b, l, x, test, y, yTest) })
	}
}

func benchmarked() map[string]Classifier {
	return map[string]Classifier{
		"logistic":           Logistic{C: 1, Penalty: L2},
		"histogram-boosting": HistBoosting{},
		"random-forest":      Forest{Bootstrap: true},
		"extra-trees":        Forest{Growth: Growth{RandomThreshold: true}},
		"gradient-boosting":  GradientBoosting{},
	}
}

// judged reports medians of CPU seconds, and mean and standard deviation of scores.
func judged(b *testing.B, l Classifier, x, test Matrix, y, yTest Labels) {
	var fit, predict, auroc, accuracy []float64
	b.ReportAllocs()
	for seed := range b.N {
		runtime.GC()
		begin := cpuSeconds()
		m, err := l.Fit(b.Context(), x, y, Run{rand.New(rand.NewPCG(uint64(seed), 2)), 1})
		if err != nil {
			b.Fatal(err)
		}
		fitted := cpuSeconds()
		p := m.Scores(test)
		fit, predict = append(fit, fitted-begin), append(predict, cpuSeconds()-fitted)
		positive, right := make([]bool, test.Rows), 0
		for i, k := range Predict(p) {
			if positive[i] = yTest.Y[i] == 1; k == yTest.Y[i] {
				right++
			}
		}
		auroc = append(auroc, NewCurve(positive, p.Cols[1]).AUROC())
		accuracy = append(accuracy, float64(right)/float64(test.Rows))
	}
	slices.Sort(fit)
	slices.Sort(predict)
	b.ReportMetric(fit[len(fit)/2], "fit-cpu-s")
	b.ReportMetric(predict[len(predict)/2], "predict-cpu-s")
	for name, values := range map[string][]float64{"auroc": auroc, "accuracy": accuracy} {
		mean, sd := Moments(values)
		b.ReportMetric(mean, name)
		if !constant(values) {
			b.ReportMetric(sd, name+"-sd")
		}
	}
}

func cpuSeconds() float64 {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return float64(u.Utime.Sec+u.Stime.Sec) + float64(u.Utime.Usec+u.Stime.Usec)/1e6
}
