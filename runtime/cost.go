package runtime

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"weir/pipeline"
	"weir/pipeline/compile"
	"weir/privacy/ledger"
	"weir/runtime/dataset"
	"weir/runtime/files"
	"weir/runtime/payment"
	"weir/runtime/store"
	"weir/runtime/table"
)

// taskOf returns what a run of a plan on an opened dataset is to do.
func taskOf(ctx context.Context, plan *compile.Plan, source *opened, inputs *files.Held, opts Options) (*payment.Task,
	error) {
	digest := func(file string) (string, error) { return inputs.Digest(ctx, file) }
	content, err := contentOf(plan, source, digest)
	if err != nil {
		return nil, err
	}
	t, err := opts.task(plan, source.Dataset, digest)
	if err == nil {
		t.Rows = &payment.Rows{Source: source.content, Content: content, Secret: source.secret, Digest: inputs.Digest}
	}
	return t, err
}

// task returns what a run of a plan on a dataset is to do; digest gives the digests of public files.
func (o Options) task(plan *compile.Plan, data payment.Dataset, digest func(string) (string, error)) (
	*payment.Task, error) {
	recipes, err := payment.Recipes(plan, data, o.Repeat, seedsOf(plan, o.Repeat), publicName(digest))
	t := &payment.Task{Plan: plan, Dataset: data, Recipes: recipes, Repeat: o.Repeat, Build: o.Build, Seed: o.Insecure,
		Fresh: o.Fresh, Replay: o.Replay != nil}
	if o.Replay != nil {
		t.Earlier = o.Replay.Earlier
	}
	return t, err
}

// publicName names a public file in recipes by its digest and by how its name has it read.
func publicName(digest func(string) (string, error)) func(string) (string, error) {
	return func(file string) (string, error) {
		name, err := digest(file)
		if err == nil && table.Tabbed(file) {
			name += " tab"
		}
		return name, err
	}
}

// contentOf tells apart what the private files of a run hold. It stays on the owner's side.
func contentOf(plan *compile.Plan, s *opened, digest func(file string) (string, error)) (string, error) {
	all := []string{s.content}
	for i := range plan.Steps {
		for _, f := range plan.Steps[i].Work.Files {
			if f.Public {
				continue
			}
			content, err := digest(f.Path)
			if err != nil {
				return "", pipeline.AtStage(plan.Steps[i].ID, err)
			}
			all = append(all, content)
		}
	}
	if len(all) == 1 {
		return s.content, nil
	}
	return store.DigestJSON(all)
}

// Recipes names what the stages of a plan would do to the dataset of an id, in a repeat,
// and opens nothing. A stage that reads a public file has no recipe, and nor does what comes
// after it, because the content of such a file is part of the name.
func Recipes(plan *compile.Plan, id string, repeat int) (map[string]string, error) {
	data := payment.Dataset{ID: id, Version: string(plan.Spec.Dataset.Version)}
	return payment.Recipes(plan, data, repeat, seedsOf(plan, repeat), func(string) (string, error) {
		return "",
			payment.ErrUnopened
	})
}

// Together returns what the trials of an experiment come to as one plan fixed ahead, and shared
// tells of a stage of the i-th trial whether an earlier one pays for it. A paid stage that
// several of them have by an equal recipe is one release and counts once, unless each
// draws new noise (fresh). Nothing is opened: a stage that reads a further file, or what
// comes of one, has no recipe here and counts in each, which is a bound too.
func Together(trials []Trial, fresh bool) (total ledger.Total, shared func(i int, s *compile.Step) bool, err error) {
	plans, recipes := make([]*compile.Plan, len(trials)), make([]map[string]string, len(trials))
	for i, t := range trials {
		if plans[i] = t.Plan; payment.Unpaid(t.Plan) || fresh {
			continue
		}
		if recipes[i], err = Recipes(t.Plan, "", t.Repeat); err != nil {
			return ledger.Total{}, nil, err
		}
	}
	return payment.Together(plans, recipes)
}

