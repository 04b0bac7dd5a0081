package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"weir/pipeline/spec"
)

// list returns the lines of a file of the version's folder.
func (e earlier) list(name string) []string {
	e.t.Helper()
	text, err := os.ReadFile(filepath.Join(e.folder, name))
	e.must(err)
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
}

// settings: specs and domains may say today what they could: each setting is there, nothing that a schema says of it is
// narrower, and none is required that was not.
func (e earlier) settings() {
	e.t.Helper()
	today, earlierPaths, kind := settingsNow(e.t), schemaPaths{}, ""
	for _, line := range e.list("settings.txt") {
		if !strings.HasPrefix(line, " ") {
			kind = ""
		}
		path, limits, _ := strings.Cut(strings.TrimSpace(line), " : ")
		if earlierPaths[kind+path] = limitsOf(limits); strings.HasSuffix(path, ")") {
			kind = path
		}
	}
	for path, limits := range earlierPaths {
		limitsNow, there := today[path]
		if !there {
			e.t.Errorf("%s is no setting, which it was in %s", path, e.version)
		} else if fault := narrower(limits, limitsNow); fault != "" {
			e.t.Errorf("%s was %v in %s, is %v: %s", path, limits, e.version, limitsNow, fault)
		}
	}
	for path, limits := range today {
		parent := path[:max(strings.LastIndex(path, "."), 0)]
		if _, was := earlierPaths[path]; !was && limits["required"] != "" && earlierPaths[parent] != nil {
			e.t.Errorf("%s is required, which a spec of %s does not have", path, e.version)
		}
	}
}

// schemaPaths are the settings of a JSON Schema by path, each with what the schema says of its values.
type schemaPaths map[string]map[string]string

// limitsOf reads what String writes.
func limitsOf(text string) map[string]string {
	limits := map[string]string{}
	for _, word := range strings.Split(text, " ") {
		if name, value, is := strings.Cut(word, "="); is {
			limits[name] = value
		}
	}
	return limits
}

// narrower says what of a setting is accepted no longer; "" where all is.
func narrower(before, after map[string]string) string {
	for _, kind := range strings.Split(before["type"], ",") {
		wider := kind == "integer" && slices.Contains(strings.Split(after["type"], ","), "number")
		if after["type"] != "" && !slices.Contains(strings.Split(after["type"], ","), kind) && !wider {
			return "type " + kind
		}
	}
	for name, value := range after {
		old, limited := before[name]
		order := 0
		if a, err := strconv.ParseFloat(value, 64); err == nil {
			b, _ := strconv.ParseFloat(old, 64)
			order = sign(a - b)
		}
		lower, upper := strings.Contains(strings.ToLower(name), "min"), strings.Contains(strings.ToLower(name), "max")
		if name != "type" && (!limited || lower && order > 0 || upper && order < 0 || !lower && !upper && value != old) {
			return name
		}
	}
	return ""
}

// sign returns -1, 0 or 1.
func sign(x float64) int {
	switch {
	case x < 0:
		return -1
	case x > 0:
		return 1
	}
	return 0
}

// settingsNow lists the settings of specs and domains, and behind " = " each value of a setting that has a list of
// them.
func settingsNow(t *testing.T) schemaPaths {
	t.Helper()
	found := schemaPaths{}
	for _, name := range []string{"pipeline", "domain"} {
		_, text, _ := command("schema", name)
		var s map[string]any
		if err := json.Unmarshal([]byte(text), &s); err != nil {
			t.Fatalf("weir schema %s: %v", name, err)
		}
		found.walk(s, s, name)
	}
	return found
}

// note keeps what a schema says of the values at a path. Alternatives together accept what any of them does.
func (p schemaPaths) note(schema map[string]any, path string) {
	if p[path] == nil {
		p[path] = map[string]string{}
	}
	switch kind := schema["type"].(type) {
	case string:
		p.noteType(path, kind)
	case []any:
		for _, k := range kind {
			p.noteType(path, fmt.Sprint(k))
		}
	}
	for _, name := range []string{"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minItems", "maxItems",
		"minLength", "maxLength", "minProperties", "uniqueItems", "pattern"} {
		if value, is := schema[name]; is {
			p[path][name] = strings.ReplaceAll(fmt.Sprint(value), " ", "_")
		}
	}
}

func (p schemaPaths) noteType(path, kind string) {
	kinds := strings.Fields(strings.ReplaceAll(p[path]["type"], ",", " "))
	if !slices.Contains(kinds, kind) {
		kinds = append(kinds, kind)
		slices.Sort(kinds)
		p[path]["type"] = strings.Join(kinds, ",")
	}
}

