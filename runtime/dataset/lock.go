package dataset

import (
	"fmt"
	"slices"
)

// A weir.lock names a dataset by its id and declared version, which are public. Which
// content that is, the owner's side keeps: the HMAC under the dataset's key, beside the
// version. The first content that a version is locked with is the one it names for good.

// locked lists the contents that a lock of the version means.
func (o *owner) locked(version string) (macs []string) {
	for _, c := range o.Contents {
		if c.Version == version && c.Locked {
			macs = append(macs, c.HMAC)
		}
	}
	return macs
}

// CheckLock refuses a content that is not known to be the one that a lock of the declared
// version means.
func (id *Identity) CheckLock() error {
	switch {
	case slices.Contains(id.locked, id.content):
		return nil
	case len(id.locked) > 0:
		return fmt.Errorf("has other content than version %s of %s was locked with; declare another dataset.version",
			id.Version, id.ID)
	}
	return fmt.Errorf("nothing on the owner's side (%s) says which content version %s of %s was locked with; where this "+
		"is the right one, lock again", id.place.owner, id.Version, id.ID)
}

// KeepLock keeps, beside the data and in the index, that a lock of the declared version
// means this content, and refuses where it means another one.
func (id *Identity) KeepLock() error {
	return id.update(func(rec *record) error {
		if id.locked = rec.locked(id.Version); len(id.locked) > 0 {
			return id.CheckLock()
		}
		if err := rec.refuses(id.Version, id.content); err != nil {
			return err
		}
		if c := rec.content(id.Version, id.content); c != nil {
			c.Locked = true
		}
		return nil
	})
}
