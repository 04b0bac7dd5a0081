package posterior

import (
	"errors"
	"fmt"
)

// Family is the law of a column inside a component.
type Family string

const (
	Bernoulli   Family = "bernoulli"
	Categorical Family = "categorical"
	Beta        Family = "beta"
	Normal      Family = "normal"
	Poisson     Family = "poisson"
)

// Column is a column of a mixture.
type Column struct {
	Family     Family `json:"family"`
	Categories int    `json:"categories,omitempty"` // of a categorical one
}

// coded reports whether values are codes, from 0 on.
func (c Column) coded() bool { return c.Family == Bernoulli || c.Family == Categorical }

// codes is how many values a coded column has.
func (c Column) codes() int {
	if c.Family == Bernoulli {
		return 2
	}
	return c.Categories
}

// params is the number of its parameters in one component.
func (c Column) params() int {
	switch c.Family {
	case Categorical:
		return c.Categories - 1
	case Beta, Normal:
		return 2
	}
	return 1
}

// Mixture is the shape of a mixture.
type Mixture struct {
	Components int      `json:"components"`
	Columns    []Column `json:"columns"`
}

// Check names what is out of range.
func (m Mixture) Check() error {
	if m.Components < 1 || m.Components > MostComponents {
		return fmt.Errorf("components: are %d, must be from 1 to %d", m.Components, MostComponents)
	}
	for i, c := range m.Columns {
		switch {
		case c.Family == Categorical && (c.Categories < 1 || c.Categories > 1<<16):
			return fmt.Errorf("columns[%d].categories: are %d, must be from 1 to 65536", i, c.Categories)
		case c.Family != Categorical && c.Categories != 0:
			return fmt.Errorf("columns[%d].categories: are %d, must be left out for %s", i, c.Categories, c.Family)
		case c.Family != Categorical && c.Family != Bernoulli && c.Family != Beta && c.Family != Normal && c.Family != Poisson:
			return fmt.Errorf("columns[%d].family: is %.60q, must be bernoulli, categorical, beta, normal or poisson", i, c.Family)
		}
	}
	return nil
}

// MostComponents bounds the components of a mixture.
const MostComponents = 1000

// each is the number of parameters of one component.
func (m Mixture) each() int {
	n := 0
	for _, c := range m.Columns {
		n += c.params()
	}
	return n
}

// Params is the number of parameters.
func (m Mixture) Params() int { return m.Components - 1 + m.Components*m.each() }

// cells is the number of codes of all coded columns.
func (m Mixture) cells() int {
	n := 0
	for _, c := range m.Columns {
		if c.coded() {
			n += c.codes()
		}
	}
	return n
}

// Values are a column of rows: the cell of each row. A coded column has its codes for cells
// and no numbers; others have the number of each cell, NaN where there is no value, which
// then has no part in the likelihood.
type Values struct {
	Cells   []uint16
	Numbers []float64
}

// fit is an error where values cannot be of a column. It names no row and no value.
func (v Values) fit(c Column, rows int) error {
	if len(v.Cells) != rows {
		return fmt.Errorf("has %d values, must have one for each of the rows", len(v.Cells))
	}
	most := len(v.Numbers)
	if c.coded() {
		most = c.codes()
	}
	for _, cell := range v.Cells {
		if int(cell) >= most {
			return fmt.Errorf("holds a cell outside 0 to %d", most-1)
		}
	}
	for _, x := range v.Numbers {
		if x < 0 && c.Family == Poisson || (x <= 0 || x >= 1) && c.Family == Beta {
			return errors.New("holds a number outside what its family can have")
		}
	}
	return nil
}