// Foresee says what a run of a plan would charge, or all runs of an experiment, by the ledger
// of each dataset that they name, and refuses as the run would. It opens no data: which
// dataset a file is, the owner's side says by its path, and its rows are taken to be the rows of
// earlier runs. Nothing on disk is changed.
func Foresee(ctx context.Context, trials []Trial, opts Options) ([]payment.Quote, error) {
	opts.seen = &payment.Seen{}
	return eachDataset(trials, func(trials []Trial) (payment.Quote, error) { return look(ctx, trials, opts) })
}

// look quotes trials on one dataset that is not opened.
func look(ctx context.Context, trials []Trial, opts Options) (q payment.Quote, err error) {
	folder, err := files.OpenFolder(opts.Dir, opts.Confine)
	if err != nil {
		return q, err
	}
	plan, inputs := limiting(trials), files.Hold(folder)
	defer inputs.Close()
	id, err := peek(ctx, plan, inputs, askedLedger(plan, folder, opts), opts)
	if err != nil {
		return q, err
	}
	b, err := payment.Look(plan, id.Dataset, bookPlace(plan, folder, opts))
	if err != nil {
		return q, err
	}
	digest := ifThere(func(file string) (string, error) { return inputs.Digest(ctx, file) })
	return quote(ctx, b, trials, opts, func(plan *compile.Plan, opts Options) (*payment.Task, error) {
		return opts.task(plan, id.Dataset, digest)
	})
}

// ifThere takes a public file that is absent for one that no run has read: whoever looks at a
// plan need not have it.
func ifThere(digest func(string) (string, error)) func(string) (string, error) {
	return func(file string) (string, error) {
		found, err := digest(file)
		if errors.Is(err, fs.ErrNotExist) {
			return "absent", nil
		}
		return found, err
	}
}

// quote returns what trials on the dataset of a book would charge together.
func quote(ctx context.Context, b *payment.Book, trials []Trial, opts Options,
	task func(*compile.Plan, Options) (*payment.Task, error)) (payment.Quote, error) {
	tasks := make([]*payment.Task, len(trials))
	for i, t := range trials {
		var err error
		if tasks[i], err = task(t.Plan, opts.trial(i, t)); err != nil {
			return payment.Quote{}, err
		}
	}
	return b.Quote(ctx, tasks)
}

// peek says which dataset a plan names, by what is known of its path. One of which nothing
// is known has an id that no ledger holds.
func peek(ctx context.Context, plan *compile.Plan, inputs *files.Held, ledgerPath string, opts Options) (identity,
	error) {
	d, version := &plan.Spec.Dataset, string(plan.Spec.Dataset.Version)
	if d.Declared.Invented != "" {
		return invented(ctx, plan, inputs, opts)
	}
	path := inputs.Path(d.Declared.Table())
	if opts.Insecure != nil {
		id := publicIdentity("insecure", version, opts)
		id.Path = path
		return id, nil
	}
	known, err := dataset.Peek(opts.Out, path, ledgerPath)
	if errors.Is(err, dataset.ErrDamaged) { // by the ledger alone: only who charges needs the owner file
		opts.Log.Warn("no run can charge the dataset; what follows goes by its ledger alone: " + err.Error())
		if known != nil {
			known.Notes = []string{err.Error()}
		}
		err = nil
	}
	if err != nil || known == nil {
		return identity{Dataset: payment.Dataset{ID: unknownDataset, Version: version, Path: path}}, err
	}
	return identity{Dataset: payment.Dataset{ID: known.ID, Version: version, Path: known.Path, Known: known}}, nil
}

// invented says which dataset invented rows are, whose content is what made them: none of them is drawn.
func invented(ctx context.Context, plan *compile.Plan, held *files.Held, opts Options) (identity, error) {
	d := &plan.Spec.Dataset
	source, err := d.Source.Open(ctx, opening(plan, held, opts))
	if err != nil {
		return identity{}, err
	}
	content, err := source.Content(ctx)
	return publicIdentity(content, string(d.Version), opts), errors.Join(err, source.Close())
}

// unknownDataset is the id of a dataset that no run has met.
const unknownDataset = "ds-00000000000000000000000000000000"

