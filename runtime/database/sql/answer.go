package sql

import (
	"errors"
	"strconv"

	"weir/pipeline/relation"
)

// Numbers reads a row of an answer, of whole numbers and nothing else.
func Numbers(row []string) ([]int64, error) {
	list := make([]int64, len(row))
	for i, cell := range row {
		n, err := strconv.ParseInt(cell, 10, 64)
		if err != nil || strconv.FormatInt(n, 10) != cell {
			return nil, errAnswer
		}
		list[i] = n
	}
	return list, nil
}

// Tally takes the answers of Count: rows of the place of a key, its value, and how many kept rows have it.
type Tally struct {
	counts [][]int64
	left   []int64 // kept rows that no answer of a key has counted
}

// NewTally returns the tally of keys over the given number of kept rows.
func NewTally(keys []relation.Key, rows int64) *Tally {
	t := &Tally{}
	for _, k := range keys {
		t.counts, t.left = append(t.counts, make([]int64, k.Of)), append(t.left, rows)
	}
	return t
}

// Add takes a row of an answer. A value that the key does not have, or that came before, is an error.
func (t *Tally) Add(row []int64) error {
	if len(row) != 3 || row[0] < 0 || row[0] >= int64(len(t.counts)) || row[2] < 1 || row[2] > t.left[row[0]] {
		return errAnswer
	}
	counts := t.counts[row[0]]
	if row[1] < 0 || row[1] >= int64(len(counts)) || counts[row[1]] != 0 {
		return errAnswer
	}
	counts[row[1]] = row[2]
	t.left[row[0]] -= row[2]
	return nil
}

// errSums says that counts are not of one table.
var errSums = errors.New("the database's answer: has counts of two columns that add up to different numbers " +
	"of rows, must have counts of one table; run it again")

// Hand hands the counts on, once all answers are there. Counts of a key that are not of all kept rows are an error.
func (t *Tally) Hand(use func(key int, counts []int64) error) error {
	for i, counts := range t.counts {
		if t.left[i] != 0 {
			return errSums
		}
		if err := use(i, counts); err != nil {
			return err
		}
	}
	return nil
}

// TryResult takes the answers of Try: rows of the place of a value and what each expression is for it.
type TryResult struct {
	results [][]int64
	seen    []bool
}

// NewTryResult returns the trial of the given number of expressions over the given number of values.
func NewTryResult(expressions, values int) *TryResult {
	t := &TryResult{seen: make([]bool, values)}
	for range expressions {
		t.results = append(t.results, make([]int64, values))
	}
	return t
}

// Add takes a row of an answer.
func (t *TryResult) Add(row []int64) error {
	if len(row) != 1+len(t.results) || row[0] < 0 || row[0] >= int64(len(t.seen)) || t.seen[row[0]] {
		return errAnswer
	}
	t.seen[row[0]] = true
	for i, n := range row[1:] {
		t.results[i][row[0]] = n
	}
	return nil
}

// Results returns a list for each expression, once all answers are there.
func (t *TryResult) Results() ([][]int64, error) {
	for _, seen := range t.seen {
		if !seen {
			return nil, errAnswer
		}
	}
	return t.results, nil
}

// Ask sends a statement and hands on the rows of its answer, whole numbers, of the given number of cells each.
type Ask func(statement string, cells int, add func(row []int64) error) error

// Counts counts keys over the given number of rows of a kept table, and hands their counts on as relation.Kept does.
func (d Dialect) Counts(kept string, rows int64, keys []relation.Key, ask Ask,
	use func(key int, counts []int64) error) error {
	statements, err := d.Count(kept, keys)
	if err != nil {
		return err
	}
	t := NewTally(keys, rows)
	for _, s := range statements {
		if err := ask(s, 3, t.Add); err != nil {
			return err
		}
	}
	return t.Hand(use)
}

// Tries computes expressions over public numbers, as relation.Session does.
func (d Dialect) Tries(of relation.Type, values []float64, list []relation.Expr, ask Ask) ([][]int64, error) {
	statement, err := d.Try(of, values, list)
	if err != nil {
		return nil, err
	}
	t := NewTryResult(len(list), len(values))
	if err := ask(statement, 1+len(list), t.Add); err != nil {
		return nil, err
	}
	return t.Results()
}
