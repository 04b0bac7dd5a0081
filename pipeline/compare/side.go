package compare

import "fmt"

// What can be compared.
const (
	Spec   = "spec"
	Plan   = "plan"
	Run    = "run"
	Ledger = "ledger"
)

// Side is one of the two things that are compared.
type Side struct {
	Name       string // as the user named it
	Kind       string // Spec, Plan, Run or Ledger
	Digest     string // of the spec
	Canonical  []byte // the spec as YAML with every default filled in; nil of a plan
	Plan       []byte // JSON of the plan; nil where a spec has none, and Why says why
	Why        string
	Experiment *Experiment // of a spec that has one
	Figures    *Figures    // of a run
	Charges    *Charges    // of a ledger
}

// Head says what a side is.
type Head struct {
	Name   string `json:"name"`
	Kind   string `json:"kind"`
	Digest string `json:"digest,omitempty"`
}

func (s Side) head() Head { return Head{s.Name, s.Kind, s.Digest} }

// Report is how two sides differ. Equal sides have none of its lists.
type Report struct {
	A        Head         `json:"a"`
	B        Head         `json:"b"`
	Differ   bool         `json:"differ"`   // figures against real rows do not count: exit codes say nothing of rows
	Settings []Change     `json:"settings"` // by path, every default filled in
	Follows  []Change     `json:"follows"`  // from the settings, in the plan: decisions, versions of kinds, classes
	Bill     []Change     `json:"bill"`
	Totals   *Totals      `json:"totals,omitempty"`
	Results  []Figure     `json:"results_private,omitempty"` // against real rows: for the owner alone
	Ledger   *LedgerMoves `json:"ledger,omitempty"`
	Notes    []string     `json:"notes,omitempty"`
}

// Of compares a with b. A ledger is compared with a ledger; specs, plans and runs with
// each other.
func Of(a, b Side) (Report, error) {
	r := Report{A: a.head(), B: b.head(), Settings: []Change{}, Follows: []Change{}, Bill: []Change{}}
	if (a.Kind == Ledger) != (b.Kind == Ledger) {
		return r, fmt.Errorf("%s is a %s and %s a %s: a ledger is compared with a ledger; specs, plans and runs with each other", a.Name, a.Kind, b.Name, b.Kind)
	}
	if a.Kind == Ledger {
		moves := ledgers(*a.Charges, *b.Charges)
		r.Ledger, r.Differ = &moves, len(moves.OnlyA)+len(moves.OnlyB) > 0 || moves.Relation != same
		return r, nil
	}
	if err := r.plans(a, b); err != nil {
		return r, err
	}
	if a.Figures != nil && b.Figures != nil {
		r.Results = figures(*a.Figures, *b.Figures)
	}
	r.Differ = r.Differ || len(r.Settings)+len(r.Follows)+len(r.Bill) > 0
	return r, nil
}

// plans compares what two specs, plans or runs say and cost.
func (r *Report) plans(a, b Side) error {
	planA, err := readPlan(a)
	if err != nil {
		return err
	}
	planB, err := readPlan(b)
	if err != nil {
		return err
	}
	treeA, treeB, err := settingsOf(a, b, planA, planB)
	if err != nil {
		return err
	}
	names := renames(treeA, treeB, ports(planA, planB))
	for _, n := range names {
		r.Settings = append(r.Settings, Change{Path: stagePath(n.from), What: Renamed, Before: n.from, After: n.to})
	}
	r.Settings = append(r.Settings, differences(nil, renamed(treeA, names, ports(planA, planB)), treeB)...)
	if planA == nil || planB == nil {
		r.Notes = append(r.Notes, noPlan(a, "A")+noPlan(b, "B"))
		return nil
	}
	planA.rename(names)
	r.Follows = append(r.Follows, differences(nil, planA.follows(planB), planB.follows(planA))...)
	r.Bill = append(r.Bill, differences(nil, planA.bill(), planB.bill())...)
	r.Totals = &Totals{planA.total(), planB.total()}
	r.Totals.A.Experiment, r.Totals.B.Experiment = a.Experiment, b.Experiment
	r.digests(a, b)
	return nil
}

// digests explains digests that differ where nothing else does. A plan holds less than its
// spec, so that there something has changed.
func (r *Report) digests(a, b Side) {
	switch {
	case len(r.Settings)+len(r.Follows)+len(r.Bill) > 0 || a.Digest == b.Digest:
	case a.Kind == Plan || b.Kind == Plan:
		r.Differ = true
		r.Notes = append(r.Notes, "the digests of the specs differ, so something has changed that a saved plan does not hold, such as the domain; compare the specs")
	default:
		r.Notes = append(r.Notes, "the digests of the specs differ and their settings do not: stages stand in another order")
	}
}

func noPlan(s Side, which string) string {
	if s.Plan != nil {
		return ""
	}
	return fmt.Sprintf("%s has no bill: %s. ", which, s.Why)
}
