package domain

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"weir/schema"
)

// small returns a domain of columns with few values each, so that all rows can be looked at.
func small() *Domain {
	return &Domain{Columns: []Column{
		{Name: "a", Type: Integer, Bounds: &[2]float64{0, 5}},
		{Name: "b", Type: Integer, Bounds: &[2]float64{2, 8}, Nullable: true},
		{Name: "c", Type: Categorical, Categories: []string{"x", "y", "z"}},
		{Name: "d", Type: Numeric, Bounds: &[2]float64{0, 0.6}, Step: 0.1},
		{Name: "e", Type: Boolean, Categories: []string{"no", "yes"}, Nullable: true},
	}}
}

// valuesOf returns all values of a column of small, as a file would hold them.
func valuesOf(c *Column) (list []float64) {
	switch {
	case c.Type.Coded():
		for i := range c.Categories {
			list = append(list, float64(i))
		}
	case c.Type == Integer:
		for v := c.Bounds[0]; v <= c.Bounds[1]; v++ {
			list = append(list, v)
		}
	default:
		list = []float64{0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6}
	}
	if c.Nullable {
		list = append(list, math.NaN())
	}
	return list
}

// spelled returns a random choice of a column.
func spelled(c *Column, rng *rand.Rand) Choice {
	all := valuesOf(c)
	if c.Type.Coded() || rng.IntN(4) == 0 {
		return Choice{word(c, all[rng.IntN(len(all))])}
	}
	numbers := all
	if c.Nullable {
		numbers = all[:len(all)-1]
	}
	i, j := rng.IntN(len(numbers)), rng.IntN(len(numbers))
	return Choice{fmt.Sprintf("%s..%s", word(c, numbers[min(i, j)]), word(c, numbers[max(i, j)]))}
}

// randomDomain returns a domain with a few random rules.
func randomDomain(rng *rand.Rand) *Domain {
	d := small()
	for range 1 + rng.IntN(5) {
		order := rng.Perm(len(d.Columns))
		one := Constraint{}
		switch rng.IntN(4) {
		case 0:
			one.Order = []string{"a", "b"}
			if rng.IntN(2) == 0 {
				one.Order = []string{"b", "a"}
			}
		case 1:
			one.Function = &Function{Of: "c", Column: d.Columns[[]int{0, 1, 3, 4}[rng.IntN(4)]].Name,
				Map: map[string]schema.Text{}}
			dest := d.Column(one.Function.Column)
			for _, key := range d.Columns[2].Categories {
				all := valuesOf(dest)
				one.Function.Map[key] = schema.Text(word(dest, all[rng.IntN(len(all))]))
			}
		default:
			one.Impossible = map[string]Choice{}
			for _, at := range order[:2+rng.IntN(2)] {
				one.Impossible[d.Columns[at].Name] = spelled(&d.Columns[at], rng)
			}
		}
		d.Constraints = append(d.Constraints, one)
	}
	return d
}

// rows calls use with every row whose values lie in the sets, and stops where use says so.
func rows(d *Domain, within map[int]Values, row []float64, use func([]float64) bool) bool {
	pos := len(row)
	if pos == len(d.Columns) {
		return use(row)
	}
	for _, v := range valuesOf(&d.Columns[pos]) {
		if w, ok := within[pos]; ok && !w.Has(v) {
			continue
		}
		if rows(d, within, append(row, v), use) {
			return true
		}
	}
	return false
}

func keepsAll(rules []Rule, row []float64) bool {
	for i := range rules {
		var mine []float64
		for _, at := range rules[i].Columns {
			mine = append(mine, row[at])
		}
		if !rules[i].Keeps(mine) {
			return false
		}
	}
	return true
}

