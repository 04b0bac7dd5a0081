package dataset

import (
	"compress/gzip"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"weir/pipeline/domain"
	"weir/privacy/noise"
	"weir/runtime/table"
)

// bench is a folder of data and a folder of runs.
type bench struct {
	*testing.T
	dir, out string
	random   io.Reader
}

func newBench(t *testing.T) *bench {
	return &bench{t, t.TempDir(), filepath.Join(t.TempDir(), "runs"), rand.NewChaCha8([32]byte{1})}
}

func (b *bench) path(name string) string { return filepath.Join(b.dir, name) }

func (b *bench) write(name, text string) string {
	b.Helper()
	if err := os.WriteFile(b.path(name), []byte(text), 0o644); err != nil {
		b.Fatal(err)
	}
	return b.path(name)
}

func (b *bench) gzip(name, text string) {
	b.Helper()
	var s strings.Builder
	z := gzip.NewWriter(&s)
	io.WriteString(z, text)
	z.Close()
	b.write(name, s.String())
}

// files opens files by path.
type files struct{}

func (files) Open(name string) (fs.File, error) { return os.Open(name) }

func columns() *domain.Domain {
	return &domain.Domain{Columns: []domain.Column{
		{Name: "age", Type: domain.Integer, Nullable: true},
		{Name: "weight", Type: domain.Numeric, Nullable: true},
		{Name: "grade", Type: domain.Categorical, Categories: []string{"1", "2", "3"}, Nullable: true},
		{Name: "name", Type: domain.Text, Nullable: true},
	}}
}

func clock() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }

func (b *bench) opening(name, version string) Opening {
	b.Helper()
	path := b.path(name)
	t, err := table.Open(files{}, path, nil, columns())
	if err != nil {
		b.Fatal(err)
	}
	digest, err := table.Digest(context.Background(), files{}, path)
	if err != nil {
		b.Fatal(err)
	}
	return Opening{Out: b.out, Path: path, Version: version, Digest: digest, Rows: t, Clock: clock, Random: b.random}
}

func (b *bench) try(name, version string) (*Identity, error) {
	b.Helper()
	return Identify(context.Background(), b.opening(name, version))
}

func (b *bench) identify(name, version string) *Identity {
	b.Helper()
	id, err := b.try(name, version)
	if err != nil {
		b.Fatal(err)
	}
	return id
}

// people returns a table of rows from to to, each a person of its own.
func people(from, to int) string {
	return "age,weight,grade,name\n" + strings.Join(lines(from, to), "")
}

func lines(from, to int) []string {
	var all []string
	for i := from; i < to; i++ {
		all = append(all, fmt.Sprintf("%d,%g,%d,p%d\n", 20+i%60, float64(i)*0.25, 1+i%3, i))
	}
	return all
}

func shuffled(from, to int) string {
	all := lines(from, to)
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return "age,weight,grade,name\n" + strings.Join(all, "")
}

func testKey(name string) noise.Key { return noise.Key(sha256.Sum256([]byte(name))) }

func mustContain(t *testing.T, err error, words ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("no error, must be one with %q", words)
		return
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("error is %q, must contain %q", err, w)
		}
	}
}
