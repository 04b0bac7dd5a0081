package ledger

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"weir/internal/disk"
	"weir/privacy"
	"weir/privacy/account"
)

// hearing is an accountant that notes what it is asked.
type hearing struct{ text string }

func (*hearing) Name() string { return "hearing" }
func (h *hearing) Epsilon(events []privacy.Event, adjacency privacy.Adjacency, _ float64) (float64, error) {
	h.text = string(adjacency)
	for _, e := range events {
		b, err := privacy.MarshalEvent(e)
		if err != nil {
			return 0, err
		}
		h.text += " " + string(b)
	}
	return 1, nil
}
func (*hearing) Delta([]privacy.Event, privacy.Adjacency, float64) (float64, error) { return 0, nil }

// TestUnits holds the table of docs/design/ledger.md for a Gaussian of noise 8.
func TestUnits(t *testing.T) {
	row, four, one, other := Unit{}, Unit{"patient", 4}, Unit{"patient", 1}, Unit{"clinic", 2}
	const in, swap = privacy.AddRemove, privacy.ReplaceOne
	for _, c := range []struct {
		charged Unit
		under   privacy.Adjacency
		asked   Unit
		as      privacy.Adjacency
		noise   float64 // 0: nothing is known
		pairs   privacy.Adjacency
		reason  string
	}{
		{row, in, row, in, 8, in, ""},
		{row, in, row, swap, 8, swap, "exchanges"},
		{row, swap, row, in, 0, "", "replace_one"},
		{four, in, four, in, 8, in, ""},
		{four, in, one, in, 8, in, ""},
		{one, swap, four, swap, 8, swap, ""},
		{four, in, one, swap, 8, swap, "exchanges"},
		{row, in, four, in, 2, in, "4 rows"},
		{row, in, four, swap, 2, swap, "4 rows"},
		{row, swap, four, swap, 0, "", "keeps their number"},
		{row, swap, four, in, 0, "", "replace_one"},
		{row, swap, one, swap, 8, swap, "1 rows"},
		{four, in, row, in, 8, swap, "exchange of its patient"},
		{four, in, row, swap, 4, swap, "exchange of its patient"},
		{four, swap, row, swap, 0, "", "keeps their number"},
		{four, swap, row, in, 0, "", "replace_one"},
		{four, in, other, in, 0, "", "one clinic"},
		{four, swap, other, swap, 0, "", "one clinic"},
	} {
		charge := Entry{ID: "x", Unit: c.charged, Adjacency: c.under,
			Event: privacy.JSON{Event: privacy.Gaussian{NoiseMultiplier: 8}}}
		var h hearing
		total, err := Sum([]Entry{charge}, &h, c.as, c.asked, 1e-5)
		want := fmt.Sprintf(`%s {"gaussian":{"noise_multiplier":%g}}`, c.pairs, c.noise)
		if c.noise == 0 {
			want = ""
		}
		name := fmt.Sprintf("%s %s, asked for %s %s", c.charged, c.under, c.asked, c.as)
		if err != nil || h.text != want || !strings.Contains(total.Reason, c.reason) ||
			(c.reason == "") != (total.Reason == "") {
			t.Errorf("%s: heard %q, must be %q; %q, %v", name, h.text, want, total.Reason, err)
		}
		if c.noise == 0 && (!math.IsInf(total.Epsilon, 1) || !strings.Contains(total.Reason, "line 1")) {
			t.Errorf("%s: is %+v, must be infinite and name the line", name, total)
		}
	}
	if _, err := Sum(nil, &hearing{}, in, Unit{"patient", 0}, 1e-5); err == nil || !strings.Contains(err.Error(),
		"max_rows: is 0") {
		t.Errorf("a unit of no rows: %v", err)
	}
}

