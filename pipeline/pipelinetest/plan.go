package pipelinetest

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/google/go-cmp/cmp"

	"weir/pipeline"
	"weir/schema"
)

// checkKind checks that a kind can be documented, configured and stored.
func checkKind(t reporter, k pipeline.Kind) {
	if k.Name == "" || k.Version < 1 || len(k.Out) == 0 || k.New == nil {
		t.Fatalf("kind %q needs a name, a version, an output and New", k.Name)
	}
	if len(k.Doc) < 60 || !strings.HasSuffix(k.Doc, ".") || !strings.Contains(strings.ToLower(k.Doc), "use it") {
		t.Errorf("the doc of %s must say what it does and when to use it: %q", k.Name, k.Doc)
	}
	for _, p := range append(append([]pipeline.Port(nil), k.In...), k.Out...) {
		if p.Doc == "" || p.Form == "" {
			t.Errorf("port %s of %s has no doc or form", p.Name, k.Name)
		}
	}
	one, other := reflect.ValueOf(k.New()), reflect.ValueOf(k.New())
	// empty structs may share an address
	if holds := one.Elem().Type().Size() > 0; holds && one.Pointer() == other.Pointer() {
		t.Errorf("%s: New returns the same stage twice", k.Name)
	}
	checkTags(t, k.Name, reflect.TypeOf(k.New()).Elem())
	if _, err := schema.Of(k.New()); err != nil {
		t.Errorf("the settings of %s have no schema: %v", k.Name, err)
	}
}

// checkTags checks that every setting has a key and a doc.
func checkTags(t reporter, kind string, s reflect.Type) {
	for i := range s.NumField() {
		f := s.Field(i)
		if !f.IsExported() || f.Tag.Get("yaml") == "-" || f.Anonymous {
			continue
		}
		if f.Tag.Get("yaml") == "" || f.Tag.Get("doc") == "" {
			t.Errorf("kind %s: the setting %s needs the tags yaml and doc", kind, f.Name)
		}
	}
}

// headerText returns a header as text: everything but the Go form of its schema.
func headerText(h pipeline.Header) map[string]any {
	d, err := json.Marshal(h.Domain)
	if err != nil {
		return map[string]any{"error": err.Error()}
	}
	return map[string]any{"form": h.Form, "schema": schemaText(h), "domain": string(d), "class": h.Class,
		"stability": h.Stability, "shards": h.Shards, "rows": h.Rows, "scores": h.Scores, "terms": h.Terms}
}

func schemaText(h pipeline.Header) string {
	if h.Schema == nil {
		return ""
	}
	return h.Schema.String()
}

func headerTexts(hs pipeline.Headers) map[string]any {
	m := map[string]any{}
	for port, h := range hs {
		m[port] = headerText(h)
	}
	return m
}

// checkPlan checks that planning twice gives the same, changes no input, plans every
// output, never lowers the class without a charge, and follows the schema rule.
func checkPlan(t reporter, k pipeline.Kind, c Case) {
	in := c.headers()
	before := headerTexts(in)
	first, err := c.Stage().Plan(in)
	if err != nil {
		t.Fatalf("plan: %v", err)
	}
	if first.Run == nil {
		t.Fatalf("the plan of %s has no way to run", k.Name)
	}
	second, err := c.Stage().Plan(c.headers())
	if err != nil {
		t.Fatalf("second plan: %v", err)
	}
	if diff := cmp.Diff(headerTexts(first.Out), headerTexts(second.Out)); diff != "" {
		t.Errorf("two plans differ:\n%s", diff)
	}
	if diff := cmp.Diff(before, headerTexts(in)); diff != "" {
		t.Errorf("planning changed an input header:\n%s", diff)
	}
	private := false
	for _, h := range in {
		private = private || h.Class == pipeline.Private
	}
	for _, port := range k.Out {
		checkHeader(t, port, first, private)
	}
	if _, err := schema.JSON(c.Stage()); err != nil {
		t.Errorf("settings cannot be stored: %v", err)
	}
}

