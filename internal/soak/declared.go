package main

import (
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"weir/pipeline"
)

// drawnByHand lists the kinds whose settings a function of the generator draws. Those of any other kind are drawn by
// what its struct declares, so that a new kind is tried without a word here.
func drawnByHand() map[string]bool {
	drawn := map[string]bool{"gs_wgan": true, "pate_gan": true, "sample": true, "score": true, "marginals_from": true,
		"intervals": true, "measured": true, "mixture": true, "compare_queries": true, "anomaly_detector": true,
		"anomaly_forest": true, "remove_anomalies": true}
	for _, list := range []map[string]func(*generator, ref) settings{preparing(), judging(), measuring(), answering(), sampling(), byLabel()} {
		for kind := range list {
			drawn[kind] = true
		}
	}
	return drawn
}

// declared lists the kinds that are drawn by their declarations.
func (g *generator) declared() (kinds []*pipeline.Kind) {
	byHand := drawnByHand()
	for _, e := range g.extras {
		byHand[e.kind.Name] = true
	}
	for _, name := range g.reg.Names() {
		if !byHand[name] {
			kinds = append(kinds, g.reg.Kind(name))
		}
	}
	return kinds
}

// stray adds stages of kinds that are drawn by their declarations; without such kinds it draws nothing.
func (g *generator) stray() {
	for _, k := range g.declared() {
		if g.yes(0.5) {
			g.strayInto(k)
		}
	}
}

// strayInto adds a stage of a kind, with an output of a suitable form on each port. It adds none where there is none.
func (g *generator) strayInto(k *pipeline.Kind) {
	t := g.from()
	s := g.settingsOf(reflect.TypeOf(k.New()), t)
	for i, port := range k.In {
		outputs := g.outputs(port)
		switch {
		case i == 0 && port.Takes(pipeline.FormTable):
			s[port.Key()] = t.name
		case port.Optional && g.yes(0.5):
		case len(outputs) == 0 && !port.Optional:
			return
		case len(outputs) > 0:
			s[port.Key()] = pick(g.chance, outputs...)
		}
	}
	s["kind"] = k.Name
	g.try(s)
}

// outputs names what there is for a port so far.
func (g *generator) outputs(port pipeline.Port) (names []string) {
	if port.Takes(pipeline.FormTable) {
		for _, t := range g.tables() {
			names = append(names, t.name)
		}
	}
	if g.plan == nil {
		return names
	}
	for i := range g.plan.Steps {
		s := &g.plan.Steps[i]
		for _, out := range slices.Sorted(maps.Keys(s.Work.Out)) {
			if form := s.Work.Out[out].Form; form != pipeline.FormTable && port.Takes(form) {
				names = append(names, s.ID+"."+out)
			}
		}
	}
	return names
}

// settingsOf draws settings by the tags of a struct, small numbers among what they allow. Some are left to the default,
// and so is what the tags do not describe.
func (g *generator) settingsOf(of reflect.Type, t ref) settings {
	s := settings{}
	for of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	if of.Kind() != reflect.Struct {
		return s
	}
	for i := range of.NumField() {
		f := of.Field(i)
		key, options, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		switch {
		case strings.Contains(options, "inline"):
			maps.Copy(s, g.settingsOf(f.Type, t))
		case key == "" || key == "-" || f.Tag.Get("required") == "" && g.yes(0.4):
		default:
			if value := g.valueOf(f, t); value != nil {
				s[key] = value
			}
		}
	}
	return s
}

// valueOf draws the value of a field, or nil.
func (g *generator) valueOf(f reflect.StructField, t ref) any {
	of, list := f.Type, f.Type.Kind() == reflect.Slice
	if list {
		of = of.Elem()
	}
	if of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	one := g.scalarOf(of.Kind(), f.Tag, t)
	switch {
	case one == nil || !list:
		return one
	case strings.HasPrefix(f.Tag.Get("format"), "column"):
		return names(some(g.chance, t.header.Domain.Columns, 1))
	}
	return []any{one}
}

// scalarOf draws one value of a kind of Go.
func (g *generator) scalarOf(of reflect.Kind, tag reflect.StructTag, t ref) any {
	bound := func(name string, otherwise float64) float64 {
		if x, err := strconv.ParseFloat(tag.Get(name), 64); err == nil {
			return x
		}
		return otherwise
	}
	least := bound("min", bound("exclusiveMin", 0))
	most := bound("max", bound("exclusiveMax", least+4))
	switch {
	case tag.Get("enum") != "":
		return pick(g.chance, strings.Split(tag.Get("enum"), "|")...)
	case strings.HasPrefix(tag.Get("format"), "column"):
		return g.column(t).Name
	case of == reflect.Bool:
		return g.yes(0.5)
	case of >= reflect.Int && of <= reflect.Uint64:
		return g.between(int(least), int(max(least, min(most, least+4))))
	case of == reflect.Float32 || of == reflect.Float64:
		return least + float64((most-least)*(0.1+float64(0.8*g.Float64())))
	}
	return nil
}
