package runtime

import (
	"bytes"
	"context"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet/file"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"

	"weir/internal/disk"
	"weir/record/sweep"
)

func smallSweep() *sweep.Table {
	one := 0.99975
	e := sweep.Experiment{Name: "study", Grid: []string{"privacy.epsilon"}}
	for r := range 2 {
		e.Runs = append(e.Runs, sweep.Run{ID: "r", Repeat: r + 1, Seed: math.MaxUint64, Proven: &one, Delta: 1e-6,
			Settings: map[string]string{"privacy.epsilon": "1"}, Metrics: map[string]float64{"u.a": float64(r)}})
	}
	delete(e.Runs[1].Metrics, "u.a")
	return sweep.Of(e)
}

// TestSweepFiles: Parquet and CSV have the same cells, and what is missing is null there and empty here.
func TestSweepFiles(t *testing.T) {
	dir, err := WriteSweep(context.Background(), disk.Disk{}, t.TempDir(), smallSweep(), time.Date(2026, 11, 22, 1, 2, 3, 0, time.UTC), []byte("page"))
	if err != nil || !strings.HasPrefix(filepath.Base(dir), "20261122-010203-") || filepath.Base(filepath.Dir(dir)) != SweepsDir {
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
	r, err := pqarrow.NewFileReader(f, pqarrow.ArrowReadProperties{}, memory.DefaultAllocator)
	if err != nil {
		t.Fatal(err)
	}
	read, err := r.ReadTable(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	value := read.Column(8).Data().Chunk(0).(*array.Float64)
	repeat := read.Column(1).Data().Chunk(0).(*array.Int64)
	if read.NumRows() != 2 || value.IsNull(0) || value.Value(0) != 0 || value.IsValid(1) || repeat.Value(1) != 2 || read.Column(4).Data().Chunk(0).NullN() != 2 {
		t.Errorf("runs.parquet holds %v", read)
	}
}

// TestSweepIDs: the same runs have one folder, others another.
func TestSweepIDs(t *testing.T) {
	began := time.Date(2026, 11, 22, 1, 2, 3, 0, time.UTC)
	other := smallSweep()
	other.Runs[0].ID = "s"
	if one := sweepID(smallSweep(), began); one != sweepID(smallSweep(), began) || one == sweepID(other, began) {
		t.Error("the id does not follow the runs")
	}
}
