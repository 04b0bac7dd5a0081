package pipelinetest

import (
	"fmt"
	"maps"
	"slices"

	"weir/pipeline"
	"weir/pipeline/compile"
	"weir/pipeline/domain"
)

// checkLate checks that a kind that says that it waits for released bounds and categories refuses
// a late column when it is planned, or plans, spends and promises the same whatever is
// released.
func checkLate(t reporter, k pipeline.Kind, c Case) {
	if !k.Late {
		return
	}
	for _, port := range slices.Sorted(maps.Keys(c.In)) {
		if c.In[port].Header.Domain == nil {
			continue
		}
		for i := range c.In[port].Header.Domain.Columns {
			checkLateColumn(t, c, port, func(j int) bool { return i == j })
		}
		checkLateColumn(t, c, port, func(int) bool { return true })
	}
}

func checkLateColumn(t reporter, c Case, port string, of func(i int) bool) {
	late, names := unknown(c.headers(), port, of)
	if len(names) == 0 {
		return
	}
	first, err := c.Stage().Plan(late)
	if err != nil {
		return
	}
	if first.Run == nil {
		t.Errorf("%s with %v late: the plan has no way to run", port, names)
	}
	for what, domain := range releases(c.In[port].Header.Domain, names) {
		in := c.headers()
		h := in[port]
		h.Domain = domain
		in[port] = h
		again, err := c.Stage().Plan(in)
		if err == nil {
			err = agree(first, again)
		}
		if err != nil {
			t.Errorf("%s with %v late: what is accepted before it is known fails once they are %s: %v", port, names, what, err)
		}
	}
}

// unknown returns headers in which what of a port's domain a stage could release is not known.
func unknown(in pipeline.Headers, port string, lookup func(i int) bool) (pipeline.Headers, []string) {
	h := in[port]
	h.Domain = h.Domain.Clone()
	var names []string
	for i := range h.Domain.Columns {
		col := &h.Domain.Columns[i]
		if !lookup(i) || col.Encoding != nil || col.OfUnit || col.Bounds == nil && !col.Type.Coded() {
			continue
		}
		col.Bounds, col.Categories, col.Late, col.Source = nil, nil, true, "stage x of y"
		names = append(names, col.Name)
	}
	in[port] = h
	return in, names
}

// releases returns domains that a run may come to: the one of the case, and one that is far
// from it.
func releases(d *domain.Domain, names []string) map[string]*domain.Domain {
	far := d.Clone()
	for i := range far.Columns {
		col := &far.Columns[i]
		switch {
		case !slices.Contains(names, col.Name):
		case col.Type.Coded():
			col.Categories = []string{"other"}
		default:
			col.Bounds = &[2]float64{1 << 20, 1 << 21}
		}
	}
	return map[string]*domain.Domain{"those of the case": d, "far from those": far}
}

// agree holds a second plan against the first.
func agree(first, again pipeline.Work) error {
	if err := compile.SamePromises(first, again); err != nil {
		return err
	}
	for port, h := range first.Out {
		if _, err := h.Filled(again.Out[port].Domain); err != nil && len(again.Out[port].LateColumns()) == 0 {
			return err
		}
	}
	if len(first.Spends) != len(again.Spends) || first.Pricing.Scale != again.Pricing.Scale {
		return fmt.Errorf("%d spends become %d", len(first.Spends), len(again.Spends))
	}
	for i, s := range first.Spends {
		if now := again.Spends[i]; now.Name != s.Name || now.Mechanism(1.5) != s.Mechanism(1.5) {
			return fmt.Errorf("the mechanism %s becomes another", s.Name)
		}
	}
	return nil
}
