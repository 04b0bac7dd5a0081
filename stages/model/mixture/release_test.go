package mixture

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"

	"weir/internal/stattest"
	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/pipeline/pipelinetest"
	"weir/schema"
	"weir/stages/internal/columns"
	"weir/stages/model/artifact"
)

// parts returns the parts of a model that was learned.
func parts(t *testing.T) map[string][]byte {
	t.Helper()
	l := pipelinetest.Learner{Kind: mixtureKind(), Stage: func() pipeline.Stage {
		s := full()
		s.ExpectedBatchSize = 100
		return s
	}}
	table, _ := l.Trained(t, study(400))
	if table.Class != pipeline.Released {
		t.Errorf("the model's class is %s", table.Class)
	}
	files, err := pipeline.ReadFiles(t.Context(), table)
	must(t, err)
	list := map[string][]byte{}
	for _, f := range files[1:] {
		list[f.Name] = f.Data
	}
	return list
}

// TestModelHoldsTheLawOnly: a description and the law of the parameters, no rows, no
// optimiser; read back it draws the same rows.
func TestModelHoldsTheLawOnly(t *testing.T) {
	list := parts(t)
	if len(list) != 2 {
		t.Errorf("%d parts", len(list))
	}
	m, err := decode(list)
	must(t, err)
	again, err := decode(list)
	must(t, err)
	if one, two := drawRows(t, m, 50), drawRows(t, again, 50); one.NumRows() != 50 || !equal(one, two) {
		t.Error("a model that is read twice draws other rows")
	}
}

func equal(a, b interface{ MarshalJSON() ([]byte, error) }) bool {
	one, err := a.MarshalJSON()
	two, other := b.MarshalJSON()
	return err == nil && other == nil && bytes.Equal(one, two)
}

// TestStrangersModelsAreJudged: what is not as pack writes it is an error, no panic.
func TestStrangersModelsAreJudged(t *testing.T) {
	description := func(old, new string) func(map[string][]byte) {
		return func(list map[string][]byte) {
			if !bytes.Contains(list[describedBy], []byte(old)) {
				t.Fatalf("the description has no %s", old)
			}
			list[describedBy] = bytes.Replace(list[describedBy], []byte(old), []byte(new), 1)
		}
	}
	number := func(bits uint32, pos int) func(map[string][]byte) {
		return func(list map[string][]byte) {
			law := bytes.Clone(list[lawName])
			binary.LittleEndian.PutUint32(law[(len(law)+4*pos)%len(law):], bits)
			list[lawName] = law
		}
	}
	for want, change := range map[string]func(map[string][]byte){
		"parts":                func(list map[string][]byte) { list["more"] = nil },
		"must hold model.json": func(list map[string][]byte) { delete(list, lawName) },
		"is not spelled":       description(`{"domain"`, `{"more":1,"domain"`),
		"model.json":           description(`{"domain"`, `[`),
		"components: are 0":    description(`"components":3`, `"components":0`),
		"bytes, must have":     description(`"components":3`, `"components":4`),
		"has no domain": func(list map[string][]byte) {
			list[describedBy] = []byte(strings.Replace(string(list[describedBy]), string(domainOf(list)), "null", 1))
		},
		"sizes: are":                 description(`"sizes":[`, `"sizes":[1,`),
		"prior":                      description(`"shape":1`, `"shape":0`),
		"stratify[0]":                description(`"stratify":["sex"`, `"stratify":["age"`),
		"number 1 is NaN":            number(math.Float32bits(float32(math.NaN())), 1),
		"number 1 is 1e+10":          number(math.Float32bits(1e10), 1),
		"must be from -21 to 2":      number(math.Float32bits(3), -1),
		"prior_only[0]: is -1, must": description(`"prior_only":[`, `"prior_only":[-1,`),
	} {
		list := parts(t)
		change(list)
		if _, err := decode(list); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, must say %s", err, want)
		}
	}
}

