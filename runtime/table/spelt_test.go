package table

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"weir/pipeline"
	"weir/pipeline/domain"
)

// TestCellsAreSpelledAlike: 6,000 values of each column, in two batches, some of one place of spelt, some longer than
// it keeps, come out as strconv spells them, the first time and the second: 0 and -0, quotes, a list that is missing.
func TestCellsAreSpelledAlike(t *testing.T) {
	long := "more than twenty-three bytes"
	d := &domain.Domain{Columns: []domain.Column{
		{Name: "whole", Type: domain.Integer},
		{Name: "free", Type: domain.Numeric},
		{Name: "name", Type: domain.Categorical, Nullable: true, Categories: []string{"=a", `b"`, long}},
	}}
	names := []string{"'=a", `"b"""`, long, ""}
	var want strings.Builder
	want.WriteString("whole,free,name\n")
	read := strings.Builder{}
	read.WriteString("whole,free,name\n")
	for i := range 6000 {
		k := i % 3000
		x := math.Copysign(float64(k)/7, float64(1-k%2*2))
		fmt.Fprintf(&want, "%d,%s,%s\n", k*k-9, strconv.FormatFloat(x, 'f', -1, 64), names[i%4])
		fmt.Fprintf(&read, "%d,%s,%s\n", k*k-9, strconv.FormatFloat(x, 'g', -1, 64), []string{"=a", `"b"""`, long, ""}[i%4])
	}
	rows := pipeline.FromRecords(pipeline.TableHeader(d, pipeline.Header{}), reread(t, "in.csv", []byte(read.String()), nil, d))
	for _, table := range []pipeline.Table{rows, halved(t, rows)} {
		var got bytes.Buffer
		if err := (textFormat{}).Write(t.Context(), &got, "out.csv", table, Style{Spreadsheet: true}); err != nil {
			t.Fatal(err)
		}
		if got.String() != want.String() {
			at := 0
			for at < min(got.Len(), want.Len()) && got.Bytes()[at] == want.String()[at] {
				at++
			}
			t.Errorf("differs at byte %d: %.60q, must be %.60q", at, got.Bytes()[at:], want.String()[at:])
		}
	}
}

// halved is a table in two batches.
func halved(t *testing.T, table pipeline.Table) pipeline.Table {
	rec := all(t, table)
	half := rec.NumRows() / 2
	return pipeline.FromRecords(table.Header, rec.NewSlice(0, half), rec.NewSlice(half, rec.NumRows()))
}
