package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
)

// TestAttackStoredShardsOfAnotherAdjacency: kind shard deals rows without a unit otherwise
// under replace_one than under add_remove (stages/prep/shard.go proves each for its own
// adjacency), but neither the recipe nor the address of its stored table holds the terms. A
// run under replace_one that follows one under add_remove trains on the other's shards, and
// says that its epsilon is proven under replace_one.
func TestAttackStoredShardsOfAnotherAdjacency(t *testing.T) {
	const spec = `weir: 1
name: sh
dataset: {file: d.csv, domain: d.yaml, privacy_unit: {column: u, max_rows: 1}}
privacy: {epsilon: 5, delta: 1e-6, accountant: rdp, adjacency: ADJ, acknowledge: {W25: each person has one row here}}
seed: 3
stages:
  shard: {kind: shard, shards: 5}
  features: {kind: drop, columns: [u]}
  bins: {kind: discretize, columns: [a], edges: {a: [0, 25, 50, 75, 99]}}
  encode: {kind: encode, one_hot: [a, b]}
  train: {kind: gs_wgan, steps: 4, warm_steps: 2}
  sample: {kind: sample, rows: 50}
  marginals: {kind: marginals, real: features, synthetic: sample}
  keep: {kind: write, from: shard}
`
	dir := t.TempDir()
	var rows strings.Builder
	rows.WriteString("u,a,b\n")
	for i := range 600 {
		unit := fmt.Sprint(i)
		if i < 200 {
			unit = ""
		}
		fmt.Fprintf(&rows, "%s,%d,%s\n", unit, i%100, []string{"x", "y"}[i%2])
	}
	files := map[string]string{"d.csv": rows.String(), "one.yaml": strings.Replace(spec, "ADJ", "add_remove", 1),
		"two.yaml": strings.Replace(spec, "ADJ", "replace_one", 1),
		"d.yaml": "columns:\n  - {name: u, type: integer, bounds: [0, 999], nullable: true}\n  - {name: a, type: integer, " +
			"bounds: [0, 99]}\n  - {name: b, type: categorical, categories: [x, y]}\n"}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var log bytes.Buffer
	for _, name := range []string{"one.yaml", "two.yaml"} {
		log.Reset()
		if code := execute(context.Background(), streams{in: strings.NewReader(""), out: &log, err: &log, build: ownBuild},
			[]string{"run", filepath.Join(dir, name), "--out", filepath.Join(dir, "runs")}); code != 0 {
			t.Fatalf("%s: exit %d: %s", name, code, log.String())
		}
	}
	if strings.Contains(log.String(), "shard: reused") {
		t.Error("the run under replace_one takes the shards of the run under add_remove")
	}
	separate := 0
	stored, _ := filepath.Glob(filepath.Join(dir, "runs/cache/*/out.arrow"))
	for _, path := range stored {
		separate = max(separate, shardsOfMissing(t, path))
	}
	if separate < 2 {
		t.Errorf("200 rows without a unit lie in %d shard, under replace_one each must draw for itself", separate)
	}
}

// shardsOfMissing counts the shards of rows without a unit in a stored table.
func shardsOfMissing(t *testing.T, path string) int {
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := ipc.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	units, shards := r.Schema().FieldIndices("u"), r.Schema().FieldIndices("weir.shard")
	if len(units) == 0 || len(shards) == 0 {
		return 0
	}
	seen := map[int32]bool{}
	for r.Next() {
		u, s := r.Record().Column(units[0]), r.Record().Column(shards[0]).(*array.Int32)
		for i := range u.Len() {
			if u.IsNull(i) {
				seen[s.Value(i)] = true
			}
		}
	}
	return len(seen)
}
