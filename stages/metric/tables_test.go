package metric

import (
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"weir/internal/stattest"
	"weir/pipeline/domain"
	"weir/stages/internal/columns"
)

// goldenTable reads tables/NAME.csv with the schema beside it: numeric columns
// with their declared bounds, categorical ones with their declared categories.
func goldenTable(t *testing.T, name string) *columns.Frame {
	t.Helper()
	dir := filepath.Join(stattest.GoldenDir(t), "tables")
	data, err := os.ReadFile(filepath.Join(dir, "tables_schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	var schema struct {
		Columns []struct {
			Name, Type string
			Bounds     [2]float64
			Categories []string
		}
	}
	if err := json.Unmarshal(data, &schema); err != nil {
		t.Fatal(err)
	}
	records := readCSV(t, filepath.Join(dir, name+".csv"))
	f := &columns.Frame{Rows: len(records) - 1}
	for _, c := range schema.Columns {
		index := slices.Index(records[0], c.Name)
		col := columns.Column{Name: c.Name, Type: domain.ColumnType(c.Type), Categories: c.Categories}
		for _, r := range records[1:] {
			if c.Type == "numeric" {
				v, err := strconv.ParseFloat(r[index], 64)
				if err != nil {
					t.Fatal(err)
				}
				col.Numbers = append(col.Numbers, v)
			} else {
				col.Codes = append(col.Codes, int32(slices.Index(c.Categories, r[index])))
			}
		}
		if c.Type == "numeric" {
			col.Bounds = &[2]float64{c.Bounds[0], c.Bounds[1]}
		}
		f.Columns = append(f.Columns, col)
	}
	return f
}

func readCSV(t *testing.T, path string) [][]string {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	records, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return records
}

// places returns the indexes of columns by name.
func places(t *testing.T, all, names []string) []int {
	t.Helper()
	places := make([]int, len(names))
	for i, n := range names {
		if places[i] = slices.Index(all, n); places[i] < 0 {
			t.Fatalf("no column %s", n)
		}
	}
	return places
}

// splitName takes "column=category" apart.
func splitName(name string) (column, category string) {
	column, category, _ = strings.Cut(name, "=")
	return column, category
}

func contains(text, part string) bool { return strings.Contains(text, part) }

// column returns numbers as rows of one.
func column(x []float64) [][]float64 {
	rows := make([][]float64, len(x))
	for i, v := range x {
		rows[i] = []float64{v}
	}
	return rows
}

func atof(t *testing.T, text string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}
