package compare

import (
	"encoding/json"
	"fmt"
)

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

// words is the line of an experiment in a bill.
func (e *Experiment) words() string {
	if e == nil {
		return "-"
	}
	return fmt.Sprintf("%s in %d runs", bound(e.Proven), e.Runs)
}

func (p *plan) total() Total {
	return Total{Proven: p.Epsilon.Proven, Published: p.Epsilon.Published, Reason: p.Epsilon.Reason, Budget: p.Budget, Delta: p.Delta, Adjacency: p.Adjacency, Accountant: p.Accountant}
}

// bill is the bill as a tree: what holds for all, then each stage that spends.
func (p *plan) bill() *mapping {
	all := newMapping("epsilon_proven", amount(p.Epsilon.Proven), "epsilon_published", amount(p.Epsilon.Published),
		"budget", readJSON(p.Budget), "delta", spelled(string(p.Delta)), "adjacency", p.Adjacency, "accountant", p.Accountant, "claims", p.Claims)
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
	m := newMapping("epsilon_alone", amount(s.Alone), "epsilon_published", amount(s.Published), "epsilon_cumulative", amount(s.Cumulative),
		"noise_multiplier", amount(s.NoiseMultiplier), "share", amount(s.Share))
	if why := s.Unproven.String(); why != "" {
		m.set("unproven", why)
	}
	spends := make([]any, len(s.Spends))
	for i, spend := range s.Spends {
		spends[i] = readJSON(spend)
	}
	if by, ok := named(spends); ok {
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
