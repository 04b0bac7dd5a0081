package table

import (
	"reflect"
	"testing"

	"weir/pipeline"
	"weir/pipeline/domain"
)

// TestMeaningOfCells: what databases are told of a column is what the readers of this package do with its cells: a
// category comes before a missing spelling, by any spelling of its number; the words of flags are those of a boolean.
func TestMeaningOfCells(t *testing.T) {
	csv := &pipeline.CSV{Missing: domain.Spellings{"NA", "01", "99.0"}, Unknown: "missing"}
	for _, c := range []struct {
		column domain.Column
		want   Meaning
		whole  map[int64]int32
		reals  map[float64]int32
	}{
		{domain.Column{Type: domain.Ordinal, Categories: []string{"1", "2.5"}, Aliases: domain.Aliases{"2.5": {"x"}}, Nullable: true},
			Meaning{Codes: map[string]int32{"1": 0, "2.5": 1, "x": 1, "01": 0}, Numbered: true, Missing: []string{"NA", "99.0"}, Numbers: []float64{1, 99}, Whole: []int64{1, 99}, MayMiss: true, UnknownMiss: true},
			map[int64]int32{1: 0}, map[float64]int32{1: 0, 2.5: 1}},
		{domain.Column{Type: domain.Boolean, Categories: []string{"0", "1"}, Missing: domain.Spellings{"NA"}},
			Meaning{Codes: map[string]int32{"0": 0, "1": 1, "false": 0, "False": 0, "FALSE": 0, "true": 1, "True": 1, "TRUE": 1, "01": 1}, Numbered: true, Missing: []string{"NA", "99.0"}, Numbers: []float64{1, 99}, Whole: []int64{1, 99}, MayMiss: true, UnknownMiss: true},
			map[int64]int32{0: 0, 1: 1}, map[float64]int32{0: 0, 1: 1}},
		{domain.Column{Type: domain.Integer, Missing: domain.Spellings{"-9,0 %"}, Format: "1,5 %"},
			Meaning{Missing: []string{"-9,0 %", "NA", "01", "99.0"}, Numbers: []float64{-9, 1}, Whole: []int64{-9, 1}, MayMiss: true, UnknownMiss: true, Formed: true},
			map[int64]int32{}, map[float64]int32{}},
	} {
		got, err := MeaningOf(&c.column, csv)
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%+v: %+v, %v; must be %+v", c.column, got, err, c.want)
		}
		if !reflect.DeepEqual(got.CodesOfWhole(), c.whole) || !reflect.DeepEqual(got.CodesOfNumber(), c.reals) {
			t.Errorf("%+v: codes of numbers %v, %v; must be %v, %v", c.column, got.CodesOfWhole(), got.CodesOfNumber(), c.whole, c.reals)
		}
	}
}
