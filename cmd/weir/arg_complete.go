package main

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"weir/internal/disk"
	"weir/pipeline"
	"weir/pipeline/spec"
	"weir/privacy"
	"weir/runtime/store"
	"weir/schema"
	"weir/specs"
	"weir/stages"
)

// completion returns what may stand where the shell asks, which has typed so far, and what the shell does with it. It
// opens no data, and says nothing of what it cannot read: the command itself will.
type completion = func(c *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective)

// Directives to the shell.
const (
	completeHere  = cobra.ShellCompDirectiveNoFileComp
	completeOn    = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace // more of the word follows
	completeFiles = cobra.ShellCompDirectiveDefault                                      // files where nothing fits
)

// beginning keeps the candidates that begin with what was typed.
func beginning(typed string, all []cobra.Completion) []cobra.Completion {
	return slices.DeleteFunc(slices.Clone(all), func(one cobra.Completion) bool { return !strings.HasPrefix(one, typed) })
}

// oneOf completes one of some words.
func oneOf(list ...string) completion {
	return func(_ *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return beginning(typed, list), completeHere
	}
}

// adjacencies lists the adjacencies that flags take.
func adjacencies() []string { return []string{string(privacy.AddRemove), string(privacy.ReplaceOne)} }

// completeFlag gives a flag of a command its completion.
func completeFlag(c *cobra.Command, flag string, f completion) {
	if err := c.RegisterFlagCompletionFunc(flag, f); err != nil {
		panic(err) // the command has no such flag: a fault of the program
	}
}

// completeSpec completes a spec: specs:NAME, or a YAML file, which the shell lists itself.
func completeSpec(c *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	const builtIn = "specs:"
	if strings.HasPrefix(typed, builtIn) {
		var list []cobra.Completion
		for _, name := range specs.Names() {
			list = append(list, builtIn+name)
		}
		return beginning(typed, list), completeHere
	}
	here, err := filepath.Glob(typed + "*")
	if typed != "" && strings.HasPrefix(builtIn, typed) && err == nil && len(here) == 0 {
		return []cobra.Completion{builtIn}, completeOn
	}
	return completeYAML(c, args, typed)
}

// completeYAML completes a YAML file, which the shell lists itself.
func completeYAML(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return []cobra.Completion{"yaml", "yml"}, cobra.ShellCompDirectiveFilterFileExt
}

// completeKind completes the kind of a stage.
func completeKind(_ *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var list []cobra.Completion
	for _, kind := range stages.Kinds() {
		list = append(list, cobra.CompletionWithDesc(kind.Name, kind.Summary()))
	}
	slices.Sort(list)
	return beginning(typed, list), completeHere
}

// completeRule completes the id of an audit rule.
func completeRule(_ *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var list []cobra.Completion
	for _, r := range spec.AuditRules() {
		list = append(list, cobra.CompletionWithDesc(r.ID, r.Finding))
	}
	return beginning(strings.ToUpper(typed), list), completeHere
}

// firstOnly completes the first argument alone; files follow.
func firstOnly(f completion) completion {
	return func(c *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, completeFiles
		}
		return f(c, args, typed)
	}
}

// complete completes a run by its id, newest first, or as latest; the shell lists folders itself.
func (p *runPlace) complete(_ *cobra.Command, _ []string, typed string) ([]cobra.Completion,
	cobra.ShellCompDirective) {
	list := []cobra.Completion{cobra.CompletionWithDesc(latestRun, "the newest run that is done")}
	runs, err := store.Newest(p.out)
	if err != nil {
		return beginning(typed, list), completeFiles
	}
	for _, run := range runs {
		list = append(list, cobra.CompletionWithDesc(filepath.Base(run), filepath.Base(filepath.Dir(run))))
	}
	return beginning(typed, list), completeFiles | cobra.ShellCompDirectiveKeepOrder
}

// completeSide completes one of the sides of a difference: a spec or a run.
func (d *differ) completeSide(c *cobra.Command, args []string, typed string) ([]cobra.Completion,
	cobra.ShellCompDirective) {
	if found, _ := d.place.complete(c, args, typed); typed != "" && len(found) > 0 {
		return found, completeHere
	}
	if found, how := completeSpec(c, args, typed); how != cobra.ShellCompDirectiveFilterFileExt {
		return found, how
	}
	return nil, completeFiles
}

