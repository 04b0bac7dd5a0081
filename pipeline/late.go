package pipeline

import (
	"fmt"
	"maps"
	"slices"

	"weir/pipeline/domain"
)

// LateColumns lists the columns whose bounds or categories a stage of the same run
// releases: a plan is made without them (docs/design/released-domain.md).
func (h Header) LateColumns() []string {
	if h.Domain == nil {
		return nil
	}
	var names []string
	for _, c := range h.Domain.Columns {
		if c.Late {
			names = append(names, c.Name)
		}
	}
	return names
}

// LateColumns lists those of all headers, each once, in the order of ports.
func (h Headers) LateColumns() []string {
	var names []string
	seen := map[string]bool{}
	for _, port := range slices.Sorted(maps.Keys(h)) {
		for _, name := range h[port].LateColumns() {
			if !seen[name] {
				seen[name], names = true, append(names, name)
			}
		}
	}
	return names
}

// Filled is a planned header with the domain that the run came to: the planned one, with
// every late column as it was released. A header without late columns stays as planned,
// whatever the run says. That a column names the unit is the plan's to say.
func (h Header) Filled(released *domain.Domain) (Header, error) {
	if len(h.LateColumns()) == 0 {
		return h, nil
	}
	if released == nil || len(released.Columns) != len(h.Domain.Columns) {
		return h, fmt.Errorf("the released domain has other columns than planned")
	}
	d := released.DeepClone()
	for i := range d.Columns {
		now, planned := &d.Columns[i], h.Domain.Columns[i]
		if now.Late || now.Name != planned.Name || now.ArrowType().ID() != planned.ArrowType().ID() {
			return h, fmt.Errorf("column %s: was not released as planned", planned.Name)
		}
		if now.OfUnit, now.FromUnit = planned.OfUnit, planned.FromUnit; planned.Late {
			now.Source = planned.Source
		}
	}
	h.Domain = d
	return h, nil
}
