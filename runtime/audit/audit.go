package audit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/apache/arrow/go/v15/arrow"

	"weir/pipeline/compile"
	"weir/pipeline/neighbour"
	"weir/pipeline/words"
	"weir/privacy"
)

// Settings says what an audit tries.
type Settings struct {
	Neighbours int            // how many it chooses itself, beside those that are asked for
	Places     []int64        // rows that are asked for, by their places, counted from 0
	Others     []arrow.Record // rows to add, or to put for others: one record a unit, of the columns of the dataset
	Pairs      bool           // runs that follow each other, too
	With       *compile.Plan  // another plan on the dataset, which follows the first; nil: none
	Seed       Seed
	Ran        func(done, total int, what string) // after each run; nil: nobody counts
}

// Report is what an audit found. It holds no value of a row, and no place of one but in Tried.
type Report struct {
	Runs       int      `json:"runs"` // that were carried out
	Neighbours int      `json:"neighbours"`
	Asked      int      `json:"neighbours_asked_for"` // it tries more where none moves a mechanism
	Blind      []string `json:"not_compared"`         // mechanisms with a claim whose inputs were never compared
	Pairs      []string `json:"pairs_of_runs"`        // what happened between two runs, in words
	Stages     []Line   `json:"stages"`
	Faults     []Found  `json:"faults"`
	Tried      []Tried  `json:"-"` // private
	Panics     []string `json:"-"` // what internal errors of weir left: private

	unnamed string // the unit column, where no row was added because a new unit has no name
}

// Line is a mechanism of a stage, or a stage without any.
type Line struct {
	Stage     string   `json:"stage"`
	Kind      string   `json:"kind"`
	Mechanism string   `json:"mechanism,omitempty"`
	Compared  int      `json:"compared"`           // neighbours under which the inputs of the mechanism were compared
	Reached   *float64 `json:"reached,omitempty"`  // greatest distance of what went in, as a share of what was paid for
	NoClaim   string   `json:"no_claim,omitempty"` // why nothing is promised of the stage
	Faults    int      `json:"faults"`
}

// Found is a fault, and how it was found.
type Found struct {
	Stage string   `json:"stage,omitempty"`
	Text  string   `json:"fault"`
	Seen  []string `json:"seen_on"` // neighbours and pairs of runs, in words that tell no row
}

// Tried is a neighbour and the rows that it is of. It is the owner's alone.
type Tried struct {
	What   string  `json:"what"`
	Rows   []int64 `json:"rows,omitempty"` // counted from 1; none of rows that are of no one
	Faults int     `json:"faults"`
}

// NoRowError is returned for a row that the dataset does not have.
type NoRowError struct{ Place int64 }

func (e *NoRowError) Error() string {
	return fmt.Sprintf("row %d: is not there, must be a row of the dataset, counted from 1", e.Place+1)
}

// Audit carries out the plan on the dataset and on neighbours of it, with the outputs of mechanisms as they were, and
// as pairs of runs, and reports what differs and must not. An error says that no audit could be made, such as the error
// of a run of the plan on the dataset itself.
func (s *Subject) Audit(ctx context.Context, settings Settings) (r *Report, err error) {
	if settings.With != nil {
		if err := s.follows(settings.With); err != nil {
			return nil, err
		}
	}
	ordered, err := s.ordered(ctx, settings)
	if err != nil {
		return nil, err
	}
	a := &auditing{Subject: s, Settings: settings,
		report: &Report{Asked: settings.Neighbours + len(ordered), Faults: []Found{}, Pairs: []string{}, Blind: []string{}},
		bases:  map[string]*base{}, compared: map[neighbour.Mechanism]int{}, reached: map[neighbour.Mechanism]float64{}}
	defer func() { err = errors.Join(err, a.clear()) }()
	stories := a.stories()
	a.expect(len(ordered), stories)
	tried, err := a.try(ctx, ordered)
	if err == nil && settings.Neighbours > 0 {
		var chosen []pairing
		chosen, err = a.tryChosen(ctx)
		tried = append(tried, chosen...)
	}
	for _, story := range stories {
		if err == nil && len(neighbour.Broken(a.bases[tried[0].key].err)) == 0 {
			err = a.pair(ctx, story, tried[0])
		}
	}
	a.lines()
	return a.report, err
}

