// Package stattest holds what tests judge output by: reference values and public datasets, and of random
// output p-values that are compared with FalseAlarm, and lower bounds on epsilon from a distinguishing attack. It says
// how often a test tries what it tries.
package stattest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"weir/internal/bitmath"
)

// FalseAlarm is the rate at which a right sampler may fail one test. Tests draw
// from fixed keys, so a test that passes keeps passing.
const FalseAlarm = 1e-6

// Rounds returns how often a test tries what it tries: ordinary times, or as many as -tags long asks for.
func Rounds(ordinary, long int) int {
	if Long {
		return long
	}
	return ordinary
}

// ChiSquare returns the p-value of Pearson's test that counts are draws from
// cells with the given probabilities. Where these sum to less than one the rest
// is a last cell, with the draws of total that counts does not hold; a draw in a
// rest without probability gives 0. Neighbouring cells are pooled until 20 draws
// are expected in each.
func ChiSquare(counts []int, probabilities []float64, total int) float64 {
	rest, restCount := 1.0, total
	for i, p := range probabilities {
		rest -= p
		restCount -= counts[i]
	}
	if rest < 1e-12 {
		if restCount > 0 {
			return 0
		}
		rest = 0
	}
	expected, observed := pool(append(probabilities[:len(probabilities):len(probabilities)], rest),
		append(counts[:len(counts):len(counts)], restCount), total)
	statistic := 0.0
	for i, e := range expected {
		statistic += (observed[i] - e) * (observed[i] - e) / e
	}
	return distuv.ChiSquared{K: float64(len(expected) - 1)}.Survival(statistic)
}

// pool joins neighbouring cells until each expects 20 draws; what is left at the
// end joins the last.
func pool(probabilities []float64, counts []int, total int) (expected, observed []float64) {
	var e, o float64
	for i, p := range probabilities {
		e += float64(p * float64(total))
		o += float64(counts[i])
		if e >= 20 {
			expected, observed = append(expected, e), append(observed, o)
			e, o = 0, 0
		}
	}
	expected[len(expected)-1] += e
	observed[len(observed)-1] += o
	return expected, observed
}

// Binomial returns the two-sided p-value of k successes in n trials of
// probability p, twice the smaller tail.
func Binomial(k, n int, p float64) float64 {
	b := distuv.Binomial{N: float64(n), P: p}
	lower := b.CDF(float64(k))
	upper := 1.0
	if k > 0 {
		upper = b.Survival(float64(k - 1))
	}
	return min(1, 2*min(lower, upper))
}

// ClopperPearson returns the exact confidence interval for the probability
// behind k successes in n trials; each side errs with probability alpha.
func ClopperPearson(k, n int, alpha float64) (low, high float64) {
	high = 1
	if k > 0 {
		low = distuv.Beta{Alpha: float64(k), Beta: float64(n-k) + 1}.Quantile(alpha)
	}
	if k < n {
		high = distuv.Beta{Alpha: float64(k) + 1, Beta: float64(n - k)}.Quantile(1 - alpha)
	}
	return low, high
}

// EpsilonLowerBound returns a value that epsilon exceeds at the given delta,
// except with probability FalseAlarm, from an attack that said "first" hits
// times in n runs on the first of two neighbours and alarms times in n runs on
// the second. It is minus infinity where the attack shows nothing.
func EpsilonLowerBound(hits, alarms, n int, delta float64) float64 {
	low, _ := ClopperPearson(hits, n, FalseAlarm/2)
	_, high := ClopperPearson(alarms, n, FalseAlarm/2)
	return bitmath.Log(max(low-delta, 0) / high)
}

// Uniform returns the p-value of Pearson's test that counts, of which each must
// expect 20 or more, come from cells of equal probability with independent
// draws; where a cell is hit at most once a round the test is conservative.
func Uniform(counts []int) float64 {
	total := 0
	for _, c := range counts {
		total += c
	}
	mean, statistic := float64(total)/float64(len(counts)), 0.0
	for _, c := range counts {
		statistic += (float64(c) - mean) * (float64(c) - mean) / mean
	}
	return distuv.ChiSquared{K: float64(len(counts) - 1)}.Survival(statistic)
}

// Sparing runs the tests of a package that allocates much with its garbage collected only when the heap has grown by
// so many percent (Go's default is 100): a test is over before its memory counts.
func Sparing(m *testing.M, percent int) {
	debug.SetGCPercent(percent)
	m.Run()
}

// GoldenDir returns the folder of reference values: $WEIR_GOLDEN, else testdata/golden
// of the repository. Where it is absent the test fails and is never skipped: a
// missing reference must not pass for a match.
func GoldenDir(t testing.TB) string {
	t.Helper()
	dir, err := findGolden()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// PublicData returns $WEIR_DATA, a folder of public datasets. They belong to others
// and are not in the repository, so a test that reads them is skipped where the
// variable is not set; a folder that it names must exist.
func PublicData(t testing.TB) string {
	t.Helper()
	dir := os.Getenv("WEIR_DATA")
	if dir == "" {
		t.Skip("WEIR_DATA names no folder of public datasets")
	}
	if _, err := os.Stat(dir); err != nil {
		t.Fatalf("WEIR_DATA: %v", err)
	}
	return dir
}

// LoadGolden decodes the named file of the folder of reference values into v.
func LoadGolden(t testing.TB, file string, v any) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(GoldenDir(t), file))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, v); err != nil {
		t.Fatalf("golden: %s: %v", file, err)
	}
}

// findGolden returns $WEIR_GOLDEN, else the folder beside the go.mod above the package under
// test, whose folder is the working directory.
func findGolden() (string, error) {
	dir := os.Getenv("WEIR_GOLDEN")
	for up := "."; dir == "" && len(up) < 50; up = filepath.Join("..", up) {
		if _, err := os.Stat(filepath.Join(up, "go.mod")); err == nil {
			dir = filepath.Join(up, "testdata", "golden")
		}
	}
	if _, err := os.Stat(dir); err != nil {
		return "", fmt.Errorf("golden: no reference values: %w; WEIR_GOLDEN names another folder", err)
	}
	return filepath.Abs(dir)
}
