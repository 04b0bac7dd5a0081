package main

import (
	"fmt"
	"io"
	"path/filepath"
	"sort"
	"strings"

	"weir/record"
	"weir/runtime"
)

// printResult ends a run: figures, epsilon, and where everything is.
func printResult(w io.Writer, r *runtime.Result) error {
	rec := r.Record
	var b strings.Builder
	if rec.Insecure {
		b.WriteString("NOT PRIVATE: noise from --insecure-noise-seed; do not release.\n\n")
	}
	if r.Reused {
		b.WriteString("This spec has been run on these data; here is that run, and nothing was spent. --fresh draws new noise, as a new charge.\n\n")
	}
	figures(&b, rec)
	epsilons(&b, rec.Terms)
	places(&b, r)
	_, err := io.WriteString(w, b.String())
	return err
}

// figures shows the metrics about whole tables; those of single columns are in
// the report and in internal/metrics.json.
func figures(b *strings.Builder, rec *record.Run) {
	var keys []string
	for k := range rec.Metrics {
		if strings.Count(k, ".") == 1 {
			keys = append(keys, k)
		}
	}
	if len(keys) == 0 {
		return
	}
	sort.Strings(keys)
	b.WriteString("Figures (private: they compare with real rows)\n")
	const most = 12
	for i, k := range keys {
		if i == most {
			fmt.Fprintf(b, "  and %d more in internal/metrics.json\n", len(keys)-most)
			break
		}
		fmt.Fprintf(b, "  %-44s %.4f\n", k, rec.Metrics[k])
	}
	b.WriteString("\n")
}

func epsilons(b *strings.Builder, t record.Terms) {
	show := func(name string, x *float64, reason string) {
		switch {
		case x != nil:
			fmt.Fprintf(b, "epsilon (%s)  %.5g at delta %g, %s\n", name, *x, t.Delta, t.Adjacency)
		case reason != "":
			fmt.Fprintf(b, "epsilon (%s)  none: %s\n", name, reason)
		}
	}
	show("proven", t.Proven, orText(t.Reason, "no proven bound"))
	show("published", t.Published, "")
	b.WriteString("\n")
}

func places(b *strings.Builder, r *runtime.Result) {
	rec := r.Record
	line := func(what, path string) { fmt.Fprintf(b, "%-16s %s\n", what, path) }
	for _, f := range append(append([]record.File(nil), rec.Release...), rec.Internal...) {
		switch {
		case strings.HasSuffix(f.Path, ".csv"):
			line("synthetic table", filepath.Join(r.Path, f.Path))
		case strings.HasSuffix(f.Path, ".html"):
			line("report", filepath.Join(r.Path, f.Path))
		case strings.HasSuffix(f.Path, "BILL.txt"):
			line("bill", filepath.Join(r.Path, f.Path))
		case strings.HasSuffix(f.Path, "PRIVACY.md"):
			line("privacy", filepath.Join(r.Path, f.Path))
		}
	}
	line("record", filepath.Join(r.Path, "run.json"))
	if rec.Dataset.Ledger != "" {
		line("ledger", rec.Dataset.Ledger)
	}
}

func orText(s, other string) string {
	if s == "" {
		return other
	}
	return s
}