// domainOf returns the text of the domain in a description.
func domainOf(list map[string][]byte) []byte {
	text := list[describedBy][len(`{"domain":`):]
	return text[:bytes.Index(text, []byte(`,"components"`))]
}

// TestArgmaxIsRefused: rows of the most probable categories are no rows of the predictive.
func TestArgmaxIsRefused(t *testing.T) {
	m, err := decode(parts(t))
	must(t, err)
	if _, err := m.Draw(artifact.Drawing{Argmax: true}); err == nil || !strings.Contains(err.Error(), "must be sample") {
		t.Errorf("error %v", err)
	}
}

// wide returns a description of a megabyte: numbers in strata all of which have the prior.
func wide(t testing.TB, strata, numbers int) []byte {
	t.Helper()
	m := model{Domain: &domain.Domain{}, Shape: Shape{Components: 3, Prior: UniformPrior()}}
	for i := range strata {
		name := fmt.Sprint("s", i)
		m.Domain.Columns = append(m.Domain.Columns, domain.Column{Name: name, Type: domain.Boolean, Categories: []string{"n",
			"y"}})
		m.Stratify = append(m.Stratify, name)
	}
	for i := range numbers {
		m.Domain.Columns = append(m.Domain.Columns, domain.Column{Name: fmt.Sprint("x", i), Type: domain.Integer,
			Bounds: &[2]float64{0, 1}})
	}
	for i := range 1 << strata {
		m.Sizes, m.PriorOnly = append(m.Sizes, 1), append(m.PriorOnly, i)
	}
	about, err := json.Marshal(m)
	must(t, err)
	return about
}

// TestStrangersModelsTakeWhatTheyAreLong: a description of 1024 strata by 20,000 columns names
// 20 million laws in a megabyte. It is refused before they are there; what is at the bound is
// read in less than 256 MiB.
func TestStrangersModelsTakeWhatTheyAreLong(t *testing.T) {
	for numbers, want := range map[int]string{20000: "stratify: is 1024 strata with 20000 columns in each, must be at " +
		"most 1048576 columns", 1 << 10: ""} {
		list := map[string][]byte{describedBy: wide(t, 10, numbers), lawName: nil}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := decode(list)
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; took > 256<<20 {
			t.Errorf("%d columns, described in %d bytes, take %d MiB", numbers, len(list[describedBy]), took>>20)
		}
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%d columns: error %v, must say %q", numbers, err, want)
		}
	}
}

// TestStrataShareWhatDrawsThem: 1024 strata of a column of 30,000 categories draw rows with the
// numbers of one, 0.5 MiB, and not with 0.5 GiB.
func TestStrataShareWhatDrawsThem(t *testing.T) {
	m := &model{}
	must(t, json.Unmarshal(wide(t, 10, 1), m))
	c := domain.Column{Name: "c", Type: domain.Categorical}
	for i := range 30000 {
		c.Categories = append(c.Categories, fmt.Sprint(i))
	}
	m.Domain.Columns = append(m.Domain.Columns, c)
	about, err := json.Marshal(m)
	must(t, err)
	read, err := decode(map[string][]byte{describedBy: about, lawName: nil})
	must(t, err)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	drawRows(t, read, 1024)
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 64<<20 {
		t.Errorf("1024 rows take %d MiB", took>>20)
	}
}

// FuzzModel: no description and no law panics or hangs, and what is read draws rows whose
// values the domain has.
func FuzzModel(f *testing.F) {
	f.Add(wide(f, 1, 2), []byte{})
	f.Add(bytes.Replace(wide(f, 1, 2), []byte(`"prior_only":[0,1]`), []byte(`"prior_only":[0]`), 1),
		make([]byte, 2*4*(2+3*2*2)))
	f.Fuzz(func(t *testing.T, about, law []byte) {
		m, err := decode(map[string][]byte{describedBy: about, lawName: law})
		if err != nil || len(about) > 1<<14 {
			return
		}
		rows, err := m.Draw(artifact.Drawing{Rows: 3, Random: func(string) *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }})
		must(t, err)
		rec, err := rows(3)
		must(t, err)
		if _, err := columns.Read(t.Context(), pipeline.FromRecords(m.Header(), rec)); err != nil {
			t.Errorf("rows are not of the model's header: %v", err)
		}
	})
}

