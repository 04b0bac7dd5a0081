package auditreport

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"weir/privacy"
	"weir/privacy/ledger"
	"weir/record"
	"weir/runtime/dataset"
	"weir/runtime/store"
)

// Request says what is reported.
type Request struct {
	Ledgers []string // files, or the tables that they are of
	Runs    []string // folders of runs; none: records and releases are not looked at
	// Judge lists what is not as a finished run says, by its folder alone; nil: its release is held against its record.
	Judge      func(dir string, rec *record.Run) (differ []string, err error)
	Accountant privacy.Accountant
	Delta      *float64 // at which epsilon is read; nil: of the last budget, else from the charges
}

// Gather reads ledgers, and the records and releases of the runs that name their datasets. A ledger that was altered is
// part of the report; one that is not there is an error.
func Gather(q Request) (Report, error) {
	runs, unread, err := records(q.Runs)
	if err != nil {
		return Report{}, err
	}
	r := Report{Accounts: []Account{}, Looked: len(q.Runs) > 0}
	read := map[string][]branch{} // by the id of the dataset
	for _, name := range q.Ledgers {
		a, entries, err := q.account(name, runs)
		if err != nil {
			return r, err
		}
		b := branch{a.Ledger, entries}
		equal, told := r.twin(read[a.Dataset], b, a)
		if told {
			continue // such as one that is named twice
		}
		if !equal {
			read[a.Dataset] = append(read[a.Dataset], b)
		}
		if len(unread) > 0 && len(r.Accounts) == 0 {
			a.Disagree = append(a.Disagree, unread...)
		}
		r.Accounts = append(r.Accounts, a)
		for _, c := range a.Charges {
			r.sees(c.Time)
		}
		for _, run := range a.Runs {
			r.sees(run.Started)
		}
	}
	r.fork(read, ledger.Measure{Accountant: q.Accountant, Delta: q.Delta})
	return r, nil
}

// found is the record of a run and where it lies.
type found struct {
	dir string
	rec *record.Run
}

// records reads the records of all runs below folders, of each the oldest first; unread says which cannot be.
func records(out []string) (runs []found, unread []string, err error) {
	var folders []string
	for _, dir := range out {
		list, err := store.Newest(dir)
		if err != nil {
			return nil, nil, err
		}
		slices.Reverse(list)
		folders = append(folders, list...)
	}
	for _, dir := range folders {
		rec, err := store.ReadRecord(dir)
		if err != nil {
			unread = append(unread, fmt.Sprintf("run %s: its record cannot be read: %v", filepath.Base(dir), err))
			continue
		}
		runs = append(runs, found{dir, rec})
	}
	return runs, unread, nil
}

// account reports on one ledger, and returns its charges.
func (q Request) account(name string, runs []found) (Account, []ledger.Entry, error) {
	ownersCopy, err := dataset.CopyBeside(name) // before the ledger, which others may be charging
	if err != nil {
		return Account{}, nil, err
	}
	path, entries, err := dataset.ReadLedgerOf(name)
	fault := (*dataset.LedgerError)(nil)
	if errors.As(err, &fault) && !errors.Is(err, ledger.ErrOldFormat) && strings.HasSuffix(path, dataset.LedgerSuffix) {
		a := emptyAccount(path)
		a.Disagree = append(a.Disagree, err.Error())
		return a, nil, nil
	}
	if err != nil {
		return Account{}, nil, err
	}
	a, err := accountOf(path, entries, ledger.Measure{Accountant: q.Accountant, Delta: q.Delta})
	if err != nil {
		return a, nil, fmt.Errorf("%s: %w", path, err)
	}
	if a.Copied, err = ownersCopy.Check(entries); err != nil {
		a.Disagree = append(a.Disagree, err.Error())
	}
	q.addRuns(&a, entries, runs)
	return a, entries, nil
}

