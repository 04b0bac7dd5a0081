package main

import (
	"weir/pipeline"
	"weir/record"
)

// declaredOf returns what the kinds of a run's stages declare of its figures. A record names the
// kinds alone, so that records of any age are read with the words of this program.
func declaredOf(rec *record.Run) (pipeline.StageFigures, error) {
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
