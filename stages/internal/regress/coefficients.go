package regress

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

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
	secret = ".NOT-PRIVATE" // noise came from a seed

	normal95 = 1.959963984540054 // the .975 quantile of the standard normal law
)

// Coefficients are those of plain columns, and their covariance.
func (m *Model) Coefficients(b Belief) (list []Coefficient, covariance [][]float64) {
	d := m.Design()
	b = b.through(d.plain())
	for j, v := range b.mean {
		se := math.Sqrt(b.covariance[j][j])
		half := float64(normal95 * se)
		list = append(list, Coefficient{d.terms[j], v, se, math.Sqrt(b.silent[j][j]), v - half, v + half})
	}
	return list, b.covariance
}

// Header is that of the coefficients of a table of header h.
func Header(h pipeline.Header) pipeline.Header {
	return pipeline.Header{Form: pipeline.FormAnswers, Schema: pipeline.FilesSchema(), Class: pipeline.Released, Terms: h.Terms}
}

// Port is the output of a kind that releases coefficients.
func Port() []pipeline.Port {
	return []pipeline.Port{{Name: "out", Form: pipeline.FormAnswers, Doc: "The coefficients with standard errors and 95 % intervals, as a CSV table and as JSON."}}
}

// Write is the artifact: a table for people, and all of it for programs.
func (r Released) Write(h pipeline.Header, insecure bool) (pipeline.Table, error) {
	r.Format = format
	whole, err := json.Marshal(r)
	if err != nil {
		return pipeline.Table{}, err
	}
	name := r.Stage + suffix
	if insecure {
		name += secret
	}
	return pipeline.WriteFiles(h, []pipeline.File{{Name: name + ".csv", Data: r.csv()}, {Name: name + ".json", Data: whole}}), nil
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

// Read returns the coefficients of an artifact; false where it holds other answers.
func Read(ctx context.Context, t pipeline.Table) (r Released, is bool, err error) {
	files, err := pipeline.ReadFiles(ctx, t)
	if err != nil || len(files) != 2 || !strings.HasSuffix(strings.TrimSuffix(files[1].Name, ".json"), suffix) &&
		!strings.HasSuffix(files[1].Name, suffix+secret+".json") {
		return r, false, err
	}
	if err := json.Unmarshal(files[1].Data, &r); err != nil {
		return r, true, fmt.Errorf("%s: %w", files[1].Name, err)
	}
	if r.Format != format || len(r.Coefficients) != r.Model.Design().Terms() {
		return r, true, fmt.Errorf("%s: is of format %d with %d coefficients, must be of %d with one for each term", files[1].Name, r.Format, len(r.Coefficients), format)
	}
	r.Stage, _, _ = strings.Cut(files[1].Name, suffix)
	return r, true, nil
}
