//go:build long

package main

import (
	"context"
	"encoding/csv"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow/array"

	"weir/pipeline"
	"weir/pipeline/neighbour"
	"weir/privacy"
	"weir/privacy/mechanism"
	"weir/privacy/noise"
	"weir/runtime"
	"weir/runtime/files"
	"weir/stages"
	"weir/stages/prep"
)

// The distinguisher of docs/design/secrets.md: a table, with and without one unit that stands first; two
// runs, each with a gate whose noise decides whether the unit is kept, a split of what is kept, and a
// histogram of one part. What the gates say is released, so whoever looks on waits for two that differ.
// Then, if both runs part by one sequence, the histograms are alike without the unit, and with it
// they differ like two splits.
const (
	distinguishedRows = 150000
	distinguishedBins = 100
	distinguishedRuns = 130  // on either table
	falseAlarm        = 1e-6 // of a distinguisher that finds more than is paid
)

// TestTwoRunsTellNoMoreThanTheyPay: through a released detector on one unedited file.
func TestTwoRunsTellNoMoreThanTheyPay(t *testing.T) {
	for what, planted := range map[string]func(byte) swapped{"as the product draws": nil,
		"one secret for both runs": oneSecret} {
		least, paid := distinguish(t, planted)
		t.Logf("%s: epsilon at least %.2f, the ledger says %.2f", what, least, paid)
		if (least > paid) != (planted != nil) {
			t.Errorf("%s: epsilon is at least %.2f and the ledger says %.2f", what, least, paid)
		}
	}
}

// oneSecret gives both runs of a try the same draws.
func oneSecret(try byte) swapped {
	return func(stage, _ string) *noise.Stream {
		st, err := noise.NewSource(noise.Key{1, try}, stage).Stream("planted", 0)
		if err != nil {
			panic(err)
		}
		return st
	}
}

// distinguish returns an epsilon that two runs have at least, and what they paid together. The event is
// the gates differ and the histograms do not; its bounds are Clopper and Pearson's for no or all cases
// and Hoeffding's for others, each at half the false alarm.
func distinguish(t *testing.T, planted func(byte) swapped) (least, paid float64) {
	var events [2]float64
	for including := range events {
		for n := range distinguishedRuns {
			a, b, epsilon := twoReleases(t, including == 1, byte(n), planted)
			paid = epsilon
			if a.gate != b.gate && meanSquare(a.counts, b.counts) < alikeBelow {
				events[including]++
			}
		}
		events[including] /= distinguishedRuns
	}
	slack := math.Sqrt(math.Log(2/falseAlarm) / (2 * distinguishedRuns))
	none := 1 - math.Pow(falseAlarm/2, 1/float64(distinguishedRuns))
	for with := range events {
		low, high := events[with]-slack, events[1-with]+slack
		if events[1-with] == 0 {
			high = none
		}
		if low > 0 {
			least = math.Max(least, math.Log(low/high))
		}
	}
	return least, paid
}

// alikeBelow lies between 2 sigma^2 (about 370), the mean square of what two noises differ by, and that plus
// half the rows of a bin (1,120), by which two independent halves of it differ. Over 100 bins a mean square
// strays by a seventh of itself.
const alikeBelow = 640

func meanSquare(a, b []int64) (mean float64) {
	for i := range a {
		mean += float64((a[i]-b[i])*(a[i]-b[i])) / float64(len(a))
	}
	return mean
}

// released is what one run tells.
type released struct {
	gate   bool
	counts []int64
}

const distinguishedSpec = `weir: 1
name: two
dataset: {file: data.csv, domain: {columns: [{name: bin, type: integer, bounds: [0, 1000]}]}}
privacy: {epsilon: 0.3, delta: 1.0e-5, adjacency: add_remove, split: {gate: 0.1, counts: 0.9}}
stages:
  gate: {kind: gate, from: dataset}
  kept: {kind: kept, from: dataset, gate: gate}
  split: {kind: split, train: 0.5, test: 0.5}
  counts: {kind: binned, from: split.train}
`

func twoReleases(t *testing.T, included bool, try byte, planted func(byte) swapped) (a, b released, paid float64) {
	t.Helper()
	dir := t.TempDir()
	layBins(t, filepath.Join(dir, dataFile), included)
	reg, err := runtime.Registry(stages.Kinds(), distinguishedKinds())
	if err != nil {
		t.Fatal(err)
	}
	random := rand.NewChaCha8([32]byte{try, 7})
	for i, r := range []*released{&a, &b} {
		folder, err := files.OpenFolder(dir, false)
		if err != nil {
			t.Fatal(err)
		}
		plan, err := compiled(distinguishedSpec, folder, reg)
		folder.Close()
		if err != nil {
			t.Fatal(err)
		}
		var m manner
		if planted != nil {
			m.planted = planted(try)
		}
		neighbour.NewWatch(plan, neighbour.NewFrozen(), m.plant)
		hears := &shown{}
		_, err = runtime.Run(t.Context(), plan, runtime.Options{Out: filepath.Join(dir, "runs"), Dir: dir, Workers: 1,
			Build: "soak", Fresh: i > 0,
			Log: hears.log(), Progress: hears, Clock: time.Now, Random: random, Probe: func(stage string) privacy.Probe {
				return hearing{stage, r}
			}})
		if err != nil {
			t.Fatal(err)
		}
		paid += *plan.Epsilon.Proven
	}
	return a, b, paid
}

