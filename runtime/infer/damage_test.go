package infer

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"
)

// TestDamagedFilesAreRefusedNotFatal: one damaged Parquet file in five
// ended the program, in goroutines that nobody can recover.
func TestDamagedFilesAreRefusedNotFatal(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 4))
	for name, whole := range wholeFiles(t) {
		for range 150 {
			data := bytes.Clone(whole)
			for range 1 + rng.IntN(4) {
				at := rng.IntN(len(data))
				if rng.IntN(2) == 0 { // footers and schemas lie at the end
					at = len(data) - 1 - rng.IntN(min(len(data), 2000))
				}
				data[at] = byte(rng.IntN(256))
			}
			Draft(t.Context(), fstest.MapFS{name: {Data: data}}, name, nil) // must return
			Draft(t.Context(), fstest.MapFS{name: {Data: data[:rng.IntN(len(data))]}}, name, nil)
		}
	}
}

// wholeFiles are Parquet files of others.
func wholeFiles(t *testing.T) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	for _, name := range []string{"pyarrow-snappy", "pyarrow-delta", "pyarrow-plain", "spark-zstd", "polars-gzip", "pyarrow-list"} {
		data, err := os.ReadFile(filepath.Join("../table/testdata/parquet", name+".parquet"))
		if err != nil {
			t.Fatal(err)
		}
		files[name] = data
	}
	return files
}
