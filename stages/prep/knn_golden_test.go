package prep

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"

	"weir/internal/stattest"
)

type goldenRun struct {
	Neighbors int          `json:"n_neighbors"`
	Weights   string       `json:"weights"`
	Imputed   [][3]float64 `json:"imputed"`
	Cells     []struct {
		Row, Column int
		Value       *float64
		Lowest      *float64 `json:"lowest_index_first"`
	}
}

type knnGoldenCase struct {
	ID       string
	Kind     string
	Input    struct{ X, Fit [][]*float64 }
	Expected struct{ Runs []goldenRun }
	Tol      struct{ Abs, Rel float64 }
}

func transpose(rows [][]*float64) knnColumns {
	data := make(knnColumns, len(rows[0]))
	for c := range data {
		data[c] = make([]float64, len(rows))
		for r := range rows {
			data[c][r] = math.NaN()
			if v := rows[r][c]; v != nil {
				data[c][r] = *v
			}
		}
	}
	return data
}

// TestGoldenKNN: every case of preprocess_knn.json: values of scikit-learn 1.2.1, and for
// ties and donors without distance the rule that testdata/golden/METRICS.md section 3 recommends.
func TestGoldenKNN(t *testing.T) {
	var file struct{ Cases []knnGoldenCase }
	stattest.LoadGolden(t, "preprocess_knn.json", &file)
	checkCases(t, file.Cases)
}

// TestKNNCases: the cases that a clone without the folder has.
func TestKNNCases(t *testing.T) {
	var file struct{ Cases []knnGoldenCase }
	text, err := os.ReadFile(filepath.Join("testdata", "knn.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	checkCases(t, file.Cases)
}

func checkCases(t *testing.T, cases []knnGoldenCase) {
	if len(cases) == 0 {
		t.Error("no cases")
	}
	for _, c := range cases {
		for _, run := range c.Expected.Runs {
			want := wanted(t, c, run)
			for _, trees := range []int{1, 24} { // with and without trees of few rows
				got := impute(t, c, run, trees)
				for cell, w := range want {
					g, ok := got[cell]
					if !ok || math.Abs(g-w) > c.Tol.Abs+c.Tol.Rel*math.Abs(w) {
						t.Errorf("%s: k %d, %s: cell %v is %v (imputed: %t), want %v", c.ID, run.Neighbors, run.Weights, cell, g, ok, w)
					}
				}
			}
		}
	}
}

// wanted lists the cells that have one right answer; files leave out those that depend on ties.
func wanted(t *testing.T, c knnGoldenCase, run goldenRun) map[[2]int]float64 {
	want := map[[2]int]float64{}
	for _, v := range run.Imputed {
		want[[2]int{int(v[0]), int(v[1])}] = v[2]
	}
	for _, v := range run.Cells {
		switch {
		case v.Lowest != nil:
			want[[2]int{v.Row, v.Column}] = *v.Lowest
		case v.Value != nil:
			want[[2]int{v.Row, v.Column}] = *v.Value
		}
	}
	switch c.Kind {
	case "knn_impute", "knn_impute_ties", "knn_impute_version_sensitive":
	default:
		t.Errorf("%s: nobody handles the kind %s", c.ID, c.Kind)
	}
	if len(want) != len(run.Imputed)+len(run.Cells) {
		t.Errorf("%s: %d of %d cells have a value to compare with", c.ID, len(want), len(run.Imputed)+len(run.Cells))
	}
	return want
}

func impute(t *testing.T, c knnGoldenCase, run goldenRun, trees int) map[[2]int]float64 {
	data := transpose(c.Input.X)
	donors := data
	if c.Input.Fit != nil {
		donors = transpose(c.Input.Fit)
	}
	x := newKNNIndex(donors, nil, knnOptions{Neighbors: run.Neighbors, ByDistance: run.Weights == "distance", LeafRows: 2,
		TreeRows: trees})
	cells, err := x.Fill(context.Background(), data, nil, allColumns(len(data)), 2)
	if err != nil {
		t.Fatal(err)
	}
	got := map[[2]int]float64{}
	for _, cell := range cells {
		got[[2]int{int(cell.Row), cell.Column}] = cell.Value
	}
	return got
}