func checkHeader(t reporter, port pipeline.Port, w pipeline.Work, private bool) {
	h, ok := w.Out[port.Name]
	switch {
	case !ok:
		t.Errorf("output %s has no header", port.Name)
		return
	case h.Form.IsFiles() != (h.Schema == nil):
		t.Errorf("output %s has the form %q and the schema %v, must have one where it is rows alone", port.Name, h.Form,
			h.Schema)
		return
	case h.Form != port.Form:
		t.Errorf("output %s has the form %q, its port says %q", port.Name, h.Form, port.Form)
	case private && h.Class != pipeline.Private && len(w.Spends) == 0:
		t.Errorf("output %s is %s though an input is private and nothing is paid", port.Name, h.Class)
	case h.Form == pipeline.FormTable && h.Class == pipeline.Private && h.Stability.Spread == "":
		t.Errorf("the private output %s has no stability", port.Name)
	case h.Stability.Spread == pipeline.SpreadShards && h.Stability.N != h.Shards:
		t.Errorf("output %s has the stability %s and %d shards", port.Name, h.Stability, h.Shards)
	case h.Form == pipeline.FormTable && (h.Shards > 0) != h.Schema.HasField(pipeline.ShardColumn):
		t.Errorf("output %s says %d shards, and its schema is %v", port.Name, h.Shards, h.Schema)
	}
	if h.Form == pipeline.FormTable {
		want := pipeline.TableHeader(h.Domain, h).Schema
		if !want.Equal(h.Schema) {
			t.Errorf("output %s: the schema\n%v\nis not that of its domain\n%v", port.Name, h.Schema, want)
		}
	}
}

// checkUnknownColumns checks that a setting that names columns refuses an unknown one, before
// any data, and names the nearest of a table that it reads.
func checkUnknownColumns(t reporter, k pipeline.Kind, c Case) {
	known := c.longestNames()
	settings := reflect.TypeOf(c.Stage()).Elem()
	for i := range settings.NumField() {
		f := settings.Field(i)
		if format := f.Tag.Get("format"); len(known) == 0 || format != "columns" && format != "column" {
			continue
		}
		if !misname(reflect.ValueOf(c.Stage()).Elem().Field(i), "any") {
			t.Errorf("%s: the setting %s names columns in a form that the conformance test does not know", k.Name, f.Name)
			continue
		}
		if err := c.misnamed(i, known); err != nil {
			t.Errorf("%s: unknown column in %s %v", k.Name, f.Name, err)
		}
	}
}

// longestNames has a column of each table, the one with the longest name.
func (c Case) longestNames() []string {
	var known []string
	for _, port := range c.tablePorts() {
		longest := ""
		for _, name := range c.In[port].Header.Domain.Names() {
			if len(name) > len(longest) {
				longest = name
			}
		}
		known = append(known, longest)
	}
	return known
}

// misnamed returns nil where a wrong name in a setting gives a problem that asks for the
// right one of some table.
func (c Case) misnamed(setting int, known []string) (err error) {
	for _, name := range known {
		stage := c.Stage()
		misname(reflect.ValueOf(stage).Elem().Field(setting), name+"x")
		_, got := stage.Plan(c.headers())
		if got != nil && strings.Contains(got.Error(), name+"x") && strings.Contains(got.Error(), "did you mean "+name+"?") {
			return nil
		}
		err = fmt.Errorf("gives %v, must be a problem that asks: did you mean %s?", got, name)
	}
	return err
}

// misname puts a wrong name into a list, a map or a text of names.
func misname(v reflect.Value, name string) bool {
	switch v.Kind() {
	case reflect.String:
		v.SetString(name)
	case reflect.Slice:
		v.Set(reflect.Append(reflect.Zero(v.Type()), reflect.ValueOf(name)))
	case reflect.Map:
		m := reflect.MakeMap(v.Type())
		m.SetMapIndex(reflect.ValueOf(name), reflect.Zero(v.Type().Elem()))
		v.Set(m)
	default:
		return false
	}
	return true
}

// checkFigures holds the numbers of an output of FormMetrics against the declarations of the
// kind: nothing else says what they mean, which values are good and what they are compared with.
func checkFigures(t reporter, k pipeline.Kind, h pipeline.Header, r arrow.Record) {
	if h.Form != pipeline.FormMetrics {
		return
	}
	metrics, err := pipeline.ReadMetrics(context.Background(), pipeline.FromRecords(h, r))
	if err != nil {
		t.Errorf("the figures of %s cannot be read: %v", k.Name, err)
	}
	for _, m := range Undeclared(k.Figures, metrics) {
		t.Errorf("kind %s writes %s, which it does not declare (pipeline.Kind.Figures)", k.Name, m.Key())
	}
}

// Undeclared returns the metrics that no declaration covers.
func Undeclared(declared pipeline.Figures, metrics []pipeline.Metric) (list []pipeline.Metric) {
	for _, m := range metrics {
		if f, _, known := declared.Find(m.Name); !known || !f.Takes(m.Name, m.Column) {
			list = append(list, m)
		}
	}
	return list
}
