package sql

import (
	"crypto/md5"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"testing"

	"weir/pipeline/relation"
)

// hashOf returns the hash of a row by its definition in Hashes: of quoted names in their order, and what cells mean.
func hashOf(names, cells string) uint64 {
	of := sha256.Sum256([]byte(names))
	sum := md5.Sum(fmt.Appendf(nil, "%x;%s", of[:8], cells))
	return binary.BigEndian.Uint64(sum[:8]) >> 4 << 4
}

// TestRowHashesInEngines: engines hash a row as it is defined, each distinct row once, and stored types, the order of
// columns and of categories change nothing; other names of columns and other cells do.
func TestRowHashesInEngines(t *testing.T) {
	const names = `"g","n","t","x"`
	var want []uint64
	for _, cells := range []string{"-;-;-;-", "2,0;-7,0;78203b;1,4503599627370496", "6f6e65;9007199254740993,0;c3bc;0,0"} {
		want = append(want, hashOf(names, cells))
	}
	slices.Sort(want)
	whole := Stored{Name: "n", Storage: Integer, Of: relation.Whole, MayMiss: true}
	text := Stored{Name: "t", Storage: Words, Of: relation.Text, MayMiss: true}
	real := Stored{Name: "x", Storage: Double, Of: relation.Real, MayMiss: true}
	texts := Stored{Name: "g", Storage: Words, Of: relation.Code, MayMiss: true, Names: []string{"one", "2"},
		Codes: map[string]int32{"one": 0, "2": 1}}
	other := Stored{Name: "g", Storage: Integer, Of: relation.Code, MayMiss: true, Names: []string{"2", "one"},
		WholeCodes: map[int64]int32{2: 0, 1: 1}}
	for _, e := range engines(t) {
		stored := func(columns []Stored, most int, rows ...string) []uint64 {
			source := "(SELECT * FROM (SELECT " + rows[0] + ") AS a"
			for _, row := range rows[1:] {
				source += " UNION ALL SELECT " + row
			}
			b, err := e.Base(Table{From: source + ") AS t", Columns: columns})
			if err != nil {
				t.Fatal(err)
			}
			h := NewHashed(most)
			for _, row := range e.run(t, b.Hashes(e.Dialect, most)) {
				if err := h.Add(row); err != nil {
					t.Fatal(e.Name(), row, err)
				}
			}
			return h.List()
		}
		cell := func(value, kind, name string) string { return "CAST(" + value + " AS " + kind + ") AS " + name }
		rows := func(real, whole, text, group string, groups ...string) (list []string) {
			for i, r := range [][3]string{{"'1.5'", "-7", "'x ;'"}, {"'-0'", "9007199254740993", "'ü'"},
				{"NULL", "NULL", "NULL"}, {"'1.5'", "-7", "'x ;'"}} {
				list = append(list, cell(r[0], real, "x")+", "+cell(groups[i], group, "g")+", "+cell(r[1], whole, "n")+", "+
					cell(r[2], text, "t"))
			}
			return list
		}
		double, long, short, word := "double precision", "bigint", "int", "varchar(9)"
		if e.Name() == "spark" {
			double, word = "double", "string"
		}
		one := rows(double, long, word, word, "'2'", "'one'", "NULL", "'2'")
		if got := stored([]Stored{real, texts, whole, text}, 9, one...); !slices.Equal(got, want) {
			t.Errorf("%s: hashes %x, must be %x", e.Name(), got, want)
		}
		if got := stored([]Stored{text, whole, other, real}, 9, rows(double, long, word, short, "2", "1", "NULL",
			"2")...); !slices.Equal(got, want) {
			t.Errorf("%s: of other types and another order hashes %x, must be %x", e.Name(), got, want)
		}
		if got := stored([]Stored{text, whole, texts, real}, 2, one...); !slices.Equal(got, want[:2]) {
			t.Errorf("%s: the least two hashes are %x, must be %x", e.Name(), got, want[:2])
		}
		if got := stored([]Stored{text, whole, real}, 9, one...); slices.ContainsFunc(got,
			func(h uint64) bool { return slices.Contains(want, h) }) {
			t.Errorf("%s: of other columns hashes %x, must be none of %x", e.Name(), got, want)
		}
	}
}

// TestHashedAnswers: an answer that is none of Hashes is refused.
func TestHashedAnswers(t *testing.T) {
	for _, rows := range [][][]string{{{"0", "5"}, {"0", "5"}}, {{"0", "5"}, {"0", "4"}}, {{"0", "-1"}}, {{"0", "x"}},
		{{"0"}},
		{{"0", "1152921504606846976"}}, {{"0", "1"}, {"0", "2"}, {"0", "3"}}} {
		var err error
		h := NewHashed(2)
		for _, row := range rows {
			if err == nil {
				err = h.Add(row)
			}
		}
		if err == nil {
			t.Errorf("%q is taken for hashes", rows)
		}
	}
}
