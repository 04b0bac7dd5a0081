package words

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"weir/privacy"
)

// What can be compared.
const (
	SpecSide   = "spec"
	PlanSide   = "plan"
	RunSide    = "run"
	LedgerSide = "ledger"
)

// Side is one of the two things that are compared.
type Side struct {
	Name       string // as the user named it
	Kind       string // SpecSide, PlanSide, RunSide or LedgerSide
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

// Differences is how two sides differ. Equal sides have none of its lists.
type Differences struct {
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

// Compare compares a with b. A ledger is compared with a ledger; specs, plans and runs with
// each other.
func Compare(a, b Side) (Differences, error) {
	r := Differences{A: a.head(), B: b.head(), Settings: []Change{}, Follows: []Change{}, Bill: []Change{}}
	if (a.Kind == LedgerSide) != (b.Kind == LedgerSide) {
		return r, fmt.Errorf("%s is a %s and %s a %s: a ledger is compared with a ledger; specs, plans and runs with each "+
			"other", a.Name, a.Kind, b.Name, b.Kind)
	}
	if a.Kind == LedgerSide {
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
func (r *Differences) plans(a, b Side) error {
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
func (r *Differences) digests(a, b Side) {
	switch {
	case len(r.Settings)+len(r.Follows)+len(r.Bill) > 0 || a.Digest == b.Digest:
	case a.Kind == PlanSide || b.Kind == PlanSide:
		r.Differ = true
		r.Notes = append(r.Notes, "the digests of the specs differ, so something has changed that a saved plan does not "+
			"hold, such as the domain; compare the specs")
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

// plan is what is compared of pipeline.Plan, as it is saved: kinds may have settings that
// this program does not know.
type plan struct {
	Name       string          `json:"name"`
	Digest     string          `json:"digest"`
	Seed       json.Number     `json:"seed"`
	Dataset    json.RawMessage `json:"dataset"`
	Adjacency  string          `json:"adjacency"`
	Accountant string          `json:"accountant"`
	Claims     string          `json:"claims"`
	Budget     json.RawMessage `json:"budget_epsilon"`
	Delta      json.Number     `json:"delta"`
	Epsilon    struct {
		Published, Proven *float64
		Reason            string
	} `json:"epsilon"`
	Stages []*planned `json:"stages"`
}

type planned struct {
	ID        string              `json:"id"`
	Kind      string              `json:"kind"`
	Version   json.Number         `json:"version"`
	Inputs    map[string][]string `json:"inputs"`
	Settings  json.RawMessage     `json:"settings"`
	Decided   []decision          `json:"decided"`
	Class     string              `json:"class"`
	Stability string              `json:"stability"`
	Spends    []json.RawMessage   `json:"spends"`
	privacy.Cost
}

type decision struct{ Setting, Value string }

// errNoPlan marks JSON that is not a plan.
var errNoPlan = errors.New("is not a plan, must be what weir plan --json prints")

// readPlan returns nil where a side has no plan.
func readPlan(s Side) (*plan, error) {
	if s.Plan == nil {
		return nil, nil
	}
	var p plan
	if err := json.Unmarshal(s.Plan, &p); err != nil || p.Digest == "" || p.Stages == nil || slices.Contains(p.Stages,
		nil) {
		return nil, fmt.Errorf("%s: %w", s.Name, errNoPlan)
	}
	return &p, nil
}

// IsPlan reports whether a JSON text is a saved plan.
func IsPlan(data []byte) bool {
	_, err := readPlan(Side{Plan: data})
	return err == nil && len(data) > 0
}

// Digest returns the digest of the spec of a plan; "" where it is none.
func Digest(data []byte) string {
	p, err := readPlan(Side{Plan: data})
	if err != nil || p == nil {
		return ""
	}
	return p.Digest
}

// settingsOf returns the two trees of settings: of the specs where both sides have one, else
// of the plans, which hold less.
func settingsOf(a, b Side, planA, planB *plan) (treeA, treeB *mapping, err error) {
	if a.Canonical == nil || b.Canonical == nil {
		if planA == nil || planB == nil {
			return nil, nil, fmt.Errorf("%s and %s have neither two specs nor two plans to compare: %s%s", a.Name, b.Name,
				noPlan(a, "A"), noPlan(b, "B"))
		}
		return planA.settings(), planB.settings(), nil
	}
	if treeA, err = readYAML(a.Name, a.Canonical); err == nil {
		treeB, err = readYAML(b.Name, b.Canonical)
	}
	return treeA, treeB, err
}

// settings returns the settings of a spec that its plan holds, by the paths that the spec has for
// them.
func (p *plan) settings() *mapping {
	stages := newMapping()
	for _, s := range p.Stages {
		m := newMapping("kind", s.Kind)
		for port, refs := range s.Inputs {
			m.set(portKey(port), listed(refs))
		}
		if set, ok := readJSON(s.Settings).(*mapping); ok {
			for _, k := range set.keys {
				m.set(k, set.values[k])
			}
		}
		stages.set(s.ID, m)
	}
	return newMapping("name", p.Name, "dataset", readJSON(p.Dataset), "privacy", newMapping("epsilon", readJSON(p.Budget),
		"delta", spelled(string(p.Delta)),
		"adjacency", p.Adjacency, "accountant", p.Accountant, "claims", p.Claims), "seed", spelled(string(p.Seed)), "stages",
		stages)
}

// portKey returns the key of a port in a spec (pipeline.Port.Key).
func portKey(port string) string {
	if port == "in" {
		return "from"
	}
	return port
}

func listed(words []string) any {
	if len(words) == 1 {
		return words[0]
	}
	list := make([]any, len(words))
	for i, w := range words {
		list[i] = w
	}
	return list
}

func (p *plan) rename(names []rename) {
	for _, s := range p.Stages {
		s.ID = newName(s.ID, names)
		for _, refs := range s.Inputs {
			for i := range refs {
				refs[i] = newRef(refs[i], names)
			}
		}
	}
}

// follows returns what the compiler made of the settings, apart from the bill, of the stages
// that the other plan has too.
func (p *plan) follows(other *plan) *mapping {
	stages, common := newMapping(), map[string]bool{}
	for _, s := range other.Stages {
		common[s.ID] = true
	}
	for _, s := range p.Stages {
		if !common[s.ID] {
			continue
		}
		m := newMapping("version", spelled(string(s.Version)), "class", s.Class)
		if s.Stability != "" {
			m.set("stability", s.Stability)
		}
		decided := newMapping()
		for _, d := range s.Decided {
			decided.set(d.Setting, d.Value)
		}
		m.set("decided", decided)
		stages.set(s.ID, m)
	}
	return stages
}

// Totals are what the two plans cost.
type Totals struct {
	A Total `json:"a"`
	B Total `json:"b"`
}

// Total is the cost of a plan, in nats; nil where there is no such number.
type Total struct {
	Proven     *float64        `json:"proven"`
	Published  *float64        `json:"published"`
	Reason     string          `json:"reason,omitempty"`
	Budget     json.RawMessage `json:"budget"`
	Delta      json.Number     `json:"delta"`
	Adjacency  string          `json:"adjacency"`
	Accountant string          `json:"accountant"`
	Experiment *Experiment     `json:"experiment,omitempty"`
}

// Experiment is what all runs of an experiment cost together, as one plan.
type Experiment struct {
	Runs   int      `json:"runs"`
	Proven *float64 `json:"proven"` // nil: no finite bound
}

// words returns the line of an experiment in a bill.
func (e *Experiment) words() string {
	if e == nil {
		return "-"
	}
	return fmt.Sprintf("%s in %d runs", bound(e.Proven), e.Runs)
}

func (p *plan) total() Total {
	return Total{Proven: p.Epsilon.Proven, Published: p.Epsilon.Published, Reason: p.Epsilon.Reason, Budget: p.Budget,
		Delta: p.Delta, Adjacency: p.Adjacency, Accountant: p.Accountant}
}

// bill returns the bill as a tree: what holds for all, then each stage that spends.
func (p *plan) bill() *mapping {
	all := newMapping("epsilon_proven", amount(p.Epsilon.Proven), "epsilon_published", amount(p.Epsilon.Published),
		"budget", readJSON(p.Budget), "delta", spelled(string(p.Delta)), "adjacency", p.Adjacency, "accountant", p.Accountant,
		"claims", p.Claims)
	if dataset, ok := readJSON(p.Dataset).(*mapping); ok {
		all.set("privacy_unit", dataset.values["privacy_unit"])
		if cap := dataset.values["budget"]; cap != nil {
			all.set("dataset_budget", cap)
		}
	}
	bill := newMapping("total", all)
	for _, s := range p.Stages {
		if len(s.Spends) > 0 {
			bill.set(s.ID, s.bill())
		}
	}
	return bill
}

func (s *planned) bill() *mapping {
	m := newMapping("epsilon_alone", amount(s.Alone), "epsilon_published", amount(s.Published), "epsilon_cumulative",
		amount(s.Cumulative),
		"noise_multiplier", amount(s.NoiseMultiplier), "share", amount(s.Share))
	if why := s.Unproven.String(); why != "" {
		m.set("unproven", why)
	}
	spends := make([]any, len(s.Spends))
	for i, spend := range s.Spends {
		spends[i] = readJSON(spend)
	}
	if by, ok := mappingByName(spends); ok {
		m.set("mechanisms", by)
	} else {
		m.set("mechanisms", spends)
	}
	return m
}

// amount returns a number of a bill, or nil.
func amount(x *float64) any {
	if x == nil {
		return nil
	}
	return spelled(fmt.Sprint(*x))
}
