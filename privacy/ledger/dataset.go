package ledger

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// ErrOldFormat marks a ledger that names its dataset by a digest of the content,
// as an earlier format did.
var ErrOldFormat = errors.New("is of an earlier format, which names the dataset by a digest of the private table: " +
	"whoever knows all rows but one can test guesses of the last, so do not publish this file. " +
	"Start a new ledger, and take what this one spent off the budget of the dataset: its charges still count")

// validDataset checks the id of a dataset. The ledger may be public, so an id
// must be drawn at random; what looks like a digest of the table is refused, and
// not repeated in the error.
func validDataset(id string) error {
	switch {
	case id == "":
		return errors.New("dataset: is missing, must be a random id such as ds- and 32 hex digits")
	case isDigest(id):
		return errors.New("dataset: is a digest, must be a random id such as ds- and 32 hex digits: a digest of the table " +
			"lets anyone test guesses of a row")
	}
	return nil
}

// isDigest reports whether id is spelled as a hash: sha256:... and its like, or 32
// bytes or more in hex.
func isDigest(id string) bool {
	id = strings.ToLower(id)
	scheme, _, named := strings.Cut(id, ":")
	for _, hash := range []string{"sha", "md5", "blake"} {
		if named && strings.HasPrefix(scheme, hash) {
			return true
		}
	}
	return len(id) >= 64 && strings.Trim(id, "0123456789abcdef") == ""
}

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