// TestRowsAndPersonsDoNotAddUp: a run for rows and one for patients with up to 4 rows seem cheap together, but
// a patient with 4 rows moves the sum of the first four times as far.
func TestRowsAndPersonsDoNotAddUp(t *testing.T) {
	rows := charge("rows", 0)
	rows.Event = privacy.Laplace{NoiseMultiplier: 0.8} // epsilon 1.25 for a row, 5 for four
	persons := withUnit(charge("persons", 0), "patient", 4)
	persons.Event = privacy.Pure{Epsilon: 0.012}
	l, _ := newLedger(&memory{}, dataset, ticking())
	if _, err := l.Append(nil, rows, persons); err != nil {
		t.Fatal(err)
	}
	exact := 4/0.8 + 0.012 // at delta 0, where the bound is attained by 4 equal rows
	total, err := Sum(l.Entries(), byName(t, "basic"), privacy.AddRemove, Unit{"patient", 4}, 0)
	if err != nil || math.Abs(total.Epsilon-exact) > 1e-9 {
		t.Errorf("a patient's total is %+v, must be %v (%v)", total, exact, err)
	}
	limit := &Cap{Epsilon: 2, Delta: 1e-6, Adjacency: privacy.AddRemove, Unit: Unit{"patient", 4}, Filter: "basic"}
	if _, err := l.Append(limit, withUnit(charge("next", 0.1), "patient", 4)); err == nil {
		t.Error("the cap counts a patient's rows as one")
	}
}

// TestUnitsWithoutBound: an event that cannot be read for more rows makes the total infinite, as does a
// sample of fixed size where the number of rows may change.
func TestUnitsWithoutBound(t *testing.T) {
	fixed := privacy.SampledWithoutReplacement{SampleSize: 1, Population: 9, Event: privacy.Gaussian{NoiseMultiplier: 1}}
	for _, c := range []struct {
		event          privacy.Event
		charged, asked Unit
		as             privacy.Adjacency
		reason         string
	}{
		{privacy.DiscreteGaussian{NoiseMultiplier: 2}, Unit{}, Unit{"patient", 4}, privacy.AddRemove, "discrete Gaussian"},
		{fixed, Unit{}, Unit{"patient", 4}, privacy.ReplaceOne, "fixed number"},
		{privacy.Repeated{Count: 2, Event: fixed}, Unit{"patient", 4}, Unit{}, privacy.ReplaceOne, "fixed number"},
		{privacy.Composed{Events: []privacy.Event{fixed}}, Unit{"patient", 4}, Unit{}, privacy.AddRemove, "fixed number"},
	} {
		e := Entry{ID: "x", Unit: c.charged, Adjacency: privacy.AddRemove, Event: privacy.JSON{Event: c.event}}
		total, err := Sum([]Entry{e}, &hearing{}, c.as, c.asked, 1e-5)
		if err != nil || !math.IsInf(total.Epsilon, 1) || !strings.Contains(total.Reason, "line 1") ||
			!strings.Contains(total.Reason, c.reason) {
			t.Errorf("%+v for %s: %+v, %v", c.event, c.asked, total, err)
		}
	}
}

// TestARowCanTurnAPersonsContribution: one row changes what its patient adds to a sum from any point of the ball to
// any other: twice the distance of a patient who comes or goes.
func TestARowCanTurnAPersonsContribution(t *testing.T) {
	e := Entry{ID: "x", Unit: Unit{"patient", 4}, Adjacency: privacy.AddRemove,
		Event: privacy.JSON{Event: privacy.Gaussian{NoiseMultiplier: 3}}}
	total, err := Sum([]Entry{e}, byName(t, "pld"), privacy.AddRemove, Unit{}, 1e-5)
	if exact := account.GaussianEpsilon(1.5, 1e-5); err != nil || total.Epsilon < exact*(1-1e-9) ||
		total.Epsilon > exact*1.001 {
		t.Errorf("total %+v, must be %v (%v)", total, exact, err)
	}
}

// TestGroupAndExchangeCommute: grouping and exchanging commute, so no order of the two is cheaper.
func TestGroupAndExchangeCommute(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		e := randomEvent(rng, 3)
		a, err := privacy.Group(e, 3)
		if err != nil {
			continue
		}
		a, errA := privacy.Exchanged(a)
		b, errB := privacy.Exchanged(e)
		if errA == nil && errB == nil {
			b, errB = privacy.Group(b, 3)
		}
		if errA != nil || errB != nil || !same(reflect.ValueOf(a), reflect.ValueOf(b)) {
			t.Fatalf("%+v: %+v (%v), %+v (%v)", e, a, errA, b, errB)
		}
	}
}

