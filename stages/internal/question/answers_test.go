package question

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/schema"
	"weir/stages/internal/columns"
)

func header() pipeline.Header { return Header(pipeline.Header{}) }

// asking returns one question of each sort, as Check makes them, of a domain whose columns are the columns
// of frame.
func asking(t testing.TB) []Resolved {
	t.Helper()
	d := &domain.Domain{}
	for _, name := range []string{"x", "y", "z"} {
		d.Columns = append(d.Columns, domain.Column{Name: name, Type: domain.Numeric, Bounds: &[2]float64{0, 1}})
	}
	d.Columns = append(d.Columns, domain.Column{Name: "c", Type: domain.Categorical, Categories: []string{"a", "b", "c"},
		Nullable: true})
	half := 0.5
	var ps schema.Problems
	list := Check(&ps, "questions", []Question{
		{Name: "all", Ask: Count, Where: []Condition{{Column: "c", In: []string{"a", "b"}}, {Column: "x", From: &half}}},
		{Name: "by c", Ask: Histogram, Column: "c"},
		{Name: "by x", Ask: Histogram, Column: "x", Edges: []float64{0, 0.5, 1}},
		{Name: "mean", Ask: Mean, Column: "x"},
		{Name: "of a", Ask: Mean, Column: "y", Where: []Condition{{Column: "c", In: []string{"a"}}}},
		{Name: "median", Ask: Quantile, Column: "y", Quantile: 0.5},
	}, d, 500)
	list = append(list, CheckCovariance(&ps, "columns", []string{"x", "z"}, d, 500))
	must(t, ps.Err())
	return list
}

// answered returns the artifact of answers about a table with noise of so many rows; of no noise
// the answers are the table's own.
func answered(t testing.TB, f *columns.Frame, rows int64) Answers {
	t.Helper()
	a := Answers{Stage: "ask", Kind: "dp_query", Of: 2, Asked: asking(t)}
	for _, q := range a.Asked {
		if q.Ask == Quantile {
			a.List = append(a.List, q.Picked(q.Bounds[0][1], 0.1)...)
			continue
		}
		list := tally(t, q, f)
		for i := range list {
			list[i] += rows * Unit * int64(1-2*(i%2))
		}
		a.List = append(a.List, q.Read(list, float64(rows*Unit))...)
	}
	return a
}

func files(t testing.TB, a Answers) []pipeline.File {
	t.Helper()
	table, err := a.Write(header())
	must(t, err)
	list, err := pipeline.ReadFiles(t.Context(), table)
	must(t, err)
	return list
}

// TestWhatIsWrittenIsRead: whatever noise and rows are, of none of either too.
func TestWhatIsWrittenIsRead(t *testing.T) {
	for _, f := range []*columns.Frame{table(), frame(nil, nil)} {
		for _, rows := range []int64{0, 1, -1, 1 << 20} {
			list := files(t, answered(t, f, rows))
			a, err := Read(t.Context(), pipeline.WriteFiles(header(), list))
			if err != nil || a.Stage != "ask" || !bytes.Equal(files(t, a)[1].Data, list[1].Data) {
				t.Errorf("%d rows with noise of %d: %v", f.Rows, rows, err)
			}
		}
	}
}

