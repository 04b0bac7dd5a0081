package dataset

import (
	"bytes"
	"context"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/runtime/table"
)

// TestSharedRowsAreSeen: a table that was made from a known one is told (W32),
// however it was made.
func TestSharedRowsAreSeen(t *testing.T) {
	const rows = 30000
	for name, text := range map[string]string{
		"changed cell":                  strings.Replace(people(0, rows), ",p7\n", ",q7\n", 1),
		"trailing newline":              people(0, rows) + "\n",
		"other order of rows":           shuffled(0, rows),
		"rows twice":                    people(0, rows) + strings.Join(lines(0, rows), ""),
		"1 % of the rows":               people(0, rows/100),
		"half new":                      people(rows/2, rows*3/2),
		"1 % in common, of like size":   people(rows*99/100, rows*199/100),
		"spelled otherwise":             strings.ReplaceAll(people(0, rows), ".5,", ".500,"),
		"columns in another order":      reordered(rows),
		"a row more, as of another day": people(0, rows+1),
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.write("a.csv", people(0, rows))
			b.write("b.csv", text)
			one, two := b.identify("a.csv", "1"), b.identify("b.csv", "1")
			if one.ID == two.ID {
				t.Error("another content has the same id")
			}
			if len(two.Overlaps) != 1 || !strings.Contains(two.Overlaps[0], one.ID) || !strings.Contains(two.Overlaps[0],
				b.path("a.csv")) {
				t.Errorf("overlaps %q, must be %s", two.Overlaps, one.ID)
			}
			if told := strings.Join(two.Notes, "\n"); !strings.Contains(told, "W32") || !strings.Contains(told,
				"weir ledger continue") {
				t.Errorf("the owner is told %q, must hear of W32", told)
			}
			if again := b.identify("b.csv", "1"); len(again.Overlaps) != 1 {
				t.Errorf("overlaps %q the second time, must be told until the ledger is shared", again.Overlaps)
			}
		})
	}
}

func reordered(rows int) string {
	var s strings.Builder
	s.WriteString("name,grade,age,weight\n")
	for _, line := range lines(0, rows) {
		c := strings.Split(strings.TrimSpace(line), ",")
		s.WriteString(strings.Join([]string{c[3], c[2], c[0], c[1]}, ",") + "\n")
	}
	return s.String()
}

func TestParquetOfTheSameRows(t *testing.T) {
	b := newBench(t)
	b.write("a.csv", people(0, 3000))
	one := b.identify("a.csv", "1")
	var parquet bytes.Buffer
	if err := table.Chosen([]string{"parquet"})[0].Write(context.Background(), &parquet, "", b.opening("a.csv", "1").Rows,
		table.Style{}); err != nil {
		t.Fatal(err)
	}
	b.write("a.parquet", parquet.String())
	if two := b.identify("a.parquet", "1"); len(two.Overlaps) != 1 || !strings.Contains(two.Overlaps[0], one.ID) {
		t.Errorf("overlaps %q, must be %s", two.Overlaps, one.ID)
	}
}

// TestNoFalseOverlap: tables of a few short columns share rows without sharing
// people, and tables of other people share none.
func TestNoFalseOverlap(t *testing.T) {
	b := newBench(t)
	b.write("a.csv", people(0, 30000))
	b.write("b.csv", people(30000, 60000))
	b.write("c.csv", people(0, 150))
	b.identify("a.csv", "1")
	for _, name := range []string{"b.csv", "c.csv"} {
		if id := b.identify(name, "1"); len(id.Overlaps) > 0 {
			t.Errorf("%s: overlaps %q, must be none", name, id.Overlaps)
		}
	}
}

// TestOverlapOfVersions: the rows of every version of a dataset are known.
func TestOverlapOfVersions(t *testing.T) {
	b := newBench(t)
	b.write("a.csv", people(0, 5000))
	one := b.identify("a.csv", "1")
	b.write("a.csv", people(5000, 10000))
	b.identify("a.csv", "2")
	b.write("b.csv", people(0, 4999))
	if two := b.identify("b.csv", "1"); len(two.Overlaps) != 1 || !strings.Contains(two.Overlaps[0], one.ID) {
		t.Errorf("overlaps %q, must be %s by its first version", two.Overlaps, one.ID)
	}
}

// TestOverlapIsMissedAsSeldomAsStated at 1 % of tables of like size: 2e-4, so
// that 1 of 300 is a failure of probability 6 %, and 3 of 4e-6.
func TestOverlapIsMissedAsSeldomAsStated(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	missed := 0
	for range 300 {
		a, b := newCollector(), newCollector()
		for i := range 50000 {
			h := r.Uint64()
			a.add(h)
			if i >= 500 {
				h = r.Uint64()
			}
			b.add(h)
		}
		if _, is := overlap(a.sketch(), b.sketch()); !is {
			missed++
		}
	}
	if missed > 2 {
		t.Errorf("1 %% in common was missed %d times of 300", missed)
	}
}