// same compares events up to rounding.
func same(a, b reflect.Value) bool {
	if a.Kind() == reflect.Interface {
		a, b = a.Elem(), b.Elem()
	}
	a, b = flat(a), flat(b)
	if a.Type() != b.Type() {
		return false
	}
	switch a.Kind() {
	case reflect.Float64:
		return math.Abs(a.Float()-b.Float()) <= 1e-9*math.Abs(a.Float())
	case reflect.Int64:
		return a.Int() == b.Int()
	case reflect.Slice:
		for i := range a.Len() {
			if a.Len() != b.Len() || !same(a.Index(i), b.Index(i)) {
				return false
			}
		}
		return a.Len() == b.Len()
	}
	for i := range a.NumField() {
		if !same(a.Field(i), b.Field(i)) {
			return false
		}
	}
	return true
}

// flat writes repetitions of repetitions as one.
func flat(v reflect.Value) reflect.Value {
	e, ok := v.Interface().(privacy.Repeated)
	if !ok {
		return v
	}
	if inner, ok := e.Event.(privacy.Repeated); ok {
		return flat(reflect.ValueOf(privacy.Repeated{Count: e.Count * inner.Count, Event: inner.Event}))
	}
	return v
}

func randomEvent(rng *rand.Rand, depth int) privacy.Event {
	n := 6
	if depth > 0 {
		n = 10
	}
	x := rng.Float64()
	switch rng.IntN(n) {
	case 0:
		return privacy.Gaussian{NoiseMultiplier: 1 + x}
	case 1:
		return privacy.DiscreteLaplace{NoiseMultiplier: 1 + x}
	case 2:
		return privacy.RandomizedResponse{Epsilon: x}
	case 3:
		return privacy.ZCDP{Rho: x}
	case 4:
		return privacy.Approximate{Epsilon: 0.1 + x, Delta: 1e-7 * x}
	case 5:
		return privacy.Exponential{Epsilon: x}
	case 6:
		return privacy.PoissonSampled{SamplingRate: x, Event: randomEvent(rng, depth-1)}
	case 7:
		return privacy.Repeated{Count: 1 + rng.Int64N(4), Event: randomEvent(rng, depth-1)}
	case 8:
		return privacy.Composed{Events: []privacy.Event{randomEvent(rng, depth-1), randomEvent(rng, depth-1)}}
	}
	part := randomEvent(rng, depth-1)
	return privacy.Parallel{Events: []privacy.Event{part, part, part, part, part, part, part}[:1+rng.IntN(7)]}
}

