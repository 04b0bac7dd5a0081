package runtime

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"weir/pipeline/compile"
	"weir/runtime/book"
	"weir/runtime/dataset"
	"weir/runtime/files"
	"weir/runtime/store"
)

// Foresee says what a run of a plan would charge, or all runs of an experiment, by the ledger
// of each dataset that they name, and refuses as the run would. It opens no data: which
// dataset a file is, the owner's side says by its path, and its rows are taken to be those of
// earlier runs. Nothing on disk is changed.
func Foresee(ctx context.Context, trials []Trial, opts Options) ([]Quote, error) {
	opts.seen = &store.Seen{}
	return eachDataset(trials, func(trials []Trial) (Quote, error) {
		s, err := lookAt(ctx, limiting(trials), opts)
		if err != nil {
			return Quote{}, err
		}
		defer s.files.Close()
		return s.quote(ctx, trials)
	})
}

// lookAt is the survey of a dataset that is not opened.
func lookAt(ctx context.Context, plan *compile.Plan, opts Options) (*survey, error) {
	folder, err := files.OpenFolder(opts.Dir, opts.Confine)
	if err != nil {
		return nil, err
	}
	s := &survey{source: &opened{}, files: files.Hold(folder), opts: opts, blind: true}
	s.source.identity, err = peek(ctx, plan, s.files, askedLedger(plan, folder, opts), opts)
	if err == nil {
		s.account, err = book.Look(plan, s.source.Dataset, ledgerPlace(plan, folder, opts), opts.Clock)
	}
	if err != nil {
		return nil, errors.Join(err, folder.Close())
	}
	return s, nil
}

// peek says which dataset a plan names, by what is known of its path. One of which nothing
// is known has an id that no ledger holds.
func peek(ctx context.Context, plan *compile.Plan, held *files.Held, asked string, opts Options) (identity, error) {
	d, version := &plan.Spec.Dataset, string(plan.Spec.Dataset.Version)
	if d.Declared.Invented != "" {
		return invented(ctx, plan, held, opts)
	}
	path := held.Path(d.Declared.Table())
	if opts.Insecure != nil {
		id := publicIdentity("insecure", version, opts)
		id.Path = path
		return id, nil
	}
	known, err := dataset.Peek(opts.Out, path, asked)
	if errors.Is(err, dataset.ErrDamaged) { // by the ledger alone: only who charges needs the owner file
		opts.Log.Warn("no run can charge the dataset; what follows goes by its ledger alone: " + err.Error())
		if known != nil {
			known.Notes = []string{err.Error()}
		}
		err = nil
	}
	if err != nil || known == nil {
		return identity{Dataset: book.Dataset{ID: unknownDataset, Version: version, Path: path}}, err
	}
	return identity{Dataset: book.Dataset{ID: known.ID, Version: version, Path: known.Path, Known: known}}, nil
}

// invented says which dataset invented rows are, whose content is what made them: none of them is drawn.
func invented(ctx context.Context, plan *compile.Plan, held *files.Held, opts Options) (identity, error) {
	d := &plan.Spec.Dataset
	from, err := d.Source.Open(ctx, opening(plan, held, opts))
	if err != nil {
		return identity{}, err
	}
	content, err := from.Content(ctx)
	return publicIdentity(content, string(d.Version), opts), errors.Join(err, from.Close())
}

// unknownDataset is the id of a dataset that no run has met.
const unknownDataset = "ds-00000000000000000000000000000000"

// affordable asks for what trials charge together, refuses what would pass the budget of a
// dataset, and fixes the orders of filters for all of them: side by side each would fix one
// for itself.
func affordable(ctx context.Context, trials []Trial, opts Options) (orders map[string]float64, err error) {
	orders = map[string]float64{}
	quotes, err := eachDataset(trials, func(trials []Trial) (Quote, error) {
		plan := limiting(trials)
		if !opts.asks(plan) && !capped(trials) {
			return Quote{}, nil
		}
		held, of, err := openFiles(ctx, plan, opts)
		if err != nil {
			return Quote{}, err
		}
		defer held.Close()
		defer of.Close()
		s := survey{source: of, files: held, opts: opts}
		if s.account, err = book.Open(plan, of.Dataset, ledgerPlace(plan, held.Folder, opts), opts.Clock); err != nil {
			return Quote{}, err
		}
		q, err := s.quote(ctx, trials)
		orders[SourceKey(plan)] = s.account.Order()
		if !opts.asks(plan) {
			q = Quote{}
		}
		return q, err
	})
	if err != nil || opts.Confirm == nil || !charges(quotes) {
		return orders, err
	}
	return orders, opts.Confirm(quotes)
}

func charges(quotes []Quote) bool {
	for _, q := range quotes {
		if q.Charges() {
			return true
		}
	}
	return false
}

// capped reports whether the dataset of trials has a budget that they charge.
func capped(trials []Trial) bool {
	return slices.ContainsFunc(trials, func(t Trial) bool { return t.Plan.Dataset.Budget != nil && !t.Plan.Budget.Infinite() })
}

// limiting is the first of the plans of trials that states a budget of the dataset; of several specs the
// others need not. Where none does it is the first plan.
func limiting(trials []Trial) *compile.Plan {
	at := slices.IndexFunc(trials, func(t Trial) bool { return t.Plan.Dataset.Budget != nil })
	return trials[max(0, at)].Plan
}

// eachDataset asks for one quote for each dataset on which trials charge anything.
func eachDataset(trials []Trial, quote func([]Trial) (Quote, error)) ([]Quote, error) {
	of, keys := map[string][]Trial{}, []string{}
	for _, t := range trials {
		if key := SourceKey(t.Plan); !unpaid(t.Plan) {
			if of[key] == nil {
				keys = append(keys, key)
			}
			of[key] = append(of[key], t)
		}
	}
	var quotes []Quote
	var errs []error
	for _, key := range keys {
		q, err := quote(of[key])
		quotes, errs = append(quotes, q), append(errs, err)
	}
	return quotes, errors.Join(errs...)
}

// SourceKey tells the datasets of plans apart by what the plans say of them.
func SourceKey(plan *compile.Plan) string {
	d := &plan.Spec.Dataset
	return fmt.Sprintf("%s %s %s", d.Declared.Kind, d.Version, d.Declared.Full)
}
