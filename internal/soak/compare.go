package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"weir/pipeline/compile"
	"weir/pipeline/neighbour"
)

// faults lists all that two runs on neighbouring tables must not show: any
// difference in what anyone may see, inputs of a mechanism that move by more than
// it pays for, tables that change by more than their headers say, and mechanisms
// that were not used as planned, on whichever table.
func faults(w *world, one, other *outcome) []string {
	list := append(broken(one), broken(other)...)
	list = append(list, neighbour.Texts(one.noise.Faults())...)
	list = append(list, differences(one.seen, other.seen)...)
	return append(list, neighbour.Texts(coupled(w, one, other).Faults())...)
}

// coupled compares what goes into the mechanisms of two runs, and their private tables.
func coupled(w *world, one, other *outcome) *neighbour.Coupling {
	return neighbour.Couple(one.watch, other.watch, neighbour.Units{Named: w.unit >= 0, Same: w.sameUnit,
		ByName: func(s *compile.Step) bool { return s.Kind == "split" || s.Kind == "shard" }})
}

// measured counts the mechanisms of a run whose inputs were compared.
func measured(one *outcome) int { return len(one.watch.Frozen.Distances()) }

// broken returns faults that show on one table already.
func broken(o *outcome) []string {
	if len(neighbour.Broken(o.err)) == 0 {
		return nil
	}
	return []string{"the run breaks its plan: " + o.err.Error() + "\n" + o.panics}
}

func differences(before, current map[string]string) []string {
	var list []string
	all := maps.Clone(before)
	maps.Copy(all, current)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		a, wasSet := before[name]
		b, is := current[name]
		switch {
		case !wasSet || !is:
			list = append(list, fmt.Sprintf("%s is there on one table only", name))
		case a != b:
			list = append(list, fmt.Sprintf("%s differs: %s", name, firstDifference(a, b)))
		}
	}
	return list
}

// firstDifference shows where two texts part.
func firstDifference(a, b string) string {
	i := 0
	for i < min(len(a), len(b)) && a[i] == b[i] {
		i++
	}
	show := func(s string) string { return s[max(0, min(len(s), i)-60):min(len(s), i+60)] }
	return fmt.Sprintf("at byte %d, %q becomes %q", i, show(a), show(b))
}

// unordered takes out of the files of a run which of several stages paid first:
// stages that run side by side reach the ledger in any order, whatever the rows
// are, and the hashes of its chain say which.
func unordered(seen map[string]string) map[string]string {
	out := map[string]string{}
	for name, text := range seen {
		switch {
		case filepath.Base(name) == "run.json":
			text = flow(stripped([]byte(text)))
		case strings.HasSuffix(name, ".jsonl"):
			lines := strings.Split(strings.TrimSpace(text), "\n")
			for i, line := range lines {
				lines[i] = flow(stripped([]byte(line)))
			}
			slices.Sort(lines)
			text = strings.Join(lines, "\n")
		}
		out[name] = text
	}
	return out
}

// stripped leaves the hashes of the ledger out of a JSON object.
func stripped(data []byte) any {
	var x any
	if json.Unmarshal(data, &x) != nil {
		return string(data)
	}
	prune(x)
	return x
}

func prune(x any) {
	switch x := x.(type) {
	case map[string]any:
		for _, key := range []string{"hash", "prev", "ledger_hash", "ledger_head"} {
			delete(x, key)
		}
		for _, v := range x {
			prune(v)
		}
	case []any:
		for _, v := range x {
			prune(v)
		}
	}
}