// hearing takes down what a run releases.
type hearing struct {
	stage string
	to    *released
}

func (h hearing) Release(r privacy.Released) any {
	if counts := r.Out.([]int64); h.stage == "gate" {
		h.to.gate = counts[0] > 0
	} else {
		h.to.counts = append([]int64(nil), counts...)
	}
	return r.Out
}

// layBins writes rows of known bins, and before them, or not, the unit that a gate may drop.
func layBins(t *testing.T, path string, included bool) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w := csv.NewWriter(f)
	w.Write([]string{"bin"})
	if included {
		w.Write([]string{"1000"})
	}
	for i := range distinguishedRows {
		w.Write([]string{strconv.Itoa(i * 7919 % distinguishedBins)})
	}
	if w.Flush(); w.Error() != nil {
		t.Fatal(w.Error())
	}
}

// distinguishedKinds returns the gate, which is a noisy number that has nothing to do with the rows, the rows
// that it keeps, and their bins.
func distinguishedKinds() []pipeline.Kind {
	table := []pipeline.Port{{Name: "in", Form: pipeline.FormTable, Doc: "A table."}}
	out := []pipeline.Port{{Name: "out", Form: pipeline.FormTable, Doc: "A table."}}
	counts := []pipeline.Port{{Name: "counts", Form: pipeline.FormFiles, Doc: "Counts."}}
	doc := "Tries two runs. Use it in a test."
	return []pipeline.Kind{
		{Name: "gate", Version: 1, Doc: doc, In: table, Out: counts,
			New: func() pipeline.Stage { return &tallying{Bins: 1} }},
		{Name: "binned", Version: 1, Doc: doc, In: table, Out: counts,
			New: func() pipeline.Stage { return &tallying{Bins: distinguishedBins} }},
		{Name: "kept", Version: 1, Doc: doc, In: append(table, pipeline.Port{Name: "gate", Form: pipeline.FormFiles,
			Doc: "The gate."}), Out: out,
			New: func() pipeline.Stage { return &keeping{} }},
	}
}

type tallying struct {
	Bins int `yaml:"bins,omitempty" json:"bins,omitempty" doc:"How many."`
}

func (s *tallying) Plan(in pipeline.Headers) (pipeline.Work, error) {
	h := in["in"]
	out := pipeline.Header{Form: pipeline.FormFiles, Class: pipeline.Released, Terms: h.Terms}
	return pipeline.Work{Out: pipeline.Headers{"counts": out},
		Spends: []pipeline.Spend{{Name: "counts", Doc: "counts", Mechanism: func(scale float64) privacy.Mechanism {
			return mechanism.GaussianHistogram{NoiseMultiplier: scale, Releases: 1}
		}}},
		Run: func(ctx context.Context, env *pipeline.Env, in pipeline.Tables) (pipeline.Tables, error) {
			counts := make([]int64, s.Bins)
			for r, err := range in["in"].Open(ctx) {
				if err != nil {
					return nil, err
				}
				for _, v := range r.Column(0).(*array.Int64).Int64Values() {
					if s.Bins > 1 && int(v) < s.Bins {
						counts[v]++
					}
				}
			}
			paid, err := env.Privacy.Open("counts")
			if err != nil {
				return nil, err
			}
			noisy, err := mechanism.ReleaseCounts(paid, counts)
			return pipeline.Tables{"counts": pipeline.WriteFiles(out,
				[]pipeline.File{{Name: "counts", Data: fmt.Append(nil, noisy)}})}, err
		}}, nil
}

// keeping drops rows above 999 where the gate is closed: a filter by a released number.
type keeping struct{}

func (keeping) Plan(in pipeline.Headers) (pipeline.Work, error) {
	h := in["in"]
	h.Rows = 0
	return pipeline.Work{Out: pipeline.Headers{"out": h}, Run: func(ctx context.Context, _ *pipeline.Env,
		in pipeline.Tables) (pipeline.Tables, error) {
		files, err := pipeline.ReadFiles(ctx, in["gate"])
		if err != nil {
			return nil, err
		}
		open := files[0].Data[1] != '-' && files[0].Data[1] != '0'
		rows, err := in["in"].Collect(ctx)
		if err != nil || open {
			return pipeline.Tables{"out": pipeline.FromRecords(h, rows)}, err
		}
		var retained []int
		for i, v := range rows.Column(0).(*array.Int64).Int64Values() {
			if v <= 999 {
				retained = append(retained, i)
			}
		}
		rows, err = prep.TakeRows(rows, retained)
		return pipeline.Tables{"out": pipeline.FromRecords(h, rows)}, err
	}}, nil
}
