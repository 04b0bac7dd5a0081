package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"strconv"
	"strings"

	"weir/specs"
)

// inventory is the file of the items; every other file but spreads has the runs of a spec.
const inventory = "inventory.csv"

// Item is one printed value, or a table or figure without one.
type Item struct {
	Source  string // of papers.md: turku, uclanesl, dp-auto-gan, ganad, jalko
	Place   string // in the paper
	What    string
	Printed float64 // NaN: a curve, a table that a spec has the values of, or nothing
	SD      float64 // of single runs, where it is printed, in spreads.csv or here; NaN
	Of      int     // printed runs, where it is known; 0
	Spec    string  // that shows it; "": none does
	Cell    string  // of its experiment
	At      string  // values of its grid, joined by a space; Best
	Figure  string
	Better  string // high, low, or near where a value is only to be met
	Note    string

	Lead string // the figure by which Best chooses: the first of the experiment; "" elsewhere
}

// Best is where each repeat's point of the grid is the one at which the first figure of the experiment is highest: a
// choice by real scores, which nobody pays for.
const Best = "best"

// Value is one figure of one run.
type Value struct {
	Spec, Commit, Cell, At, Run string
	Seed                        uint64
	Figure                      string
	Value, Seconds              float64
}

var (
	itemHead = []string{"source", "place", "what", "printed", "sd", "of", "spec", "cell", "at", "figure", "better",
		"note"}
	valueHead = []string{"spec", "commit", "cell", "at", "run", "seed", "figure", "value", "seconds"}
)

// Items returns the inventory in its order.
func Items() ([]Item, error) {
	data, err := specs.Result(inventory)
	if err != nil {
		return nil, err
	}
	rows, err := table(inventory, data, itemHead)
	var items []Item
	var errs []error
	for i, row := range rows {
		item, err := parseItem(row)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: line %d: %w", inventory, i+2, err))
		}
		items = append(items, item)
	}
	return items, errors.Join(append(errs, err)...)
}

func parseItem(row []string) (Item, error) {
	name := row[5]
	if name == "" {
		name = "0"
	}
	printed, err1 := number("printed", row[3])
	sd, err2 := number("sd", row[4])
	n, err3 := strconv.Atoi(name)
	if err3 != nil || n < 0 {
		err3 = fmt.Errorf("of is %q, must be a number of runs, or empty", name)
	}
	item := Item{row[0], row[1], row[2], printed, sd, n, row[6], row[7], row[8], row[9], row[10], row[11], ""}
	var err4 error
	if !slices.Contains([]string{"", "high", "low", "near"}, item.Better) {
		err4 = fmt.Errorf("better is %q, must be high, low, near or empty", item.Better)
	}
	return item, errors.Join(err1, err2, err3, err4)
}

// Values returns the runs of a spec; there may be none.
func Values(spec string) ([]Value, error) {
	data, err := specs.Result(spec + ".csv")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return Parse(spec+".csv", data)
}

// Parse reads the runs of a spec.
func Parse(name string, data []byte) ([]Value, error) {
	rows, err := table(name, data, valueHead)
	var values []Value
	errs := []error{err}
	for i, row := range rows {
		seed, err1 := strconv.ParseUint(row[5], 10, 64)
		if err1 != nil {
			err1 = fmt.Errorf("seed is %q, must be a whole number from 0 to 2^64 - 1", row[5])
		}
		value, err2 := number("value", row[7])
		seconds, err3 := number("seconds", row[8])
		if err := errors.Join(err1, err2, err3); err != nil {
			errs = append(errs, fmt.Errorf("%s: line %d: %w", name, i+2, err))
		}
		values = append(values, Value{row[0], row[1], row[2], row[3], row[4], seed, row[6], value, seconds})
	}
	return values, errors.Join(errs...)
}

// Format writes the runs of a spec, in the order of cells, runs and figures.
func Format(values []Value) []byte {
	slices.SortFunc(values, func(a, b Value) int { return strings.Compare(a.key(), b.key()) })
	var b strings.Builder
	w := csv.NewWriter(&b)
	_ = w.Write(valueHead) // to memory
	for _, v := range values {
		_ = w.Write([]string{v.Spec, v.Commit, v.Cell, v.At, v.Run, fmt.Sprint(v.Seed), v.Figure, short(v.Value),
			short(v.Seconds)})
	}
	w.Flush()
	return []byte(b.String())
}

// Merge returns old and new values; of one run the new ones.
func Merge(old, new []Value) []Value {
	runs := map[string]bool{}
	for _, v := range new {
		runs[v.Run] = true
	}
	kept := slices.DeleteFunc(slices.Clone(old), func(v Value) bool { return runs[v.Run] })
	return append(kept, new...)
}

func (v Value) key() string { return strings.Join([]string{v.Cell, v.At, v.Run, v.Figure}, "\x00") }

func table(name string, data []byte, head []string) ([][]string, error) {
	r := csv.NewReader(strings.NewReader(string(data)))
	r.FieldsPerRecord = len(head)
	rows, err := r.ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(rows) == 0 || !slices.Equal(rows[0], head) {
		return nil, fmt.Errorf("%s: its head must be %s", name, strings.Join(head, ","))
	}
	return rows[1:], nil
}

// number reads a number, NaN where there is none.
func number(what, text string) (float64, error) {
	if text == "" {
		return math.NaN(), nil
	}
	x, err := strconv.ParseFloat(text, 64)
	if err != nil {
		err = fmt.Errorf("%s is %q, must be a number, or empty", what, text)
	}
	return x, err
}

func short(x float64) string { return strconv.FormatFloat(x, 'g', 6, 64) }

// spreads is the file of the variances that a paper prints of its runs where a spec holds the printed means: the tables
// of GANAD have them behind each value, to a thousandth.
const spreads = "spreads.csv"

var spreadHead = []string{"spec", "cell", "at", "figure", "variance"}

// unseen is the variance of a value whose variance is printed as 0: the middle of what rounds to 0 at a thousandth.
const unseen = .0005 / 2

type place struct{ spec, cell, at, figure string }

func (i Item) place() place { return place{i.Spec, i.Cell, i.At, i.Figure} }

// printedSpreads returns the printed standard deviation of single runs, by place.
func printedSpreads() (map[place]float64, error) {
	data, err := specs.Result(spreads)
	if err != nil {
		return nil, err
	}
	rows, err := table(spreads, data, spreadHead)
	errs := []error{err}
	sd := map[place]float64{}
	for i, row := range rows {
		variance, err := number("variance", row[4])
		if err == nil && !(variance >= 0) {
			err = fmt.Errorf("variance is %q, must be at least 0", row[4])
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: line %d: %w", spreads, i+2, err))
		}
		if variance == 0 {
			variance = unseen
		}
		sd[place{row[0], row[1], row[2], row[3]}] = math.Sqrt(variance)
	}
	return sd, errors.Join(errs...)
}