// try replays the plan on neighbours.
func (a *auditing) try(ctx context.Context, list []pairing) ([]pairing, error) {
	for i := range list {
		if err := a.neighbour(ctx, &list[i]); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// tryChosen replays the plan on neighbours that the audit chooses: without rows, or with others in their place, then
// with rows of nobody in the place of the rows that moved mechanisms most. Where none of the first moves anything, such
// as rows of a part that no mechanism reads, others are tried.
func (a *auditing) tryChosen(ctx context.Context) (tried []pairing, err error) {
	units, err := a.choose(ctx, len(reasons()))
	switch {
	case err != nil:
		return nil, err
	case len(units) == 0:
		return nil, ErrNoRows
	}
	n, best := max(1, a.Neighbours-styled), 0
	list := a.eachOf(units)
	for i := range list {
		if i >= n && (len(tried) == 0 || tried[best].moved > 0) {
			break
		}
		if err := a.neighbour(ctx, &list[i]); err != nil {
			return nil, err
		}
		if tried = append(tried, list[i]); list[i].moved > tried[best].moved {
			best = i
		}
	}
	styles := a.nobody(units[best])
	if len(styles) == 0 {
		a.report.unnamed = a.plan.Spec.Dataset.PrivacyUnit.Column
	}
	more, err := a.try(ctx, styles[:min(len(styles), max(0, a.Neighbours-n))])
	return append(tried, more...), err
}

// auditing is an audit at work.
type auditing struct {
	*Subject
	Settings
	report   *Report
	total    int
	bases    map[string]*base // by what of the rows is changed
	first    *trace           // of the bases: what need not be done again is taken from it
	compared map[neighbour.Mechanism]int
	reached  map[neighbour.Mechanism]float64
}

// base is a run whose mechanisms are recorded, and its folder.
type base struct {
	*trace
	theatre *theatre
	noise   *neighbour.Residuals
}

// clear removes the folders of the runs that were recorded.
func (a *auditing) clear() error {
	var errs []error
	for _, b := range a.bases {
		errs = append(errs, b.theatre.clear())
	}
	return errors.Join(errs...)
}

// played keeps what the internal errors of a run say.
func (a *auditing) played(t *trace) *trace {
	a.report.Panics = append(a.report.Panics, t.panics...)
	return t
}

// ran counts a run.
func (a *auditing) ran(what string) {
	a.report.Runs++
	if a.Ran != nil {
		a.Ran(a.report.Runs, max(a.total, a.report.Runs), what)
	}
}

// expect counts the runs of the audit, as far as that is known.
func (a *auditing) expect(ordered int, stories []story) {
	a.total = 1 + ordered + a.Neighbours
	if a.drawsByPlace() && a.removes() {
		a.total += ordered + a.Neighbours // each neighbour is compared with a run of its own
	}
	for _, story := range stories {
		a.total += story.runs()
	}
}

// base returns the run on the rows from which a pairing starts.
func (a *auditing) base(ctx context.Context, p pairing) (*base, error) {
	if b := a.bases[p.key]; b != nil {
		return b, nil
	}
	t, err := a.theatre(a.Seed)
	if err != nil {
		return nil, err
	}
	b := &base{theatre: t, noise: &neighbour.Residuals{}}
	a.bases[p.key] = b
	m := manner{frozen: neighbour.NewFrozen(), noise: b.noise}
	m.like = a.first
	b.trace = a.played(a.play(ctx, t, a.changed(p.base), m))
	a.first = cmp.Or(a.first, b.trace)
	a.ran("the run that is compared with")
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if faults := append(neighbour.Broken(b.err), b.noise.Faults()...); len(faults) > 0 {
		a.found(faults, "on the dataset itself", nil)
	} else if b.err != nil && p.key == "" {
		return nil, b.err
	}
	return b, nil
}

// neighbour replays the plan on a neighbour. Stages of which nothing leaves are replayed on the first one.
func (a *auditing) neighbour(ctx context.Context, p *pairing) error {
	one, err := a.base(ctx, *p)
	if err != nil {
		return err
	}
	a.report.Neighbours++
	if len(neighbour.Broken(one.err)) > 0 {
		return nil
	}
	t, err := a.theatre(a.Seed)
	if err != nil {
		return err
	}
	other := a.played(a.play(ctx, t, a.changed(p.other), manner{frozen: one.watch.Frozen.Neighbour(),
		noise: &neighbour.Residuals{}, like: one.trace, sinks: a.report.Neighbours == 1}))
	a.ran(p.what)
	if err := errors.Join(ctx.Err(), t.clear()); err != nil {
		return err
	}
	a.found(a.compare(one.trace, other, *p), p.what, p)
	for m, d := range other.watch.Frozen.Distances() {
		a.compared[m]++
		p.moved = max(p.moved, d)
	}
	return nil
}

// compare lists what a run shows on a neighbour and must not. Of stages without a claim, and of what comes behind them,
// anything may differ.
func (a *auditing) compare(one, other *trace, p pairing) []neighbour.Fault {
	faults, unclaimed := neighbour.Broken(other.err), unclaimed(one.watch.Plan)
	differ := func(stage, name string) {
		faults = append(faults, neighbour.Fault{Stage: stage,
			Text: name + " differs, though no mechanism gives anything else"})
	}
	for i := range one.watch.Plan.Steps {
		id := one.watch.Plan.Steps[i].ID
		before, after := one.of[id], other.of[id]
		if before == nil || after == nil || unclaimed[id] { // nil of what was taken from the run before, or came to nothing
			continue
		}
		for _, name := range neighbour.Differences(before, after) {
			differ(id, name)
		}
	}
	for _, name := range neighbour.Differences(one.seen, other.seen) {
		if len(unclaimed) == 0 && (len(faults) == 0 || name != "the record") {
			differ("", name)
		}
	}
	unit := a.plan.Spec.Dataset.PrivacyUnit.Column != ""
	coupled := neighbour.Couple(one.watch, other.watch, neighbour.Units{Named: unit, Same: p.sameUnits})
	for _, f := range coupled.Faults() {
		if !unclaimed[f.Stage] {
			faults = append(faults, f)
		}
	}
	for m, d := range other.watch.Frozen.Distances() {
		a.reached[m] = max(a.reached[m], d)
	}
	return faults
}

// unclaimed returns the stages that pay and claim nothing of it, such as stages of claims: published, and all that
// reads them.
func unclaimed(plan *compile.Plan) map[string]bool {
	stages := map[string]bool{}
	for i := range plan.Steps { // a stage stands behind those it reads
		step := &plan.Steps[i]
		free := len(step.Spends) > 0 && !neighbour.Claims(plan, step)
		for _, refs := range step.Inputs {
			for _, ref := range refs {
				free = free || stages[ref.Stage]
			}
		}
		if free {
			stages[step.ID] = true
		}
	}
	return stages
}

// found notes faults. p is nil of what is of no neighbour.
func (a *auditing) found(faults []neighbour.Fault, where string, p *pairing) {
	if p != nil {
		a.report.Tried = append(a.report.Tried, Tried{where, p.rows, len(faults)})
	}
	for _, f := range faults {
		i := slices.IndexFunc(a.report.Faults, func(o Found) bool { return o.Stage == f.Stage && alike(o.Text, f.Text) })
		if i < 0 {
			a.report.Faults, i = append(a.report.Faults, Found{Stage: f.Stage, Text: f.Text}), len(a.report.Faults)
		}
		if !slices.Contains(a.report.Faults[i].Seen, where) {
			a.report.Faults[i].Seen = append(a.report.Faults[i].Seen, where)
		}
	}
}

// lines sums up every mechanism, and every stage without one.
func (a *auditing) lines() {
	unclaimed := unclaimed(a.plan)
	for i := range a.plan.Steps {
		step := &a.plan.Steps[i]
		faults := 0
		for _, f := range a.report.Faults {
			if f.Stage == step.ID {
				faults++
			}
		}
		line := Line{Stage: step.ID, Kind: step.Kind, Faults: faults}
		if unclaimed[step.ID] {
			line.NoClaim = a.noClaim(step)
		}
		if len(step.Spends) == 0 {
			a.report.Stages = append(a.report.Stages, line)
		}
		for _, spend := range step.Spends {
			line.Mechanism = spend.Name
			of := neighbour.Mechanism{Stage: step.ID, Spend: spend.Name}
			line.Compared, line.Reached = a.compared[of], nil
			if reached, is := a.reached[of]; is {
				line.Reached = &reached
			}
			if line.Compared == 0 && line.NoClaim == "" {
				a.report.Blind = append(a.report.Blind, step.ID+" "+spend.Name)
			}
			a.report.Stages = append(a.report.Stages, line)
		}
	}
}

// noClaim says why nothing is claimed of a stage.
func (a *auditing) noClaim(step *compile.Step) string {
	switch {
	case a.plan.Budget.Infinite():
		return "epsilon is inf, so no privacy is claimed"
	case step.Unproven != (privacy.Unproven{}):
		return "claims: published, and nothing is proven (" + step.Unproven.String() + ")"
	}
	return "it reads what a stage made of which nothing is proven"
}

// alike reports whether two faults differ in numbers alone, such as how far something moves.
func alike(a, b string) bool { return undigited(a) == undigited(b) }

func undigited(s string) string {
	out := []rune{}
	for _, r := range s {
		if !(r >= '0' && r <= '9' || r == '.') {
			out = append(out, r)
		}
	}
	return string(out)
}

// Sound reports whether nothing was found.
func (r *Report) Sound() bool { return len(r.Faults) == 0 }

// Text words a report: each mechanism, what was found, and what that is worth. No row is in it.
func (r *Report) Text() string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "stage\tkind\tmechanism\tcompared on\tgreatest move\tverdict")
	for _, line := range r.Stages {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", line.Stage, line.Kind, orDash(line.Mechanism), r.compared(line),
			line.reached(), line.verdict())
	}
	w.Flush()
	known := map[string]bool{}
	for _, line := range r.Stages {
		if why := line.Stage + ": " + line.NoClaim; line.NoClaim != "" && !known[why] {
			known[why] = true
			fmt.Fprintf(&b, "\n%s", words.Wrap("no claim on "+why+"\n"))
		}
	}
	fmt.Fprintf(&b, "\n%s", words.Wrap(r.summary()))
	for _, f := range r.Faults {
		where := f.Stage
		if where == "" {
			where = "the run"
		}
		fmt.Fprintf(&b, "\n%s", words.Wrap(fmt.Sprintf("FOUND  %s: %s\n       %s\n", where, f.Text,
			strings.Join(f.Seen, "; "))))
	}
	return b.String()
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