// affordable asks for what trials charge together, refuses what would pass the budget of a
// dataset, and fixes the orders of filters for all of them: side by side each would fix one
// for itself.
func affordable(ctx context.Context, trials []Trial, opts Options) (orders map[string]float64, err error) {
	orders = map[string]float64{}
	quotes, err := eachDataset(trials, func(trials []Trial) (q payment.Quote, err error) {
		plan := limiting(trials)
		if !opts.needsConfirmation(plan) && !capped(trials) {
			return q, nil
		}
		if q, orders[SourceKey(plan)], err = opts.price(ctx, plan, trials); !opts.needsConfirmation(plan) {
			q = payment.Quote{}
		}
		return q, err
	})
	if err != nil || opts.Confirm == nil || !slices.ContainsFunc(quotes, payment.Quote.Charges) {
		return orders, err
	}
	return orders, opts.Confirm(quotes)
}

// price opens the dataset of trials and returns what they charge together, and the order of the filter that its budget
// is read with then.
func (o Options) price(ctx context.Context, plan *compile.Plan, trials []Trial) (q payment.Quote, order float64,
	err error) {
	inputs, source, err := openFiles(ctx, plan, o)
	if err != nil {
		return q, 0, err
	}
	defer inputs.Close()
	defer source.Close()
	b, err := payment.Open(plan, source.Dataset, bookPlace(plan, inputs.Folder, o))
	if err != nil {
		return q, 0, err
	}
	q, err = quote(ctx, b, trials, o, func(plan *compile.Plan, opts Options) (*payment.Task, error) {
		return taskOf(ctx, plan, source, inputs, opts)
	})
	return q, b.Order(), err
}

// needsConfirmation reports whether somebody is asked before a run of a plan charges; demo rows belong to no one, so
// nobody is asked for them.
func (o Options) needsConfirmation(plan *compile.Plan) bool {
	return o.Confirm != nil && plan.Spec.Dataset.Declared.Invented == ""
}

// confirm asks whether to charge, where somebody is to be asked and anything is charged.
func (r *run) confirm() error {
	if !r.opts.needsConfirmation(r.plan) || payment.Unpaid(r.plan) || r.opts.Replay != nil {
		return nil
	}
	q, err := r.purse.Quote()
	if err != nil || !q.Charges() {
		return err
	}
	return r.opts.Confirm([]payment.Quote{q})
}

// bookPlace returns where the book of the source is kept.
func bookPlace(plan *compile.Plan, folder *files.Folder, opts Options) payment.Place {
	p := payment.Place{Disk: opts.Disk, Asked: askedLedger(plan, folder, opts), Out: opts.Out, Test: opts.Insecure != nil,
		Order: opts.orders[SourceKey(plan)], Seen: opts.seen, Turns: opts.turns, Log: opts.Log, Clock: opts.Clock}
	if opts.Ledger == "" {
		p.Inside = folder.Inside
	}
	return p
}

// capped reports whether the dataset of trials has a budget that they charge.
func capped(trials []Trial) bool {
	return slices.ContainsFunc(trials, func(t Trial) bool {
		return t.Plan.Dataset.Budget != nil &&
			!t.Plan.Budget.Infinite()
	})
}

// limiting returns the first of the plans of trials that states a budget of the dataset; of several specs the
// others need not. Where none does it is the first plan.
func limiting(trials []Trial) *compile.Plan {
	first := slices.IndexFunc(trials, func(t Trial) bool { return t.Plan.Dataset.Budget != nil })
	return trials[max(0, first)].Plan
}

// eachDataset asks for one quote for each dataset on which trials charge anything.
func eachDataset(trials []Trial, quote func([]Trial) (payment.Quote, error)) ([]payment.Quote, error) {
	groups, keys := map[string][]Trial{}, []string{}
	for _, t := range trials {
		if key := SourceKey(t.Plan); !payment.Unpaid(t.Plan) {
			if groups[key] == nil {
				keys = append(keys, key)
			}
			groups[key] = append(groups[key], t)
		}
	}
	var quotes []payment.Quote
	var errs []error
	for _, key := range keys {
		q, err := quote(groups[key])
		quotes, errs = append(quotes, q), append(errs, err)
	}
	return quotes, errors.Join(errs...)
}

// SourceKey tells the datasets of plans apart by what the plans say of them.
func SourceKey(plan *compile.Plan) string {
	d := &plan.Spec.Dataset
	return fmt.Sprintf("%s %s %s", d.Declared.Kind, d.Version, d.Declared.Full)
}
