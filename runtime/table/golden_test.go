package table

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/apache/arrow/go/v15/arrow/array"

	"weir/internal/stattest"
	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/pipeline/spec"
)

// dataFolder returns the folder of public datasets.
func dataFolder(t testing.TB) FS {
	t.Helper()
	return os.DirFS(stattest.PublicData(t))
}

func exampleDomain(t testing.TB, path string) *domain.Domain {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "examples", path))
	if err != nil {
		t.Fatal(err)
	}
	d, err := spec.ParseDomain(path, data)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// summary is what the datasets' README states of each file.
type summary struct {
	rows  int64
	nulls map[string]int
	code  map[string]map[string]int // column, category: count
	sums  map[string]float64
}

func summarise(t testing.TB, table pipeline.Table) summary {
	t.Helper()
	s := summary{nulls: map[string]int{}, code: map[string]map[string]int{}, sums: map[string]float64{}}
	for r, err := range table.Open(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		s.rows += r.NumRows()
		for i, c := range table.Domain.Columns {
			s.nulls[c.Name] += r.Column(i).NullN()
			if s.code[c.Name] == nil {
				s.code[c.Name] = map[string]int{}
			}
			for j := range int(r.NumRows()) {
				if r.Column(i).IsNull(j) {
					continue
				}
				switch a := r.Column(i).(type) {
				case *array.Int32:
					s.code[c.Name][c.Categories[a.Value(j)]]++
				case *array.Int64:
					s.sums[c.Name] += float64(a.Value(j))
				case *array.Float64:
					s.sums[c.Name] += a.Value(j)
				}
			}
		}
	}
	return s
}

func TestGoldenCardio(t *testing.T) {
	table, err := Open(dataFolder(t), "cardio/cardio_train.csv.gz", &pipeline.CSV{Delimiter: ";"},
		exampleDomain(t, "cardio/cardio.domain.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	s := summarise(t, table)
	// data/README.md, section cardio.
	if s.rows != 70000 || s.code["cardio"]["0"] != 35021 || s.code["cardio"]["1"] != 34979 ||
		s.code["gender"]["1"] != 45530 || s.code["gender"]["2"] != 24470 {
		t.Errorf("%d rows, cardio %v, gender %v", s.rows, s.code["cardio"], s.code["gender"])
	}
	for name, n := range s.nulls {
		if n != 0 {
			t.Errorf("%s: %d missing, must be none", name, n)
		}
	}
}

func TestGoldenAdult(t *testing.T) {
	no := false
	d := exampleDomain(t, "adult/adult.domain.yaml")
	// Counts of data/README.md, section adult.
	for _, c := range []struct {
		file           string
		csv            pipeline.CSV
		rows           int64
		poor, rich     int
		work, job, nat int
	}{
		{"adult/adult.data.gz", pipeline.CSV{Delimiter: ", ", Header: &no}, 32561, 24720, 7841, 1836, 1843, 583},
		{"adult/adult.test.gz", pipeline.CSV{Trim: true, Header: &no, Comment: "|", StripSuffix: "."}, 16281, 12435, 3846,
			963, 966, 274},
	} {
		table, err := Open(dataFolder(t), c.file, &c.csv, d)
		if err != nil {
			t.Fatal(err)
		}
		s := summarise(t, table)
		if s.rows != c.rows || s.code["income"]["<=50K"] != c.poor || s.code["income"][">50K"] != c.rich ||
			s.nulls["workclass"] != c.work || s.nulls["occupation"] != c.job || s.nulls["native-country"] != c.nat {
			t.Errorf("%s: %d rows, income %v, missing %v", c.file, s.rows, s.code["income"], s.nulls)
		}
	}
}

func TestGoldenDigest(t *testing.T) {
	// The sha256 of the uncompressed contents in data/README.md.
	for file, want := range map[string]string{
		"adult/adult.data.gz":                              "sha256:5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d",
		"cardio/cardio_train.csv.gz":                       "sha256:21a705d23381b0dfd6a6416da701b490744f1fc3b47e9ff3db3968c420ffa10c",
		"cervical_cancer/risk_factors_cervical_cancer.csv": "sha256:8df193ad5c9ff4288fb4c401eef70dcd2cbda404ce7f82ac74c68cfc960ab063",
	} {
		got, err := Digest(context.Background(), dataFolder(t), file)
		if err != nil || got != want {
			t.Errorf("%s: %s %v, must be %s", file, got, err, want)
		}
	}
}
