package dataset

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"weir/internal/disk"
	"weir/privacy/ledger"
)

// Restoration names a dataset whose ledger was lost or cut, by its file, which may be gone, or
// by its ledger.
type Restoration struct {
	Disk disk.Disk
	Out  string // folder of runs
	Of   string
	// Stated returns the ids of the charges that records of runs under out state of a dataset, by record, so that a
	// refusal names the runs whose charges are missing; nil: it names none.
	Stated func(out, dataset string) (map[string][]string, error)
}

// Restored tells what a ledger holds now.
type Restored struct {
	ID, Ledger string
	Copy       string // that the lines are of
	Charges    int
	There      int    // of them, how many the ledger held before
	Altered    []int  // lines of it that were replaced, since they were not as they were written
	Kept       string // the file that holds the ledger as it was, or ""
}

// ErrUncharged marks a dataset that has no ledger, because nothing was charged to it.
var ErrUncharged = errors.New("nothing was charged to it, so it has no ledger")

// Restore writes a ledger again from a copy on the owner's side, whatever stands in it. The copy must be a whole
// chain that holds the noted head, and all charges of the file that is there, as far as altered lines tell: so the
// ledger never holds fewer charges afterwards, and a copy from which lines were taken restores nothing.
func Restore(r Restoration) (done Restored, err error) {
	if r.Out, err = filepath.Abs(r.Out); err != nil {
		return done, err
	}
	oldPath, err := filepath.Abs(r.Of)
	if err != nil {
		return done, err
	}
	path, err := resolveAbsent(strings.TrimSuffix(oldPath, LedgerSuffix))
	if err != nil {
		return done, err
	}
	x, err := readIndex(r.Out)
	if err != nil {
		return done, err
	}
	p := placeOf(r.Out, path)
	rec, err := x.known(p, oldPath)
	if err != nil {
		return done, fmt.Errorf("%s: %w", r.Of, err)
	}
	if err := rec.noteHome(p.owner); err != nil {
		return done, err
	}
	rec.addPlace(p)
	s := restoring{disk: r.Disk, out: r.Out, rec: rec, of: path, stated: r.Stated, ledger: restored(rec.Ledger, path)}
	return s.restore()
}

// restored returns where the ledger of a table is restored: where it was charged last, else, where the table has moved
// away from there, beside it, as the next run looks for it.
func restored(noted, table string) string {
	beside := LedgerName(table)
	if noted == "" || !exists(noted) && (exists(beside) || !exists(filepath.Dir(noted))) {
		return beside
	}
	return noted
}

// known returns what the owner file of a place and the index know of its dataset.
func (x *index) known(p place, path string) (*record, error) {
	holder, err := p.load()
	if err != nil {
		return nil, err
	}
	rec := x.find(func(r *record) bool {
		return holder != nil && r.ID == holder.ID || holder == nil && (r.lies(p.path) || r.Ledger == path)
	})
	switch {
	case holder == nil && rec == nil:
		return nil, ErrUnknown
	case holder == nil:
		return rec, nil
	case rec == nil:
		return &record{owner: *holder}, nil
	case rec.Key != holder.Key:
		return nil, twoKeys(known{p.owner, holder}, known{x.recordPath(holder.ID), &rec.owner})
	}
	return rec, rec.join(holder)
}

// restoring holds the state of one Restore of a known dataset.
type restoring struct {
	disk        disk.Disk
	out, ledger string
	of          string // the table
	rec         *record
	best        []ledger.Entry // of all copies, the longest that could be read
	from        string
	faults      []error // of the copies that could not
	stated      func(out, dataset string) (map[string][]string, error)
}

