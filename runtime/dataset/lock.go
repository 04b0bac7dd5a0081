package dataset

import (
	"errors"
	"fmt"
	"slices"
)

// A weir.lock names a dataset by its id and declared version, which are public. Which
// content that is, the owner's side keeps: the HMAC under the dataset's key, beside the
// version. The first content that a version is locked with is the one it names for good.

// lock keeps that a lock of the version means the content, which was seen.
func (o *owner) lock(version, mac string) {
	for i, c := range o.Contents {
		if c.Version == version && c.HMAC == mac {
			o.Contents[i].Locked = true
		}
	}
}

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
		return fmt.Errorf("has other content than version %s of %s was locked with; declare another dataset.version", id.Version, id.ID)
	}
	return fmt.Errorf("nothing on the owner's side (%s) says which content version %s of %s was locked with; where this is the right one, lock again", id.place.owner, id.Version, id.ID)
}

// KeepLock keeps, beside the data and in the index, that a lock of the declared version
// means this content, and refuses where it means another one.
func (id *Identity) KeepLock() error {
	return locked(id.place.disk, id.out, nil, func(x *index) (err error) {
		unlock, err := lock(x.disk, id.place.owner)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, unlock()) }()
		rec := x.byID(id.ID)
		if rec == nil {
			return fmt.Errorf("%s: is gone, must stay while it is locked", x.recordPath(id.ID))
		}
		if id.locked = rec.locked(id.Version); len(id.locked) > 0 {
			return id.CheckLock()
		}
		rec.lock(id.Version, id.content)
		return errors.Join(x.save(rec), writePrivate(x.disk, id.place.owner, rec.owner))
	})
}
