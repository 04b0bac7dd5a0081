package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"weir/pipeline"
	"weir/pipeline/compile"
	"weir/pipeline/domain"
	"weir/runtime"
	"weir/runtime/files"
	"weir/schema"
)

// settings are the settings of a stage or of a spec, as JSON, which YAML contains.
type settings map[string]any

// generator writes a spec stage by stage. After each it compiles what it has, so
// that the next one is drawn for a table whose columns are known, and drops what
// was refused.
type generator struct {
	chance
	world  *world
	reg    *pipeline.Registry
	folder *files.Folder
	cover  *coverage
	extras []extra
	paired bool // for a story of two runs: something is charged, as a rule behind secret draws
	brief  bool // little preparation and no evaluation: a test looks for one fault and has a minute
	head   settings
	stages []stage
	plan   *compile.Plan
	last   ref    // of the private table that was made last
	finds  string // what scores its rows as they were before encode; "" is nothing
}

type stage struct {
	id   string
	what settings
}

// ref is an output of a stage.
type ref struct {
	name   string // as a spec writes it
	header pipeline.Header
}

// extra is a further kind that the generator knows how to use: a planted fault.
type extra struct {
	kind pipeline.Kind
	pays bool // it comes instead of a model, else among the preparation
	set  func(g *generator, t ref) settings
}

// text returns the spec. JSON escapes fit into YAML.
func (g *generator) text() string {
	var b strings.Builder
	b.WriteString("weir: 1\nname: soak\n")
	for _, key := range []string{"dataset", "privacy", "seed"} {
		fmt.Fprintf(&b, "%s: %s\n", key, flow(g.head[key]))
	}
	b.WriteString("stages:\n")
	for _, s := range g.stages {
		fmt.Fprintf(&b, "  %s: %s\n", s.id, flow(s.what))
	}
	return b.String()
}

func flow(x any) string {
	b, err := json.Marshal(x)
	if err != nil {
		panic(err) // settings are numbers, text, lists and maps of them
	}
	return string(b)
}

// try adds a stage and keeps it if the spec still compiles, and promises what can be
// held against neighbours: what runs without a proof promises nothing.
func (g *generator) try(what settings) (id string, ok bool) {
	id = fmt.Sprint("s", len(g.stages)+1)
	g.stages = append(g.stages, stage{id, what})
	plan, err := compiled(g.text(), g.folder, g.reg)
	if err == nil {
		err = proven(plan)
	}
	g.cover.tried(what["kind"].(string), err)
	if err != nil {
		g.stages = g.stages[:len(g.stages)-1]
		return "", false
	}
	g.plan = plan
	if t, ok := g.table(id); ok {
		g.last = t
	}
	return id, true
}

// proven returns an error where a stage of a plan has no proof.
func proven(plan *compile.Plan) error {
	for _, s := range plan.Steps {
		if s.Unproven != (pipeline.Unproven{}) {
			return fmt.Errorf("stage %s has no proof: %s", s.ID, s.Unproven)
		}
	}
	return nil
}

func compiled(text string, folder *files.Folder, reg *pipeline.Registry) (*compile.Plan, error) {
	spec, err := runtime.ParseSpec(specFile, []byte(text), nil, folder, reg)
	if err != nil {
		return nil, err
	}
	return compile.Compile(spec)
}

// table returns the first output of a stage if it is a private table.
func (g *generator) table(id string) (ref, bool) {
	s := g.plan.Step(id)
	h := s.Work.Out[s.First]
	return ref{id, h}, h.Form == pipeline.FormTable && h.Class == pipeline.Private
}

// tables lists what a stage may read: the dataset and every table so far.
func (g *generator) tables() []ref {
	list := []ref{g.dataset()}
	if g.plan == nil {
		return list
	}
	for i := range g.plan.Steps {
		s := &g.plan.Steps[i]
		for port, h := range s.Work.Out {
			if h.Form != pipeline.FormTable {
				continue
			}
			name := s.ID
			if port != s.First {
				name += "." + port
			}
			list = append(list, ref{name, h})
		}
	}
	return sorted(list)
}

func (g *generator) dataset() ref {
	return ref{pipeline.DatasetID, pipeline.TableHeader(&domain.Domain{Columns: g.world.columns},
		pipeline.Header{Class: pipeline.Private})}
}

// anyTable returns a table to work on: mostly the last one, so that chains get long.
func (g *generator) anyTable() ref {
	if g.last.name == "" || g.yes(0.05) {
		return g.dataset()
	}
	if g.yes(0.15) {
		return pick(g.chance, g.tables()...)
	}
	return g.last
}

// newHead draws the sections dataset and privacy.
func (g *generator) newHead() {
	w := g.world
	domain := settings{"columns": w.columns}
	if len(w.constraints) > 0 {
		domain["constraints"] = w.constraints
	}
	data := settings{"file": dataFile, "domain": domain}
	if w.unit >= 0 {
		data["privacy_unit"] = settings{"column": w.columns[w.unit].Name, "max_rows": w.maxRows, "keep": []string{"first",
			"by_hash"}[w.maxRows%2]}
	}
	if w.rowsPublic > 0 {
		data["rows_public"] = w.rowsPublic
	}
	if w.unknown {
		data["csv"] = settings{"unknown": "missing"}
	}
	if g.yes(0.15) {
		data["budget"] = settings{"epsilon": 2000, "delta": 1e-4}
	}
	private := settings{"epsilon": 1000, "delta": 1e-5, "adjacency": w.adjacency, "accountant": pick(g.chance, "rdp",
		"rdp", "rdp", "zcdp", "pld"),
		"claims": pick(g.chance, "proven", "proven", "proven", "published"), "keep_noise_key": g.yes(0.8)}
	switch {
	case g.yes(0.25) || g.paired && g.yes(0.5):
		private["epsilon"] = pick(g.chance, 0.5, 1, 8)
	case g.yes(0.08):
		private["epsilon"], private["claims"] = "inf", "none"
	}
	g.head = settings{"dataset": data, "privacy": private, "seed": g.IntN(1000)}
}