// damaged returns files that no crash of one Append leaves: each held whole charges,
// which opening must not throw away. The first n charges are still whole lines.
func damaged(t testing.TB) map[string]string {
	full := string(filled(t, 3).data)
	l := lines([]byte(full))
	zeros := func(n int) string { return strings.Repeat("\x00", n) }
	return map[string]string{
		"newlines stripped":              strings.ReplaceAll(full, "\n", ""),
		"newlines stripped but the last": strings.ReplaceAll(full, "\n", "") + "\n",
		"the last two run together":      l[0] + strings.ReplaceAll(l[1]+l[2], "\n", ""),
		"two and a half run together":    l[0] + strings.TrimSpace(l[1]) + l[2][:len(l[2])/2],
		"CR ends":                        strings.ReplaceAll(full, "\n", "\r"),
		"CR ends and a cut":              strings.ReplaceAll(full, "\n", "\r")[:len(full)-40],
		"NULs for newlines":              strings.ReplaceAll(full, "\n", "\x00"),
		"NULs for all":                   zeros(len(full)),
		"NULs for all but the end":       zeros(len(full)-1) + "\n",
		"NULs for two lines":             l[0] + zeros(len(l[1])+len(l[2])),
		"NULs for a line and a half":     l[0] + zeros(len(l[1])+len(l[2])/2),
		"NULs, then a line":              zeros(10) + l[0],
		"NULs in two places":             l[0] + l[1] + l[2][:50] + zeros(50) + l[2][100:200] + zeros(10),
		"NULs within the line before":    l[0] + l[1][:50] + zeros(50) + l[1][100:] + l[2],
		"NULs, then two ends":            l[0] + zeros(100) + l[1][300:] + l[2][350:],
		"NULs, then another language":    l[0] + zeros(100) + "\x8f\x02",
		"garbage":                        "\x8f\x02ELF not a ledger",
		"garbage of letters":             l[0] + "garbage",
		"garbage after a brace":          l[0] + "{garbage",
		"the beginning of another JSON":  l[0] + `{"name":"x","rows":[1,2`,
		"a CSV without an end":           "id,income\n1,2\n3",
		"a CSV of one line":              "id,income",
		"another predecessor":            l[0] + l[2][:len(l[2])-9],
		"the first line again":           l[0] + l[0][:len(l[0])-9],
		"another spelling":               l[0] + strings.Replace(l[1], `","time"`, `", "time"`, 1)[:200],
		"a key out of place":             l[0] + strings.Replace(l[1], `"run":`, `"ruin":`, 1)[:400],
		"an endless word":                l[0] + l[1][:100] + strings.Repeat("x", maxLine),
		"upper case":                     l[0] + strings.ToUpper(l[1][:200]),
		"a byte order mark":              "\xef\xbb\xbf" + l[0],
		"UTF-16":                         "\xff\xfe{\x00\"\x00p\x00r\x00e\x00v\x00",
		"half a conflict marker":         l[0] + "<<<<<<< HE",
	}
}

// TestNothingIsTruncatedThatIsNoRemnant: the file stays as it is, byte for byte, and the
// error says where, what was found and what to do.
func TestNothingIsTruncatedThatIsNoRemnant(t *testing.T) {
	for name, text := range damaged(t) {
		m := &memory{data: []byte(text)}
		_, err := newLedger(m, dataset, ticking())
		if !errors.Is(err, ErrTampered) || !strings.Contains(fmt.Sprint(err), "line ") {
			t.Errorf("%s: opens with %v", name, err)
		}
		if string(m.data) != text || len(m.aside) > 0 {
			t.Errorf("%s: the file was changed", name)
		}
		path := filepath.Join(t.TempDir(), "l")
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(disk.Disk{}, path, dataset, ticking()); err == nil {
			t.Errorf("%s: opens on disk", name)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != text {
			t.Errorf("%s: the file on disk was changed: %v", name, err)
		}
	}
}

// TestRefusalSaysWhatToDo, and quotes nothing: the file may be the table itself.
func TestRefusalSaysWhatToDo(t *testing.T) {
	m := filled(t, 1)
	m.data = append(m.data, "id,secret\x0042"...)
	_, err := newLedger(m, dataset, ticking())
	for _, want := range []string{"line 2", "restore", "12 bytes"} {
		if !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("%v, must say %q", err, want)
		}
	}
	if strings.Contains(fmt.Sprint(err), "secret") {
		t.Errorf("%v quotes the file", err)
	}
}

