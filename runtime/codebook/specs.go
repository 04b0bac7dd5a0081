package codebook

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"weir/internal/plain"
)

// Listed is a column as data-specs of the NIST challenges list it: whole numbers from 0 to
// Maxval.
type Listed struct {
	Name   string
	Maxval int64
}

// Bounds on data-specs.
const (
	maxSpecs   = 1 << 20
	maxColumns = 10_000
	maxMaxval  = 1 << 53 // whole numbers that float64 holds
)

// ReadSpecs reads data-specs, called file in messages: an object with a key for each
// column, in the order of the table, each an object such as {"type": "enum", "maxval":
// 9}. Other keys of a column, such as count, are not read.
func ReadSpecs(file string, data []byte) ([]Listed, error) {
	if len(data) > maxSpecs {
		return nil, fmt.Errorf("%s: has %d bytes, must have at most %d", file, len(data), maxSpecs)
	}
	d := json.NewDecoder(bytes.NewReader(data))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, fmt.Errorf("%s: is no JSON object of columns", file)
	}
	var list []Listed
	seen := map[string]bool{}
	for d.More() {
		c, err := column(d, seen)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, damage(d, err))
		}
		if list = append(list, c); len(list) > maxColumns {
			return nil, fmt.Errorf("%s: has more than %d columns", file, maxColumns)
		}
	}
	if _, err := d.Token(); err != nil {
		return nil, fmt.Errorf("%s: %w", file, damage(d, err))
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, fmt.Errorf("%s: goes on after its object", file)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s: has no column", file)
	}
	return list, nil
}

// damage says where JSON ends or breaks; an error of ours says what is wrong itself.
func damage(d *json.Decoder, err error) error {
	if broken(err) {
		return fmt.Errorf("is damaged at byte %d: %w", d.InputOffset(), err)
	}
	return err
}

// broken tells JSON that ends or breaks from JSON that says something else.
func broken(err error) bool {
	var syntax *json.SyntaxError
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &syntax)
}

func column(d *json.Decoder, seen map[string]bool) (Listed, error) {
	key, err := d.Token()
	if err != nil {
		return Listed{}, err
	}
	name := key.(string) // More and a key of an object: nothing else is one
	switch {
	case seen[name]:
		return Listed{}, fmt.Errorf("%.60q: is listed twice", name)
	case name == "" || !plain.Printable(name):
		return Listed{}, fmt.Errorf("column %d: has the name %.60q, must have %s", len(seen)+1, name, plain.Accepted)
	}
	seen[name] = true
	var c struct {
		Type   *string      `json:"type"`
		Maxval *json.Number `json:"maxval"`
	}
	if err := d.Decode(&c); broken(err) {
		return Listed{}, err
	} else if err != nil {
		return Listed{}, fmt.Errorf("%.60q: is no object with a text type and a number maxval", name)
	}
	switch {
	case c.Type == nil || c.Maxval == nil:
		return Listed{}, fmt.Errorf("%.60q: has no type or no maxval, must have both", name)
	case *c.Type != "enum":
		return Listed{}, fmt.Errorf("%.60q: type: is %.60q, must be enum: whole numbers from 0 to maxval", name, *c.Type)
	}
	n, err := c.Maxval.Int64()
	if err != nil || n < 1 || n > maxMaxval {
		return Listed{}, fmt.Errorf("%.60q: maxval: is %.60s, must be a whole number from 1 to %d", name, c.Maxval.String(), int64(maxMaxval))
	}
	return Listed{name, n}, nil
}
