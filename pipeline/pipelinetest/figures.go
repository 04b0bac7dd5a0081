package pipelinetest

import (
	"context"

	"github.com/apache/arrow/go/v15/arrow"

	"weir/pipeline"
)

// checkFigures holds the numbers of an output of FormMetrics against the declarations of the
// kind: nothing else says what they mean, which values are good and what they are compared with.
func checkFigures(t reporter, k pipeline.Kind, h pipeline.Header, r arrow.Record) {
	if h.Form != pipeline.FormMetrics {
		return
	}
	metrics, err := pipeline.ReadMetrics(context.Background(), pipeline.FromRecords(h, r))
	if err != nil {
		t.Errorf("the figures of %s cannot be read: %v", k.Name, err)
	}
	for _, m := range Undeclared(k.Figures, metrics) {
		t.Errorf("kind %s writes %s, which it does not declare (pipeline.Kind.Figures)", k.Name, m.Key())
	}
}

// Undeclared returns the metrics that no declaration covers.
func Undeclared(declared pipeline.Figures, metrics []pipeline.Metric) (list []pipeline.Metric) {
	for _, m := range metrics {
		if f, _, known := declared.Find(m.Name); !known || !f.Takes(m.Name, m.Column) {
			list = append(list, m)
		}
	}
	return list
}
