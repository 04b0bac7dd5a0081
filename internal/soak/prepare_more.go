package main

import (
	"fmt"
	"strconv"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/runtime/table"
)

func binning(g *generator, t ref) settings {
	s := settings{"strategy": pick(g.chance, "uniform", "uniform", "quantile"), "bins": g.between(1, 6), "inverse": pick(g.chance, "midpoint", "uniform")}
	if list := where(t, isBounded); g.yes(0.5) && len(list) > 0 {
		s["columns"] = names(some(g.chance, list, 1))
		if g.yes(0.3) {
			s["edges"] = settings{pick(g.chance, s["columns"].([]string)...): []float64{0, 10, 30}}
		}
	}
	if s["strategy"] == "quantile" && g.yes(0.7) {
		s["reference"] = g.reference()
	}
	return s
}

func encoding(g *generator, t ref) settings {
	s := settings{"missing": pick(g.chance, "error", "category"), "min_max": pick(g.chance, []float64{-1, 1}, []float64{0, 1})}
	if coded := where(t, isCoded); len(coded) > 0 && g.yes(0.7) {
		s["one_hot"] = names(some(g.chance, coded, 1))
	}
	standard := settings{}
	for _, c := range where(t, isNumber) {
		if c.Bounds == nil || g.yes(0.1) {
			standard[c.Name] = settings{"mean": g.number(), "sd": pick(g.chance, 1, 10, 0.5)}
		}
	}
	s["standard"] = standard
	return s
}

func decoding(g *generator, _ ref) settings {
	s := settings{"to": pick(g.chance, "source", "encoded")}
	var list []string
	for _, t := range g.tables() {
		if len(t.header.Domain.History) > 0 {
			list = append(list, t.name)
		}
	}
	if len(list) > 0 {
		s["from"] = pick(g.chance, list...)
	}
	return s
}

func splitting(g *generator, t ref) settings {
	s := pick(g.chance, settings{"train": 0.8, "test": 0.2}, settings{"train": 0.5, "validation": 0.25, "test": 0.25}, settings{"train": 1, "test": 0}, settings{"train": 0.34, "validation": 0.33, "test": 0.33})
	s = settings{"train": s["train"], "validation": s["validation"], "test": s["test"]}
	if s["validation"] == nil {
		delete(s, "validation")
	}
	if coded := where(t, isCoded); len(coded) > 0 && g.yes(0.4) {
		s["stratify"] = pick(g.chance, coded...).Name
	}
	return s
}

func sharding(g *generator, _ ref) settings {
	return settings{"shards": g.between(2, 6), "by": pick(g.chance, "random", "random", "random", "position")}
}

func reading(g *generator, _ ref) settings {
	if g.yes(0.5) {
		return settings{"file": extraFile, "class": "private", "like": pipeline.DatasetID}
	}
	s := settings{"file": referenceFile, "class": "public", "columns": g.world.columns}
	if g.yes(0.5) {
		s["rows"] = len(g.world.reference)
	}
	return s
}

func writing(g *generator, _ ref) settings {
	var names []string
	for _, format := range table.Written() {
		names = append(names, format.Name)
	}
	return settings{"formats": pick(g.chance, names[:1], names[1:], names)}
}

// variable spells a column in a formula.
func variable(c domain.Column) string {
	for _, r := range c.Name {
		if r == '-' {
			return fmt.Sprintf("col(%q)", c.Name)
		}
	}
	return c.Name
}

// formula is a numeric one over the columns of a table.
func (g *generator) formula(t ref) string {
	numbers, coded := where(t, isNumber), where(t, isCoded)
	if len(numbers) == 0 && len(coded) == 0 || g.yes(0.03) {
		return "3"
	}
	if len(numbers) == 0 || len(coded) > 0 && g.yes(0.2) {
		return "rank(" + variable(pick(g.chance, coded...)) + ") + 1"
	}
	a, b, n := variable(pick(g.chance, numbers...)), variable(pick(g.chance, numbers...)), strconv.FormatFloat(g.number(), 'g', -1, 64)
	return pick(g.chance, a+" + "+b, a+" - "+b, a+" / "+b, "abs("+a+") ** 0.5", "min("+a+", "+b+")", "max("+a+", "+n+")",
		a+" * "+n, "floor("+a+" / 10)", "missing("+a+") ? "+n+" : "+b, "round("+a+")", a+" ** 3", "1 / ("+a+" - "+n+")")
}

// truth is a formula that is true or false.
func (g *generator) truth(t ref) string {
	column := pick(g.chance, t.header.Domain.Columns...)
	a := variable(column)
	switch {
	case g.yes(0.15):
		return pick(g.chance, "missing("+a+")", "not missing("+a+")")
	case isNumber(column):
		return a + pick(g.chance, " > ", " <= ", " != ") + strconv.FormatFloat(g.number(), 'g', -1, 64)
	case column.Type == domain.Boolean && column.Encoding == nil:
		return pick(g.chance, a, "not "+a)
	case isCoded(column) || isText(column):
		value := "plain"
		if isCoded(column) {
			value = pick(g.chance, column.Categories...)
		}
		return pick(g.chance, fmt.Sprintf("%s == %q", a, value), fmt.Sprintf("%s != %q", a, value), fmt.Sprintf("%s in [%q]", a, value))
	}
	return g.formula(t) + " > 0"
}
