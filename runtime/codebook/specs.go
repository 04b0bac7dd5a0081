package codebook

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// Listed is a column of a list of columns. Data-specs of the NIST challenges give Maxval,
// the largest of whole numbers from 0; a schema of NIST's data excerpts gives Values, or
// Bounds, as they occur in the excerpt.
type Listed struct {
	Name   string
	Maxval int64       // 0: none given
	Values []string    // that occur, without Null
	Bounds *[2]float64 // of what occurs
	Whole  bool        // numbers are whole
	Null   string      // stands for a missing value; "" where none is
}

// Bounds on lists of columns.
const (
	maxSpecs   = 1 << 20
	maxColumns = 10_000
	maxMaxval  = 1 << 53 // whole numbers that float64 holds
)

// ReadSpecs reads a list of columns, called file in messages, in the order of the table:
// an object with a key for each column, each an object such as {"type": "enum", "maxval":
// 9} (other keys, such as count, are not read), or a schema of NIST's data excerpts,
// {"schema": {NAME: {"dtype": ..., "values": [...] or "min" and "max"}}}.
func ReadSpecs(file string, data []byte) ([]Listed, error) {
	if len(data) > maxSpecs {
		return nil, fmt.Errorf("%s: has %d bytes, must have at most %d", file, len(data), maxSpecs)
	}
	var list []Listed
	add := func(d *json.Decoder, name string, read func(*json.Decoder, string) (Listed, error)) error {
		c, err := read(d, name)
		if list = append(list, c); err == nil && len(list) > maxColumns {
			err = fmt.Errorf("has more than %d columns, must have at most that", maxColumns)
		}
		return err
	}
	err := whole(data, func(d *json.Decoder, key string) error {
		if key == "schema" {
			return object(d, func(name string) error { return add(d, name, occurring) })
		}
		return add(d, key, coded)
	})
	if err == nil && len(list) == 0 {
		err = errors.New("has no column, must have at least one")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return list, nil
}

// coded returns a column of data-specs.
func coded(d *json.Decoder, name string) (Listed, error) {
	var c struct {
		Type   *string      `json:"type"`
		Maxval *json.Number `json:"maxval"`
	}
	if err := d.Decode(&c); broken(err) {
		return Listed{}, err
	} else if err != nil {
		return Listed{}, fmt.Errorf("%.60q: is of another form, must be an object with a text type and a number maxval", name)
	}
	switch {
	case c.Type == nil || c.Maxval == nil:
		return Listed{}, fmt.Errorf("%.60q: has no type or no maxval, must have both", name)
	case *c.Type != "enum":
		return Listed{}, fmt.Errorf("%.60q: type: is %.60q, must be enum: whole numbers from 0 to maxval", name, *c.Type)
	}
	n, err := c.Maxval.Int64()
	if err != nil || n < 1 || n > maxMaxval {
		return Listed{}, fmt.Errorf("%.60q: maxval: is %.60s, must be a whole number from 1 to %d", name, c.Maxval.String(),
			int64(maxMaxval))
	}
	return Listed{Name: name, Maxval: n, Whole: true}, nil
}

// occurring returns a column of a schema of NIST's data excerpts.
func occurring(d *json.Decoder, name string) (Listed, error) {
	var c struct {
		Dtype  string   `json:"dtype"`
		Values []scalar `json:"values"`
		Min    *float64 `json:"min"`
		Max    *float64 `json:"max"`
		Null   string   `json:"null_value"`
	}
	if err := d.Decode(&c); broken(err) {
		return Listed{}, err
	} else if err != nil {
		return Listed{}, fmt.Errorf("%.60q: is of another form, must be an object with a list values, or numbers min and max",
			name)
	}
	l := Listed{Name: name, Null: c.Null, Whole: c.Dtype != "float64"}
	for _, v := range c.Values {
		if string(v) != c.Null || v == "" {
			l.Values = append(l.Values, string(v))
		}
	}
	switch {
	case slices.Contains(l.Values, ""):
		return l, fmt.Errorf("%.60q: values: holds an empty text, must hold the others: an empty cell is a missing value",
			name)
	case c.Min != nil && c.Max != nil && *c.Min < *c.Max:
		l.Bounds = &[2]float64{*c.Min, *c.Max}
	case len(c.Values) == 0:
		return l, fmt.Errorf("%.60q: has no values and no min below max, must have one of the two", name)
	}
	if l.Bounds == nil && len(l.Values) == 0 {
		return l, fmt.Errorf("%.60q: values: holds nothing but null_value, must hold at least one other value", name)
	}
	return l, nil
}

// scalar is a text or a number, as it is spelled.
type scalar string

// UnmarshalJSON keeps the spelling.
func (s *scalar) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '"' {
		return json.Unmarshal(data, (*string)(s))
	}
	var n json.Number
	err := json.Unmarshal(data, &n)
	*s = scalar(n.String())
	return err
}
