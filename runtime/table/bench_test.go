package table

import (
	"bytes"
	"context"
	"io"
	"io/fs"
	"runtime"
	"testing"
	"testing/fstest"
	"time"

	"github.com/apache/arrow/go/v15/arrow"

	"weir/pipeline"
	"weir/pipeline/domain"
)

// repeated is a file that is its head and then body again and again, so that
// benchmarks can read any number of rows without holding them.
type repeated struct {
	head, body []byte
	times      int
}

func (r repeated) Open(name string) (fs.File, error) {
	return &repeatedFile{repeated: r, rest: r.head}, nil
}

type repeatedFile struct {
	repeated
	rest []byte
}

func (f *repeatedFile) Read(p []byte) (int, error) {
	if len(f.rest) == 0 {
		if f.times == 0 {
			return 0, io.EOF
		}
		f.times--
		f.rest = f.body
	}
	n := copy(p, f.rest)
	f.rest = f.rest[n:]
	return n, nil
}
func (f *repeatedFile) Close() error               { return nil }
func (f *repeatedFile) Stat() (fs.FileInfo, error) { return nil, fs.ErrInvalid }

// sample returns a small file in the form of the Cardio data, and its domain.
func sample(t testing.TB, rows int) (head, body []byte, d *domain.Domain) {
	d = exampleDomain(t, "cardio/cardio.domain.yaml")
	var b bytes.Buffer
	lines := []string{
		"18393;2;168;62.0;110;80;1;1;0;0;1;0\n", "20228;1;156;85.0;140;90;3;1;0;0;1;1\n",
		"18857;1;165;64.3;130;70;3;1;0;0;0;1\n", "17623;2;169;;-150;1000;1;2;1;1;1;1\n",
	}
	for i := range rows {
		b.WriteString([]string{"0;", "17;", "4242;", "99999;"}[i%4])
		b.WriteString(lines[i%4])
	}
	return []byte("id;age;gender;height;weight;ap_hi;ap_lo;cholesterol;gluc;smoke;alco;active;cardio\n"), b.Bytes(), d
}

func drain(t testing.TB, table pipeline.Table) (rows int64) {
	for r, err := range table.Open(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		rows += r.NumRows()
	}
	return rows
}

// BenchmarkReadCSV reports rows a second with one parser (one core parses,
// another reads) and the growth of the heap between a small and a large file.
func BenchmarkReadCSV(b *testing.B) {
	head, body, d := sample(b, 10_000)
	for _, workers := range []int{1, 2} {
		b.Run(map[int]string{1: "1 parser", 2: "2 parsers"}[workers], func(b *testing.B) {
			rows, begin := int64(0), time.Now()
			for b.Loop() {
				table, err := openWith(repeated{head, body, 100}, "x.csv", &pipeline.CSV{Delimiter: ";"}, d,
					options{Workers: workers})
				if err != nil {
					b.Fatal(err)
				}
				rows += drain(b, table)
			}
			b.ReportMetric(float64(rows)/time.Since(begin).Seconds(), "rows/s")
			b.SetBytes(int64(len(body)) * 100)
		})
	}
}

// BenchmarkReadParquet reads what WriteParquet wrote.
func BenchmarkReadParquet(b *testing.B) {
	head, body, d := sample(b, 10_000)
	table, err := Open(repeated{head, body, 50}, "x.csv", &pipeline.CSV{Delimiter: ";"}, d)
	if err != nil {
		b.Fatal(err)
	}
	var out bytes.Buffer
	if err := writeParquet(context.Background(), &out, table); err != nil {
		b.Fatal(err)
	}
	files := fstest.MapFS{"x.parquet": {Data: out.Bytes()}}
	rows, begin := int64(0), time.Now()
	for b.Loop() {
		table, err := Open(files, "x.parquet", nil, d)
		if err != nil {
			b.Fatal(err)
		}
		rows += drain(b, table)
	}
	b.ReportMetric(float64(rows)/time.Since(begin).Seconds(), "rows/s")
}

// BenchmarkTenMillion takes ten million rows from CSV to Parquet and to CSV and
// reports the peak of the heap.
func BenchmarkTenMillion(b *testing.B) {
	head, body, d := sample(b, 10_000)
	for _, form := range []string{"parquet", "csv"} {
		b.Run(form, func(b *testing.B) {
			rows, peak, begin := int64(0), uint64(0), time.Now()
			for b.Loop() {
				table, err := Open(repeated{head, body, 1000}, "x.csv", &pipeline.CSV{Delimiter: ";"}, d)
				if err != nil {
					b.Fatal(err)
				}
				watched := table.Map(table.Header, peakWatcher(&rows, &peak))
				if form == "csv" {
					err = writeText(context.Background(), io.Discard, watched, &pipeline.CSV{Delimiter: ";"})
				} else {
					err = writeParquet(context.Background(), io.Discard, watched)
				}
				if err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(rows)/time.Since(begin).Seconds(), "rows/s")
			b.ReportMetric(float64(peak)/(1<<20), "peak-MiB")
			runtime.GC()
		})
	}
}

func peakWatcher(rows *int64, peak *uint64) func(arrow.Record) (arrow.Record, error) {
	return func(r arrow.Record) (arrow.Record, error) {
		*rows += r.NumRows()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		*peak = max(*peak, m.HeapInuse)
		return r, nil
	}
}
