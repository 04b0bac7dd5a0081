package tailored

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"math"
	"strconv"

	"weir/pipeline"
)

// fitted is the artifact of a regression; its JSON is canonical: fields in this order,
// numbers as short as they can be read back. Coefficients are those of plain columns: of
// a number by its own unit, of a category against the first one. The law of all of them is
// normal with Covariance.
type fitted struct {
	Format         int           `json:"format"`
	Kind           string        `json:"kind"`
	Target         string        `json:"target"`
	Positive       string        `json:"positive,omitempty"`
	Offset         string        `json:"offset,omitempty"`
	Queries        int           `json:"queries"`
	Steps          int           `json:"steps"`
	PriorDeviation float64       `json:"prior_deviation"`
	Design         []term        `json:"terms"`
	Coefficients   []coefficient `json:"coefficients"`
	Covariance     [][]float64   `json:"covariance"`
}

// coefficient has the standard deviation of its law, that without the noise of privacy, and
// the interval that holds 95 % of it.
type coefficient struct {
	Estimate float64 `json:"estimate"`
	SE       float64 `json:"se"`
	Silent   float64 `json:"se_without_noise"`
	Low      float64 `json:"low"`
	High     float64 `json:"high"`
}

const fittedFormat = 1

// normal95 is the .975 quantile of the standard normal law.
const normal95 = 1.959963984540054

// write is the artifact of a law of the design's coefficients.
func (f fitted) write(h pipeline.Header, env *pipeline.Env, d *design, b belief) (pipeline.Table, error) {
	b = b.through(d.plain())
	f.Format, f.Covariance = fittedFormat, b.covariance
	for j, v := range b.mean {
		se := math.Sqrt(b.covariance[j][j])
		half := float64(normal95 * se)
		f.Coefficients = append(f.Coefficients, coefficient{v, se, math.Sqrt(b.silent[j][j]), v - half, v + half})
	}
	whole, err := json.Marshal(f)
	if err != nil {
		return pipeline.Table{}, err
	}
	name := env.Stage + ".coefficients"
	if env.Insecure {
		name += ".NOT-PRIVATE"
	}
	return pipeline.WriteFiles(h, []pipeline.File{{Name: name + ".csv", Data: f.csv()}, {Name: name + ".json", Data: whole}}), nil
}

func (f fitted) csv() []byte {
	rows := [][]string{{"column", "category", "estimate", "se", "se_without_noise", "low", "high"}}
	for j, c := range f.Coefficients {
		row := []string{f.Design[j].Column, f.Design[j].Category}
		if j == 0 {
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
