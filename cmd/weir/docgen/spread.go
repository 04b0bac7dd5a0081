package main

import (
	"errors"
	"fmt"
	"math"

	"weir/specs"
)

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
