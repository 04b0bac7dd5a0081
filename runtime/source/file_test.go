package source

import (
	"fmt"
	"strings"
	"testing"

	"weir/pipeline"
	"weir/schema"
)

// TestAddressesAreNoPaths holds what people paste where a file is asked for: an address is refused without a word of
// it, a path with an equals sign in it is a path.
func TestAddressesAreNoPaths(t *testing.T) {
	for _, c := range []struct {
		text              string
		address, password bool
	}{
		{"postgres://u:secret@h/db", true, true},
		{"postgres://h/db", true, false},
		{"jdbc:hive2://h:10000/secret", true, false},
		{"host=h password=secret", true, true},
		{"host = h\tPassword = 'secret'", true, true},
		{"dbname=d user=u", true, false},
		{"password=secret", true, false},
		{"Server=h;Uid=u;Pwd=secret;", true, true},
		{"jdbc:postgresql://h/d?user=u&password=secret", true, true},
		{"jdbc:postgresql://h/d?password=secret", true, true},
		{"jdbc:spark://h;PWD=secret", true, true},
		{"--set=dataset.domain='host=h password=secret'", true, true},
		{`{"host=h", "password=secret"}`, true, true},
		{"--set=dataset.file=host=h password=secret", true, true},
		{"user=3/rows.csv", false, false},
		{"year=2020/rows.csv", false, false},
		{"data/my host=h.csv", false, false},
		{"ghost=h crossword=x.csv", false, false},
		{"https://example.org/about me@example.org", true, false},
		{"C:/tables/rows.csv", false, false},
	} {
		if got := IsAddress(c.text); got != c.address {
			t.Errorf("%q is an address: %v, want %v", c.text, got, c.address)
		}
		if got := HoldsPassword(c.text); got != c.password {
			t.Errorf("%q holds a password: %v, want %v", c.text, got, c.password)
		}
		_, err := (&File{File: c.text}).Declare(pipeline.Declaring{})
		if refused := err != nil; refused != c.address || refused && strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v", c.text, err)
		}
		for _, read := range []Reader{{Parquet: c.text}, {CSV: c.text}, {Database: c.text, Table: "t"},
			{SQLite: c.text, Table: "t"}} {
			var ps schema.Problems
			s := duckDB{&DatabaseTable{Read: &read, Rows: "may_leave"}}
			d := s.declare(&ps, pipeline.Declaring{})
			text := fmt.Sprint(ps.Err(), d)
			if refused := strings.Contains(text, "is an address"); refused != c.address ||
				refused && strings.Contains(text, "secret") {
				t.Errorf("%+v: %s", read, text)
			}
		}
	}
}