// TestWhatIsAskedIsJudgedAlike: a question that Check has passed passes as a stranger's, whatever its columns are.
func TestWhatIsAskedIsJudgedAlike(t *testing.T) {
	bounds := &[2]float64{-3, 4}
	d := &domain.Domain{Columns: []domain.Column{
		{Name: "whole", Type: domain.Integer, Bounds: bounds, Nullable: true},
		{Name: "stepped", Type: domain.Numeric, Bounds: bounds, Step: 0.25},
		{Name: "fine", Type: domain.Numeric, Bounds: bounds, Step: 1e-30},
		{Name: "flag", Type: domain.Boolean, Categories: []string{"0", "1"}},
		{Name: "word", Type: domain.Ordinal, Categories: []string{"missing", "other", "not 1"}, Nullable: true},
	}}
	least := 1.5
	where := []Condition{{Column: "word", In: []string{"other"}}, {Column: "word", In: []string{"missing", "other"}},
		{Column: "whole", From: &least}}
	var list []Question
	for _, c := range d.Columns {
		q := Question{Column: c.Name, Ask: Histogram}
		if !c.Type.Coded() {
			q.Edges = []float64{-1e300, 0, 0.1}
			list = append(list, Question{Column: c.Name, Ask: Mean}, Question{Column: c.Name, Ask: Quantile, Quantile: 0.1})
		}
		list = append(list, q)
	}
	list = append(list, Question{Ask: Count})
	for _, q := range slices.Clone(list) {
		q.Where = where
		list = append(list, q)
	}
	for i := range list {
		list[i].Name = fmt.Sprint(i)
	}
	var ps schema.Problems
	for _, rows := range []int64{0, 90} {
		questions := Check(&ps, "questions", list, d, rows)
		questions = append(questions, CheckCovariance(&ps, "columns", []string{"stepped", "flag", "fine"}, d, rows))
		if rows > 0 { // all rows of a public number are not counted
			questions, ps = slices.DeleteFunc(questions, func(a Resolved) bool { return a.Ask == Count && a.Where == nil }),
				ps[:len(ps)-1]
		}
		for _, a := range questions {
			a.judge(&ps, a.Name)
		}
	}
	must(t, ps.Err())
}

// TestStrangersAnswersAreJudged: each change of one place is an error that names it.
func TestStrangersAnswersAreJudged(t *testing.T) {
	good := files(t, answered(t, table(), 3))
	text := string(good[1].Data)
	for want, change := range map[string][2]string{
		"format: is 2, must be 1":               {`"format":1`, `"format":2`},
		"queries: is 0, must be from 1 to 1000": {`"queries":2`, `"queries":0`},
		"questions: is a list of 0": {
			text[strings.Index(text, `"questions"`):strings.Index(text, `,"answers"`)], `"questions":[]`},
		"questions[1].name: is \"all\", the name of an earlier": {`"name":"by c"`,
			`"name":"all"`},
		"questions[0].name: is empty": {`"name":"all"`, `"name":""`},
		"questions[0].ask: is \"sum\"": {`"ask":"count"`,
			`"ask":"sum"`},
		"questions[3].column: is \"\", an unknown column": {`"ask":"mean","column":"x"`,
			`"ask":"mean"`},
		"questions[0].column: is \"x\" for a count": {`"ask":"count"`,
			`"ask":"count","column":"x"`},
		"questions[5].quantile: is 1.5": {`"quantile":0.5`,
			`"quantile":1.5`},
		"questions[5].step: is missing, must be 0.001": {`"step":0.001`, `"step":0`},
		"questions[5].step: is 1e-300": {`"step":0.001`,
			`"step":1e-300`},
		"questions[2].edges": {`"edges":[0,0.5,1]`,
			`"edges":[0,0,1]`},
		"questions[2].cells: is [\"[0, 0.5)": {`"edges":[0,0.5,1]`,
			`"edges":[0,1]`},
		"questions[1]: is about a table whose columns[0].categories[1] is \"a\", a duplicate": {`"cells":["a","b"`,
			`"cells":["a","a"`},
		"questions[3]: is about a table whose columns[0].bounds is [1, 0]": {`"bounds":[[0,1]]`,
			`"bounds":[[1,0]]`},
		"questions[6].columns[1]: is z, a number without bounds": {`"bounds":[[0,1],[0,1]]`,
			`"bounds":[[0,1]]`},
		"questions[6].columns: is a list of 1, must be from 2 to 2000": {`"columns":["x","z"]`,
			`"columns":["x"]`},
		"questions[6].columns[1]: is \"x\", a duplicate column": {`"columns":["x","z"]`,
			`"columns":["x","x"]`},
		"questions[3].rows: is -5":                                     {`"rows":500`, `"rows":-5`},
		"questions[0].where[0]: is a condition on c, which is numeric": {`"in":["a","b"]`, `"in":[]`},
		"questions[0].where[0].in[1]: is \"a\", a second time": {`"in":["a","b"]`,
			`"in":["a","a"]`},
		"questions[4].rows: is 7 for a mean, must be left out": {
			`"where":[{"column":"c","in":["a"]}],"bounds":[[0,1]]`,
			`"where":[{"column":"c","in":["a"]}],"bounds":[[0,1]],"rows":7`},
		"questions[6].column: is \"x\" for a covariance": {`"ask":"covariance"`,
			`"ask":"covariance","column":"x"`},
		"answers: is a list of 0, must be 13": {
			text[strings.Index(text, `"answers"`) : len(text)-1], `"answers":[]`},
		"answers[1]: is of question \"by c\", cell \"b\"": {
			`"question":"by c","cell":"a"`, `"question":"by c","cell":"b"`},
		"answers[9].value: is missing": {`"value":1,"note"`, `"note"`},
		"answers[9].value: is 2, must be from": {`"value":1,"note"`,
			`"value":2,"note"`},
		"cannot unmarshal": {`"format":1`,
			`"format":"one"`},
		"ask.answers.json: is not as answers are written": {`{"format"`,
			`{"more":1,"format"`},
		"ask.answers.csv: is not as answers are written, must have": {`"note":"in 95`,
			`"note":"at 95`},
	} {
		if strings.Count(text, change[0]) == 0 {
			t.Fatalf("answers have no %s in\n%s", change[0], text)
		}
		list := []pipeline.File{good[0], {Name: good[1].Name, Data: []byte(strings.Replace(text, change[0], change[1], 1))}}
		if _, err := Read(t.Context(), pipeline.WriteFiles(header(), list)); err == nil || !strings.Contains(err.Error(),
			want) {
			t.Errorf("with %s: error %v, must say %s", change[1], err, want)
		}
	}
	low := strings.Replace(text, `"low":`, `"low":1e99,"lower":`, 1)
	if _, err := unpacked([]byte(low)); err == nil || !strings.Contains(err.Error(),
		"answers[0].low: is 1e+99 with high:") {
		t.Errorf("a lower end above the upper one: %v", err)
	}
	if _, err := Read(t.Context(), pipeline.WriteFiles(header(), good[:1])); err == nil {
		t.Error("answers without JSON are read")
	}
}

