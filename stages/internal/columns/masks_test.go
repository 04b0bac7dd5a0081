package columns

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"weir/pipeline/domain"
	"weir/schema"
)

// maskStays returns admissions with rules of every form that share columns.
func maskStays() *domain.Domain {
	return &domain.Domain{
		Columns: []domain.Column{
			{Name: "admission", Type: domain.Date, Bounds: &[2]float64{0, 99}},
			{Name: "operation", Type: domain.Date, Bounds: &[2]float64{0, 99}, Nullable: true},
			{Name: "discharge", Type: domain.Date, Bounds: &[2]float64{0, 99}, Nullable: true},
			{Name: "ward", Type: domain.Categorical, Categories: []string{"a", "b", "c", "d"}},
			{Name: "house", Type: domain.Categorical, Categories: []string{"north", "south"}},
			{Name: "alone", Type: domain.Boolean, Categories: []string{"no", "yes"}},
		},
		Constraints: []domain.Constraint{
			{Order: []string{"admission", "operation", "discharge"}},
			{Function: &domain.Function{Of: "ward", Column: "house", Map: map[string]schema.Text{"a": "north", "b": "north",
				"c": "south", "d": "south"}}},
			{Impossible: map[string]domain.Choice{"ward": {"d"}, "operation": {"0..49", "missing"}}},
		},
	}
}

func rulesOf(t *testing.T, d *domain.Domain) []domain.Rule {
	t.Helper()
	if ps := domain.CheckRules(d, nil); len(ps) > 0 {
		t.Fatal(ps)
	}
	rules, _ := domain.ReadRules(d)
	return rules
}

// binned returns bins of ten days, a code for each category, and one for missing.
func binned(d *domain.Domain) (bins [][]domain.Values, sizes []int) {
	for i := range d.Columns {
		c, list := &d.Columns[i], []domain.Values(nil)
		if c.Type.Coded() {
			for k := range c.Categories {
				list = append(list, domain.Values{Ranges: []domain.Range{{Lo: float64(k), Hi: float64(k)}}})
			}
		} else {
			for k := 0.0; k < 100; k += 10 {
				list = append(list, domain.Values{Ranges: []domain.Range{{Lo: k, Hi: k + 9}}})
			}
		}
		if c.Nullable {
			list = append(list, domain.Values{Missing: true})
		}
		bins, sizes = append(bins, list), append(sizes, len(list))
	}
	return bins, sizes
}

