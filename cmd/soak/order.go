package main

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
)

// unordered takes out of the files of a run which of several stages paid first:
// stages that run side by side reach the ledger in any order, whatever the rows
// are, and the hashes of its chain say which.
func unordered(seen map[string]string) map[string]string {
	out := map[string]string{}
	for name, text := range seen {
		switch {
		case filepath.Base(name) == "run.json":
			text = flow(without([]byte(text)))
		case strings.HasSuffix(name, ".jsonl"):
			lines := strings.Split(strings.TrimSpace(text), "\n")
			for i, line := range lines {
				lines[i] = flow(without([]byte(line)))
			}
			slices.Sort(lines)
			text = strings.Join(lines, "\n")
		}
		out[name] = text
	}
	return out
}

// without leaves the hashes of the ledger out of a JSON object.
func without(data []byte) any {
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
