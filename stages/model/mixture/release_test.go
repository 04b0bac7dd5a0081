package mixture

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/pipeline/pipelinetest"
	"weir/stages/internal/columns"
	"weir/stages/model/artifact"
	"weir/train/posterior"
)

// parts are those of a model that was learned.
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
	if one, two := drawn(t, m, 50), drawn(t, again, 50); one.NumRows() != 50 || !equal(one, two) {
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
	about := func(old, new string) func(map[string][]byte) {
		return func(list map[string][]byte) {
			if !bytes.Contains(list[describedBy], []byte(old)) {
				t.Fatalf("the description has no %s", old)
			}
			list[describedBy] = bytes.Replace(list[describedBy], []byte(old), []byte(new), 1)
		}
	}
	number := func(bits uint32, at int) func(map[string][]byte) {
		return func(list map[string][]byte) {
			law := bytes.Clone(list[lawName])
			binary.LittleEndian.PutUint32(law[(len(law)+4*at)%len(law):], bits)
			list[lawName] = law
		}
	}
	for want, change := range map[string]func(map[string][]byte){
		"parts":                func(list map[string][]byte) { list["more"] = nil },
		"must hold model.json": func(list map[string][]byte) { delete(list, lawName) },
		"is not spelled":       about(`{"domain"`, `{"more":1,"domain"`),
		"model.json":           about(`{"domain"`, `[`),
		"components: are 0":    about(`"components":3`, `"components":0`),
		"bytes, must have":     about(`"components":3`, `"components":4`),
		"has no domain": func(list map[string][]byte) {
			list[describedBy] = []byte(strings.Replace(string(list[describedBy]), string(domainOf(list)), "null", 1))
		},
		"sizes: are":                 about(`"sizes":[`, `"sizes":[1,`),
		"prior":                      about(`"shape":1`, `"shape":0`),
		"stratify[0]":                about(`"stratify":["sex"`, `"stratify":["age"`),
		"number 1 is NaN":            number(math.Float32bits(float32(math.NaN())), 1),
		"number 1 is 1e+10":          number(math.Float32bits(1e10), 1),
		"must be from -21 to 2":      number(math.Float32bits(3), -1),
		"prior_only[0]: is -1, must": about(`"prior_only":[`, `"prior_only":[-1,`),
	} {
		list := parts(t)
		change(list)
		if _, err := decode(list); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, must say %s", err, want)
		}
	}
}

// domainOf is the text of the domain in a description.
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

// wide is a description of a megabyte: numbers in strata all of which have the prior.
func wide(t testing.TB, strata, numbers int) []byte {
	t.Helper()
	m := model{Domain: &domain.Domain{}, Shape: Shape{Components: 3, Prior: posterior.Uniform()}}
	for i := range strata {
		name := fmt.Sprint("s", i)
		m.Domain.Columns = append(m.Domain.Columns, domain.Column{Name: name, Type: domain.Boolean, Categories: []string{"n", "y"}})
		m.Stratify = append(m.Stratify, name)
	}
	for i := range numbers {
		m.Domain.Columns = append(m.Domain.Columns, domain.Column{Name: fmt.Sprint("x", i), Type: domain.Integer, Bounds: &[2]float64{0, 1}})
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
	for numbers, want := range map[int]string{20000: "stratify: is 1024 strata with 20000 columns in each, must be at most 1048576 columns", 1 << 10: ""} {
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
	drawn(t, read, 1024)
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 64<<20 {
		t.Errorf("1024 rows take %d MiB", took>>20)
	}
}

// FuzzModel: no description and no law panics or hangs, and what is read draws rows whose
// values the domain has.
func FuzzModel(f *testing.F) {
	f.Add(wide(f, 1, 2), []byte{})
	f.Add(bytes.Replace(wide(f, 1, 2), []byte(`"prior_only":[0,1]`), []byte(`"prior_only":[0]`), 1), make([]byte, 2*4*(2+3*2*2)))
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