func masksOf(t *testing.T, d *domain.Domain) ([]Mask, [][]domain.Values, []int) {
	t.Helper()
	bins, sizes := binned(d)
	masks, err := MasksOf(d, rulesOf(t, d), bins, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	return masks, bins, sizes
}

// TestMaskOfAFunction: by hand, ward a and b lie in house north, c and d in south.
func TestMaskOfAFunction(t *testing.T) {
	masks, _, _ := masksOf(t, maskStays())
	want := []bool{false, true, false, true, true, false, true, false}
	if got := masks[1]; !slices.Equal(got.Vars, []int{3, 4}) || !slices.Equal(got.Forbidden, want) {
		t.Errorf("mask %+v, must be %v over 3 and 4", got, want)
	}
	// Columns come in the order of the domain whatever the rule's: operation (column 1)
	// before ward (3), bins 0 to 4 and missing of ward d.
	m := masks[2]
	for cell, forbidden := range m.Forbidden {
		bin, ward := cell/4, cell%4
		if want := ward == 3 && (bin < 5 || bin == 10); forbidden != want {
			t.Errorf("bin %d of operation with ward %d is forbidden: %v", bin, ward, forbidden)
		}
	}
}

func TestMaskTooLarge(t *testing.T) {
	d := maskStays()
	bins, _ := binned(d)
	if _, err := MasksOf(d, rulesOf(t, d), bins, 100); err == nil {
		t.Error("1,210 combinations are within 100")
	}
}

// TestNearestAgainstEnumeration: a forbidden row goes to an allowed one as near as any,
// and an allowed one stays.
func TestNearestAgainstEnumeration(t *testing.T) {
	masks, _, sizes := masksOf(t, maskStays())
	rng := rand.New(rand.NewPCG(1, 1))
	codes := make([][]uint16, len(sizes))
	for range 300 {
		for j, n := range sizes {
			codes[j] = append(codes[j], uint16(rng.IntN(n)))
		}
	}
	old := make([][]uint16, len(codes))
	for j := range codes {
		old[j] = slices.Clone(codes[j])
	}
	NewNearestAllowed(masks, sizes).Codes(codes)
	n, moved := NearestAllowed{sizes: sizes}, 0
	for row := range codes[0] {
		if !n.allowed(masks, func(c int) int { return int(codes[c][row]) }) {
			t.Fatalf("row %d is forbidden still", row)
		}
		away := 0
		for j := range codes {
			away += max(int(codes[j][row])-int(old[j][row]), int(old[j][row])-int(codes[j][row]))
		}
		if best := least(&n, masks, old, row); away != best {
			t.Fatalf("row %d went %d, must go %d", row, away, best)
		}
		if away > 0 {
			moved++
		}
		if codes[5][row] != old[5][row] {
			t.Fatal("a column of no rule has changed")
		}
	}
	if moved < 100 {
		t.Errorf("%d rows moved: the test is blind", moved)
	}
}

// least looks at all rows.
func least(n *NearestAllowed, masks []Mask, old [][]uint16, row int) int {
	best, places := math.MaxInt, make([]int, 5)
	var try func(depth, away int)
	try = func(depth, away int) {
		if away >= best {
			return
		}
		if depth == len(places) {
			if n.allowed(masks, func(c int) int { return places[c] }) {
				best = away
			}
			return
		}
		for places[depth] = range n.sizes[depth] {
			d := places[depth] - int(old[depth][row])
			try(depth+1, away+max(d, -d))
		}
	}
	try(0, 0)
	return best
}

// TestEveryPlacedRowKeepsItsRules: values drawn inside the bins of 10^5 rows that the
// masks allow keep every rule afterwards, and stay in their bins where those hold a row
// that does. Without Keep more than a thousand break one.
func TestEveryPlacedRowKeepsItsRules(t *testing.T) {
	d := maskStays()
	masks, bins, sizes := masksOf(t, d)
	rules, rng := rulesOf(t, d), rand.New(rand.NewPCG(3, 1))
	p, near := placing(t, d, rules), NewNearestAllowed(masks, sizes)
	broken, left := 0, 0
	for range 100_000 {
		codes := make([][]uint16, len(sizes))
		for j, n := range sizes {
			codes[j] = []uint16{uint16(rng.IntN(n))}
		}
		near.Codes(codes)
		bin := func(c int) domain.Values { return bins[c][codes[c][0]] }
		row := PlacedRow{Values: make([]float64, len(sizes)), Bin: bin, Draw: func(c int) float64 {
			if bin(c).Missing {
				return math.NaN()
			}
			r := bin(c).Ranges[0]
			return r.Lo + math.Floor(rng.Float64()*(r.Hi-r.Lo+1))
		}}
		for c := range row.Values {
			row.Values[c] = row.Draw(c)
		}
		if breaks(rules, row.Values) {
			broken++
		}
		p.Keep(row)
		if breaks(rules, row.Values) {
			t.Fatalf("%v breaks a rule", row.Values)
		}
		for c, v := range row.Values {
			if !bin(c).Has(v) {
				left++
			}
		}
	}
	if broken < 1000 || left > 0 {
		t.Errorf("%d rows broke a rule before, %d values left their bins", broken, left)
	}
}

func placing(t *testing.T, d *domain.Domain, rules []domain.Rule) *Placing {
	t.Helper()
	p, err := NewPlacing(d, rules)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func breaks(rules []domain.Rule, values []float64) bool {
	return slices.ContainsFunc(rules, func(r domain.Rule) bool {
		var mine []float64
		for _, c := range r.Columns {
			mine = append(mine, values[c])
		}
		return !r.Keeps(mine)
	})
}

// TestMaskBoundary: where a thousand draws would not do, values come from the boundary; where
// the bins hold no row that keeps the rules, from elsewhere.
func TestMaskBoundary(t *testing.T) {
	d := maskStays()
	d.Constraints = d.Constraints[:1]
	p := placing(t, d, rulesOf(t, d))
	days := func(lo, hi float64) domain.Values {
		return domain.Values{Ranges: []domain.Range{{Lo: lo, Hi: hi}}}
	}
	bins := []domain.Values{days(10, 20), days(5, 12), days(11, 30)}
	row := PlacedRow{Values: []float64{20, 5, 11}, Bin: func(c int) domain.Values { return bins[c] },
		Draw: func(c int) float64 { return []float64{20, 5, 11}[c] }}
	p.Keep(row)
	if want := []float64{10, 10, 11}; !slices.Equal(row.Values, want) {
		t.Errorf("the boundary is %v, must be %v", row.Values, want)
	}
	bins[1] = days(0, 3)
	p.Keep(PlacedRow{Values: row.Values, Bin: row.Bin, Draw: row.Draw})
	row.Values = []float64{20, 5, 11}
	p.Keep(row)
	if breaks(rulesOf(t, d), row.Values) {
		t.Errorf("%v is out of order", row.Values)
	}
}

// TestMovesAtOnce: all combinations at once go where each goes by a search of its own, also where masks share columns,
// and where they allow nothing.
func TestMovesAtOnce(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 8))
	for round := range 60 {
		sizes := []int{1 + rng.IntN(7), 1 + rng.IntN(5), 1 + rng.IntN(6), 1 + rng.IntN(3)}
		var masks []Mask
		for _, vars := range [][]int{{0, 1}, {1, 2, 3}, {0, 3}}[:1+rng.IntN(3)] {
			m, cells := Mask{Vars: vars}, 1
			for _, c := range vars {
				cells *= sizes[c]
			}
			for range cells {
				m.Forbidden = append(m.Forbidden, rng.IntN(100) < []int{50, 90, 100}[round%3])
			}
			masks = append(masks, m)
		}
		n := NewNearestAllowed(masks, sizes)
		for i := range n.groups {
			g := &n.groups[i]
			for at, to := range n.table(g, n.combinations(g)) {
				old, got := codesOf(g.columns, sizes, at), codesOf(g.columns, sizes, int(to))
				want := old
				if !n.allowed(g.masks, func(c int) int { return int(old[slices.Index(g.columns, c)]) }) {
					want = n.nearest(g, old)
				}
				if !slices.Equal(got, want) {
					t.Fatalf("of sizes %v %v goes to %v, must go to %v", sizes, old, got, want)
				}
			}
		}
	}
}

// codesOf returns the codes of a combination of columns.
func codesOf(columns, sizes []int, pos int) []uint16 {
	list := make([]uint16, len(columns))
	for i := len(columns) - 1; i >= 0; i-- {
		list[i], pos = uint16(pos%sizes[columns[i]]), pos/sizes[columns[i]]
	}
	return list
}

// BenchmarkMoves moves 64,000 forbidden combinations of two numbers and a category.
func BenchmarkMoves(b *testing.B) {
	sizes := []int{160, 160, 5}
	m := Mask{Vars: []int{0, 1, 2}, Forbidden: make([]bool, 160*160*5)}
	for at := range m.Forbidden {
		m.Forbidden[at] = at/5/160 < at/5%160
	}
	for b.Loop() {
		n := NewNearestAllowed([]Mask{m}, sizes)
		codes := make([][]uint16, 3)
		for at := range m.Forbidden {
			for j, code := range codesOf(m.Vars, sizes, at) {
				codes[j] = append(codes[j], code)
			}
		}
		n.groups[0].all = n.table(&n.groups[0], len(m.Forbidden))
		n.Codes(codes)
	}
}