// TestSketch: it does not depend on order or number, adds up, and counts.
func TestSketch(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	hashes := make([]uint64, 100000)
	for i := range hashes {
		hashes[i] = r.Uint64()
	}
	hashesOf := func(hs ...[]uint64) sketch {
		c := newCollector()
		for _, part := range hs {
			for _, h := range part {
				c.add(h)
			}
		}
		if cap(c.kept) != 2*sketchSize {
			t.Errorf("the collector holds %d hashes, must stay at %d", cap(c.kept), 2*sketchSize)
		}
		return c.sketch()
	}
	all, twice, parts := hashesOf(hashes), hashesOf(hashes[500:], hashes), union(hashesOf(hashes[:60000]),
		hashesOf(hashes[40000:]))
	if len(all) != sketchSize || !equal(all, twice) || !equal(all, parts) {
		t.Error("sketches of the same rows differ")
	}
	if d := all.distinct(); d < 90000 || d > 110000 {
		t.Errorf("estimates %g distinct rows, must be about 100000", d)
	}
	if d := hashesOf(hashes[:100], hashes[:100]).distinct(); d != 100 {
		t.Errorf("counts %g distinct rows, must be 100", d)
	}
	text, _ := all.MarshalText()
	var back sketch
	if err := back.UnmarshalText(text); err != nil || !equal(all, back) {
		t.Errorf("reads back otherwise: %v", err)
	}
	if back.UnmarshalText(text[1:]) == nil || back.UnmarshalText([]byte("xyz")) == nil {
		t.Error("a damaged sketch is read")
	}
}

func equal(a, b sketch) bool { return len(a) == len(b) && common(a, b) == len(a) }

// TestRowsByMeaning: zero has two signs, a number many spellings, and cells do
// not run together.
func TestRowsByMeaning(t *testing.T) {
	same := [][2][]byte{{number(nil, 0), number(nil, math.Copysign(0, -1))}, {text(nil, "1"), number(nil, 1)},
		{text(nil, "1.50"), number(nil, 1.5)}}
	for _, p := range same {
		if !bytes.Equal(p[0], p[1]) {
			t.Errorf("%x and %x, must be equal", p[0], p[1])
		}
	}
	if bytes.Equal(text(text(nil, "ab"), "c"), text(text(nil, "a"), "bc")) || bytes.Equal(text(nil, ""), []byte{missing}) {
		t.Error("cells run together")
	}
	if bytes.Equal(text(nil, "p1"), text(nil, "p2")) {
		t.Error("texts are not told apart")
	}
}

// TestLongIDsAreToldApart: beyond 2^53 float64 has one number for several ids. As integers, and as text of any length,
// each is a row of its own; a text that spells an integer, and a float that is one, stay that integer.
func TestLongIDsAreToldApart(t *testing.T) {
	seen := map[string]int64{}
	for _, from := range []int64{1<<53 - 3, 1<<62 - 3, math.MaxInt64 - 5, -1<<53 - 3, math.MinInt64} {
		for x := from; x-from < 6; x++ {
			key := string(exactly(nil, x))
			if other, is := seen[key]; is {
				t.Errorf("%d and %d are one row", other, x)
			}
			if seen[key] = x; !bytes.Equal(text(nil, strconv.FormatInt(x, 10)), []byte(key)) {
				t.Errorf("%d and its text are two rows", x)
			}
		}
	}
	for _, x := range []float64{1 << 53, 1<<53 + 2, -1 << 60, 3} {
		if !bytes.Equal(number(nil, x), exactly(nil, int64(x))) {
			t.Errorf("%g as a float and as an integer are two rows", x)
		}
	}
	if bytes.Equal(text(nil, "12345678901234567890123"), text(nil, "12345678901234567890124")) {
		t.Error("long texts of digits are one row")
	}
}