// addRuns lists the runs that charged the dataset or name it, and what disagrees.
func (q Request) addRuns(a *Account, entries []ledger.Entry, runs []found) {
	known := map[string]bool{}
	for _, r := range runs {
		if r.rec.Dataset.ID == a.Dataset && (!r.rec.Insecure || a.charged(r.rec.ID) > 0) { // a test has a ledger of its own
			if !known[r.rec.ID] { // else another folder has a copy of it
				known[r.rec.ID] = true
				a.Runs = append(a.Runs, a.run(r.rec))
			}
			if name := r.rec.Dataset.Name; name != "" && !slices.Contains(a.Names, name) {
				a.Names = append(a.Names, name)
			}
			for _, why := range q.disagreements(r, entries) {
				if why = "run " + r.rec.ID + ": " + why; !slices.Contains(a.Disagree, why) {
					a.Disagree = append(a.Disagree, why)
				}
			}
		}
	}
	for _, e := range entries {
		if known[e.Run] {
			continue
		}
		known[e.Run] = true
		a.Runs = append(a.Runs, Run{ID: e.Run, Status: NoRecord, Spec: e.Spec, Charges: a.charged(e.Run),
			Release: []string{}, Warnings: []record.Finding{}})
		if len(q.Runs) > 0 {
			a.Disagree = append(a.Disagree, fmt.Sprintf("run %s: the ledger has its charges, and no record of it lies here",
				e.Run))
		}
	}
}

// charged counts the lines of a run.
func (a *Account) charged(run string) (n int) {
	for _, c := range a.Charges {
		if c.Run == run {
			n++
		}
	}
	return n
}

// run tells of a run what its record says of plan and promise, and nothing that it measured.
func (a *Account) run(rec *record.Run) Run {
	r := Run{ID: rec.ID, Name: rec.Name, Started: rec.Started, Status: string(rec.Status), Spec: rec.SpecDigest,
		Commit: rec.Commit, Weir: rec.Weir, Proven: rec.Terms.Proven, Delta: rec.Terms.Delta,
		Claims: rec.Terms.Claims, Test: rec.Insecure, Former: rec.Dataset.Former,
		Charges: a.charged(rec.ID), Release: []string{}, Warnings: []record.Finding{}}
	for _, f := range rec.Release {
		r.Release = append(r.Release, f.Path)
	}
	if public, err := rec.Public(); err == nil {
		for _, f := range public.Findings() {
			if f.Level == "warning" {
				r.Warnings = append(r.Warnings, f)
			}
		}
	}
	return r
}

// disagreements lists what the record of a run says otherwise than ledger and release.
func (q Request) disagreements(r found, entries []ledger.Entry) (list []string) {
	rec := r.rec
	add := func(format string, args ...any) { list = append(list, fmt.Sprintf(format, args...)) }
	head := ledger.Head{Count: rec.Dataset.LedgerCount, Hash: rec.Dataset.LedgerHead}
	if err := ledger.Includes(entries, head); err != nil {
		add("the ledger is not one that goes on from where the run left it: %v", err)
	}
	public, err := rec.Public()
	if err != nil {
		add("its plan cannot be read: %v", err)
		return list
	}
	listed := map[string]bool{}
	for _, c := range rec.Charges {
		listed[c.ID] = true
		i := slices.IndexFunc(entries, func(e ledger.Entry) bool { return e.ID == c.ID })
		switch {
		case i < 0:
			add("its record lists the charge %s, and the ledger has none", c.ID)
		case !ledger.SameEvent(entries[i].Event.Event, public.LedgerEvent(c)) || entries[i].Identity() != c.Ledger:
			add("its record and line %d of the ledger disagree on the charge %s", i+1, c.ID)
		case c.Run == "" && entries[i].Spec != rec.SpecDigest:
			add("line %d of the ledger names another spec than its record", i+1)
		}
	}
	if rec.Status != record.Done {
		if there, err := (store.RunDir{Path: r.dir}).Listing(); err != nil || len(there) > 0 {
			add("its record says that it is %s, and it has a release", rec.Status)
		}
		return list
	}
	for i, e := range entries {
		if e.Run == rec.ID && !listed[e.ID] {
			add("line %d of the ledger is a charge that its record does not list", i+1)
		}
	}
	return append(list, q.released(r)...)
}

// released lists what is not as a finished run says.
func (q Request) released(r found) []string {
	if q.Judge == nil {
		if err := (store.RunDir{Path: r.dir}).CheckRelease(r.rec); err != nil {
			return []string{"its release is not as its record says: " + err.Error()}
		}
		return nil
	}
	differ, err := q.Judge(r.dir, r.rec)
	if err != nil {
		differ = append(differ, "it cannot be judged: "+err.Error())
	}
	return differ
}
