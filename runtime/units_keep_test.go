package runtime

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"weir/pipeline"
	"weir/pipeline/domain"
)

// stay is a row of stayColumns; a nil value is missing.
type stay struct{ unit, x, c, t any }

// stayColumns has a column of each Arrow type that a source gives.
func stayColumns() *domain.Domain {
	return &domain.Domain{Columns: []domain.Column{
		{Name: "unit", Type: domain.Integer, Nullable: true},
		{Name: "x", Type: domain.Numeric, Nullable: true},
		{Name: "c", Type: domain.Categorical, Categories: []string{"no", "yes"}, Nullable: true},
		{Name: "t", Type: domain.Text, Nullable: true},
	}}
}

// stayTable returns a table of two batches.
func stayTable(rows []stay) pipeline.Table {
	h := pipeline.TableHeader(stayColumns(), pipeline.Header{Class: pipeline.Private})
	b := array.NewRecordBuilder(memory.DefaultAllocator, h.Schema)
	for _, r := range rows {
		for j, v := range []any{r.unit, r.x, r.c, r.t} {
			switch v := v.(type) {
			case nil:
				b.Field(j).AppendNull()
			case int:
				if f, ok := b.Field(j).(*array.Int64Builder); ok {
					f.Append(int64(v))
				} else {
					b.Field(j).(*array.Int32Builder).Append(int32(v))
				}
			case float64:
				b.Field(j).(*array.Float64Builder).Append(v)
			case string:
				b.Field(j).(*array.StringBuilder).Append(v)
			}
		}
	}
	all := b.NewRecord()
	half := all.NumRows() / 2
	return pipeline.FromRecords(h, all.NewSlice(0, half), all.NewSlice(half, all.NumRows()))
}