// TestSketchUnderAnotherDomain: the order in which a domain lists its columns,
// and whether it calls grades numbers or categories, changes nothing.
func TestSketchUnderAnotherDomain(t *testing.T) {
	b := newBench(t)
	path := b.write("a.csv", people(0, 300))
	other := columns()
	slices.Reverse(other.Columns)
	other.Columns[1] = domain.Column{Name: "grade", Type: domain.Integer, Nullable: true}
	var sketches []sketch
	for _, d := range []*domain.Domain{columns(), other} {
		read, err := table.Open(files{}, path, nil, d)
		if err != nil {
			t.Fatal(err)
		}
		s, err := sketchRows(context.Background(), testKey("rows"), read)
		if err != nil {
			t.Fatal(err)
		}
		sketches = append(sketches, s)
	}
	if len(sketches[0]) != 300 || !equal(sketches[0], sketches[1]) {
		t.Errorf("%d and %d rows, %d equal, must be 300", len(sketches[0]), len(sketches[1]),
			common(sketches[0], sketches[1]))
	}
	keyed, err := sketchRows(context.Background(), testKey("another index"), b.opening("a.csv", "1").Rows)
	if err != nil || common(keyed, sketches[0]) > 0 {
		t.Errorf("%v: hashes do not depend on the key", err)
	}
}

// BenchmarkRows: the cost of a cell of a table that is not known yet.
func BenchmarkRows(b *testing.B) {
	d := columns()
	path := b.TempDir() + "/a.csv"
	if err := os.WriteFile(path, []byte(people(0, 65536)), 0o600); err != nil {
		b.Fatal(err)
	}
	t, err := table.Open(files{}, path, nil, d)
	if err != nil {
		b.Fatal(err)
	}
	rec, err := t.Collect(context.Background())
	if err != nil {
		b.Fatal(err)
	}
	held := pipeline.FromRecords(t.Header, rec)
	for b.Loop() {
		if _, err := sketchRows(context.Background(), testKey("rows"), held); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/65536/4, "ns/cell")
}

// TestSharedRowsOfDatabases: rows that stay in a database are compared with the rows of others by the hashes that it
// computes, also of an earlier content, and nothing is read.
func TestSharedRowsOfDatabases(t *testing.T) {
	b := newBench(t)
	r := rand.New(rand.NewPCG(7, 8))
	hashes := make([]uint64, 2000)
	for i := range hashes {
		hashes[i] = r.Uint64()
	}
	requests := 0
	identify := func(name, version string, rows []uint64) *Identity {
		t.Helper()
		o := Opening{Out: b.out, Path: b.path(name), Version: version, Digest: "counted " + name + version, Clock: clock,
			Random: b.random}
		o.Hashes = func(_ context.Context, most int) ([]uint64, error) {
			requests++
			sorted := slices.Sorted(slices.Values(rows))
			return sorted[:min(most, len(sorted))], nil
		}
		id, err := Identify(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	one := identify("a.database", "1", hashes[:500])
	identify("a.database", "2", hashes[500:1000])
	identify("a.database", "2", hashes[500:1000])
	if requests != 2 {
		t.Errorf("the rows are hashed %d times, must be once for each content", requests)
	}
	for name, rows := range map[string][]uint64{"copy.database": hashes[:500], "later.database": hashes[990:1590]} {
		if id := identify(name, "1", rows); len(id.Overlaps) != 1 || !strings.Contains(id.Overlaps[0], one.ID) {
			t.Errorf("%s: overlaps %q, must be %s", name, id.Overlaps, one.ID)
		}
	}
	if id := identify("other.database", "1", hashes[1600:]); len(id.Overlaps) > 0 {
		t.Errorf("overlaps %q, must be none", id.Overlaps)
	}
}

// TestHashesOfDatabasesAreSealed: no hash that a database computes without a key is stored as it is, since whoever has
// one can try what the row may be; and a record that was sealed by another key is told to be damaged.
func TestHashesOfDatabasesAreSealed(t *testing.T) {
	b := newBench(t)
	hashes := []uint64{0x0123456789abcde0, 0x1123456789abcde0}
	o := Opening{Out: b.out, Path: b.path("a.database"), Digest: "counted", Clock: clock, Random: b.random,
		Hashes: func(context.Context, int) ([]uint64, error) { return hashes, nil }}
	id, err := Identify(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	x, err := readIndex(b.out)
	if err != nil || !slices.Equal(x.byID(id.ID).Counted, hashes) {
		t.Fatalf("error %v, and hashes that are not %x", err, hashes)
	}
	text, _ := os.ReadFile(x.recordPath(id.ID))
	for _, h := range hashes {
		if strings.Contains(string(text), strconv.FormatUint(h, 16)) {
			t.Errorf("the record holds the hash %x as it is", h)
		}
	}
	other, err := sketch(hashes).seal(testKey("other"))
	if err != nil {
		t.Fatal(err)
	}
	text = []byte(strings.Replace(string(text), x.byID(id.ID).Sealed, other, 1))
	os.WriteFile(x.recordPath(id.ID), text, 0o600)
	_, err = readIndex(b.out)
	mustContain(t, err, x.recordPath(id.ID), "is damaged", "another key", "restore it")
}