// walk adds the settings of a schema below a path; whole has its definitions.
func (p schemaPaths) walk(whole, schema map[string]any, path string) {
	p.note(schema, path)
	if ref, is := schema["$ref"].(string); is {
		target := whole
		for _, key := range strings.Split(strings.TrimPrefix(ref, "#/"), "/") {
			target, _ = target[key].(map[string]any)
		}
		p.walk(whole, target, path)
	}
	values, _ := schema["enum"].([]any)
	for _, v := range values {
		p[fmt.Sprintf("%s = %v", path, v)] = map[string]string{}
	}
	properties, _ := schema["properties"].(map[string]any)
	for name, s := range properties {
		p.walk(whole, s.(map[string]any), path+"."+name)
	}
	required, _ := schema["required"].([]any)
	for _, name := range required {
		if limits := p[path+"."+fmt.Sprint(name)]; limits != nil {
			limits["required"] = "yes"
		}
	}
	p.inside(whole, schema, path)
}

// inside walks what a schema says of elements and values, and its alternatives; a kind of stage is part of the path.
func (p schemaPaths) inside(whole, schema map[string]any, path string) {
	for key, mark := range map[string]string{"items": "[]", "additionalProperties": ".*"} {
		if s, is := schema[key].(map[string]any); is {
			p.walk(whole, s, path+mark)
		}
	}
	for _, key := range []string{"oneOf", "anyOf", "allOf"} {
		list, _ := schema[key].([]any)
		for _, s := range list {
			s := s.(map[string]any)
			if stage, is := s["then"].(map[string]any); is {
				p.walk(whole, stage, path+"("+kindOf(stage)+")")
				continue
			}
			p.walk(whole, s, path)
		}
	}
}

// kindOf returns the kind that the schema of a stage is of.
func kindOf(schema map[string]any) string {
	properties, _ := schema["properties"].(map[string]any)
	kind, _ := properties["kind"].(map[string]any)
	return fmt.Sprint(kind["const"])
}

// String lists the settings, what a kind of stage has indented below it.
func (p schemaPaths) String() string {
	var b strings.Builder
	kind := ""
	for _, path := range slices.Sorted(maps.Keys(p)) {
		line, nested := strings.CutPrefix(path, kind)
		if nested = nested && kind != ""; nested {
			b.WriteString("  ")
		} else {
			kind = ""
		}
		b.WriteString(line)
		for i, name := range slices.Sorted(maps.Keys(p[path])) {
			b.WriteString([]string{" : ", " "}[min(i, 1)] + name + "=" + p[path][name])
		}
		b.WriteString("\n")
		if !nested && strings.HasSuffix(path, ")") {
			kind = path
		}
	}
	return b.String()
}

// flagsNow lists the commands and their flags, each with its type and its letter.
func flagsNow() (list []string) {
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		list = append(list, c.CommandPath())
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			list = append(list, strings.TrimSpace(c.CommandPath()+" --"+f.Name+" "+f.Value.Type()+" "+f.Shorthand))
		})
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(newRoot(streams{}))
	return list
}

// flags: each command and flag is there, with its type and its letter.
func (e earlier) flags() {
	e.t.Helper()
	today := flagsNow()
	for _, line := range e.list("flags.txt") {
		if !slices.Contains(today, line) {
			e.t.Errorf("%s is no command or flag, which it was in %s", line, e.version)
		}
	}
}

// rulesNow lists the audit rules with what they find.
func rulesNow() (list []string) {
	for _, r := range spec.AuditRules() {
		list = append(list, r.ID+" "+strings.ReplaceAll(r.Finding, "\n", " "))
	}
	return list
}

// rules: the number of an audit rule finds what it found. Its words may be mended: half of them must be left.
func (e earlier) rules() {
	e.t.Helper()
	today := map[string][]string{}
	for _, line := range rulesNow() {
		words := strings.Fields(line)
		today[words[0]] = words[1:]
	}
	for _, line := range e.list("rules.txt") {
		words := strings.Fields(line)
		shared := 0
		for _, word := range words[1:] {
			if slices.Contains(today[words[0]], word) {
				shared++
			}
		}
		if 2*shared < len(words)-1 {
			e.t.Errorf("rule %s finds %q, found in %s: %s", words[0], strings.Join(today[words[0]], " "), e.version, line)
		}
	}
}
