package ask

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"math"

	"weir/pipeline"
)

// Answers are what a stage released: questions, and their answers in the order of the
// questions.
type Answers struct {
	Stage string // that answered
	Kind  string // of the stage
	Of    int    // the budget was for so many such stages, of which this is one
	Asked []Asked
	List  []Answer
}

// format is that of the artifact.
const format = 1

// written is the artifact's JSON; numbers that are not known are absent.
type written struct {
	Format    int       `json:"format"`
	Kind      string    `json:"kind"`
	Of        int       `json:"queries"`
	Questions []Asked   `json:"questions"`
	Answers   []numbers `json:"answers"`
}

type numbers struct {
	Question string   `json:"question"`
	Cell     string   `json:"cell,omitempty"`
	Value    *float64 `json:"value,omitempty"`
	Low      *float64 `json:"low,omitempty"`
	High     *float64 `json:"high,omitempty"`
	Note     string   `json:"note,omitempty"`
}

// Header is that of answers to questions about a table of header h.
func Header(h pipeline.Header) pipeline.Header {
	return pipeline.Header{Form: pipeline.FormAnswers, Schema: pipeline.FilesSchema(), Class: pipeline.Released, Terms: h.Terms}
}

// Port is the output of a kind that answers questions.
func Port() []pipeline.Port {
	return []pipeline.Port{{Name: "out", Form: pipeline.FormAnswers, Doc: "The answers with 95 % intervals of the noise, as a CSV table and as JSON."}}
}

const suffix = ".answers"

// Write is the artifact of answers: a table for people, and all of it for programs.
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
	return []pipeline.File{{Name: a.Stage + suffix + ".csv", Data: a.csv()}, {Name: a.Stage + suffix + ".json", Data: whole}}, err
}

func known(x float64) *float64 {
	if math.IsNaN(x) {
		return nil
	}
	return &x
}

func (a Answers) csv() []byte {
	var to bytes.Buffer
	w := csv.NewWriter(&to)
	rows := [][]string{{"question", "cell", "value", "low", "high", "note"}}
	for _, x := range a.List {
		rows = append(rows, []string{x.Question, x.Cell, told(x.Value), told(x.Low), told(x.High), x.Note})
	}
	if err := w.WriteAll(rows); err != nil {
		panic(err) // to memory
	}
	return to.Bytes()
}

func told(x float64) string {
	if math.IsNaN(x) {
		return ""
	}
	return text(x)
}
