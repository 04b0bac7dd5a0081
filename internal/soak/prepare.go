package main

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/runtime/table"
)

func sorted(list []ref) []ref {
	slices.SortFunc(list, func(a, b ref) int { return strings.Compare(a.name, b.name) })
	return list
}

// preparing lists, by kind, how settings are drawn for a table.
func preparing() map[string]func(g *generator, t ref) settings {
	return map[string]func(g *generator, t ref) settings{
		"select": selecting, "drop": dropping, "filter": filtering, "derive": deriving, "bounds": bounding,
		"not_available": notAvailable, "missing_indicator": marking, "impute_constant": filling, "impute_knn": fillingKNN,
		"discretize": binning, "encode": encoding, "decode": decoding, "split": splitting, "shard": sharding,
		"read": reading, "write": writing,
		"dp_bounds": findingBounds, "dp_categories": findingCategories, "dp_count": countingRows,
	}
}

// prepare adds one stage of a random kind.
func (g *generator) prepare() {
	kinds := preparing()
	for _, e := range g.extras {
		if kinds[e.kind.Name] = e.set; !e.pays && g.yes(0.5) {
			g.add(e.kind.Name, kinds)
		}
		delete(kinds, e.kind.Name)
	}
	g.add(pick(g.chance, slices.Sorted(maps.Keys(kinds))...), kinds)
}

func (g *generator) add(kind string, kinds map[string]func(g *generator, t ref) settings) (string, bool) {
	t := g.anyTable()
	s := kinds[kind](g, t)
	s["kind"] = kind
	if _, own := s["from"]; !own && kind != "read" {
		s["from"] = t.name
	}
	return g.try(s)
}

func names(columns []domain.Column) []string {
	list := make([]string, len(columns))
	for i, c := range columns {
		list[i] = c.Name
	}
	return list
}

func where(t ref, actual func(c domain.Column) bool) []domain.Column {
	var list []domain.Column
	for _, c := range t.header.Domain.Columns {
		if actual(c) {
			list = append(list, c)
		}
	}
	return list
}

func isNumber(c domain.Column) bool {
	return c.Encoding == nil && c.Type.Numbered()
}
func isCoded(c domain.Column) bool {
	return c.Encoding == nil && c.Type.Coded() && len(c.Categories) > 0 // else a stage releases them
}
func isBounded(c domain.Column) bool { return isNumber(c) && c.Bounds != nil }
func isAbsent(c domain.Column) bool  { return c.Nullable }
func isText(c domain.Column) bool    { return c.Type == domain.Text }

func selecting(g *generator, t ref) settings {
	list := names(some(g.chance, t.header.Domain.Columns, 1))
	if u := g.unitName(); u != "" && !slices.Contains(list, u) && t.header.Domain.Column(u) != nil && g.yes(0.8) {
		list = append(list, u)
	}
	return settings{"columns": list}
}

func (g *generator) unitName() string {
	if g.world.unit < 0 {
		return ""
	}
	return g.world.columns[g.world.unit].Name
}

// isUnit reports whether a column tells whose a row is, which no model may learn.
func (g *generator) isUnit(c domain.Column) bool { return c.TellsUnit() || c.Name == g.unitName() }

// column returns any column of a table; of a table that has none, a name that is
// refused.
func (g *generator) column(t ref) domain.Column {
	if t.header.Domain == nil || len(t.header.Domain.Columns) == 0 {
		return domain.Column{Name: "nothing"}
	}
	return pick(g.chance, t.header.Domain.Columns...)
}

func dropping(g *generator, t ref) settings {
	return settings{"columns": []string{g.column(t).Name}}
}

func filtering(g *generator, t ref) settings {
	return settings{"keep": g.truth(t), "missing": pick(g.chance, "drop", "keep")}
}

func deriving(g *generator, t ref) settings {
	var list []settings
	for i := range g.within(1, 2) {
		list = append(list, g.derived(t, i))
	}
	return settings{"columns": list}
}

func (g *generator) derived(t ref, i int) settings {
	name := "d" + string(rune('a'+g.IntN(26))) + string(rune('0'+i))
	if g.yes(0.15) { // over another, be it the one of the privacy unit
		name = g.column(t).Name
	}
	switch {
	case g.yes(0.3):
		return settings{"name": name, "formula": g.truth(t), "type": "boolean"}
	case g.yes(0.2):
		return settings{"name": name, "formula": "(" + g.truth(t) + ") ? \"x\" : \"y\"", "type": "categorical",
			"categories": pick(g.chance, []string{"x", "y"}, []string{"y"})}
	}
	return settings{"name": name, "formula": g.formula(t), "type": pick(g.chance, "numeric", "numeric", "integer"),
		"bounds": []float64{-10, pick(g.chance, -10., 100, 1e4)}}
}

