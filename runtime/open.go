package runtime

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"

	"weir/pipeline"
	"weir/pipeline/compile"
	"weir/privacy/noise"
	"weir/runtime/dataset"
	"weir/runtime/files"
	"weir/runtime/payment"
)

// opened is the dataset of a run: its source, and which dataset that is.
type opened struct {
	identity
	pipeline.Opened // nil where no data is opened
	table           pipeline.Table
	// rows beyond the cap of their unit, as the last whole reading counted them; nil before
	left atomic.Pointer[int64]
}

// Close closes the source, where one is opened.
func (s *opened) Close() error {
	if s.Opened == nil {
		return nil
	}
	return s.Opened.Close()
}

// openFiles opens the dataset of a plan, and holds what else is opened until it is closed.
func openFiles(ctx context.Context, plan *compile.Plan, opts Options) (*files.Held, *opened, error) {
	folder, err := files.OpenFolder(opts.Dir, opts.Confine)
	if err != nil {
		return nil, nil, err
	}
	inputs := files.Hold(folder)
	var s *opened
	if err = CheckFiles(plan, folder); err == nil {
		s, err = openSource(ctx, plan, inputs, opts)
	}
	if err == nil {
		if err = opts.locked(ctx, plan, inputs, s); err != nil {
			s.Close()
		}
	}
	if err != nil {
		inputs.Close()
	}
	return inputs, s, err
}

// openSource opens the dataset of a plan and finds out which dataset it is.
func openSource(ctx context.Context, plan *compile.Plan, held *files.Held, opts Options) (*opened, error) {
	s := &opened{}
	if err := s.open(ctx, plan, held, opts); err != nil {
		return nil, pipeline.AtStage(pipeline.DatasetID, errors.Join(err, s.Close()))
	}
	s.table.Header = plan.Spec.Header()
	rows := s.table.Open // of a table that stays: of a sample, from which the source has left what is beyond the cap
	if s.table.Pushed == nil {
		rows = countRows(capUnits(s.table, plan.Spec.Dataset.PrivacyUnit, func(rows int64) { s.left.Store(&rows) }))
	}
	s.table.Open = nameErrors(pipeline.DatasetID, rows)
	return s, nil
}

func (s *opened) open(ctx context.Context, plan *compile.Plan, inputs *files.Held, opts Options) error {
	d := &plan.Spec.Dataset
	if opts.Looking != nil {
		defer opts.Looking(d.Declared.Name)()
	}
	names, err := inputs.Lists(d.Declared.Files)
	if err == nil {
		err = each(names, inputs.Check)
	}
	if err != nil {
		return err
	}
	source, err := d.Source.Open(ctx, opening(plan, inputs, opts))
	if err != nil {
		return err
	}
	s.Opened, s.table = source, source.Table()
	content, err := source.Content(ctx)
	if err != nil {
		return err
	}
	if d.Declared.Invented != "" {
		s.identity = publicIdentity(content, string(d.Version), opts)
		return nil
	}
	if err := each(names, inputs.Named); err != nil { // the ledger is found by the name, the content is of what is held
		return err
	}
	parts, err := partsOf(ctx, inputs, names)
	if err != nil {
		return err
	}
	place := ""
	if on, is := source.(pipeline.OnServer); is {
		server, err := on.Server(ctx)
		if err != nil {
			return err
		}
		place = server.Place
	}
	var hashes rowHashes
	if stays, is := source.(pipeline.HashesRows); is {
		hashes = stays.RowHashes
	}
	s.identity, err = identify(ctx, inputs.Path(d.Declared.Table()), content, place, parts, s.table, hashes, plan,
		inputs.Folder, opts)
	return errors.Join(err, each(names, inputs.Named))
}

// rowHashes has the signature of pipeline.HashesRows; nil where rows are read.
type rowHashes = func(ctx context.Context, most int) ([]uint64, error)

// partsOf returns the digests of the files of a table that has several.
func partsOf(ctx context.Context, inputs *files.Held, names []string) (digests []string, err error) {
	if len(names) < 2 {
		return nil, nil
	}
	for _, name := range names {
		digest, err := inputs.Digest(ctx, name)
		if err != nil {
			return nil, err
		}
		digests = append(digests, digest)
	}
	return digests, nil
}

// opening returns what the source of a plan is opened with. Invented rows come from no file: their content is public.
func opening(plan *compile.Plan, inputs *files.Held, opts Options) pipeline.Opening {
	d := &plan.Spec.Dataset
	may := inputs.Only(d.Declared.Files...)
	if d.Declared.Invented != "" {
		may = inputs.Only()
	}
	return pipeline.Opening{Files: may, CSV: d.CSV, Columns: d.Columns(), Unit: d.PrivacyUnit.Column,
		MaxRows: d.PrivacyUnit.MaxRows, Seed: plan.Seed, Tell: opts.tell}
}

// each calls f on names until one is refused.
func each(names []string, f func(string) error) error {
	for _, name := range names {
		if err := f(name); err != nil {
			return err
		}
	}
	return nil
}

// identity is which dataset a run works on: a random id and a declared version,
// which are public, and what stays with the owner.
type identity struct {
	payment.Dataset
	content string    // tells contents apart; for the owner's side only
	secret  noise.Key // of draws by the order of rows; one for each content of each version
}

// publicIdentity names rows that anyone can make. Their secret draws need not be secret.
func publicIdentity(what, version string, opts Options) identity {
	h := sha256.Sum256([]byte("weir " + what))
	id := identity{Dataset: payment.Dataset{ID: "ds-" + hex.EncodeToString(h[:16]), Version: version}, content: what,
		secret: noise.Key(h)}
	if opts.Insecure != nil {
		id.secret = payment.InsecureKey(*opts.Insecure)
	}
	return id
}

