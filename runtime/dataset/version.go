package dataset

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"weir/privacy/ledger"
	"weir/privacy/noise"
)

// A version is one table. The first charge under a declared version binds it to the content that
// the run read, and from then on every other content is refused under it before anything is charged.
// So which lines a ledger has follows from specs and declared versions, and never from whether rows
// were equal: docs/design/secrets.md has the proofs that rest on this.

// content is one state of the file, under the version that the spec declared.
type content struct {
	Version string    `json:"version"`
	HMAC    string    `json:"hmac"`
	Seen    time.Time `json:"seen"`
	Locked  bool      `json:"locked,omitempty"`  // a weir.lock that names the version means this content
	Charged bool      `json:"charged,omitempty"` // the version is bound to this content
	Secret  secret    `json:"secret"`            // of draws by the order of these rows
}

// sees returns the entry of a content under a version, which it adds where it is new. Its secret is
// drawn here, so that two contents never share one, whatever the version says of them.
func (o *owner) sees(version, mac string, now time.Time, draw func() (noise.Key, error)) (c *content, err error) {
	if c = o.content(version, mac); c == nil {
		o.Contents = append(o.Contents, content{Version: version, HMAC: mac, Seen: now.UTC().Round(0)})
		c = &o.Contents[len(o.Contents)-1]
	}
	if (c.Secret.Key == noise.Key{}) {
		c.Secret.Key, err = draw()
	}
	return c, err
}

// content returns the entry of a content under a version, or nil.
func (o *owner) content(version, mac string) *content {
	i := slices.IndexFunc(o.Contents, func(c content) bool { return c.Version == version && c.HMAC == mac })
	if i < 0 {
		return nil
	}
	return &o.Contents[i]
}

// take adds what another file of the same dataset says of a content. Of two secrets the one that was
// seen first stays, since runs have drawn from it.
func (o *owner) take(c content) {
	current := o.content(c.Version, c.HMAC)
	if current == nil {
		o.Contents = append(o.Contents, c)
		return
	}
	c.Locked, c.Charged = c.Locked || current.Locked, c.Charged || current.Charged
	if current.Secret.Key != (noise.Key{}) && (c.Secret.Key == noise.Key{} || !c.Seen.Before(current.Seen)) {
		c.Seen, c.Secret = current.Seen, current.Secret
	}
	*current = c
}

// refuses reports why a content may not be charged under a version: the version is bound to another
// one, or, where two machines have each bound it and their owner files were joined, to several.
func (o *owner) refuses(version, mac string) error {
	bound := o.bound(version)
	if len(bound) == 0 || len(bound) == 1 && bound[0] == mac {
		return nil
	}
	fix := fmt.Sprintf("a new one for this content, such as dataset.version: \"%s\"", o.next(version))
	for _, c := range o.Contents {
		if c.HMAC == mac && slices.Equal(o.bound(c.Version), []string{mac}) {
			fix = fmt.Sprintf("the one that this content was charged under, dataset.version: \"%s\"", c.Version)
		}
	}
	return Refusal{fmt.Errorf("dataset.version: is %s, which was charged with other content of %s, must be %s; nothing "+
		"was charged", version, o.ID, fix)}
}

// bound lists the contents that a version was charged with.
func (o *owner) bound(version string) (macs []string) {
	for _, c := range o.Contents {
		if c.Version == version && c.Charged {
			macs = append(macs, c.HMAC)
		}
	}
	return macs
}

// forgot reports that a version was charged, by the ledger, and no content is known to be bound to it: the owner
// file was lost, or is an older one. Who goes on begins another side, which shares no secret with the first.
func (o *owner) forgot(version string, p place) bool {
	if len(o.bound(version)) > 0 {
		return false
	}
	// of one that cannot be read whoever charges it says why
	entries, _, _ := chargesAt(cmp.Or(o.Ledger, LedgerName(p.path)), "")
	return slices.ContainsFunc(entries, func(e ledger.Entry) bool { return e.Dataset == o.ID && e.Version == version })
}

// next proposes a version that was never declared, as far as the owner's side and the ledger tell.
func (o *owner) next(version string) string {
	seen := map[string]bool{version: true}
	for _, c := range o.Contents {
		seen[c.Version] = true
	}
	entries, _, _ := chargesAt(o.Ledger, "") // of one that cannot be read whoever charges it says why
	for _, e := range entries {
		seen[e.Version] = true
	}
	for n := 2; ; n++ {
		if name := fmt.Sprint(n); !seen[name] {
			return name
		}
	}
}

// Bind binds the declared version to the content that was identified, beside the data and in the
// index. It comes before a charge; of two runs that read different contents under a new version at
// the same time, the second is refused here. ledger is where the charge will be, or "": where the last one was.
func (id *Identity) Bind(ledger string) error {
	if id.bound {
		return nil
	}
	if err := id.bindHome(cmp.Or(ledger, id.Ledger)); err != nil {
		return err
	}
	err := id.update(func(rec *record) error {
		if err := rec.refuses(id.Version, id.content); err != nil {
			return fmt.Errorf("%s: %w", id.Path, err)
		}
		c := rec.content(id.Version, id.content)
		if c == nil {
			return fmt.Errorf("%s: has lost what was kept of this content, must stay while a run charges the dataset",
				id.place.owner)
		}
		c.Charged = true
		return nil
	})
	id.bound = err == nil
	return err
}

// joinBeside takes up what the owner files in the folder of the data know of this dataset: copies that are run
// under several folders of runs have one ledger from the first charge on, wherever it lies, and one table a version.
func (o *owner) joinBeside(p place) error {
	files, err := ownersIn(filepath.Dir(p.path))
	for _, path := range files {
		other := owner{}
		_, unread := readPrivate(path, &other, ownerCure)
		if unread == nil && path != p.beside && other.ID == o.ID && other.Key == o.Key {
			unread = o.join(&other)
		}
		err = errors.Join(err, unread)
	}
	return err
}

// update changes what the owner's side keeps of the dataset, beside the data and in the index.
func (id *Identity) update(change func(*record) error) error {
	return locked(id.place.disk, id.out, nil, func(x *index) (err error) {
		unlock, err := lock(x.disk, id.place.owner)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, unlock()) }()
		rec := x.byID(id.ID)
		holder, err := id.place.load()
		switch {
		case err != nil:
			return err
		case rec == nil || holder == nil:
			return fmt.Errorf("%s or %s: is gone, must stay while a run charges the dataset", x.recordPath(id.ID),
				id.place.owner)
		}
		if err := errors.Join(rec.join(holder), rec.joinBeside(id.place)); err != nil {
			return err
		}
		if err := change(rec); err != nil {
			return err
		}
		return errors.Join(x.save(rec), writePrivate(x.disk, id.place.owner, rec.owner))
	})
}

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
