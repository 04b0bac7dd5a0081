package ledger

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// Unit is whose change a charge holds for: one row, or all rows that share a
// value of Column, of which the run kept at most MaxRows. The zero value is a row.
type Unit struct {
	Column  string
	MaxRows int
}

func (u Unit) String() string {
	if u.Column == "" {
		return "row"
	}
	return fmt.Sprintf("%s (at most %d rows each)", u.Column, u.MaxRows)
}

func (u Unit) valid() error {
	switch {
	case u.Column == "" && u.MaxRows != 0:
		return fmt.Errorf("unit: max_rows: is %d, must be left out where the unit is a row", u.MaxRows)
	case u.Column != "" && u.MaxRows < 1:
		return fmt.Errorf("unit: max_rows: is %d, must be at least 1", u.MaxRows)
	}
	return nil
}

type unitFields struct {
	Column  string `json:"column"`
	MaxRows int    `json:"max_rows"`
}

// MarshalJSON writes "row" or {"column", "max_rows"}, as a spec does.
func (u Unit) MarshalJSON() ([]byte, error) {
	if u == (Unit{}) {
		return json.Marshal("row")
	}
	return json.Marshal(unitFields(u))
}

// UnmarshalJSON reads what MarshalJSON writes and nothing else.
func (u *Unit) UnmarshalJSON(b []byte) error {
	if bytes.Equal(b, []byte(`"row"`)) {
		*u = Unit{}
		return nil
	}
	var f unitFields
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&f); err != nil || f.Column == "" {
		return errors.Join(errors.New("unit: must be row, or column and max_rows"), err)
	}
	*u = Unit(f)
	return nil
}
