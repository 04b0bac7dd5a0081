package learn

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"weir/internal/stattest"
)

// goldenCase is one case of a golden file; expected values are read by name.
type goldenCase struct {
	ID, Kind  string
	Params    json.RawMessage
	Input     json.RawMessage
	Expected  map[string]json.RawMessage
	Tol       tolerance
	TolFields map[string]tolerance `json:"tol_fields"`
}

type tolerance struct{ Abs, Rel float64 }

func decode[T any](t *testing.T, raw json.RawMessage) T {
	t.Helper()
	var v T
	if len(raw) > 0 {
		if err := json.Unmarshal(raw, &v); err != nil {
			t.Fatal(err)
		}
	}
	return v
}

// goldenCases returns all cases of a golden file.
func goldenCases(t *testing.T, file string) []goldenCase {
	t.Helper()
	var f struct{ Cases []goldenCase }
	stattest.LoadGolden(t, file, &f)
	return f.Cases
}

// copiedCases returns the few cases of a golden file that testdata holds.
func copiedCases(t *testing.T, file string) []goldenCase {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	return decode[struct{ Cases []goldenCase }](t, raw).Cases
}

// tablesOf returns the shared tables among the cases, by id.
func tablesOf(cases []goldenCase) map[string]json.RawMessage {
	tables := map[string]json.RawMessage{}
	for _, c := range cases {
		if c.Kind == "table" {
			tables[c.ID] = c.Input
		}
	}
	return tables
}

// checkGolden checks every case: what handle returns for its kind must hold every
// expected field that ignored does not name.
func checkGolden(t *testing.T, cases []goldenCase, handle map[string]func(*testing.T, goldenCase) map[string]any,
	ignored map[string]bool) {
	t.Helper()
	for _, c := range cases {
		if c.Kind == "table" {
			continue
		}
		f, ok := handle[c.Kind]
		if !ok {
			t.Errorf("%s: kind %q is not tested", c.ID, c.Kind)
			continue
		}
		got := f(t, c)
		for name, raw := range c.Expected {
			if ignored[name] {
				continue
			}
			if g, ok := got[name]; !ok {
				t.Errorf("%s: no value for %s", c.ID, name)
			} else if err := c.compare(name, g, raw); err != nil {
				t.Errorf("%s: %v", c.ID, err)
			}
		}
	}
}

func (c goldenCase) compare(name string, got any, raw json.RawMessage) error {
	var want, plain any
	if err := json.Unmarshal(raw, &want); err != nil {
		return err
	}
	bytes, err := json.Marshal(got)
	if err != nil {
		return fmt.Errorf("%s: %v", name, err)
	}
	if err := json.Unmarshal(bytes, &plain); err != nil {
		return err
	}
	tol := c.Tol
	if f, ok := c.TolFields[name]; ok {
		tol = f
	}
	if !near(plain, want, tol) {
		return fmt.Errorf("%s is %s, want %s", name, bytes, raw)
	}
	return nil
}

func near(got, want any, tol tolerance) bool {
	switch w := want.(type) {
	case float64:
		g, ok := got.(float64)
		return ok && math.Abs(g-w) <= tol.Abs+tol.Rel*math.Abs(w)
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(w) {
			return false
		}
		for i := range w {
			if !near(g[i], w[i], tol) {
				return false
			}
		}
		return true
	case map[string]any:
		g, ok := got.(map[string]any)
		for k := range w {
			if !ok || !near(g[k], w[k], tol) {
				return false
			}
		}
		return true
	}
	return got == want
}

// first8 returns the first eight rows of a matrix.
func first8(m Matrix) [][]float64 { return firstRows(m, 8) }

func firstRows(m Matrix, n int) [][]float64 {
	rows := make([][]float64, min(n, m.Rows))
	for i := range rows {
		rows[i] = m.Row(i, make([]float64, len(m.Cols)))
	}
	return rows
}

func wholes(x []float64) []int {
	v := make([]int, len(x))
	for i := range x {
		v[i] = int(x[i])
	}
	return v
}

// labels returns whole numbers from 0.
func labels(y []float64) Labels {
	l := Labels{Y: wholes(y)}
	for _, k := range l.Y {
		l.Classes = max(l.Classes, k+1)
	}
	return l
}

// fromRows returns the matrix of a list of rows of equal length.
func fromRows(rows [][]float64) Matrix {
	if len(rows) == 0 {
		return Matrix{}
	}
	m := NewMatrix(len(rows), len(rows[0]))
	for i, row := range rows {
		for j, v := range row {
			m.Cols[j][i] = v
		}
	}
	return m
}
