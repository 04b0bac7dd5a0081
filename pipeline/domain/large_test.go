package domain

import (
	"fmt"
	"testing"

	"weir/schema"
)

// TestManyCategories: a function of 10,000 cities to 50 counties, as a domain of 1 MiB can
// hold it, is read, judged and looked up without looking at all pairs of them.
func TestManyCategories(t *testing.T) {
	d := &Domain{Columns: []Column{
		{Name: "city", Type: Categorical}, {Name: "county", Type: Categorical},
	}}
	of := &Function{Of: "city", Column: "county", Map: map[string]schema.Text{}}
	for i := range 50 {
		d.Columns[1].Categories = append(d.Columns[1].Categories, fmt.Sprint("county", i))
	}
	for i := range 10_000 {
		d.Columns[0].Categories = append(d.Columns[0].Categories, fmt.Sprint("city", i))
		of.Map[fmt.Sprint("city", i)] = schema.Text(fmt.Sprint("county", i%50))
	}
	d.Constraints = []Constraint{{Function: of}}
	if ps := CheckRules(d, nil); len(ps) > 0 {
		t.Fatal(ps)
	}
	rules, _ := ReadRules(d)
	for i := range 10_000 {
		if !rules[0].Keeps([]float64{float64(i), float64(i % 50)}) || rules[0].Keeps([]float64{float64(i), float64((i + 1) % 50)}) {
			t.Fatalf("city %d", i)
		}
	}
	parts := Parts(d, rules, 0)
	if len(parts) != 10_001 || parts[50] != parts[0] || parts[51] == parts[0] || parts[10_000] == parts[0] {
		t.Error("cities of one county have to be alike, and no others")
	}
}
