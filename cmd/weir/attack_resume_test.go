package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestAttackInterruptedExperimentContinues: runtime.RunAll says that the same call
// continues what was interrupted, and a run says "run the same command again". Where the
// budget holds the experiment and little more, what unfinished trials have charged is
// counted twice, and the experiment can never be continued.
func TestAttackInterruptedExperimentContinues(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var rows strings.Builder
	rows.WriteString("a,b\n")
	for i := range 500 {
		fmt.Fprintf(&rows, "%d,%s\n", i*37%100, []string{"x", "y"}[i%2])
	}
	for name, text := range map[string]string{"d.csv": rows.String(),
		"d.yaml": "columns:\n  - {name: a, type: integer, bounds: [0, 99]}\n  - {name: b, type: categorical, categories: " +
			"[x, y]}\n",
		"e.yaml": `weir: 1
name: e
dataset: {file: d.csv, domain: d.yaml, privacy_unit: row, rows_public: 500, budget: {epsilon: 2.2, delta: 1e-5}}
privacy: {epsilon: 1, delta: 1e-6, accountant: rdp, adjacency: replace_one, acknowledge: {W25: one row each here}}
seed: 3
stages:
  bins: {kind: discretize, columns: [a], edges: {a: [0, 25, 50, 75, 99]}}
  encode: {kind: encode, one_hot: [a, b]}
  train: {kind: dp_wgan, steps: 1500}
  sample: {kind: sample, rows: 50}
experiment: {repeats: 4}
`} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ledger := filepath.Join(dir, "d.csv.weir-ledger.jsonl")
	run := func(ctx context.Context) (int, string) {
		var log bytes.Buffer
		code := execute(ctx, streams{in: strings.NewReader(""), out: &log, err: &log, build: ownBuild},
			[]string{"run", filepath.Join(dir, "e.yaml"), "--out", filepath.Join(dir, "runs"), "--workers", "4"})
		return code, log.String()
	}
	ctx, stop := context.WithCancel(context.Background())
	go func() {
		for { // until something was charged
			if data, err := os.ReadFile(ledger); err == nil && bytes.Contains(data, []byte("\n")) {
				stop()
				return
			}
			time.Sleep(5 * time.Millisecond)
		}
	}()
	if code, log := run(ctx); code != exitInterrupted {
		t.Fatalf("was not interrupted: %d %s", code, log)
	}
	data, _ := os.ReadFile(ledger)
	t.Logf("%d charges before the interruption", bytes.Count(data, []byte("\n")))
	if code, log := run(context.Background()); code != 0 {
		t.Errorf("the same command again: exit %d: %.400s", code, log[strings.LastIndex(log, "weir:"):])
	}
}
