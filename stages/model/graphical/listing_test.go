package graphical

import (
	"testing"

	"weir/pipeline/domain"
	"weir/stages/internal/columns"
)

// TestLabels: what each form of cells is called, by hand, and that it is read back.
func TestLabels(t *testing.T) {
	odd := domain.Column{Name: "odd", Type: domain.Categorical, Categories: []string{"a", "[b", "(missing)", " c", `d"`,
		""}, Nullable: true}
	age := domain.Column{Name: "age", Type: domain.Integer, Bounds: &[2]float64{18, 90}, Nullable: true}
	weight := domain.Column{Name: "weight", Type: domain.Numeric, Bounds: &[2]float64{30, 32}, Step: 0.1}
	dose := domain.Column{Name: "dose", Type: domain.Numeric, Bounds: &[2]float64{0, 1}}
	wide := domain.Column{Name: "wide", Type: domain.Integer, Bounds: &[2]float64{0, 199_999}}
	seen := domain.Column{Name: "seen", Type: domain.Date, Bounds: &[2]float64{-2, 18400}}
	sick := domain.Column{Name: "sick", Type: domain.Boolean, Categories: []string{"no", "yes"}}
	for _, c := range []struct {
		of   domain.Column
		at   group
		want string
	}{
		{odd, group{list: []int{0}}, "a"}, {odd, group{list: []int{1}}, `["[b"]`}, {odd, group{list: []int{2}},
			`["(missing)"]`}, {odd, group{list: []int{3}}, `[" c"]`},
		{odd, group{list: []int{4}}, `d"`}, {odd, group{list: []int{5}}, `[""]`}, {odd, group{list: []int{6}}, "(missing)"},
		{odd, group{list: []int{0, 4, 6}}, `["a","d\"",null]`},
		{age, group{lo: 0, hi: 1}, "18"}, {age, group{lo: 0, hi: 73}, "[18, 90]"}, {age, group{lo: 73, hi: 74}, "(missing)"},
		{age, group{lo: 2, hi: 4}, "[20, 21]"},
		{weight, group{lo: 1, hi: 3}, "[30.1, 30.2]"}, {weight, group{lo: 20, hi: 21}, "32"},
		{dose, group{lo: 0, hi: 1024}, "[0, 0.25)"}, {dose, group{lo: 4095, hi: 4096}, "[0.999755859375, 1]"},
		{wide, group{lo: 0, hi: 1}, "[0, 3]"}, {wide, group{lo: 1, hi: 3}, "[4, 11]"},
		{seen, group{lo: 0, hi: 3}, "[1969-12-30, 1970-01-01]"}, {seen, group{lo: 18262 + 2, hi: 18262 + 3}, "2020-01-01"},
		{sick, group{list: []int{1}}, "yes"}, {sick, group{list: []int{0, 1}}, `["no","yes"]`},
	} {
		g, err := columns.GridOf(c.of)
		must(t, err)
		l := labels{c.of, g}
		got := l.label(c.at)
		if got != c.want {
			t.Errorf("column %s, cells %v: %s, must be %s", c.of.Name, c.at, got, c.want)
		}
		if back, err := l.read(got); err != nil || back.key() != c.at.key() {
			t.Errorf("column %s: %s is read as %v, %v, must be %v", c.of.Name, got, back, err, c.at)
		}
	}
}

// FuzzLabels: any text is an error or cells of the column, whose label is read alike.
func FuzzLabels(f *testing.F) {
	for _, text := range []string{"18", "[18, 20]", "[0.25, 0.5)", "[1,", "nan", "-inf", "1e400", "(missing)",
		`["a",null]`, "2020-01-01"} {
		f.Add(text)
	}
	list := []domain.Column{{Name: "a", Type: domain.Integer, Bounds: &[2]float64{18, 90}, Nullable: true},
		{Name: "b", Type: domain.Numeric, Bounds: &[2]float64{-1, 1}},
		{Name: "c", Type: domain.Categorical, Categories: []string{"a", "b"}, Nullable: true}, {Name: "d", Type: domain.Date,
			Bounds: &[2]float64{0, 20000}}}
	f.Fuzz(func(t *testing.T, text string) {
		for _, c := range list {
			grid, err := columns.GridOf(c)
			must(t, err)
			l := labels{c, grid}
			g, err := l.read(text)
			if err != nil {
				continue
			}
			if g.size() < 1 || g.first() < 0 || g.first()+g.size() > grid.Cells() && g.list == nil {
				t.Errorf("%q: %v", text, g)
			}
			if back, err := l.read(l.label(g)); err != nil || back.key() != g.key() {
				t.Errorf("%q is %v, and its label %s is %v, %v", text, g, l.label(g), back, err)
			}
		}
	})
}