func (r *Report) compared(l Line) string {
	if l.Mechanism == "" {
		return "-"
	}
	return fmt.Sprintf("%d of %d", l.Compared, r.Neighbours)
}

func (l Line) reached() string {
	if l.Reached == nil {
		return "-"
	}
	return strings.TrimPrefix(fmt.Sprintf("%.3f", *l.Reached), "0") + " of 1"
}

func (l Line) verdict() string {
	switch {
	case l.Faults > 0:
		return words.Plural(l.Faults, "fault")
	case l.NoClaim != "":
		return "nothing is claimed here"
	case l.Mechanism != "" && l.Compared == 0:
		return "not compared: draws fell to other rows"
	case l.Reached != nil && *l.Reached == 0:
		return "no neighbour moved its inputs"
	}
	return "no fault found"
}

func (r *Report) summary() string {
	pairs := ""
	if len(r.Pairs) > 0 {
		pairs = fmt.Sprintf(" and %s of runs (%s)", words.Plural(len(r.Pairs), "pair"), strings.Join(r.Pairs, "; "))
	}
	head := fmt.Sprintf("Tried: %s%s, in %s.", words.Plural(r.Neighbours, "neighbour"), pairs, words.Plural(r.Runs, "run"))
	head += r.otherNumber()
	if len(r.Blind) > 0 {
		head += fmt.Sprintf(" NOT COMPARED was what goes into %s: nothing is said of it.", strings.Join(r.Blind, ", "))
	}
	return head + " This is evidence on these, not a proof: what is proven of a kind, and how, stands beside its code. " +
		"Nothing was charged.\n"
}

// otherNumber says why more or fewer neighbours were tried than were asked for.
func (r *Report) otherNumber() string {
	switch {
	case r.Neighbours > r.Asked:
		return fmt.Sprintf(" %d were asked for; more were tried, because the first ones changed the input of no mechanism.",
			r.Asked)
	case r.Neighbours < r.Asked && r.unnamed != "":
		return fmt.Sprintf(" %d were asked for; no row was added, because a new privacy unit needs a value in column %s "+
			"that the domain may not have.", r.Asked, r.unnamed)
	case r.Neighbours < r.Asked:
		return fmt.Sprintf(" %d were asked for; the dataset has no further rows to choose.", r.Asked)
	}
	return ""
}
