package main

import (
	"fmt"
	"slices"

	"weir/pipeline/figure"
	"weir/record"
	"weir/record/sweep"
)

// declaredOf returns what the kinds of a run's stages declare of its figures. A record names the
// kinds alone, so that records of any age are read with the words of this program.
func declaredOf(rec *record.Run) (figure.ByStage, error) {
	reg, err := registry()
	if err != nil {
		return nil, err
	}
	return reg.Figures(kindsOf(rec)), nil
}

// kindsOf returns the kinds of a run's stages by their names.
func kindsOf(rec *record.Run) map[string]string {
	kinds := map[string]string{}
	for _, s := range rec.Stages {
		kinds[s.ID] = s.Kind
	}
	return kinds
}

// meaningOf says in words what a figure is, with what it is read beside: the same figure of other
// real rows, of independent columns, of a guess. "" where it is not declared.
func meaningOf(declared figure.ByStage, metrics map[string]float64, key string) string {
	f, place, known := declared.Find(key)
	if !known || !place.Itself() {
		return ""
	}
	words := f.Doc
	for _, r := range []figure.Role{figure.RealTrain, figure.Independent, figure.Majority} {
		if x, ok := metrics[figure.Renamed(key, r.Name(f.Name))]; ok && slices.Contains(f.Beside, r) {
			words += fmt.Sprintf("\n    %.4f  %s", x, r.Words(f.Learnt))
		}
	}
	return words
}

// references returns what real rows reach in metrics, by metric.
func references(declared figure.ByStage, metrics []string) map[string]sweep.Reference {
	of := map[string]sweep.Reference{}
	for _, key := range metrics {
		if metric, words := declared.Reference(key); metric != "" {
			of[key] = sweep.Reference{Metric: metric, Words: words}
		}
	}
	return of
}
