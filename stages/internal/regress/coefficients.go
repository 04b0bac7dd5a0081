package regress

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"math"
	"strconv"

	"weir/pipeline"
)

// Released is the artifact of a regression; its JSON is canonical: fields in this order,
// numbers as short as they can be read back. Coefficients are those of plain columns: of
// a number by its own unit, of a category against the first one. The law of all of them is
// normal with Covariance.
type Released struct {
	Stage        string        `json:"-"`
	Format       int           `json:"format"`
	Queries      int           `json:"queries"` // the budget was for so many such stages, of which this is one
	Steps        int           `json:"steps"`
	Model        Model         `json:"model"`
	Coefficients []Coefficient `json:"coefficients"`
	Covariance   [][]float64   `json:"covariance"`
}

// Coefficient has the standard deviation of its law, that without the noise of privacy, and
// the interval that holds 95 % of it.
type Coefficient struct {
	term
	Estimate float64 `json:"estimate"`
	SE       float64 `json:"se"`
	Silent   float64 `json:"se_without_noise"`
	Low      float64 `json:"low"`
	High     float64 `json:"high"`
}

const (
	format = 1
	suffix = ".coefficients"

	normal95 = 1.959963984540054 // the .975 quantile of the standard normal law
)

// Coefficients are those of plain columns, and their covariance.
func (m *Model) Coefficients(b Belief) (list []Coefficient, covariance [][]float64) {
	d := m.Design()
	b = b.through(d.plain())
	for j, v := range b.mean {
		se := deviation(b.covariance[j][j])
		half := float64(normal95 * se)
		list = append(list, Coefficient{d.terms[j], v, se, deviation(b.silent[j][j]), v - half, v + half})
	}
	return list, b.covariance
}

// deviation is the root of a variance. One that rounding takes below 0 must not end a run: what
// it is of, and by how much, is up to the rows.
func deviation(variance float64) float64 { return math.Sqrt(math.Max(variance, 0)) }

// Header is that of the coefficients of a table of header h.
func Header(h pipeline.Header) pipeline.Header {
	return pipeline.Header{Form: pipeline.FormAnswers, Schema: pipeline.FilesSchema(), Class: pipeline.Released, Terms: h.Terms}
}

// Port is the output of a kind that releases coefficients.
func Port() []pipeline.Port {
	return []pipeline.Port{{Name: "out", Form: pipeline.FormAnswers, Doc: "The coefficients with standard errors and 95 % intervals, as a CSV table and as JSON."}}
}

// Write is the artifact: a table for people, and all of it for programs.
func (r Released) Write(h pipeline.Header) (pipeline.Table, error) {
	files, err := r.files()
	if err != nil {
		return pipeline.Table{}, err
	}
	return pipeline.WriteFiles(h, files), nil
}

func (r Released) files() ([]pipeline.File, error) {
	r.Format = format
	whole, err := json.Marshal(r)
	return []pipeline.File{{Name: r.Stage + suffix + ".csv", Data: r.csv()}, {Name: r.Stage + suffix + ".json", Data: whole}}, err
}

func (r Released) csv() []byte {
	rows := [][]string{{"column", "category", "estimate", "se", "se_without_noise", "low", "high"}}
	for _, c := range r.Coefficients {
		row := []string{c.Column, c.Category}
		if c.Column == "" {
			row[0] = "(intercept)"
		}
		for _, v := range []float64{c.Estimate, c.SE, c.Silent, c.Low, c.High} {
			row = append(row, strconv.FormatFloat(v, 'g', -1, 64))
		}
		rows = append(rows, row)
	}
	var to bytes.Buffer
	if err := csv.NewWriter(&to).WriteAll(rows); err != nil {
		panic(err) // to memory
	}
	return to.Bytes()
}
