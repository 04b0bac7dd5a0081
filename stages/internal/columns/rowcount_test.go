package columns

import (
	"strings"
	"testing"

	"weir/pipeline"
)

func read(t testing.TB, text string) (RowCount, error) {
	t.Helper()
	return ReadRowCount(t.Context(), pipeline.WriteFiles(pipeline.Header{},
		[]pipeline.File{{Name: "rows" + "." + RowCountFile, Data: []byte(text)}}))
}

// TestCountsAreJudged: what is written is read; what no stage can have written is an error that
// names it, all of it at once.
func TestCountsAreJudged(t *testing.T) {
	want := RowCount{Rows: 4000, Deviation: 1.5, Source: "stage rows of a run"}
	table, err := WriteRowCount(pipeline.Header{}, "rows", want)
	if err != nil {
		t.Fatal(err)
	}
	if c, err := ReadRowCount(t.Context(), table); err != nil || c != want {
		t.Errorf("%+v, %v; must be %+v", c, err, want)
	}
	for text, want := range map[string][]string{
		"rows: -5\ndeviation: -1\nsource: x\n": {"rows.count.yaml: rows: is -5, must be from 0 to",
			"deviation: is -1, must be at least 0"},
		"rows: 5\ndeviation: 1e300\nsource: x\n": {"deviation: is 1e+300"},
		"rows: five\n":                           {"rows.count.yaml"},
		"more: 5\n":                              {"more"},
	} {
		_, err := read(t, text)
		for _, w := range want {
			if err == nil || !strings.Contains(err.Error(), w) {
				t.Errorf("%q: error %v, must say %s", text, err, w)
			}
		}
	}
}

// FuzzRead: any text is an error or a count that a stage can have written.
func FuzzRead(f *testing.F) {
	f.Add("rows: 4000\ndeviation: 1.5\nsource: stage rows of a run\n")
	f.Add("rows: -1\ndeviation: .nan\n")
	f.Fuzz(func(t *testing.T, text string) {
		if c, err := read(t, text); err == nil && !(c.Rows >= 0 && c.Deviation >= 0) {
			t.Errorf("%+v is read", c)
		}
	})
}
