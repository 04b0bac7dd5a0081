package projection

import (
	"weir/pipeline/figure"
	"weir/stages/internal/question"
)

// figures declares where the tables lie along the components.
func figures() figure.List {
	const component = "component"
	others := []figure.Role{figure.RealTrain, figure.Baseline}
	list := figure.List{
		{Name: "explained_variance", Parts: component, Better: figure.BetterPlain,
			Doc: "variance of the real rows along the component"},
		{Name: "explained_variance_ratio", Parts: component, Better: figure.BetterPlain, Beside: others,
			Doc: "share of a table's variance along the components"},
		{Name: "explained_variance_ratio_synthetic", Better: figure.BetterPlain,
			Doc: "share of the synthetic rows' variance along the components; that of the real rows is best"},
		{Name: "wasserstein", Better: figure.BetterLow, Beside: others,
			Doc: "mean distance that points have to move in the plane of the components, 0 is best"},
	}
	for _, of := range []struct{ name, doc string }{{"mean", "mean"}, {"sd", "standard deviation"}} {
		for _, table := range []struct{ port, rows string }{{"real", "real rows"}, {"synthetic", "synthetic rows"},
			{"real_train", "rows that the model learnt from"}, {"baseline", "rows of independent columns"}} {
			f := figure.Figure{Name: of.name + "_" + table.port, Parts: component, Better: figure.BetterPlain,
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
