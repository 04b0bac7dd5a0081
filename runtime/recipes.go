package runtime

import (
	"slices"

	"weir/pipeline"
	"weir/pipeline/compile"
)

// Recipes names what the stages of a plan would do to the dataset of an id, in a repeat,
// and opens nothing. A stage that reads a further file has none, and nor does what comes
// after it, because the content of a public file is part of the name.
func Recipes(plan *compile.Plan, id string, repeat int) (map[string]string, error) {
	source, err := sourceRecipe(id, string(plan.Spec.Dataset.Version), &plan.Spec.Dataset)
	if err != nil {
		return nil, err
	}
	recipes, seeds := map[string]string{pipeline.DatasetID: source}, seedsOf(plan, repeat)
	for i := range plan.Steps {
		step := &plan.Steps[i]
		if len(step.Work.Files) > 0 || !named(step, recipes) {
			continue
		}
		if recipes[step.ID], err = recipeOf(step, recipes, nil, plan, seeds(step), repeat); err != nil {
			return nil, err
		}
	}
	return recipes, nil
}

// named reports whether all that a step reads has a recipe.
func named(step *compile.Step, recipes map[string]string) bool {
	for _, refs := range step.Inputs {
		if slices.ContainsFunc(refs, func(r pipeline.Ref) bool { return recipes[r.Stage] == "" }) {
			return false
		}
	}
	return true
}
