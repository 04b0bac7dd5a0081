package question

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"weir/pipeline"
	"weir/schema"
)

// Answers are what a stage released: questions, and their answers in the order of the
// questions.
type Answers struct {
	Stage string // that answered
	Kind  string // of the stage
	Of    int    // the budget was for so many such stages, of which this is one
	Asked []Resolved
	List  []Answer
}

// format is the number of the artifact's format.
const format = 1

// written is the artifact's JSON; numbers that are not known are absent.
type written struct {
	Format    int        `json:"format"`
	Kind      string     `json:"kind"`
	Of        int        `json:"queries"`
	Questions []Resolved `json:"questions"`
	Answers   []numbers  `json:"answers"`
}

type numbers struct {
	Question string   `json:"question"`
	Cell     string   `json:"cell,omitempty"`
	Value    *float64 `json:"value,omitempty"`
	Low      *float64 `json:"low,omitempty"`
	High     *float64 `json:"high,omitempty"`
	Note     string   `json:"note,omitempty"`
}

// Header returns the header of answers to questions about a table of header h.
func Header(h pipeline.Header) pipeline.Header {
	return pipeline.Header{Form: pipeline.FormAnswers, Class: pipeline.Released,
		Terms: h.Terms}
}

// Port returns the output of a kind that answers questions.
func Port() []pipeline.Port {
	return []pipeline.Port{{Name: "out", Form: pipeline.FormAnswers,
		Doc:   "The answers with 95 % intervals of the noise, as a CSV table and as JSON.",
		Files: []string{answersCSV, answersJSON}}}
}

// answersCSV and the others name the files, behind the id of the stage and a dot.
const answersCSV, answersJSON = "answers.csv", "answers.json"

// Write returns the artifact of answers: a table for people, and all of it for programs.
func (a Answers) Write(h pipeline.Header) (pipeline.Table, error) {
	files, err := a.files()
	if err != nil {
		return pipeline.Table{}, err
	}
	return pipeline.WriteFiles(h, files), nil
}

func (a Answers) files() ([]pipeline.File, error) {
	w := written{Format: format, Kind: a.Kind, Of: a.Of, Questions: a.Asked}
	for _, x := range a.List {
		w.Answers = append(w.Answers, numbers{x.Question, x.Cell, known(x.Value), known(x.Low), known(x.High), x.Note})
	}
	whole, err := json.Marshal(w)
	return []pipeline.File{{Name: a.Stage + "." + answersCSV, Data: a.csv()}, {Name: a.Stage + "." + answersJSON,
		Data: whole}}, err
}

func known(x float64) *float64 {
	if math.IsNaN(x) {
		return nil
	}
	return &x
}

func (a Answers) csv() []byte {
	var dst bytes.Buffer
	w := csv.NewWriter(&dst)
	rows := [][]string{{"question", "cell", "value", "low", "high", "note"}}
	for _, x := range a.List {
		rows = append(rows, []string{x.Question, x.Cell, formatNumber(x.Value), formatNumber(x.Low), formatNumber(x.High),
			x.Note})
	}
	if err := w.WriteAll(rows); err != nil {
		panic(err) // to memory
	}
	return dst.Bytes()
}

func formatNumber(x float64) string {
	if math.IsNaN(x) {
		return ""
	}
	return text(x)
}

// Read returns the answers of an artifact. It may come from anyone, so all of it is judged
// before it is used: its values, and that it is spelled as Write spells it.
func Read(ctx context.Context, t pipeline.Table) (a Answers, err error) {
	files, err := pipeline.ReadFiles(ctx, t)
	if err != nil {
		return a, err
	}
	if len(files) != 2 || !strings.HasSuffix(files[1].Name, "."+answersJSON) {
		return a, fmt.Errorf("are not answers, must be what a stage of kind dp_query or dp_covariance gives")
	}
	name := files[1].Name
	if a, err = unpacked(files[1].Data); err != nil {
		return a, fmt.Errorf("%s: %w", name, err)
	}
	a.Stage = strings.TrimSuffix(name, "."+answersJSON)
	again, err := a.files()
	for i := range again {
		if err == nil && (files[i].Name != again[i].Name || !bytes.Equal(files[i].Data, again[i].Data)) {
			err = fmt.Errorf("%s: is not as answers are written, must have the keys and numbers of %s, in their order",
				files[i].Name, name)
		}
	}
	return a, err
}