// completeSet completes an override up to its next dot, then its value: of the spec that stands among the arguments.
func (f *specFlags) completeSet(_ *cobra.Command, args []string, typed string) ([]cobra.Completion,
	cobra.ShellCompDirective) {
	reg, err := registry()
	if err != nil {
		return nil, completeHere
	}
	list := settableOf(reg, args, typed)
	if path, value, given := strings.Cut(typed, "="); given {
		return valuesOf(reg, list, path, value)
	}
	return stepOf(list, typed), completeOn
}

// settable is a setting that --set can change, with the values that it may have where those are few.
type settable struct {
	doc    string
	values []string
	file   bool // it may name a file
}

// settableOf lists what --set can change and begins as typed does, by path: of a spec, and of the stages of the first
// argument that has some.
func settableOf(reg *pipeline.Registry, args []string, typed string) map[string]settable {
	all := map[string]settable{}
	add := func(before string, shape *schema.Schema, err error) {
		if err != nil {
			return
		}
		for _, s := range shape.Settings() {
			if !strings.ContainsAny(s.Path, "[]*") && !strings.Contains(s.Path, ".NAME") && s.Path != "stages" {
				all[before+s.Path] = settable{s.Doc, offered(before+s.Path, s.Values), s.NamesFile || s.Path == "dataset.domain"}
			}
		}
	}
	if !schema.Within(typed, "stages") {
		shape, err := spec.Schema(reg)
		add("", shape, err)
	}
	kinds := kindsOf(args)
	for name, kind := range kinds {
		path := schema.Path("stages", name)
		all[path] = settable{doc: "off takes the stage out", values: []string{"off"}}
		known := reg.Kind(kind)
		if known == nil {
			continue
		}
		if !schema.Within(typed, path) {
			all[path+"."] = settable{} // its settings are further on
			continue
		}
		shape, err := spec.StageSchema(known)
		add(path+".", shape, err)
		for _, port := range known.In {
			key := path + "." + port.Key()
			all[key] = settable{doc: all[key].doc, values: slices.Sorted(maps.Keys(kinds))}
		}
	}
	return all
}

// kindsOf returns the kind of each stage of the first spec that can be read, by the name of the stage. A name that no
// stage may have is left out: the shell puts it into the command line as it stands, and the spec may be a stranger's.
func kindsOf(args []string) map[string]string {
	kinds := map[string]string{}
	for _, arg := range args {
		text, known := specs.Read(strings.TrimPrefix(arg, "specs:"))
		if !known {
			var err error
			if text, err = disk.ReadFile(arg, schema.MaxBytes+1); err != nil {
				continue
			}
		}
		doc, _ := schema.Parse(arg, text)
		if doc == nil {
			continue
		}
		for _, name := range doc.Keys("stages") {
			if spec.IsStageName(name) {
				kinds[name] = doc.Text(schema.Path("stages", name, "kind"))
			}
		}
		if len(kinds) > 0 {
			break
		}
	}
	return kinds
}

// stepOf returns the paths that begin with what was typed, up to their next dot, or with = behind a whole one.
func stepOf(list map[string]settable, typed string) []cobra.Completion {
	found := map[string]string{}
	for path, s := range list {
		rest, begins := strings.CutPrefix(path, typed)
		if !begins {
			continue
		}
		if step, _, more := strings.Cut(rest, "."); more {
			found[typed+step+"."] = ""
			continue
		}
		found[path+"="] = s.doc
	}
	var all []cobra.Completion
	for _, path := range slices.Sorted(maps.Keys(found)) {
		all = append(all, cobra.CompletionWithDesc(path, found[path]))
	}
	return all
}

// offered leaves out the values that turn privacy off, which nobody may come to by a key.
func offered(path string, values []string) []string {
	return slices.DeleteFunc(slices.Clone(values), func(value string) bool {
		return path == "privacy.epsilon" && value == "inf" || path == "privacy.claims" && value == string(pipeline.ClaimsNone)
	})
}

// valuesOf returns the values of a setting that begin with what was typed. For a setting that may name a file it leaves
// completion to the shell.
func valuesOf(reg *pipeline.Registry, list map[string]settable, path, typed string) ([]cobra.Completion,
	cobra.ShellCompDirective) {
	values := list[path].values
	if strings.HasSuffix(path, ".kind") {
		values = reg.Names()
	}
	if len(values) == 0 && list[path].file {
		return nil, completeFiles
	}
	var all []cobra.Completion
	for _, value := range beginning(typed, values) {
		all = append(all, path+"="+value)
	}
	return all, completeHere
}