// FuzzRead: any text is an error, or answers whose questions can be asked of a table.
func FuzzRead(f *testing.F) {
	a := answered(f, table(), 3)
	f.Add(files(f, a)[1].Data)
	f.Add([]byte(
		`{"format":1,"kind":"","queries":1,"questions":[{"name":"n","ask":"mean","column":"x","bounds":[[0,1]]}],"answers":[{"question":"n"}]}`))
	f.Fuzz(func(t *testing.T, whole []byte) {
		a, err := unpacked(whole)
		if err != nil || len(whole) > 1<<14 {
			return
		}
		rows := table()
		for _, q := range a.Asked {
			if q.Lacks(rows) == "" {
				if list := answersOf(t, q, rows); len(list) != len(q.cells()) {
					t.Errorf("%d answers to %v", len(list), q)
				}
			}
		}
		if _, err := json.Marshal(a.Asked); err != nil {
			t.Error(err)
		}
	})
}

// TestSumsHearCancellation: a sum over the rows of a wide table is minutes of work; it ends
// when nobody wants it, and its rows are then not asked for.
func TestSumsHearCancellation(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	f := table()
	for _, q := range asking(t) {
		if _, err := q.Of(ctx, f); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", q.Name, err)
		}
	}
	cov := questions()["covariance"]
	if _, err := cov.Scatter(ctx, f); !errors.Is(err, context.Canceled) {
		t.Errorf("scatter: %v", err)
	}
	if _, err := cov.Tally(&later{Context: t.Context(), looks: 3}, f); !errors.Is(err, context.Canceled) {
		t.Errorf("a sum that is stopped in its middle: %v", err)
	}
}

// later is cancelled once it was looked at so many times.
type later struct {
	context.Context
	looks int
}

func (l *later) Err() error {
	if l.looks--; l.looks < 0 {
		return context.Canceled
	}
	return nil
}
