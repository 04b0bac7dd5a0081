package prep

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"

	"weir/pipeline"
)

// assigner gives, for each opening of a table, a function that says which part
// each row of the next batch belongs to.
type assigner func() func(arrow.Record) ([]uint8, error)

func (p *splitting) assigner(ctx context.Context, t pipeline.Table, k key) (assigner, error) {
	switch {
	case p.strata >= 0:
		return p.byStratum(ctx, t, k)
	case p.unit >= 0:
		return p.byValue(k, p.unit, ""), nil
	case p.group >= 0:
		return p.byValue(k, p.group, p.after), nil
	case p.exact:
		return p.bySelection(k), nil
	}
	return p.byRow(k), nil
}

// byValue: the part is a function of the value in one column alone, or of what of its
// text stands behind a mark.
func (p *splitting) byValue(k key, column int, after string) assigner {
	return func() func(arrow.Record) ([]uint8, error) {
		return func(r arrow.Record) ([]uint8, error) {
			draws, err := k.units(r.Column(column), after)
			dst := make([]uint8, len(draws))
			for i, u := range draws {
				dst[i] = p.part(float64(u>>11) * 0x1p-53)
			}
			return dst, err
		}
	}
}

// byRow: each row draws for itself, in sequence.
func (p *splitting) byRow(k key) assigner {
	return func() func(arrow.Record) ([]uint8, error) {
		rng := k.sequence()
		return func(r arrow.Record) ([]uint8, error) {
			dst := make([]uint8, r.NumRows())
			for i := range dst {
				dst[i] = p.part(rng.Float64())
			}
			return dst, nil
		}
	}
}

// part returns the one whose share holds the uniform number u.
func (p *splitting) part(u float64) uint8 {
	for i, end := range p.ends {
		if u < end {
			return uint8(i)
		}
	}
	return uint8(len(p.ends) - 1)
}

// errMoreRows tells nothing of a private table: sizes are exact where the row
// count is a public fact only, the same for all tables that privacy compares.
var errMoreRows = errors.New("the table does not have the number of rows that was declared public")

// bySelection deals exact sizes: each row goes to a part with the probability of
// the places that are left in it (Knuth, The Art of Computer Programming 2,
// 3.4.2, algorithm S), which makes every division into parts equally likely.
func (p *splitting) bySelection(k key) assigner {
	return func() func(arrow.Record) ([]uint8, error) {
		rng, left, total := k.sequence(), [3]int64{}, p.h.Rows
		for i, name := range parts {
			left[i] = p.out[name].Rows
		}
		return func(r arrow.Record) ([]uint8, error) {
			dst := make([]uint8, r.NumRows())
			for i := range dst {
				if total == 0 {
					return nil, errMoreRows
				}
				dst[i] = place(left, rng.Int64N(total))
				left[dst[i]]--
				total--
			}
			return dst, nil
		}
	}
}

// place returns the part that holds place n of those left.
func place(left [3]int64, n int64) uint8 {
	for i, free := range left {
		if n < free {
			return uint8(i)
		}
		n -= free
	}
	return uint8(len(left) - 1)
}

// byStratum reads the classes once and deals each class (missing is one) by
// shares; see Split.headers for what it does to stability. It holds 17 bytes a
// row while dealing and one afterwards.
func (p *splitting) byStratum(ctx context.Context, t pipeline.Table, k key) (assigner, error) {
	classes := map[int32][]tagged{}
	rng, rows := k.sequence(), int64(0)
	for r, err := range t.Open(ctx) {
		if err != nil {
			return nil, err
		}
		src, err := codes(r.Column(p.strata))
		if err != nil {
			return nil, err
		}
		known := present(r.Column(p.strata))
		for i, c := range src {
			if !known.has(i) {
				c = -1
			}
			classes[c] = append(classes[c], tagged{rng.Uint64(), rows})
			rows++
		}
	}
	dst := make([]uint8, rows)
	for _, members := range classes {
		p.deal(dst, members)
	}
	return replay(dst), ctx.Err()
}

// tagged is a row and its independent tag.
type tagged struct {
	tag uint64
	row int64
}

// deal cuts one class, in order of tags, at round(F_j n).
func (p *splitting) deal(dst []uint8, members []tagged) {
	slices.SortFunc(members, func(a, b tagged) int { return cmp.Or(cmp.Compare(a.tag, b.tag), cmp.Compare(a.row, b.row)) })
	part := 0
	for i, m := range members {
		for part < len(p.ends)-1 && i >= int(math.Round(float64(len(members))*p.ends[part])) {
			part++
		}
		dst[m.row] = uint8(part)
	}
}

// replay reads the parts off a list, from the start at each opening.
func replay(dst []uint8) assigner {
	return func() func(arrow.Record) ([]uint8, error) {
		pos := 0
		return func(r arrow.Record) ([]uint8, error) {
			n := int(r.NumRows())
			if pos+n > len(dst) {
				return nil, errors.New("the table has more rows than when it was first read")
			}
			pos += n
			return dst[pos-n : pos], nil
		}
	}
}

// chosen returns the table of the rows of t that are assigned to one part.
func chosen(t pipeline.Table, h pipeline.Header, assign assigner, part uint8) pipeline.Table {
	return pipeline.Table{Header: h, Open: func(ctx context.Context) pipeline.Batches {
		parts := assign()
		return filterRows(t, func(r arrow.Record) ([]int, error) {
			to, err := parts(r)
			var rows []int
			for i, p := range to {
				if p == part {
					rows = append(rows, i)
				}
			}
			return rows, err
		})(ctx)
	}}
}

// filterRows opens t with only the rows that pick names, batch by batch; batches
// without any are left out.
func filterRows(t pipeline.Table, pick func(arrow.Record) ([]int, error)) func(context.Context) pipeline.Batches {
	return func(ctx context.Context) pipeline.Batches {
		return func(yield func(arrow.Record, error) bool) {
			for r, err := range t.Open(ctx) {
				var rows []int
				if err == nil {
					rows, err = pick(r)
				}
				if err == nil && len(rows) == 0 {
					continue
				}
				if err == nil {
					r, err = TakeRows(r, rows)
				}
				if !yield(r, err) || err != nil {
					return
				}
			}
		}
	}
}
