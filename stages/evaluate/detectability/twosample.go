package detectability

import (
	"context"
	"fmt"
	"math"
	"slices"

	"weir/stages/internal/learn"
	"weir/stages/internal/metric"
	"weir/stages/internal/metric/detection"
	"weir/stages/internal/prediction"
)

// twoSample fits on one part of the rows and scores the other.
func (r *detectionRun) twoSample(ctx context.Context, x learn.Matrix, y []bool, suffix, note string) error {
	order := r.env.Rand("two-sample split" + suffix).Perm(len(y))
	held := int(math.Round(r.Test * float64(len(y))))
	test, train := order[:held], order[held:]
	if !mixedClasses(y, train) || !mixedClasses(y, test) {
		why := "one part of the split holds rows of only one table"
		r.Add("auroc"+suffix, "", metric.None(why, note))
		r.Add("advantage"+suffix, "", metric.None(why))
		return nil
	}
	s, err := r.fit(ctx, 1, x.Take(train), at(y, train))
	if why := learn.Declined(err); why != "" {
		r.noFit(why, suffix, "auroc", "advantage")
		return nil
	}
	if err != nil {
		return err
	}
	a := prediction.AUROC(at(y, test), s.Scores(x.Take(test)).Cols[1], r.env.Rand("resampled held-out rows"), r.env.Workers)
	r.Metrics = append(r.Metrics, a.Metrics("auroc"+suffix, "", fmt.Sprintf("on %d held-out rows", held), note)...)
	r.Add("advantage"+suffix, "", metric.Of(detection.Advantage(a.Value)))
	return nil
}

func at(y []bool, places []int) []bool {
	out := make([]bool, len(places))
	for k, i := range places {
		out[k] = y[i]
	}
	return out
}

func mixedClasses(y []bool, places []int) bool {
	classes := at(y, places)
	return slices.Contains(classes, true) && slices.Contains(classes, false)
}
