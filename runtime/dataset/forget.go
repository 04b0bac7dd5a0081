package dataset

import (
	"errors"

	"weir/runtime/store"
)

// Forget takes back what an Identify wrote of a dataset that nothing was known of, for a run
// that is refused before it begins. What is left would be a dataset that shares rows with
// others, and in their way, though nothing was ever charged to it.
func (id *Identity) Forget() error {
	if !id.fresh {
		return nil
	}
	return locked(id.place.disk, id.out, nil, func(x *index) (err error) {
		unlock, err := lock(x.disk, id.place.owner)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, unlock()) }()
		rec := x.byID(id.ID)
		if rec == nil || rec.LedgerCount > 0 || len(rec.Places) > 1 {
			return nil // another run has charged it, or found a copy, meanwhile
		}
		return errors.Join(x.remove(rec), store.Reason(x.disk.Remove(id.place.owner)))
	})
}
