package ledger

import (
	"errors"
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
		return errors.New("dataset: is a digest, must be a random id such as ds- and 32 hex digits: a digest of the table lets anyone test guesses of a row")
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
