package runtime

import (
	"errors"
	"slices"

	"weir/pipeline"
	"weir/pipeline/compile"
	"weir/runtime/book"
)

// Recipes names what the stages of a plan would do to the dataset of an id, in a repeat,
// and opens nothing. A stage that reads a public file has none, and nor does what comes
// after it, because the content of such a file is part of the name.
func Recipes(plan *compile.Plan, id string, repeat int) (map[string]string, error) {
	of := book.Dataset{ID: id, Version: string(plan.Spec.Dataset.Version)}
	return recipesOf(plan, of, repeat, func(string) (string, error) { return "", errUnopened })
}

// errUnopened is said of a public file that nobody looks at.
var errUnopened = errors.New("the file is not opened")

// recipesOf are the recipes of the stages of a plan on a dataset, by stage; digest gives
// those of public files, or errUnopened.
func recipesOf(plan *compile.Plan, of book.Dataset, repeat int, digest func(file string) (string, error)) (map[string]string, error) {
	source, err := sourceRecipe(of.ID, of.Version, &plan.Spec.Dataset)
	if err != nil {
		return nil, err
	}
	recipes, seeds := map[string]string{pipeline.DatasetID: source}, seedsOf(plan, repeat)
	for i := range plan.Steps {
		step := &plan.Steps[i]
		files, err := publicDigests(step, digest)
		if errors.Is(err, errUnopened) || !named(step, recipes) {
			continue
		}
		if err != nil {
			return nil, atStage(step.ID, err)
		}
		if recipes[step.ID], err = recipeOf(step, recipes, files, plan, seeds(step), repeat); err != nil {
			return nil, err
		}
	}
	return recipes, nil
}

// publicDigests are those of the public files that a step reads.
func publicDigests(step *compile.Step, digest func(file string) (string, error)) (map[string]string, error) {
	files := map[string]string{}
	for _, f := range step.Work.Files {
		if !f.Public {
			continue
		}
		of, err := digest(f.Path)
		if err != nil {
			return nil, err
		}
		files[f.Path] = of
	}
	return files, nil
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