func bounding(g *generator, t ref) settings {
	s := settings{"outside": pick(g.chance, "missing", "clip")}
	numbers := where(t, isBounded)
	if g.yes(0.2) && len(numbers) > 0 {
		s["columns"] = names(some(g.chance, numbers, 1))
	}
	if all := where(t, isNumber); g.yes(0.3) && len(all) > 0 {
		s["bounds"] = settings{pick(g.chance, all...).Name: pick(g.chance, settings{"lower": 0, "upper": 50},
			settings{"upper": 20}, settings{"lower": -5})}
	}
	return s
}

func notAvailable(g *generator, t ref) settings {
	subject := settings{}
	for _, c := range some(g.chance, where(t, isNumber), 1) {
		subject[c.Name] = sentinel
	}
	s := settings{"columns": subject}
	if g.yes(0.3) {
		s["value"] = g.number()
	}
	return s
}

func marking(g *generator, t ref) settings {
	s := settings{}
	if list := where(t, isAbsent); g.yes(0.5) && len(list) > 0 {
		s["columns"] = names(some(g.chance, list, 1))
	}
	return s
}

func filling(g *generator, t ref) settings {
	least := 1
	if g.yes(0.6) {
		least = 100 // all of them
	}
	return g.fill(some(g.chance, where(t, isAbsent), least))
}

// fill declares a value for each of the columns that can have one.
func (g *generator) fill(columns []domain.Column) settings {
	numbers, categories := settings{}, settings{}
	for _, c := range columns {
		switch {
		case isCoded(c):
			categories[c.Name] = pick(g.chance, c.Categories...)
		case isBounded(c):
			numbers[c.Name] = c.Bounds[g.IntN(2)]
		case isNumber(c):
			numbers[c.Name] = 7
		}
	}
	return settings{"numbers": numbers, "categories": categories}
}

func fillingKNN(g *generator, t ref) settings {
	s := settings{"scope": pick(g.chance, "table", "shard", "reference", "reference"), "neighbors": g.within(1, 4),
		"weights": pick(g.chance, "uniform", "distance"), "scale": pick(g.chance, "none", "bounds")}
	if sharded(t) {
		s["scope"] = "shard"
	}
	if s["scope"] == "reference" {
		s["reference"] = g.reference()
	}
	if list := where(t, isAbsent); g.yes(0.3) && len(list) > 0 {
		s["columns"] = names(some(g.chance, list, 1))
	}
	if list := where(t, func(c domain.Column) bool { return !isText(c) }); g.yes(0.3) && len(list) > 0 {
		s["features"] = names(some(g.chance, list, 1))
	}
	return s
}

func sharded(t ref) bool { return t.header.Schema.HasField(pipeline.ShardColumn) }

// reference returns a table that reads the public file, or any other one.
func (g *generator) reference() string {
	if g.yes(0.2) {
		return pick(g.chance, g.tables()...).name
	}
	last := g.last
	id, _ := g.try(settings{"kind": "read", "file": referenceFile, "class": "public", "like": pipeline.DatasetID,
		"declared_by": "the soak"})
	g.last = last
	return id
}

func binning(g *generator, t ref) settings {
	s := settings{"strategy": pick(g.chance, "uniform", "uniform", "quantile"), "bins": g.within(1, 6),
		"inverse": pick(g.chance, "midpoint", "uniform")}
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
	s := settings{"missing": pick(g.chance, "error", "category"), "min_max": pick(g.chance, []float64{-1, 1},
		[]float64{0, 1})}
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
	s := pick(g.chance, settings{"train": 0.8, "test": 0.2}, settings{"train": 0.5, "validation": 0.25, "test": 0.25},
		settings{"train": 1, "test": 0}, settings{"train": 0.34, "validation": 0.33, "test": 0.33})
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
	return settings{"shards": g.within(2, 6), "by": pick(g.chance, "random", "random", "random", "position")}
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

// formula returns a numeric formula over the columns of a table.
func (g *generator) formula(t ref) string {
	numbers, coded := where(t, isNumber), where(t, isCoded)
	if len(numbers) == 0 && len(coded) == 0 || g.yes(0.03) {
		return "3"
	}
	if len(numbers) == 0 || len(coded) > 0 && g.yes(0.2) {
		return "rank(" + variable(pick(g.chance, coded...)) + ") + 1"
	}
	a, b, n := variable(pick(g.chance, numbers...)), variable(pick(g.chance, numbers...)), strconv.FormatFloat(g.number(),
		'g', -1, 64)
	return pick(g.chance, a+" + "+b, a+" - "+b, a+" / "+b, "abs("+a+") ** 0.5", "min("+a+", "+b+")", "max("+a+", "+n+")",
		a+" * "+n, "floor("+a+" / 10)", "missing("+a+") ? "+n+" : "+b, "round("+a+")", a+" ** 3", "1 / ("+a+" - "+n+")")
}

// truth returns a formula that is true or false.
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
		return pick(g.chance, fmt.Sprintf("%s == %q", a, value), fmt.Sprintf("%s != %q", a, value), fmt.Sprintf("%s in [%q]",
			a, value))
	}
	return g.formula(t) + " > 0"
}
