// Package anomaly holds the kinds that learn, under a budget, which rows of a table are
// unlike the others, and the kind that takes such rows out.
package anomaly

import (
	"context"

	"weir/pipeline"
	"weir/pipeline/domain"
)

// Kinds lists the kinds of this family.
func Kinds() []pipeline.Kind {
	return []pipeline.Kind{anomalyDetectorKind(), anomalyForestKind(), removeAnomaliesKind()}
}

// tableIn is the port of what a detector is learned from.
func tableIn() []pipeline.Port {
	return []pipeline.Port{{Name: "in", Form: pipeline.FormTable, Doc: "A private table, as it is before encode."}}
}

// releases is the work of a stage that learns a detector of header out from its table.
func releases(out pipeline.Header, learn func(context.Context, *pipeline.Env, pipeline.Table) (pipeline.Table, error)) pipeline.Work {
	return pipeline.Work{Out: pipeline.Headers{"model": out},
		Run: func(ctx context.Context, env *pipeline.Env, in pipeline.Tables) (pipeline.Tables, error) {
			t, err := learn(ctx, env, in["in"])
			return pipeline.Tables{"model": t}, err
		}}
}

// detectorHeader is the header of a detector that looks at the columns of a table.
func detectorHeader(h pipeline.Header) pipeline.Header {
	return pipeline.Header{Form: pipeline.FormDetector, Schema: pipeline.FilesSchema(),
		Domain: &domain.Domain{Columns: h.Domain.Clone().Columns}, Class: pipeline.Released, Terms: h.Terms}
}
