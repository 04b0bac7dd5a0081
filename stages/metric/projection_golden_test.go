package metric

import (
	"math"
	"testing"

	"weir/stages/internal/learn"
)

func pcaCase(t *testing.T, c goldenCase) map[string]any {
	p := decode[associationParams](t, c.Params)
	components := decode[struct {
		N int `json:"n_components"`
	}](t, c.Params).N
	a, b := design(t, p), designOf(t, p, "synth")
	real, synth := scatter(a), scatter(b)
	pca, err := NewPCA(real.Mean(), real.Covariance(), components)
	if err != nil {
		t.Fatal(err)
	}
	meanReal, sdReal := pca.Spread(real.Mean(), real.Covariance())
	meanSynth, sdSynth := pca.Spread(synth.Mean(), synth.Covariance())
	var singular []float64
	for _, v := range pca.Variance {
		singular = append(singular, math.Sqrt(v*float64(a.Rows-1)))
	}
	x, y := pca.Project(a), pca.Project(b)
	return map[string]any{
		"components": pca.Components, "mean": pca.Mean, "explained_variance": pca.Variance,
		"explained_variance_ratio": pca.Ratio,
		"singular_values":          singular, "real_first20": x[:20], "synth_first20": y[:20],
		"real_projection_mean": meanReal, "synth_projection_mean": meanSynth,
		"real_projection_sd_ddof1": sdReal, "synth_projection_sd_ddof1": sdSynth,
		"wasserstein_1_first100_points": Transport(x[:100], y[:100]),
	}
}

func scatter(m learn.Matrix) *Scatter {
	s := NewScatter(len(m.Cols))
	s.Add(m)
	return s
}
