package spark

import (
	"context"
	"errors"
	"fmt"
	"strconv"
)

// column is a column of an answer: whole numbers or texts, one of them nil, and which rows are null.
type column struct {
	numbers []int64
	texts   [][]byte
	nulls   []byte // a bit a row, the lowest of the first byte first; rows behind its end are not null
}

func (c column) null(row int) bool {
	return row/8 < len(c.nulls) && c.nulls[row/8]>>(row%8)&1 == 1
}

// readColumns reads a batch of rows (TRowSet).
func readColumns(set record, want int) (columns []column, rows int, err error) {
	list, _ := set[fieldColumns].([]record)
	if len(list) != want {
		return nil, 0, fmt.Errorf("the server answers with %d columns, must be %d", len(list), want)
	}
	for i, one := range list {
		c, n, err := readColumn(one)
		if err != nil {
			return nil, 0, err
		}
		if i > 0 && n != rows {
			return nil, 0, errors.New("the server answers with columns of unequal length, must be of one length")
		}
		columns, rows = append(columns, c), n
	}
	return columns, rows, nil
}

// readColumn reads a column (TColumn): whole numbers of 8 to 64 bits, or texts.
func readColumn(union record) (c column, rows int, err error) {
	for id, value := range union {
		of, _ := value.(record)
		c.nulls, _ = of[2].([]byte)
		switch values := of[1].(type) {
		case []int64:
			c.numbers = values
			rows = len(values)
		case [][]byte:
			c.texts = values
			rows = len(values)
		}
		if id < 2 || id > 7 || id == 6 || len(union) != 1 {
			return c, 0, errors.New("the server answers with a column of another type, must be whole numbers or text")
		}
	}
	return c, rows, nil
}

// length returns the number of rows.
func (c column) length() int { return max(len(c.numbers), len(c.texts)) }

// whole returns a number of a row.
func (c column) whole(row int) (int64, error) {
	if row >= len(c.numbers) || c.null(row) {
		return 0, errNumber
	}
	return c.numbers[row], nil
}

// word returns a number or a text of a row as text. Decimals cross so, and null is "".
func (c column) word(row int) string {
	switch {
	case c.null(row):
		return ""
	case row < len(c.texts):
		return string(c.texts[row])
	}
	return strconv.FormatInt(c.numbers[row], 10)
}

var errNumber = errors.New("the server answers with a cell that is not a whole number, must be one")

// numbers hands on the rows of a query, whole numbers. A row is valid until the next.
func (l *link) numbers(ctx context.Context, what, query string, columns int, add func([]int64) error) error {
	cells := make([]int64, columns)
	return l.run(ctx, what, query, columns, func(batch []column) error {
		for row := range batch[0].length() {
			for i, c := range batch {
				n, err := c.whole(row)
				if err != nil {
					return err
				}
				cells[i] = n
			}
			if err := add(cells); err != nil {
				return err
			}
		}
		return nil
	})
}

// words hands on the rows of a query as text.
func (l *link) words(ctx context.Context, what, query string, columns int, use func([]string) error) error {
	return l.run(ctx, what, query, columns, func(batch []column) error {
		for row := range batch[0].length() {
			cells := make([]string, columns)
			for i, c := range batch {
				cells[i] = c.word(row)
			}
			if err := use(cells); err != nil {
				return err
			}
		}
		return nil
	})
}

// rows returns the rows of a query as text, of which there are few.
func (l *link) rows(ctx context.Context, what, query string, columns int) (rows [][]string, err error) {
	err = l.words(ctx, what, query, columns, func(row []string) error {
		if rows = append(rows, row); len(rows) > batchRows {
			return errAnswer
		}
		return nil
	})
	return rows, err
}