// unpacked returns what the JSON of an artifact says, if it can be.
func unpacked(whole []byte) (a Answers, err error) {
	var w written
	if err := json.Unmarshal(whole, &w); err != nil {
		return a, err
	}
	if w.Format != format {
		return a, fmt.Errorf("format: is %d, must be %d", w.Format, format)
	}
	a = Answers{Kind: w.Kind, Of: w.Of, Asked: w.Questions}
	for _, x := range w.Answers {
		a.List = append(a.List, Answer{x.Question, x.Cell, number(x.Value), number(x.Low), number(x.High), x.Note})
	}
	return a, a.judge()
}

func number(x *float64) float64 {
	if x == nil {
		return math.NaN()
	}
	return *x
}

// judge holds answers to what a stage can have given.
func (a Answers) judge() error {
	var ps schema.Problems
	if a.Of < 1 || a.Of > mostQueries {
		ps.Add("queries", fmt.Sprint(a.Of), fmt.Sprintf("from 1 to %d", mostQueries))
	}
	questions := make([]Question, len(a.Asked))
	for i, q := range a.Asked {
		questions[i] = q.Question
		q.judge(&ps, fmt.Sprintf("questions[%d]", i))
	}
	listed(&ps, "questions", questions)
	if len(ps) == 0 {
		a.judgeAnswers(&ps)
	}
	return ps.Err()
}

// mostQueries is the largest number of queries that the settings accept.
const mostQueries = 1000

// judgeAnswers wants the answers of all questions, in their order.
func (a Answers) judgeAnswers(ps *schema.Problems) {
	want := 0
	for _, q := range a.Asked {
		want += q.answers()
	}
	if len(a.List) != want {
		ps.Add("answers", fmt.Sprintf("a list of %d", len(a.List)), fmt.Sprintf("%d, as many as the questions have", want))
		return
	}
	pos := 0
	for _, q := range a.Asked {
		for _, cell := range q.cells() {
			q.judgeAnswer(ps, fmt.Sprintf("answers[%d]", pos), a.List[pos], cell)
			pos++
		}
	}
}

// answers returns how many numbers answer a question.
func (a Resolved) answers() int {
	switch a.Ask {
	case Histogram:
		return len(a.Cells)
	case Covariance:
		return len(a.Columns) * (len(a.Columns) + 1) / 2
	}
	return 1
}

// cells returns the cells of the answers, in their order.
func (a Resolved) cells() (list []string) {
	switch a.Ask {
	case Histogram:
		return a.Cells
	case Covariance:
		for j := range a.Columns {
			for l := j; l < len(a.Columns); l++ {
				list = append(list, a.pair(j, l))
			}
		}
		return list
	}
	return []string{""}
}

// pair names a number of a covariance.
func (a Resolved) pair(j, l int) string { return a.Columns[j] + ", " + a.Columns[l] }

// judgeAnswer holds one number to what noise can have left.
func (a Resolved) judgeAnswer(ps *schema.Problems, path string, x Answer, cell string) {
	if x.Question != a.Name || x.Cell != cell {
		ps.Add(path, fmt.Sprintf("of question %q, cell %q", x.Question, x.Cell), fmt.Sprintf("of question %q, cell %q",
			a.Name,
			cell))
	}
	if math.IsNaN(x.Value) && (a.Ask != Mean || x.Note == "") {
		ps.Add(path+".value", "missing", "a number; a mean has none where no row is asked about, and its note says so")
	}
	if math.IsNaN(x.Low) != math.IsNaN(x.High) || x.Low > x.High || a.Ask != Quantile &&
		math.IsNaN(x.Low) != math.IsNaN(x.Value) {
		ps.Add(path+".low", fmt.Sprintf("%g with high: %g and value: %g", x.Low, x.High, x.Value),
			"at most high; both are there where value is, but for a quantile")
	}
	least, most := a.reach()
	for k, v := range []float64{x.Value, x.Low, x.High} {
		if v < least || v > most {
			ps.Add(path+"."+[]string{"value", "low", "high"}[k], fmt.Sprint(v), fmt.Sprintf("from %g to %g", least, most))
		}
	}
}

// reach returns the numbers between which an answer is, up to rounding.
func (a Resolved) reach() (least, most float64) {
	switch a.Ask {
	case Mean, Quantile:
		low, high := a.Bounds[0][0], a.Bounds[0][1]
		slack := float64(1e-9*(high-low)) + float64(1e-15*math.Max(math.Abs(low), math.Abs(high)))
		return low - slack, high + slack
	case Covariance:
		return -0.25, 0.25
	}
	return -1 << 63, 1 << 63
}
