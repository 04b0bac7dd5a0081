package table

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"weir/internal/stattest"
)

// arrowCorpus are the files and streams that testdata/arrow/make.py wrote.
func arrowCorpus(t testing.TB) (fstest.MapFS, []string) {
	t.Helper()
	return filesOf(t, "testdata/arrow/*.arrow*", 45)
}

// TestArrowOfOthers compares every cell of every file and stream with rows.csv, which
// holds what make.py wrote.
func TestArrowOfOthers(t *testing.T) {
	files, names := arrowCorpus(t)
	text, err := os.ReadFile("testdata/parquet/rows.csv")
	if err != nil {
		t.Fatal(err)
	}
	files["rows.csv"] = &fstest.MapFile{Data: text}
	expected, err := Open(files, "rows.csv", nil, corpusDomain())
	if err != nil {
		t.Fatal(err)
	}
	all := cellsOf(t, expected)
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			want := all[:300]
			if strings.Contains(name, "-zero") {
				want = nil
			}
			table, err := Open(files, name, nil, corpusDomain())
			if err != nil {
				t.Fatal(err)
			}
			got := cellsOf(t, table)
			if len(got) != len(want) {
				t.Fatalf("%d rows, must be %d", len(got), len(want))
			}
			for i := range got {
				if got[i] != want[i] {
					t.Fatalf("row %d is %s, must be %s", i, got[i], want[i])
				}
			}
		})
	}
}

// TestArrowRowsAreCounted: a footer that lists fewer batches, or other bytes, is never
// a shorter table. An ordinary run changes every 23rd byte, which no field of four or eight has as its period.
func TestArrowRowsAreCounted(t *testing.T) {
	files, _ := arrowCorpus(t)
	for _, name := range []string{"polars-batches.arrow", "polars.arrow", "pyarrow-batches.arrow", "polars-batches.arrows"} {
		data := files[name].Data
		for at := 0; at < len(data); at += stattest.Rounds(23, 5) {
			changed := bytes.Clone(data)
			changed[at] ^= 0x15
			rows, err := rowsRead(inMemory(changed))
			if err == nil && rows != 300 {
				t.Errorf("%s: byte %d: %d rows and no error, must be 300", name, at, rows)
			}
		}
	}
}

// TestFooterWithoutBlocks: what a footer does not list is not lost, whether the schema
// at the front is a message or bare.
func TestFooterWithoutBlocks(t *testing.T) {
	files, _ := arrowCorpus(t)
	for _, name := range []string{"polars.arrow", "polars-zstd.arrow", "pyarrow-plain.arrow"} {
		data := bytes.Clone(files[name].Data)
		footer, err := footerOf(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		from, n, err := rootOf(footer).structs(footerBatches, 24)
		if err != nil || n != 1 {
			t.Fatal(n, err)
		}
		at := len(data) - int(tailBytes) - len(footer) + from - 4
		copy(data[at:], []byte{0, 0, 0, 0}) // the number of blocks
		if rows, err := rowsRead(inMemory(data)); err == nil || !strings.Contains(err.Error(), "does not list all") {
			t.Errorf("%s: %d rows, %v; must say that the footer does not list all", name, rows, err)
		}
	}
}
