package domain

import (
	"math"
	"testing"

	"weir/schema"
)

// clinic has a rule of every form.
func clinic() *Domain {
	return &Domain{
		Columns: []Column{
			{Name: "sex", Type: Categorical, Categories: []string{"Female", "Male"}},
			{Name: "pregnant", Type: Boolean, Categories: []string{"no", "yes"}, Nullable: true},
			{Name: "age", Type: Integer, Bounds: &[2]float64{0, 120}},
			{Name: "group", Type: Ordinal, Categories: []string{"child", "adult"}, Nullable: true},
			{Name: "admission", Type: Date, Bounds: &[2]float64{0, 100}},
			{Name: "discharge", Type: Date, Bounds: &[2]float64{0, 100}, Nullable: true, Missing: []string{"?"}},
			{Name: "dose", Type: Numeric, Bounds: &[2]float64{0, 1}},
		},
		Constraints: []Constraint{
			{Impossible: map[string]Choice{"sex": {"Male"}, "pregnant": {"yes"}}},
			{Impossible: map[string]Choice{"dose": {"..0.2", "0.8.."}, "discharge": {"?"}}},
			{Function: &Function{Of: "age", Column: "group", Map: map[string]schema.Text{"..17": "child", "18..": "adult"}}},
			{Order: []string{"admission", "discharge"}},
			{Total: []Cell{{Where: map[string]Choice{"sex": {"Female"}, "age": {"..17"}}, Count: 3},
				{Where: map[string]Choice{"sex": {"Female"}, "age": {"18.."}}, Count: 0},
				{Where: map[string]Choice{"sex": {"Male"}, "age": {"0.."}}, Count: 4}}},
		},
	}
}

func TestKeeps(t *testing.T) {
	d := clinic()
	if ps := CheckRules(d, nil); len(ps) > 0 {
		t.Fatal(ps)
	}
	rules, _ := ReadRules(d)
	none := math.NaN()
	for _, c := range []struct {
		rule   int
		values []float64 // impossible and total: columns by name
		want   bool
	}{
		{0, []float64{1, 1}, false}, // pregnant yes, sex Male
		{0, []float64{1, 0}, true},
		{0, []float64{none, 1}, true}, // missing breaks nothing
		{1, []float64{none, 0.1}, false},
		{1, []float64{none, 0.2}, false}, // ends are held
		{1, []float64{none, 0.5}, true},
		{1, []float64{3, 0.1}, true}, // missing is named, and this is not
		{2, []float64{17, 0}, true},
		{2, []float64{17, 1}, false},
		{2, []float64{18, 1}, true},
		{2, []float64{18, none}, true},
		{2, []float64{none, 1}, true},
		{3, []float64{5, 5}, true},
		{3, []float64{6, 5}, false},
		{3, []float64{6, none}, true},
		{4, []float64{17, 0}, true},
		{4, []float64{18, 0}, false}, // a cell without rows
		{4, []float64{18, 1}, true},
	} {
		if got := rules[c.rule].Keeps(c.values); got != c.want {
			t.Errorf("%s: %v is kept: %v, must be %v", rules[c.rule].Label, c.values, got, c.want)
		}
	}
	if r := &rules[4]; r.Rows() != 7 || r.Cell([]float64{120, 1}) != 2 || r.Cell([]float64{0, 0}) != 0 {
		t.Errorf("total of %d rows, cells %d and %d", r.Rows(), r.Cell([]float64{120, 1}), r.Cell([]float64{0, 0}))
	}
}

// TestLabels: what a report calls a rule.
func TestLabels(t *testing.T) {
	rules, _ := ReadRules(clinic())
	for i, want := range []string{"no pregnant yes with sex Male", "no discharge ? with dose ..0.2|0.8..", "group by age",
		"admission <= discharge", "total of age:sex"} {
		if rules[i].Label != want {
			t.Errorf("rule %d is %q, must be %q", i, rules[i].Label, want)
		}
	}
}

// TestReadIsLenient: after a stage has narrowed bounds or filled missing values, rules
// that name what is gone still stand.
func TestReadIsLenient(t *testing.T) {
	d := clinic()
	d.Columns[5].Nullable, d.Columns[2].Bounds = false, &[2]float64{18, 90}
	if ps := CheckRules(d, nil); len(ps) == 0 {
		t.Error("a person may name values that no row has")
	}
	rules, ps := ReadRules(d)
	if len(ps) > 0 || len(rules) != 5 {
		t.Fatalf("%d rules, %v", len(rules), ps)
	}
	if rules[1].Keeps([]float64{3, 0.1}) != true || rules[2].Keeps([]float64{20, 0}) {
		t.Error("a rule says something else than before")
	}
}

// TestEveryWrongDomainIsRefused: values from anyone make problems, never a panic.
func TestEveryWrongDomainIsRefused(t *testing.T) {
	for _, c := range []Constraint{
		{}, {Order: []string{"age"}, Doc: "one"}, {Order: []string{"age", "age"}}, {Order: []string{"age", "admission"}},
		{Order: []string{"sex", "group"}},
		{Total: []Cell{{}}}, {Total: []Cell{{Where: map[string]Choice{"nobody": {"1"}}}}},
		{Total: []Cell{{Where: map[string]Choice{"sex": {}}, Count: -1}}},
		{Total: []Cell{{Where: map[string]Choice{"sex": {"Male", "Female"}}, Count: 0}}},
		{Function: &Function{}}, {Function: &Function{Of: "sex", Column: "sex"}},
		{Function: &Function{Of: "sex", Column: "age", Map: map[string]schema.Text{"Male": "1..2", "Female": "x"}}},
		{Impossible: map[string]Choice{"sex": {"Male"}}}, {Impossible: map[string]Choice{"sex": {"Male"}, "age": {"9..1"}}},
		{Impossible: map[string]Choice{"sex": {"Male"}, "age": {"NaN"}}},
		{Impossible: map[string]Choice{"sex": {"Male"}, "age": {"...."}}},
		{Impossible: map[string]Choice{"sex": {"Male"}, "age": {"1e999"}}},
	} {
		d := clinic()
		d.Constraints = []Constraint{c}
		if ps := CheckRules(d, nil); len(ps) == 0 {
			t.Errorf("%+v is accepted", c)
		}
		ReadRules(d)
	}
}

// TestFunctionToMissing: where missing is among the values that follow, the column is
// missing in those cases and in no other.
func TestFunctionToMissing(t *testing.T) {
	d := &Domain{
		Columns: []Column{
			{Name: "delay", Type: Integer, Bounds: &[2]float64{0, 100}, Nullable: true},
			{Name: "late", Type: Boolean, Categories: []string{"no", "yes"}, Nullable: true},
		},
		Constraints: []Constraint{{Function: &Function{Of: "delay", Column: "late",
			Map: map[string]schema.Text{"..15": "no", "16..": "yes", "missing": "missing"}}}},
	}
	if ps := CheckRules(d, nil); len(ps) > 0 {
		t.Fatal(ps)
	}
	rules, _ := ReadRules(d)
	none := math.NaN()
	for _, c := range []struct {
		delay, late float64
		want        bool
	}{{10, 0, true}, {10, none, false}, {20, 1, true}, {none, none, true}, {none, 0, false}} {
		if got := rules[0].Keeps([]float64{c.delay, c.late}); got != c.want {
			t.Errorf("delay %g, late %g: keeps the rule %v, must be %v", c.delay, c.late, got, c.want)
		}
	}
}
