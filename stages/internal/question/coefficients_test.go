package question

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"

	"weir/pipeline"
	"weir/stages/internal/columns"
)

// some returns a table of so many drawn rows.
func some(n int) *columns.Frame {
	rng := rand.New(rand.NewPCG(6, 4))
	f := &columns.Frame{Rows: n, Columns: regressionFrame().Columns}
	for range n {
		appendDrawn(rng, f, 20+60*rng.Float64(), 0.5+1.5*rng.Float64(), rng.IntN(5))
	}
	return f
}

// released returns the files of a fit of one kind to 200 rows.
func released(t testing.TB, kind string) []pipeline.File {
	t.Helper()
	m := models(4)[kind]
	b, err := m.Answer(t.Context(), m.Rows(some(200)))
	mustModel(t, err)
	r := ReleasedRegression{Stage: "fit", Queries: 2, Steps: 6, Model: *m}
	r.Coefficients, r.Covariance = m.Coefficients(b)
	table, err := r.Write(RegressionHeader(pipeline.Header{}))
	mustModel(t, err)
	list, err := pipeline.ReadFiles(t.Context(), table)
	mustModel(t, err)
	return list
}

func read(t testing.TB, list []pipeline.File) (ReleasedRegression, bool, error) {
	t.Helper()
	return ReadRegression(t.Context(), pipeline.WriteFiles(RegressionHeader(pipeline.Header{}), list))
}

// TestStrangersCoefficientsAreJudged: what is written is read; each change of one place is an
// error that names it; and other answers are none of ours.
func TestStrangersCoefficientsAreJudged(t *testing.T) {
	for kind, changes := range map[string]map[string][2]string{
		Logistic: {
			"format: is 2, must be 1":                      {`"format":1`, `"format":2`},
			"queries: is 0, must be":                       {`"queries":2`, `"queries":0`},
			"steps: is 0, must be":                         {`"steps":6`, `"steps":0`},
			"model.kind: is \"probit\", must be":           {`"kind":"logistic"`, `"kind":"probit"`},
			"model: is a logistic one without positive":    {`"positive":"yes",`, ``},
			"model.target: is \"\"":                        {`"target":"ill"`, `"target":""`},
			"model.prior_deviation: is 0":                  {`"prior_deviation":2.5`, `"prior_deviation":0`},
			"model.columns[0].name: is \"ill\", must be":   {`"name":"age"`, `"name":"ill"`},
			"model.columns[0].bounds: is [80 20], must be": {`"bounds":[20,80]`, `"bounds":[80,20]`},
			"model.columns[1].bounds: is [0 1], must be": {`"region","bounds":[0,0]`,
				`"region","bounds":[0,1]`},
			"model.columns[1].categories[1]: is \"north\", a second": {`["north","south"`, `["north","north"`},
			"coefficients: is 6, with a covariance of 6 rows, must be 5 each": {`["north","south","west","east"]`,
				`["north","south","west"]`},
			"coefficients[2]: is of column \"region\", category \"east\"": {`"category":"south"`, `"category":"east"`},
			"coefficients[0].estimate: is":                                {`"estimate":`, `"estimate":1e9,"e":`},
			"coefficients[0].se: is -1":                                   {`"se":`, `"se":-1,"s":`},
			"covariance[0]: is 7 numbers":                                 {`"covariance":[[`, `"covariance":[[1,`},
			"cannot unmarshal":                                            {`"steps":6`, `"steps":"six"`},
			"fit.coefficients.json: is not a file of coefficients":        {`{"format"`, `{"more":1,"format"`},
		},
		Poisson: {
			"model.most: is 0":                                     {`"most":4`, `"most":0`},
			"model.most: is 4 with most_expected: 5e+06":           {`"most_expected":4`, `"most_expected":5e6`},
			"model.offset: is \"duration\" from 0 to 2":            {`"shortest":0.5`, `"shortest":0`},
			"model.target: is \"duration\" with offset":            {`"target":"visits"`, `"target":"duration"`},
			"fit.coefficients.json: is not a file of coefficients": {`"queries":2`, ` "queries":2`},
		},
	} {
		good := released(t, kind)
		if r, is, err := read(t, good); err != nil || !is || r.Stage != "fit" {
			t.Fatalf("what is written: %v, %v, stage %q", err, is, r.Stage)
		}
		text := string(good[1].Data)
		for want, change := range changes {
			if strings.Count(text, change[0]) == 0 {
				t.Fatalf("coefficients have no %s in\n%s", change[0], text)
			}
			list := []pipeline.File{good[0], {Name: good[1].Name, Data: []byte(strings.Replace(text, change[0], change[1], 1))}}
			if _, is, err := read(t, list); !is || err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("with %s: error %v, must say %s", change[1], err, want)
			}
		}
		table := []pipeline.File{{Name: good[0].Name, Data: append([]byte("x"), good[0].Data...)}, good[1]}
		if _, _, err := read(t, table); err == nil || !strings.Contains(err.Error(),
			"fit.coefficients.csv: is not a file of coefficients") {
			t.Errorf("a table that says otherwise: %v", err)
		}
	}
	if _, is, err := read(t, []pipeline.File{{Name: "a.answers.csv"}, {Name: "a.answers.json"}}); is || err != nil {
		t.Errorf("other answers: %v, %v", is, err)
	}
}

// FuzzReadRegression: any text is an error, or a regression that can be compared with the regression of a table.
func FuzzReadRegression(f *testing.F) {
	for _, kind := range []string{Logistic, Poisson} {
		f.Add(released(f, kind)[1].Data)
	}
	f.Fuzz(func(t *testing.T, whole []byte) {
		r, is, err := read(t, []pipeline.File{{Name: "fit.coefficients.csv"}, {Name: "fit.coefficients.json", Data: whole}})
		if !is {
			t.Fatal("coefficients are not taken for ours")
		}
		if !strings.Contains(err.Error(), "is not a file of coefficients") || len(whole) > 1<<13 {
			return
		}
		rows := some(20)
		if r.Model.Lacks(rows) != "" {
			return
		}
		b, err := r.Model.Fit(t.Context(), r.Model.Rows(rows), 2, ExactScores, func(int) {})
		mustModel(t, err)
		list, _ := r.Model.Coefficients(b)
		r.Model.Distance(list, r.Coefficients)
		r.Model.Accuracy(list, r.Model.Rows(rows))
	})
}

// TestRegressionHearsCancellation: a step over many rows of hundreds of coefficients is minutes of
// work; it ends when nobody wants it, in its middle too.
func TestRegressionHearsCancellation(t *testing.T) {
	r := models(4)[Logistic].Rows(some(3 * rowsPerLook))
	for _, looks := range []int{0, 2} {
		ctx := &laterContext{Context: t.Context()}
		ctx.looks.Store(int64(looks))
		if _, _, err := r.sums(ctx, make([]float64, 6)); !errors.Is(err, context.Canceled) {
			t.Errorf("stopped after %d looks: %v", looks, err)
		}
	}
}

// laterContext is cancelled once it was looked at so many times.
type laterContext struct {
	context.Context
	looks atomic.Int64
}

func (l *laterContext) Err() error {
	if l.looks.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}
