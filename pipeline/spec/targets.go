package spec

import (
	"fmt"
	"slices"
	"strings"

	"weir/pipeline"
	"weir/schema"
)

// Predicted is a column that stages of a spec predict.
type Predicted struct {
	Column string
	By     []string // names of stages, in the order of the spec
}

// Predicted lists the columns that stages of the spec predict, in its order.
func (s *Spec) Predicted() []Predicted { return predicted(s.Stages) }

func predicted(stages []Stage) []Predicted {
	var list []Predicted
	for i := range stages {
		by, ok := stages[i].Stage.(pipeline.Predictor)
		if !ok || by.Predicts() == "" {
			continue
		}
		index := slices.IndexFunc(list, func(p Predicted) bool { return p.Column == by.Predicts() })
		if index < 0 {
			index, list = len(list), append(list, Predicted{Column: by.Predicts()})
		}
		list[index].By = append(list[index].By, stages[i].ID)
	}
	return list
}

// fillTargets writes out the targets that a spec leaves to its evaluation, so that the
// canonical form shows them: none where nothing is predicted, so that `target: none` is
// no other computation. Where several columns are predicted the spec has to say which.
func (p *parser) fillTargets(stages []Stage) {
	list := predicted(stages)
	for i := range stages {
		aimed, ok := stages[i].Stage.(pipeline.Aimed)
		if !ok || *aimed.AimAt() != "" || p.wrong(targetOf(&stages[i])) {
			continue
		}
		switch len(list) {
		case 0:
			*aimed.AimAt() = pipeline.NoTarget
		case 1:
			*aimed.AimAt() = list[0].Column
		default:
			p.ask(&stages[i], list)
		}
	}
}

func targetOf(s *Stage) string { return schema.Path("stages", s.ID, "target") }

// ask wants a target, where more than one may be meant.
func (p *parser) ask(s *Stage, list []Predicted) {
	var names, columns []string
	for _, l := range list {
		names = append(names, fmt.Sprintf("%s (predicted by %s)", l.Column, strings.Join(l.By, ", ")))
		columns = append(columns, l.Column)
	}
	p.at(targetOf(s), "left out, and the spec names "+strings.Join(names, " and "),
		fmt.Sprintf("one of %s, or %s", strings.Join(columns, ", "), pipeline.NoTarget), "")
	s.wrong = append(s.wrong, targetOf(s))
}
