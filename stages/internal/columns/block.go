package columns

import (
	"errors"

	"github.com/apache/arrow/go/v15/arrow"

	"weir/train"
)

// leastBlock is from how many columns of numbers in a row on they stand row by row: a
// batch then takes whole lines of the cache from memory, not one for each number.
const leastBlock = 32

// numberBlock is columns of numbers, row by row.
type numberBlock struct {
	width  int
	values []float32
}

// blockColumn is one column of a block.
type blockColumn struct {
	*numberBlock
	at int
}

// append takes the columns of a record in their order: the first makes room.
func (c *blockColumn) append(a arrow.Array) error {
	src, err := floats(a)
	if err != nil {
		return err
	}
	if c.at == 0 {
		c.values = append(c.values, make([]float32, len(src)*c.width)...)
	}
	to := c.values[len(c.values)-len(src)*c.width:]
	for i, v := range src {
		to[i*c.width+c.at] = v
	}
	return nil
}

func (c *blockColumn) codes() ([]int32, error) { return nil, errNoCodes }

// give gives the whole block at its first column.
func (c *blockColumn) give(r *train.Rows) error {
	if c.at > 0 {
		return nil
	}
	return r.NumericBlock(c.values, c.width)
}

var errNoCodes = errors.New("holds numbers, must hold codes")