// tiny returns a table whose every possible row can be listed: 3 x 2 x 4 x 3 x 3.
func tiny() (pipelinetest.Input, [][]any) {
	d := &domain.Domain{Columns: []domain.Column{
		{Name: "sex", Type: domain.Categorical, Categories: []string{"f", "m"}, Nullable: true},
		{Name: "dead", Type: domain.Boolean, Categories: []string{"no", "yes"}},
		{Name: "age", Type: domain.Integer, Bounds: &[2]float64{1, 3}, Nullable: true},
		{Name: "visits", Type: domain.Integer, Bounds: &[2]float64{0, 2}},
		{Name: "stay", Type: domain.Integer, Bounds: &[2]float64{0, 2}},
	}}
	values := [][]any{{nil, "f", "m"}, {"no", "yes"}, {nil, 1, 2, 3}, {0, 1, 2}, {0, 1, 2}}
	columns := make([][]any, len(values))
	for i := range 40 {
		for j, v := range values {
			columns[j] = append(columns[j], v[i*(j+3)/(j+2)%len(v)])
		}
	}
	h := study(1).Header
	h.Domain = d
	h = pipeline.TableHeader(d, h)
	h.Rows = 40
	return pipelinetest.Input{Header: h, Rows: pipelinetest.Rows(d, columns...)}, values
}

// each lists every row of values once, the last column counted up first.
func each(d *domain.Domain, values [][]any) arrow.Record {
	columns, n := make([][]any, len(values)), 1
	for _, v := range values {
		n *= len(v)
	}
	for i := range n {
		for j, at := len(values)-1, i; j >= 0; j-- {
			columns[j] = append(columns[j], values[j][at%len(values[j])])
			at /= len(values[j])
		}
	}
	return pipelinetest.Rows(d, columns...)
}

// tinyMixture has strata, a value that is fixed in some, and all families; its law has means by
// hand and no width.
func tinyMixture(t *testing.T) *model {
	t.Helper()
	in, _ := tiny()
	l := pipelinetest.Learner{Kind: mixtureKind(), Stage: func() pipeline.Stage {
		s := small()
		s.Families = map[string]string{"age": "normal", "visits": "poisson"}
		s.Stratify = []string{"sex", "dead"}
		s.Structural = []Structural{{Where: map[string]domain.Choice{"dead": {"yes"}},
			Set: map[string]schema.Text{"stay": "1"}}}
		return s
	}}
	table, _ := l.Trained(t, in)
	m := read(t, table)
	m.Sizes, m.PriorOnly, m.mean, m.log = []int64{30, 20, 40, 0, 25, 5}, nil, nil, nil
	for i := range m.layout.params() {
		m.mean, m.log = append(m.mean, float32(i*7%11-5)/4), append(m.log, -21)
	}
	return m
}

func frame(t *testing.T, d *domain.Domain, r arrow.Record) *columns.Frame {
	t.Helper()
	f, err := columns.Read(t.Context(), pipeline.FromRecords(pipeline.TableHeader(d, pipeline.Header{}), r))
	must(t, err)
	return f
}

