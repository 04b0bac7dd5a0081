package projection

import (
	"weir/pipeline"
	"weir/stages/internal/question"
)

// figures declares where the tables lie along the components.
func figures() pipeline.Figures {
	const component = "component"
	others := []pipeline.Role{pipeline.RealTrain, pipeline.Baseline}
	list := pipeline.Figures{
		{Name: "explained_variance", Parts: component, Better: pipeline.BetterPlain,
			Doc: "variance of the real rows along the component"},
		{Name: "explained_variance_ratio", Parts: component, Better: pipeline.BetterPlain, Beside: others,
			Doc: "share of a table's variance along the components"},
		{Name: "explained_variance_ratio_synthetic", Better: pipeline.BetterPlain,
			Doc: "share of the synthetic rows' variance along the components; that of the real rows is best"},
		{Name: "wasserstein", Better: pipeline.BetterLow, Beside: others,
			Doc: "mean distance that points have to move in the plane of the components, 0 is best"},
	}
	for _, of := range []struct{ name, doc string }{{"mean", "mean"}, {"sd", "standard deviation"}} {
		for _, table := range []struct{ port, rows string }{{"real", "real rows"}, {"synthetic", "synthetic rows"},
			{"real_train", "rows that the model learnt from"}, {"baseline", "rows of independent columns"}} {
			f := pipeline.Figure{Name: of.name + "_" + table.port, Parts: component, Better: pipeline.BetterPlain,
				Doc: of.doc + " of the " + table.rows + " along the component"}
			if table.port == "synthetic" {
				f.Real, f.Pair = of.name+"_real", of.name
			}
			list = append(list, f)
		}
	}
	for i := range list {
		list[i].Few = true
	}
	return append(list, question.RowsFigure())
}
