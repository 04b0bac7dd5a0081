package prediction

import (
	"context"
	"math"

	"weir/stages/internal/columns"
	"weir/stages/internal/learn"
)

// Scaling says what becomes of numbers in a design matrix.
type Scaling string

const (
	// ScaleStandard is (x-mean)/sd with mean and population sd of the fitted frame; a
	// constant column gets sd 1.
	ScaleStandard Scaling = "standard"
	// ScaleBounds is (x-lower)/(upper-lower) with the declared bounds, or with the
	// extremes of the fitted frame where none are declared.
	ScaleBounds Scaling = "bounds"
	// ScaleRaw leaves numbers alone.
	ScaleRaw Scaling = "raw"
)

// EncoderOptions of an Encoder.
type EncoderOptions struct {
	Scaling Scaling
	// DropFirst leaves out the indicator of the first category of every coded
	// column, as a regression with an intercept needs. Without it only columns
	// of two categories have one indicator, the one of the second.
	DropFirst bool
}

// Encoder turns frames of the same columns into design matrices. A missing
// number becomes the mean of the fitted frame and an indicator of its own; a
// missing code is a category of its own. These extra columns are there when any
// frame given to NewEncoder has missing values in the column.
type Encoder struct {
	parts []part
	names []string
}

type part struct {
	name          string
	coded         bool
	shift, scale  float64
	fill          float64 // of a missing number, after scaling
	first, width  int     // categories first..width-1 have an indicator
	missing       bool
	categoryNames []string
}

// NewEncoder fits scales on the first frame; the others only say whether values
// are missing. All frames are aligned (see Align). skip names columns to leave
// out, such as the target.
func NewEncoder(o EncoderOptions, skip map[string]bool, fitted *columns.Frame, others ...*columns.Frame) *Encoder {
	e := &Encoder{}
	for i := range fitted.Columns {
		c := &fitted.Columns[i]
		if skip[c.Name] {
			continue
		}
		p := part{name: c.Name, coded: c.Coded(), missing: c.Missing() > 0}
		for _, f := range others {
			p.missing = p.missing || f.Column(c.Name).Missing() > 0
		}
		p.fit(c, o)
		e.parts = append(e.parts, p)
		e.names = append(e.names, p.features()...)
	}
	return e
}

func (p *part) fit(c *columns.Column, o EncoderOptions) {
	if p.coded {
		p.width, p.categoryNames = len(c.Categories), c.Categories
		if p.width == 2 || o.DropFirst && p.width > 0 {
			p.first = 1
		}
		return
	}
	seen := present(c.Numbers)
	mean, sd := learn.Moments(seen)
	switch {
	case o.Scaling == ScaleStandard:
		p.shift, p.scale = mean, sd
	case o.Scaling == ScaleBounds:
		lo, hi := c.Extremes()
		switch {
		case c.Bounds != nil:
			lo, hi = c.Bounds[0], c.Bounds[1]
		case len(seen) == 0:
			lo, hi = 0, 0
		}
		p.shift, p.scale = lo, hi-lo
		if !(p.scale > 0) {
			p.scale = 1
		}
	default:
		p.scale = 1
	}
	p.fill = (mean - p.shift) / p.scale
}

func present(x []float64) []float64 {
	seen := make([]float64, 0, len(x))
	for _, v := range x {
		if !math.IsNaN(v) {
			seen = append(seen, v)
		}
	}
	return seen
}

func (p *part) features() []string {
	var names []string
	if !p.coded {
		names = append(names, p.name)
	}
	for k := p.first; k < p.width; k++ {
		names = append(names, p.name+"="+p.categoryNames[k])
	}
	if p.missing {
		names = append(names, p.name+" missing")
	}
	return names
}

// Names lists the features: a number by its column, an indicator as
// column=category or "column missing".
func (e *Encoder) Names() []string { return e.names }

// Place returns where the features of a column stand, and how many they are; 0 and 0 of a column that is left out.
func (e *Encoder) Place(column string) (first, width int) {
	for i := range e.parts {
		p := &e.parts[i]
		if width = len(p.features()); p.name == column {
			return first, width
		}
		first += width
	}
	return 0, 0
}

// Encode returns the design matrix of f: rows by len(Names()). Indicators stand in
// blocks, one of each column, so that memory is the memory of the codes however many
// categories there are; Dense stores them.
func (e *Encoder) Encode(f *columns.Frame) learn.Matrix {
	m := learn.Matrix{Rows: f.Rows}
	for i := range e.parts {
		p := &e.parts[i]
		c, width := f.Column(p.name), len(p.features())
		codes := c.Codes
		if !p.coded {
			m.Cols = append(m.Cols, p.numbers(c.Numbers))
			width, codes = width-1, p.absent(c.Numbers)
		} else if p.first > 0 || p.missing {
			codes = p.codes(c.Codes, width)
		}
		if width > 0 {
			m.Blocks = append(m.Blocks, learn.Block{First: len(m.Cols), Width: width, Codes: codes})
			m.Cols = append(m.Cols, make([][]float64, width)...)
		}
	}
	return m
}

// EncoderBlockRows bounds the rows whose features Blocks holds in memory at once.
const EncoderBlockRows = 1 << 16

// Blocks calls f with the design matrices of blocks of rows of the frame, and the
// place of their first row, so that memory does not grow with width times rows.
func (e *Encoder) Blocks(ctx context.Context, frame *columns.Frame, f func(at int, x learn.Matrix)) error {
	for lo := 0; lo < frame.Rows; lo += EncoderBlockRows {
		if err := ctx.Err(); err != nil {
			return err
		}
		f(lo, e.Encode(frame.Slice(lo, min(lo+EncoderBlockRows, frame.Rows))))
	}
	return ctx.Err()
}

// codes returns the places of the indicators; -1 is none.
func (p *part) codes(codes []int32, width int) []int32 {
	dst := make([]int32, len(codes))
	for i, v := range codes {
		if dst[i] = v - int32(p.first); v < 0 {
			dst[i] = -1
			if p.missing {
				dst[i] = int32(width - 1)
			}
		} else if dst[i] < 0 {
			dst[i] = -1
		}
	}
	return dst
}

func (p *part) numbers(x []float64) []float64 {
	dst := make([]float64, len(x))
	for i, v := range x {
		if dst[i] = (v - p.shift) / p.scale; math.IsNaN(v) {
			dst[i] = p.fill
		}
	}
	return dst
}

// absent returns the places of the one indicator of missing numbers.
func (p *part) absent(x []float64) []int32 {
	if !p.missing {
		return nil
	}
	dst := make([]int32, len(x))
	for i, v := range x {
		if !math.IsNaN(v) {
			dst[i] = -1
		}
	}
	return dst
}