// identify finds the id of the dataset whose rows lie at a path, and at a place of a server, and have a content, and
// whose files have the contents of parts where they are several, or gives it one. A run with a test seed leaves no mark
// on the owner's side, and gives the same bytes on any machine.
func identify(ctx context.Context, path, content, place string, parts []string, rows pipeline.Table, hashes rowHashes,
	plan *compile.Plan, folder *files.Folder, opts Options) (identity, error) {
	version := string(plan.Spec.Dataset.Version)
	if opts.Insecure != nil {
		id := publicIdentity("insecure", version, opts)
		id.content, id.Path = content, path
		return id, nil
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return identity{}, err
	}
	known, err := dataset.Identify(ctx, dataset.Opening{Disk: opts.Disk, Out: opts.owners(), Path: path, Version: version,
		Digest: content, Parts: parts, Where: plan.Spec.Dataset.Declared.Where, Place: place,
		Ledger: askedLedger(plan, folder, opts), Uncharged: payment.Unpaid(plan), Replay: opts.Replay != nil,
		Locked: opts.locking || opts.Locked != nil, Rows: rows, Hashes: hashes, Clock: opts.Clock, Random: opts.Random})
	if err != nil {
		return identity{}, err
	}
	for _, note := range known.Notes {
		opts.Log.Warn(note)
	}
	if err := overlapping(known, plan); err != nil && opts.Replay == nil {
		return identity{}, errors.Join(err, known.Forget())
	}
	return identity{Dataset: payment.Dataset{ID: known.ID, Version: version, Path: known.Path, Known: known},
		content: known.Content(), secret: known.Secret}, nil
}

// overlapping refuses a dataset with a budget whose rows another one has spent on:
// two ledgers would be two budgets. Without a budget the owner is told (W32).
func overlapping(known *dataset.Identity, plan *compile.Plan) error {
	if len(known.Overlaps) == 0 || plan.Dataset.Budget == nil || plan.Spec.Privacy.Acknowledge["W32"] != "" {
		return nil
	}
	return dataset.Refusal{Err: fmt.Errorf("has a budget and shares rows with %s, whose charges are in another ledger "+
		"(W32); if the people are the same, give them one ledger: %s; if they are not, privacy.acknowledge: {W32: who they "+
		"are}",
		strings.Join(known.Overlaps, ", "), strings.Join(known.Joins, "; "))}
}

// askedLedger returns where the caller or the spec says that the ledger lies, or "".
func askedLedger(plan *compile.Plan, folder *files.Folder, opts Options) string {
	if opts.Ledger == "" && plan.Spec.Dataset.Ledger != "" {
		return folder.Path(plan.Spec.Dataset.Ledger)
	}
	return opts.Ledger
}

// Data is what a run reads, as far as a weir.lock says so.
type Data struct {
	ID, Version string // of the dataset; the version as declared
	Files       []PublicFile
	// Program reads the rows, in ProgramVersion; "" where weir does.
	Program, ProgramVersion string

	known *dataset.Identity // nil where rows are invented, which the id names
}

// PublicFile is a further file of a stage that holds no private row.
type PublicFile struct{ Stage, Path, Digest string }

// ReadData opens what a run of the plan would read, and says what it is. No stage runs and
// nothing is charged.
func ReadData(ctx context.Context, plan *compile.Plan, opts Options) (Data, error) {
	opts.locking = true
	inputs, source, err := openFiles(ctx, plan, opts)
	if err != nil {
		return Data{}, err
	}
	defer inputs.Close()
	defer source.Close()
	return dataOf(ctx, plan, inputs, source)
}

func dataOf(ctx context.Context, plan *compile.Plan, inputs *files.Held, source *opened) (Data, error) {
	d := Data{ID: source.ID, Version: source.Version, known: source.Known}
	if by, ok := source.Opened.(pipeline.ReadByProgram); ok {
		d.Program, d.ProgramVersion = by.Program()
	}
	for i := range plan.Steps {
		step := &plan.Steps[i]
		for _, f := range step.Work.Files {
			if !f.Public {
				continue
			}
			digest, err := inputs.Digest(ctx, f.Path)
			if err != nil {
				return d, pipeline.AtStage(step.ID, err)
			}
			d.Files = append(d.Files, PublicFile{step.ID, f.Path, digest})
		}
	}
	return d, nil
}

// CheckLock refuses content other than that with which the version was locked.
func (d Data) CheckLock() error {
	if d.known == nil {
		return nil
	}
	return inDataset(d.known.CheckLock())
}

// KeepLock keeps on the owner's side which content a lock of the version means.
func (d Data) KeepLock() error {
	if d.known == nil {
		return nil
	}
	return inDataset(d.known.KeepLock())
}

func inDataset(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("dataset: %w", err)
}

// locked asks opts.Locked, before anything begins. A dataset that nothing was known of
// until then is forgotten where the answer is no.
func (o Options) locked(ctx context.Context, plan *compile.Plan, inputs *files.Held, source *opened) error {
	if o.Locked == nil {
		return nil
	}
	d, err := dataOf(ctx, plan, inputs, source)
	if err == nil {
		err = o.Locked(d)
	}
	if err == nil && d.known != nil {
		err = inDataset(d.known.Refused())
	}
	if err != nil && d.known != nil {
		err = errors.Join(err, d.known.Forget())
	}
	return err
}