// TestRemovedBytesAreKept: before the file is cut, beside it, for its owner alone, and
// never over what was kept before.
func TestRemovedBytesAreKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "l")
	full := filled(t, 3).data
	last := bytes.LastIndexByte(full[:len(full)-1], '\n') + 1
	var retained []string
	for _, cut := range []int{last + 40, last + 100, last + 40} { // the third is what the first was
		if err := os.WriteFile(path, full[:cut], 0o644); err != nil {
			t.Fatal(err)
		}
		l, err := Open(disk.Disk{}, path, dataset, ticking())
		if err != nil {
			t.Fatal(err)
		}
		removed := l.Removed()
		if len(removed) != 1 || removed[0].Bytes != cut-last || removed[0].Line != 3 {
			t.Fatalf("removed %+v, must be %d bytes of line 3", removed, cut-last)
		}
		got, err := os.ReadFile(removed[0].Path)
		if err != nil || !bytes.Equal(got, full[last:cut]) {
			t.Errorf("kept %q: %v", got, err)
		}
		if info, err := os.Stat(removed[0].Path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("mode is %v, must be 0600: %v", info.Mode(), err)
		}
		retained = append(retained, removed[0].Path)
	}
	if retained[0] == retained[1] || retained[0] != retained[2] {
		t.Errorf("kept in %v, must be two files", retained)
	}
	if beside, err := Remnants(path); err != nil || len(beside) != 2 {
		t.Errorf("beside the ledger: %v, %v, must be two", beside, err)
	}
}

// TestNothingIsCutThatCannotBeKept: the file stays where its bytes cannot be kept aside.
func TestNothingIsCutThatCannotBeKept(t *testing.T) {
	m := filled(t, 2)
	m.data = m.data[:len(m.data)-30]
	before := bytes.Clone(m.data)
	m.failAside = true
	if _, err := newLedger(m, dataset, ticking()); !errors.Is(err, errDisk) {
		t.Errorf("opens with %v", err)
	}
	if !bytes.Equal(m.data, before) {
		t.Error("the file was cut")
	}
}

// TestZerosForOneLine: a file system may have noted a size before the bytes came, so that
// some pages of an Append are zeros. One line is removed, and is kept aside.
func TestZerosForOneLine(t *testing.T) {
	full := string(filled(t, 3).data)
	l := lines([]byte(full))
	zeros := func(n int) string { return strings.Repeat("\x00", n) }
	for before, charged := range map[string]int{"": 0, l[0] + l[1]: 2} {
		next := l[charged]
		for name, rest := range map[string]string{
			"all of it":     zeros(len(next)),
			"its beginning": zeros(200) + next[200:],
			"its middle":    next[:100] + zeros(200) + next[300:],
			"its end":       next[:100] + zeros(len(next)-100),
			"before a cut":  zeros(100) + next[100:200],
		} {
			m := &memory{data: []byte(before + rest)}
			got, err := newLedger(m, dataset, ticking())
			if err != nil || len(got.Entries()) != charged || string(m.aside) != rest || string(m.data) != before {
				t.Errorf("%s after %d charges: %v, %d bytes aside, must be %d", name, charged, err, len(m.aside), len(rest))
			}
		}
	}
}

// TestSeveralLinesOfOneAppend, cut anywhere: what is whole stays charged.
func TestSeveralLinesOfOneAppend(t *testing.T) {
	m := filled(t, 1)
	first := len(m.data)
	l, err := newLedger(m, dataset, ticking())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Append(nil, charge("x", 1), charge("y", 1), charge("z", 1)); err != nil {
		t.Fatal(err)
	}
	for cut := first; cut < len(m.data); cut++ {
		torn := &memory{data: bytes.Clone(m.data[:cut])}
		l, err := newLedger(torn, dataset, ticking())
		if err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		whole := bytes.Count(m.data[:cut], []byte("\n"))
		if m.data[cut] == '\n' {
			whole++
		}
		if len(l.Entries()) != whole {
			t.Fatalf("cut at %d: %d charges, must keep %d", cut, len(l.Entries()), whole)
		}
		if kept := string(torn.aside); kept != string(m.data[len(m.data[:cut])-len(kept):cut]) {
			t.Fatalf("cut at %d: %q is kept aside", cut, kept)
		}
	}
}

// TestShortestLine is what noLine rests on: no charge fits into fewer bytes.
func TestShortestLine(t *testing.T) {
	m := &memory{}
	l, err := newLedger(m, "d", ticking())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Append(nil, Charge{ID: "i", Version: "1", Adjacency: "add_remove", Unproven: "W"}); err != nil {
		t.Fatal(err)
	}
	if len(m.data) < noLine {
		t.Errorf("a line of %d bytes, and noLine is %d", len(m.data), noLine)
	}
}