func (s *restoring) restore() (Restored, error) {
	s.read()
	done := Restored{ID: s.rec.ID, Ledger: s.ledger, Copy: s.from, Charges: len(s.best)}
	present, _, err := chargesAt(s.ledger, "")
	if err == nil && ledger.Includes(present, s.rec.head()) == nil && len(ledger.Lacking(present, s.best)) == 0 {
		done.Charges, done.There = len(present), len(present)
		if len(present) == 0 {
			err = fmt.Errorf("%s: %w", s.ledger, ErrUncharged)
		}
		return done, err
	}
	if err := ledger.Includes(s.best, s.rec.head()); err != nil || len(s.best) == 0 {
		if len(s.best) == 0 && len(s.faults) > 0 {
			return done, errors.Join(s.faults...)
		}
		return done, s.refuse(err, present)
	}
	put, err := ledger.Restore(s.disk, s.ledger, s.best)
	done.There, done.Altered, done.Kept = put.There, put.Altered, put.Kept
	if errors.Is(err, ledger.ErrBranch) {
		err = fmt.Errorf("%w; join the two: weir ledger merge %s %s", err, quoted(s.ledger), quoted(s.from))
	} else if errors.Is(err, ledger.ErrTampered) {
		err = fmt.Errorf("%w; nothing was written. Move %s away, then restore again: weir ledger restore %s%s", err, s.ledger,
			quoted(s.of), outFlag(s.out))
	}
	return done, err
}

// read finds the longest copy that holds the noted head, or the longest: each file of a dataset
// has one, which goes on when that file is run.
func (s *restoring) read() {
	reaches := false
	for _, path := range s.copies() {
		lines, err := ledger.NewCopy(s.disk, path, s.rec.ID).Entries()
		if err != nil {
			s.faults = append(s.faults, err)
			continue
		}
		holds := len(lines) > 0 && ledger.Includes(lines, s.rec.head()) == nil
		if holds && !reaches || holds == reaches && len(lines) > len(s.best) {
			s.best, s.from, reaches = lines, path, holds
		}
	}
}

// copies lists where the copies of the dataset may lie: beside its files, with the runs, and beside the ledger.
func (s *restoring) copies() (paths []string) {
	var owners []string
	for i := len(s.rec.Places) - 1; i >= 0; i-- {
		at := s.rec.Places[i]
		p := placeOf(s.out, at.Path)
		owners = append(owners, at.Owner, p.beside, p.aside)
	}
	for _, owner := range append(owners, homeOf(s.ledger)) {
		if path := keptPath(owner); !slices.Contains(paths, path) {
			paths = append(paths, path)
		}
	}
	return paths
}

// refuse names the runs whose charges no copy holds, as far as records tell.
func (s *restoring) refuse(lacks error, present []ledger.Entry) error {
	if lacks == nil {
		lacks = errors.New("holds no charge")
	}
	copy := "the owner's copy " + s.from
	if s.from == "" {
		copy = "the owner's copy " + keptPath(s.rec.Places[len(s.rec.Places)-1].Owner)
	}
	missing := "no record under " + s.out + " tells which runs made the charges that are missing"
	if runs := s.missing(present); len(runs) > 0 {
		missing = "missing are charges of " + strings.Join(runs, ", ")
	}
	return errors.Join(Refusal{fmt.Errorf("%s: nothing was written: %s must hold the charges of %s that were noted: %w; "+
		"%s; "+
		"restore the ledger from version control or a backup, or join it with the ledger of the branch that has them (weir "+
		"ledger merge)",
		s.ledger, copy, s.rec.ID, lacks, missing)}, errors.Join(s.faults...))
}

// missing lists the records of runs that state a charge which neither a copy nor the ledger holds.
func (s *restoring) missing(present []ledger.Entry) (runs []string) {
	found := map[string]bool{}
	for _, e := range append(present, s.best...) {
		found[e.ID] = true
	}
	if s.stated == nil {
		return nil
	}
	stated, err := s.stated(s.out, s.rec.ID)
	if err != nil {
		s.faults = append(s.faults, err)
	}
	for _, record := range slices.Sorted(maps.Keys(stated)) {
		if slices.ContainsFunc(stated[record], func(id string) bool { return !found[id] }) {
			runs = append(runs, record)
		}
	}
	return runs
}