// spec draws a whole spec: preparation, as a rule a model and rows of it, and
// evaluation. It reports whether there is any.
func (g *generator) spec() bool {
	g.newHead()
	if g.paired {
		g.parted()
		return g.plan != nil
	}
	most := 5
	if g.brief {
		most = 2
	}
	for range g.within(0, most) {
		g.prepare()
	}
	g.stray()
	if g.yes(0.85) {
		g.pay()
	}
	g.stray()
	if !g.brief && g.yes(0.15) {
		g.last = g.anyTable()
		g.pay()
	}
	if !g.brief {
		for range pick(g.chance, 0, 1, 2, 3) {
			g.judge()
		}
	}
	if g.yes(0.15) {
		g.prepare()
	}
	return g.plan != nil
}

// parted draws a spec whose rows are parted by secret draws before something is charged, at times behind
// a stage whose noise decides which rows there are.
func (g *generator) parted() {
	// what a detector reads has no unit's column, without which units are not parted
	noisy := g.world.unit < 0 && g.yes(0.8)
	if p := g.head["privacy"].(settings); noisy && p["epsilon"] != "inf" {
		p["epsilon"] = pick(g.chance, 0.5, 1, 8) // with less noise a second run keeps the same rows
	}
	for range g.within(0, 2) {
		g.prepare()
	}
	if noisy {
		g.partNoisy()
	} else if g.yes(0.8) {
		g.add(pick(g.chance, "split", "split", "shard"), preparing())
	}
	if g.pay(); !g.paid() {
		g.step("dp_count", countingRows)
	}
	if g.yes(0.2) {
		g.judge()
	}
}

// partNoisy takes rows out by a released detector and parts those that are left by secret draws. Much of what is
// drawn for either is refused, or parts by what is public, and then tried once more.
func (g *generator) partNoisy() {
	for range 4 {
		if g.screen() {
			break
		}
	}
	for range 4 {
		if g.plan != nil && parted(g.plan) {
			return
		}
		kind := pick(g.chance, "split", "split", "shard")
		g.step(kind, preparing()[kind])
	}
}

// paid reports whether a stage spends.
func (g *generator) paid() bool {
	return g.plan != nil && slices.ContainsFunc(g.plan.Steps, func(s compile.Step) bool { return len(s.Spends) > 0 })
}

// drawnByHand lists the kinds whose settings a function of the generator draws. Settings of any other kind are drawn by
// what its struct declares, so that a new kind is tried without a word here.
func drawnByHand() map[string]bool {
	sample := map[string]bool{"gs_wgan": true, "pate_gan": true, "sample": true, "score": true, "marginals_from": true,
		"intervals": true, "measured": true, "mixture": true, "compare_queries": true, "anomaly_detector": true,
		"anomaly_forest": true, "remove_anomalies": true}
	for _, list := range []map[string]func(*generator, ref) settings{preparing(), judging(), measuring(), answering(),
		sampling(), byLabel()} {
		for kind := range list {
			sample[kind] = true
		}
	}
	return sample
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
	t := g.anyTable()
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
func (g *generator) settingsOf(subject reflect.Type, t ref) settings {
	s := settings{}
	for subject.Kind() == reflect.Pointer {
		subject = subject.Elem()
	}
	if subject.Kind() != reflect.Struct {
		return s
	}
	fields, err := schema.Fields(subject)
	if err != nil {
		panic(err) // such a kind has no schema and is in no registry
	}
	for _, f := range fields {
		key, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		if f.Tag.Get("required") == "" && g.yes(0.4) {
			continue
		}
		if value := g.valueOf(f, t); value != nil {
			s[key] = value
		}
	}
	return s
}

// valueOf draws the value of a field, or nil.
func (g *generator) valueOf(f reflect.StructField, t ref) any {
	subject, list := f.Type, f.Type.Kind() == reflect.Slice
	if list {
		subject = subject.Elem()
	}
	if subject.Kind() == reflect.Pointer {
		subject = subject.Elem()
	}
	one := g.scalarOf(subject.Kind(), f.Tag, t)
	switch {
	case one == nil || !list:
		return one
	case strings.HasPrefix(f.Tag.Get("format"), "column"):
		return names(some(g.chance, t.header.Domain.Columns, 1))
	}
	return []any{one}
}

// scalarOf draws one value of a kind of Go.
func (g *generator) scalarOf(subject reflect.Kind, tag reflect.StructTag, t ref) any {
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
	case subject == reflect.Bool:
		return g.yes(0.5)
	case subject >= reflect.Int && subject <= reflect.Uint64:
		return g.within(int(least), int(max(least, min(most, least+4))))
	case subject == reflect.Float32 || subject == reflect.Float64:
		return least + float64((most-least)*(0.1+float64(0.8*g.Float64())))
	}
	return nil
}