// byHash returns the rows that stay, in words, under keep: by_hash.
func byHash(t *testing.T, rows []stay, most int) []string {
	t.Helper()
	capped := capUnits(stayTable(rows), pipeline.Unit{Column: "unit", MaxRows: most, Keep: pipeline.KeepByHash}, nil)
	var twice [2][]string // the second reading goes by what the first found
	for n := range twice {
		rec, err := capped.Collect(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for i := range int(rec.NumRows()) {
			var cells []string
			for _, c := range rec.Columns() {
				cells = append(cells, c.ValueStr(i))
			}
			twice[n] = append(twice[n], strings.Join(cells, " "))
		}
	}
	if !slices.Equal(twice[0], twice[1]) {
		t.Fatalf("one reading keeps %q, the next %q", twice[0], twice[1])
	}
	return twice[0]
}

// TestByHashRule: the codes and the order of docs/design/units.md. Expected: Python, hashlib.md5 of the codes as
// written here: 57a2..., bee0..., fc91... and 12ee... of unit 7 and bac9... of unit 8.
func TestByHashRule(t *testing.T) {
	rows := []stay{{7, 1.5, 0, "a"}, {7, -0.25, 1, ""}, {nil, 1.5, 0, "a"}, {7, nil, nil, nil}, {7, 1e300, 0, "é"},
		{8, 1.5, 0, "a"}, {nil, 1.5, 0, "a"}}
	codes := []string{"7,1,4503599627370496,0,61", "7,0,-2251799813685248,1,", "-,1,4503599627370496,0,61", "7,-,-,-",
		"7,9007199254740992,0,0,c3a9", "8,1,4503599627370496,0,61"}
	rec, err := stayTable(rows).Collect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range codes {
		if got, err := appendCodes(nil, rec, i); string(got) != want || err != nil {
			t.Errorf("row %d has the codes %q (%v), must have %q", i, got, err, want)
		}
	}
	for most, want := range map[int][]int{1: {2, 4, 5, 6}, 2: {0, 2, 4, 5, 6}, 3: {0, 1, 2, 4, 5, 6},
		4: {0, 1, 2, 3, 4, 5, 6}} {
		var stays []stay
		for _, i := range want {
			stays = append(stays, rows[i])
		}
		if got, want := byHash(t, rows, most), byHash(t, stays, len(rows)); !slices.Equal(got, want) {
			t.Errorf("max_rows %d keeps %q, must keep %q", most, got, want)
		}
	}
}

// TestByHashTies: rows of one hash are ordered by their numbers, wherever they lie: those that are too small or too
// great for codes, a row that the codes tell in full, and missing ones beside. Of two zeros the first stays.
func TestByHashTies(t *testing.T) {
	for _, c := range []struct {
		least, other any
		want         string
	}{
		{1e-20, 2e-20, "1e-20"}, {-2e-20, -1e-20, "-2e-20"}, {0., 1e-20, "0"}, {-1e-20, 0., "-1e-20"},
		{0x1p53, 0x1p53 + 2, "9.007199254740992e+15"}, {-math.MaxFloat64, -0x1p53, "-1.7976931348623157e+308"},
	} {
		a, b := stay{7, c.least, 0, "a"}, stay{7, c.other, 0, "a"}
		for _, rows := range [][]stay{{a, b}, {b, a}, {b, a, b}} {
			if got := byHash(t, rows, 1); !slices.Equal(got, []string{"7 " + c.want + " 0 a"}) {
				t.Errorf("of %v, %v stays, must be the row of %s", rows, got, c.want)
			}
		}
	}
	zeros := []stay{{7, math.Copysign(0, -1), 0, "a"}, {7, 0., 0, "a"}}
	for range 2 {
		if got, want := byHash(t, zeros, 1), byHash(t, zeros[:1], 1); !slices.Equal(got, want) {
			t.Errorf("of %v, %v stays, must be the first", zeros, got)
		}
		slices.Reverse(zeros)
	}
}

// TestByHashOfNeighbours: a unit that goes takes max_rows rows along at most and moves no other row, and which rows
// stay does not follow from their order. A rule that goes by places (the first rows) is seen to break the latter.
func TestByHashOfNeighbours(t *testing.T) {
	const most = 2
	rng := rand.New(rand.NewPCG(1, 2))
	moved := false
	for range 200 {
		var rows []stay
		for range 40 {
			rows = append(rows, stay{rng.IntN(6), float64(rng.IntN(4)) / 4, rng.IntN(2), fmt.Sprint(rng.IntN(3))})
		}
		all := byHash(t, rows, most)
		bare := byHash(t, slices.DeleteFunc(slices.Clone(rows), func(r stay) bool { return r.unit == 3 }), most)
		rest := slices.DeleteFunc(slices.Clone(all), func(r string) bool { return strings.HasPrefix(r, "3 ") })
		if !slices.Equal(rest, bare) || len(all)-len(rest) > most {
			t.Fatalf("%q stay with unit 3 and %q without", all, bare)
		}
		first := firstOf(t, rows, most)
		rng.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
		if again := byHash(t, rows, most); !slices.Equal(slices.Sorted(slices.Values(all)),
			slices.Sorted(slices.Values(again))) {
			t.Fatalf("%q stay, and %q in another order", all, again)
		}
		moved = moved || first != firstOf(t, rows, most)
	}
	if !moved {
		t.Error("the first rows of units are the same in any order, so this test tells no rule from another")
	}
}

// firstOf returns the rows that stay by default, in words and sorted.
func firstOf(t *testing.T, rows []stay, most int) string {
	t.Helper()
	rec, err := capUnits(stayTable(rows), pipeline.Unit{Column: "unit", MaxRows: most}, nil).Collect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for i := range int(rec.NumRows()) {
		list = append(list, fmt.Sprint(rec.Column(0).ValueStr(i), rec.Column(1).ValueStr(i), rec.Column(2).ValueStr(i),
			rec.Column(3).ValueStr(i)))
	}
	slices.Sort(list)
	return fmt.Sprint(list)
}

// TestPiecesAreExact: a number is its pieces where it has no digits beyond them.
func TestPiecesAreExact(t *testing.T) {
	for _, x := range []float64{0, 1, -1, 0.1, -0.1, 1e15 + 0.125, -1e15 - 0.125, 0x1p-53, -0x1p-53, 0x1p53, -0x1p53,
		math.Nextafter(1, 0), math.Nextafter(0x1p53, 0)} {
		if got := fromPieces(pieces(x)); got != x && math.Abs(x) >= 1 {
			t.Errorf("%v comes back as %v", x, got)
		}
		if whole, part := pieces(x); math.Abs(float64(part)) >= 0x1p53 || float64(whole) != max(-0x1p53,
			min(0x1p53, math.Trunc(x))) {
			t.Errorf("%v has the pieces %d and %d", x, whole, part)
		}
	}
}
