package graphical

import (
	"compress/gzip"
	"encoding/csv"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"weir/internal/stattest"
	"weir/pipeline/domain"
	"weir/pipeline/pipelinetest"
	"weir/pipeline/spec"
)

// adult returns the training table of 13 columns, from WEIR_DATA.
func adult(t testing.TB) pipelinetest.Input {
	t.Helper()
	text, err := os.ReadFile("../../../examples/adult/adult.domain.yaml")
	must(t, err)
	d, err := spec.ParseDomain("adult.domain.yaml", text)
	must(t, err)
	d.Constraints = nil
	values := make([][]any, len(d.Columns))
	for _, line := range adultLines(t) {
		for j, c := range d.Columns {
			values[j] = append(values[j], cellOf(t, c, strings.TrimSpace(line[j])))
		}
	}
	for _, name := range []string{"fnlwgt", "education-num"} {
		j := d.Index(name)
		d.Columns, values = slices.Delete(d.Columns, j, j+1), slices.Delete(values, j, j+1)
	}
	return pipelinetest.Input{Header: header(d, len(values[0])), Rows: pipelinetest.Rows(d, values...)}
}

func adultLines(t testing.TB) (lines [][]string) {
	t.Helper()
	f, err := os.Open(filepath.Join(stattest.PublicData(t), "adult", "adult.data.gz"))
	must(t, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	must(t, err)
	r := csv.NewReader(z)
	r.FieldsPerRecord = -1
	all, err := r.ReadAll()
	must(t, err)
	for _, line := range all {
		if len(line) == 15 {
			lines = append(lines, line)
		}
	}
	return lines
}

func cellOf(t testing.TB, c domain.Column, text string) any {
	switch {
	case text == "?":
		return nil
	case c.Type.Coded():
		return text
	}
	n, err := strconv.Atoi(text)
	must(t, err)
	return n
}
