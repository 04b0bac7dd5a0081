package mixture

import (
	"bytes"
	"encoding/binary"
	"math"
	"strings"
	"testing"

	"weir/pipeline"
	"weir/pipeline/pipelinetest"
	"weir/stages/model/artifact"
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
	number := func(bits uint32) func(map[string][]byte) {
		return func(list map[string][]byte) {
			law := bytes.Clone(list[lawName])
			binary.LittleEndian.PutUint32(law[4:], bits)
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
		"number 1 is NaN":            number(math.Float32bits(float32(math.NaN()))),
		"number 1 is 1e+10":          number(math.Float32bits(1e10)),
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