// TestFindAgainstEnumeration: on random rules over few values, a search finds a row
// exactly where looking at all rows does, inside random sets of values too.
func TestFindAgainstEnumeration(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	none := 0
	for range 2000 {
		d := randomDomain(rng)
		rules, ps := ReadRules(d)
		if len(rules) == 0 {
			t.Fatal(ps) // a rule that is drawn twice is left out
		}
		within := map[int]Values{}
		for pos := range d.Columns {
			if rng.IntN(2) == 0 {
				r := reader{d, &schema.Problems{}, true, map[int]map[string]int{}}
				within[pos] = r.values("", pos, spelled(&d.Columns[pos], rng))
			}
		}
		possible := rows(d, within, nil, func(row []float64) bool { return keepsAll(rules, row) })
		var some []*Rule
		for i := range rules {
			some = append(some, &rules[i])
		}
		values, found, _ := FindRow(d, some, within, 1<<20)
		if possible != (found == FoundRow) {
			t.Fatalf("%+v within %v: a row is possible: %v, found %v", d.Constraints, within, possible, values)
		}
		if !possible {
			none++
			continue
		}
		for at, v := range values {
			if w, ok := within[at]; ok && !w.Has(v) {
				t.Fatalf("column %d has %v outside %v", at, v, w)
			}
		}
	}
	if none < 100 {
		t.Errorf("only %d of the cases have no row: the test is blind", none)
	}
}

// TestForbiddenAgainstEnumeration: a combination of bins is forbidden exactly where none
// of its rows keeps the rule.
func TestForbiddenAgainstEnumeration(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 1))
	for range 500 {
		d := randomDomain(rng)
		rules, _ := ReadRules(d)
		for i := range rules {
			r := &rules[i]
			var bins [][]Values
			for _, at := range r.Columns {
				bins = append(bins, cut(&d.Columns[at], rng))
			}
			got := Forbidden(d, r, bins)
			for cell := range got {
				if want := !anyRow(d, r, bins, cell); got[cell] != want {
					t.Fatalf("%+v, bins %v: combination %d is forbidden: %v, must be %v", d.Constraints[r.Place], bins, cell,
						got[cell], want)
				}
			}
		}
	}
}

// cut divides the values of a column into bins.
func cut(c *Column, rng *rand.Rand) []Values {
	all := valuesOf(c)
	list := []Values{{}}
	for i, v := range all {
		if math.IsNaN(v) {
			list = append(list, Values{Missing: true})
			continue
		}
		if i > 0 && rng.IntN(2) == 0 {
			list = append(list, Values{})
		}
		one := &list[len(list)-1]
		if n := len(one.Ranges); n > 0 && !c.Type.Coded() {
			one.Ranges[n-1].Hi = v
		} else {
			one.Ranges = append(one.Ranges, Range{v, v})
		}
	}
	return list
}

func anyRow(d *Domain, r *Rule, bins [][]Values, cell int) bool {
	within := map[int]Values{}
	for i := len(bins) - 1; i >= 0; i-- {
		within[r.Columns[i]] = bins[i][cell%len(bins[i])]
		cell /= len(bins[i])
	}
	return rows(d, within, nil, func(row []float64) bool { return keepsAll([]Rule{*r}, row) })
}

// TestManyCategories: a function of 10,000 cities to 50 counties, as a domain of 1 MiB can
// hold it, is read, judged and looked up without looking at all pairs of them.
func TestManyCategories(t *testing.T) {
	d := &Domain{Columns: []Column{
		{Name: "city", Type: Categorical}, {Name: "county", Type: Categorical},
	}}
	subject := &Function{Of: "city", Column: "county", Map: map[string]schema.Text{}}
	for i := range 50 {
		d.Columns[1].Categories = append(d.Columns[1].Categories, fmt.Sprint("county", i))
	}
	for i := range 10_000 {
		d.Columns[0].Categories = append(d.Columns[0].Categories, fmt.Sprint("city", i))
		subject.Map[fmt.Sprint("city", i)] = schema.Text(fmt.Sprint("county", i%50))
	}
	d.Constraints = []Constraint{{Function: subject}}
	if ps := CheckRules(d, nil); len(ps) > 0 {
		t.Fatal(ps)
	}
	rules, _ := ReadRules(d)
	for i := range 10_000 {
		if !rules[0].Keeps([]float64{float64(i), float64(i % 50)}) ||
			rules[0].Keeps([]float64{float64(i), float64((i + 1) % 50)}) {
			t.Fatalf("city %d", i)
		}
	}
	parts := Parts(d, rules, 0)
	if len(parts) != 10_001 || parts[50] != parts[0] || parts[51] == parts[0] || parts[10_000] == parts[0] {
		t.Error("cities of one county have to be alike, and no others")
	}
}
