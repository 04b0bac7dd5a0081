package review

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"weir/pipeline/compile"
	"weir/pipeline/words"
	"weir/record"
	"weir/record/listing"
	"weir/runtime/payment"
	"weir/runtime/store"
)

// Because says what makes a stage a new charge: how the spec differs from the one of an earlier run, in what the stage
// rests on, without which the charge of that run would be taken again.
type Because struct {
	Run     string         `json:"run"` // its id
	Changes []words.Change `json:"changes"`
}

// mostChanges is how many changes are named; the others are counted.
const mostChanges = 3

// Line lists the changes in a line, with the run that they came after.
func (b Because) Line() string {
	var list []string
	for _, c := range b.Changes[:min(mostChanges, len(b.Changes))] {
		list = append(list, c.Line())
	}
	text := strings.Join(list, "; ")
	if more := len(b.Changes) - mostChanges; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return fmt.Sprintf("since run %s: %s", listing.ShortID(b.Run), text)
}

// Becauses finds, for each stage of a plan that would be a new charge, the run below out whose charge it comes nearest
// to: of those that have paid a stage of its kind on the same ledger the one from which the fewest settings differ, and
// of these the newest. Records that cannot be read are passed over.
func Becauses(out string, plan *compile.Plan, quotes []payment.Quote) (map[string]Because, error) {
	found := map[string]Because{}
	for _, q := range quotes {
		for _, d := range q.Dues {
			if d.From != "" || d.Run > 0 {
				continue
			}
			b, err := nearest(out, plan, d.Stage, q.Ledger)
			if err != nil {
				return nil, err
			}
			if len(b.Changes) > 0 {
				found[d.Stage] = b
			}
		}
	}
	return found, nil
}

// mostCompared is how many earlier runs are looked at, the newest of them.
const mostCompared = 100

func nearest(out string, plan *compile.Plan, stage, ledger string) (best Because, err error) {
	current, err := planSide(plan)
	if err != nil {
		return best, err
	}
	runs, err := store.Newest(out)
	if err != nil {
		return best, err
	}
	kind := plan.Step(stage).Kind
	for _, dir := range runs[:min(mostCompared, len(runs))] {
		rec, err := store.ReadRecord(dir)
		if err != nil || rec.Insecure || !sameFile(rec.Dataset.Ledger, ledger) || !hasPaid(rec, kind) {
			continue
		}
		r, err := words.Compare(words.Side{Name: dir, Kind: words.RunSide, Canonical: []byte(rec.Spec), Plan: rec.Plan},
			current)
		if err != nil {
			continue // of another version of weir
		}
		unrelated := func(c words.Change) bool { return !rests(plan, stage, c) }
		changes := slices.DeleteFunc(append(r.Settings, r.Follows...), unrelated)
		if len(changes) > 0 && (len(best.Changes) == 0 || len(changes) < len(best.Changes)) {
			best = Because{rec.ID, changes}
		}
	}
	return best, nil
}

// planSide returns a plan that is compared with runs.
func planSide(plan *compile.Plan) (words.Side, error) {
	text, err := plan.Spec.Canonical()
	if err != nil {
		return words.Side{}, err
	}
	data, err := json.Marshal(plan)
	return words.Side{Name: plan.Name, Kind: words.SpecSide, Canonical: text, Plan: data}, err
}

func sameFile(a, b string) bool {
	x, errX := filepath.Abs(a)
	y, errY := filepath.Abs(b)
	return errX == nil && errY == nil && x == y
}

// hasPaid reports whether a run has the charge of a stage of a kind.
func hasPaid(rec *record.Run, kind string) bool {
	kinds := rec.Kinds()
	return slices.ContainsFunc(rec.Charges, func(c record.Charge) bool { return kinds[c.Stage] == kind })
}

// rests reports whether the charge of a stage rests on a setting: of the stage, of those that it reads, of others that
// share the budget with it, or of dataset, privacy and seed.
func rests(plan *compile.Plan, stage string, c words.Change) bool {
	within := func(path string) bool {
		return c.Path == path || strings.HasPrefix(c.Path, path+".") || strings.HasPrefix(c.Path, path+"[")
	}
	for _, free := range []string{"dataset.budget", "dataset.ledger", "privacy.acknowledge"} {
		if within(free) {
			return false
		}
	}
	if d := plan.Spec.Dataset.Declared; d.Invented == "" && within("dataset."+d.Kind) {
		return false // a table is known by its content, wherever it lies
	}
	if within("dataset") || within("privacy") || within("seed") {
		return true
	}
	reached := readBy(plan, stage)
	for i := range plan.Steps {
		if s := &plan.Steps[i]; reached[s.ID] || len(s.Spends) > 0 {
			if version := s.ID + ".version"; within("stages."+s.ID) || c.Path == version {
				return true
			}
		}
	}
	renamed, is := c.After.(string)
	return is && c.What == words.Renamed && reached[renamed]
}

// readBy returns a stage with all that it reads, and what these read.
func readBy(plan *compile.Plan, stage string) map[string]bool {
	reached := map[string]bool{}
	for next := []string{stage}; len(next) > 0; {
		id := next[0]
		next = next[1:]
		step := plan.Step(id)
		if reached[id] || step == nil {
			continue
		}
		reached[id] = true
		for _, refs := range step.Inputs {
			for _, ref := range refs {
				next = append(next, ref.Stage)
			}
		}
	}
	return reached
}
