package compare

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"weir/privacy"
)

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

// errNoPlan marks JSON that is no plan.
var errNoPlan = errors.New("is no plan, must be what weir plan --json prints")

// readPlan is nil where a side has no plan.
func readPlan(s Side) (*plan, error) {
	if s.Plan == nil {
		return nil, nil
	}
	var p plan
	if err := json.Unmarshal(s.Plan, &p); err != nil || p.Digest == "" || p.Stages == nil || slices.Contains(p.Stages, nil) {
		return nil, fmt.Errorf("%s: %w", s.Name, errNoPlan)
	}
	return &p, nil
}

// IsPlan reports whether a JSON text is a saved plan.
func IsPlan(data []byte) bool {
	_, err := readPlan(Side{Plan: data})
	return err == nil && len(data) > 0
}

// Digest is that of the spec of a plan; "" where it is none.
func Digest(data []byte) string {
	p, err := readPlan(Side{Plan: data})
	if err != nil || p == nil {
		return ""
	}
	return p.Digest
}

// settingsOf are the two trees of settings: of the specs where both sides have one, else
// of the plans, which hold less.
func settingsOf(a, b Side, planA, planB *plan) (treeA, treeB *mapping, err error) {
	if a.Canonical == nil || b.Canonical == nil {
		if planA == nil || planB == nil {
			return nil, nil, fmt.Errorf("%s and %s have neither two specs nor two plans to compare: %s%s", a.Name, b.Name, noPlan(a, "A"), noPlan(b, "B"))
		}
		return planA.settings(), planB.settings(), nil
	}
	if treeA, err = readYAML(a.Name, a.Canonical); err == nil {
		treeB, err = readYAML(b.Name, b.Canonical)
	}
	return treeA, treeB, err
}

// settings are those of a spec that its plan holds, by the paths that the spec has for
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
	return newMapping("name", p.Name, "dataset", readJSON(p.Dataset), "privacy", newMapping("epsilon", readJSON(p.Budget), "delta", spelled(string(p.Delta)),
		"adjacency", p.Adjacency, "accountant", p.Accountant, "claims", p.Claims), "seed", spelled(string(p.Seed)), "stages", stages)
}

// portKey is the key of a port in a spec (pipeline.Port.Key).
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

// follows is what the compiler made of the settings, apart from the bill, of the stages
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
