package experiment

import (
	"bytes"
	"context"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/parquet/file"

	"weir/internal/disk"
	"weir/runtime"
)

func smallTable() *Table {
	one := 0.99975
	e := Experiment{Name: "study", Grid: []string{"privacy.epsilon"}}
	for r := range 2 {
		e.Runs = append(e.Runs, RunRow{ID: "r", Repeat: r + 1, Seed: math.MaxUint64, Proven: &one, Delta: 1e-6,
			Settings: map[string]string{"privacy.epsilon": "1"}, Metrics: map[string]float64{"u.a": float64(r)}})
	}
	delete(e.Runs[1].Metrics, "u.a")
	return Tabulate(e)
}

// TestSweepFiles: Parquet and CSV have the same cells, and what is missing is null there and empty here.
func TestSweepFiles(t *testing.T) {
	dir, err := smallTable().Write(context.Background(), disk.Disk{}, t.TempDir(), time.Date(2026, 11, 22, 1, 2, 3, 0,
		time.UTC))
	if err != nil || !strings.HasPrefix(filepath.Base(dir), "20261122-010203-") || filepath.Base(filepath.Dir(dir)) !=
		runtime.ExperimentsDir {
		t.Fatal(dir, err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "runs.csv"))
	want := "privacy.epsilon,repeat,public_seed,run,epsilon_published,epsilon_proven,delta,metric,value\n" +
		"1,1,18446744073709551615,r,,0.99975,1e-06,u.a,0\n1,2,18446744073709551615,r,,0.99975,1e-06,u.a,\n"
	if err != nil || string(text) != want {
		t.Errorf("runs.csv is\n%s, must be\n%s", text, want)
	}
	data, err := os.ReadFile(filepath.Join(dir, "runs.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	f, err := file.NewParquetReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	group := f.RowGroup(0)
	repeats, values := make([]int64, 2), make([]float64, 2)
	levels := make([]int16, 2)
	if n, _, err := chunk[*file.Int64ColumnChunkReader](t, group, 1).ReadBatch(2, repeats, levels, nil); n != 2 ||
		err != nil || repeats[1] != 2 {
		t.Errorf("repeats are %v, levels %v (%v)", repeats, levels, err)
	}
	if n, there, err := chunk[*file.Float64ColumnChunkReader](t, group, 8).ReadBatch(2, values, levels, nil); n != 2 ||
		there != 1 || err != nil || values[0] != 0 || levels[1] != 0 {
		t.Errorf("values are %v, levels %v (%v)", values, levels, err)
	}
	if _, there, err := chunk[*file.Float64ColumnChunkReader](t, group, 4).ReadBatch(2, values, levels,
		nil); f.NumRows() != 2 || there != 0 || err != nil {
		t.Errorf("%d rows, %d of column 4 there (%v)", f.NumRows(), there, err)
	}
}

// chunk returns a column of a row group as the reader of its type.
func chunk[T file.ColumnChunkReader](t *testing.T, g *file.RowGroupReader, i int) T {
	c, err := g.Column(i)
	if err != nil {
		t.Fatal(err)
	}
	return c.(T)
}

// TestSweepIDs: the same runs have one folder, others another.
func TestSweepIDs(t *testing.T) {
	began := time.Date(2026, 11, 22, 1, 2, 3, 0, time.UTC)
	other := smallTable()
	other.Runs[0].ID = "s"
	if one := tableID(smallTable(), began); one != tableID(smallTable(), began) || one == tableID(other, began) {
		t.Error("the id does not follow the runs")
	}
}