// TestScoresAreProbabilities: over all rows that there can be 2^-score sums to 1, but for the
// rows of highest score, and rows that are drawn with parameters at their means come as often as
// scores say (chi-square at 1e-6; scores of two strata exchanged are rejected).
func TestScoresAreProbabilities(t *testing.T) {
	m := tinyMixture(t)
	_, values := tiny()
	scores, err := newScorer(m).Scores(frame(t, m.Domain, each(m.Domain, values)))
	must(t, err)
	chances, sum := make([]float64, len(scores)), 0.0
	for i, bits := range scores {
		if chances[i] = math.Exp2(-bits); bits >= 5*64/math.Ln2 {
			chances[i] = 0
		}
		sum += chances[i]
	}
	if math.Abs(sum-1) > 1e-12 {
		t.Errorf("all rows have the chance %.15g, must have 1", sum)
	}
	const n = 60000
	f := frame(t, m.Domain, drawRows(t, m, n))
	seen := make([]int, len(scores))
	for i := range n {
		seen[placeOf(f, values, i)]++
	}
	if p := stattest.ChiSquare(seen, chances, n); p < 1e-6 {
		t.Errorf("drawn rows have not these chances: p %g", p)
	}
	m.Sizes[0], m.Sizes[2] = m.Sizes[2], m.Sizes[0]
	scores, err = newScorer(m).Scores(frame(t, m.Domain, each(m.Domain, values)))
	must(t, err)
	for i, bits := range scores {
		if chances[i] = math.Exp2(-bits); bits >= 5*64/math.Ln2 {
			chances[i] = 0
		}
	}
	if p := stattest.ChiSquare(seen, chances, n); p >= 1e-6 {
		t.Errorf("chances of other strata pass: p %g", p)
	}
}

// placeOf returns the place of a row in the list of each.
func placeOf(f *columns.Frame, values [][]any, i int) (pos int) {
	for j, v := range values {
		c := &f.Columns[j]
		value := 0 // missing stands first where it may be
		switch {
		case c.Absent(i):
		case c.Coded():
			value = int(c.Codes[i])
		default:
			value = int(c.Numbers[i] - c.Bounds[0])
		}
		if v[0] == nil && !c.Absent(i) {
			value++
		}
		pos = pos*len(v) + value
	}
	return pos
}

// TestScoresOfRowsThatAreNeverDrawn: the highest there are: another value than the stratum fixes,
// a stratum without rows, out of bounds; and a stratum that has learned nothing gives all its
// rows one score: minus log2 of 1/24 of its share, and of 1/2 where age is not missing of 3 ages.
func TestScoresOfRowsThatAreNeverDrawn(t *testing.T) {
	m := tinyMixture(t)
	m.PriorOnly = []int{0}
	first := m.layout.strata[0].Params()
	m.mean = m.mean[first:]
	r := pipelinetest.Rows(m.Domain, []any{"f", "m", "m", "f", "f"}, []any{"yes", "yes", "no", "no", "no"},
		[]any{1, 1, 9, 2, nil}, []any{0, 0, 0, 1, 2}, []any{0, 1, 1, 0, 2})
	got, err := newScorer(m).Scores(frame(t, m.Domain, r))
	must(t, err)
	most := 5 * 64 / math.Ln2
	want := []float64{most, most, most, math.Log2(120./30) + 1 + 3*math.Log2(3), math.Log2(120./30) + 1 + 2*math.Log2(3)}
	for i := range want {
		if math.Abs(got[i]-want[i]) > 1e-9 {
			t.Errorf("row %d has score %g, must have %g", i, got[i], want[i])
		}
	}
}

// TestScoresAreOfTheRow: to the last bit, alone and in another order, whatever the
// model and the row; none is NaN or below 0.
func TestScoresAreOfTheRow(t *testing.T) {
	for name, l := range learners() {
		table, _ := l.Trained(t, study(40))
		s := newScorer(read(t, table))
		f := frame(t, s.Domain(), study(40).Rows)
		all, err := s.Scores(f)
		must(t, err)
		turned := make([]int, f.Rows)
		for i := range turned {
			turned[i] = f.Rows - 1 - i
		}
		other, err := s.Scores(f.Take(turned))
		must(t, err)
		slices.Reverse(other)
		for i := range all {
			alone, err := s.Scores(f.Slice(i, i+1))
			must(t, err)
			if !(all[i] >= 0) || alone[0] != all[i] || other[i] != all[i] {
				t.Errorf("%s: row %d has score %g, alone %g, in a table turned round %g", name, i, all[i], alone[0], other[i])
			}
		}
	}
}
