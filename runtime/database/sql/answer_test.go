package sql

import (
	"slices"
	"testing"

	"weir/pipeline/relation"
)

// TestAnswersThatNoTableGives: counts of 5 rows by a key of 3 values, and what one expression is for 2 numbers, are
// taken as they are, and refused where no table and no database that computes gives them.
func TestAnswersThatNoTableGives(t *testing.T) {
	for what, rows := range map[string][][]int64{
		"nothing":            {{0, 0, 2}, {0, 2, 3}},
		"a row less":         {{0, 0, 2}, {0, 2, 2}},
		"a row more":         {{0, 0, 2}, {0, 2, 4}},
		"a value twice":      {{0, 0, 2}, {0, 0, 3}},
		"a value of none":    {{0, 0, 2}, {0, 3, 3}},
		"a negative value":   {{0, 0, 2}, {0, -1, 3}},
		"a negative count":   {{0, 0, 6}, {0, 2, -1}},
		"a count below 0":    {{0, 0, -1}, {0, 2, 6}},
		"a count of 0":       {{0, 0, 5}, {0, 2, 0}},
		"a key of none":      {{1, 0, 5}},
		"a cell less":        {{0, 5}},
		"counts that wrap":   {{0, 0, 1 << 62}, {0, 1, 1 << 62}, {0, 2, -1 << 63}},
		"no answer of a key": nil,
	} {
		var got []int64
		tally := NewTally([]relation.Key{{Of: 3}}, 5)
		err := addAll(tally.Add, rows)
		if err == nil {
			err = tally.Hand(func(_ int, counts []int64) error { got = counts; return nil })
		}
		if (err == nil) != (what == "nothing") || err == nil && !slices.Equal(got, []int64{2, 0, 3}) {
			t.Errorf("counts that are wrong by %s: %v, %v", what, got, err)
		}
	}
	for what, rows := range map[string][][]int64{"nothing": {{1, 7}, {0, -3}}, "one left out": {{1, 7}},
		"one twice": {{1, 7}, {1, 7}}, "one of none": {{0, 1}, {2, 7}}, "a cell more": {{0, 1, 1}}} {
		trial := NewTryResult(1, 2)
		err := addAll(trial.Add, rows)
		got, ended := trial.Results()
		if ok := err == nil && ended == nil; ok != (what == "nothing") || ok && !slices.Equal(got[0], []int64{-3, 7}) {
			t.Errorf("cells that are wrong by %s: %v, %v, %v", what, got, err, ended)
		}
	}
	for _, word := range []string{"", "+1", "01", "-0", " 1", "1.0", "1e3", "9223372036854775808", "NaN"} {
		if list, err := Numbers([]string{word}); err == nil {
			t.Errorf("%q is taken for %v", word, list)
		}
	}
}

// addAll adds rows up to the first that is refused.
func addAll(add func([]int64) error, rows [][]int64) error {
	for _, row := range rows {
		if err := add(row); err != nil {
			return err
		}
	}
	return nil
}
