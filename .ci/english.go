//go:build ignore

// Command english counts the marks of a private English in the Go files of the repository: see .ci/english.
package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Widths and scopes above which a line or a name is marked.
const (
	widest   = 120 // columns of a line; a tab is one
	shortest = 3   // lines, first and last included, in which a name of any kind is read at once
)

// marks returns the kinds of marks in the order in which they are printed.
func marks() []string { return []string{"noun", "name", "begin", "verb", "line"} }

// vague matches names that say where a thing stands or what was done to it, never what it is. Words that Go's own
// packages use so (in, out, before, after, seen, found, done, left, set) are none of them, and neither are exported
// prepositions, which are read with their package or receiver: schema.Of, row.At.
var vague = regexp.MustCompile(`^(at|of|from|to|on|by|for|with|without|into|onto|over|under|up[tT]o|per|via|as|than|` +
	`about|above|below|behind|besides?|between|beyond|through|until|against|` +
	`is|are|was|own|now|then|here|so|too|yet|` +
	`(?i:apart|stood|stands|told|tells|asked|asks|held|holds|kept|keeps|made|given|gives|taken|takes|drawn|meant|said|says|` +
	`named|gone|begun|went|came))$`)

// pronoun matches a genitive without its noun.
var pronoun = regexp.MustCompile(`\b[Tt]h(at|ose) of\b`)

// testing matches functions that go test runs.
var testing = regexp.MustCompile(`^(Test|Benchmark|Fuzz|Example)`)

// place is a mark in a file.
type place struct {
	mark, file string
	line       int
	text       string
}

// file is a parsed file and the marks found in it.
type file struct {
	name   string
	fset   *token.FileSet
	tree   *ast.File
	places []place
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run reads file names from the arguments after the file of allowances, and prints places below the folders named
// before "--".
func run(args []string) error {
	cut := slices.Index(args, "--")
	if cut < 1 {
		return fmt.Errorf("usage: english ALLOWANCES [FOLDER...] -- FILE")
	}
	allowed, err := allowances(args[0])
	if err != nil {
		return err
	}
	var all []place
	for _, name := range args[cut+1:] {
		found, err := read(name)
		if err != nil {
			return err
		}
		all = append(all, found...)
	}
	show(all, args[1:cut])
	return judge(all, allowed, args[1:cut])
}

// allowances reads lines "MARK FOLDER COUNT REASON".
func allowances(name string) (map[string]int, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	allowed := map[string]int{}
	for i, line := range strings.Split(string(text), "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		words := strings.Fields(line)
		if len(words) < 4 || !slices.Contains(marks(), words[0]) {
			return nil, fmt.Errorf("%s:%d: must be MARK FOLDER COUNT REASON", name, i+1)
		}
		if allowed[words[0]+" "+words[1]], err = strconv.Atoi(words[2]); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, i+1, err)
		}
	}
	return allowed, nil
}

// read returns the marks of a file; a generated one has none.
func read(name string) ([]place, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	fset := token.NewFileSet()
	tree, err := parser.ParseFile(fset, name, text, parser.ParseComments)
	if err != nil || ast.IsGenerated(tree) {
		return nil, err
	}
	f := &file{name: name, fset: fset, tree: tree}
	f.lines(string(text))
	f.comments()
	f.declarations()
	f.variables()
	return f.places, nil
}

func (f *file) add(mark string, pos token.Pos, text string) {
	f.places = append(f.places, place{mark: mark, file: f.name, line: f.fset.Position(pos).Line, text: text})
}

// lines marks what is wider than a page; the tag of a field cannot be broken.
func (f *file) lines(text string) {
	tagged := map[int]bool{}
	ast.Inspect(f.tree, func(n ast.Node) bool {
		if field, isField := n.(*ast.Field); isField && field.Tag != nil {
			tagged[f.fset.Position(field.Tag.Pos()).Line] = true
		}
		return true
	})
	for i, line := range strings.Split(text, "\n") {
		if n := utf8.RuneCountInString(line); n > widest && !tagged[i+1] {
			f.places = append(f.places, place{mark: "line", file: f.name, line: i + 1, text: fmt.Sprintf("%d columns", n)})
		}
	}
}

// comments marks genitives without a noun, those over a line's end included.
func (f *file) comments() {
	for _, group := range f.tree.Comments {
		for i, c := range group.List {
			if m := pronoun.FindString(c.Text); m != "" {
				f.add("noun", c.Pos(), m)
				continue
			}
			words := strings.Fields(strings.TrimSuffix(c.Text, "*/"))
			if i+1 < len(group.List) && len(words) > 0 && regexp.MustCompile(`^[Tt]h(at|ose)$`).MatchString(
				words[len(words)-1]) &&
				strings.HasPrefix(group.List[i+1].Text, "// of ") {
				f.add("noun", c.Pos(), words[len(words)-1]+" of")
			}
		}
	}
}

// declarations marks comments that do not begin with what they declare, and functions and types by their names.
func (f *file) declarations() {
	for _, d := range f.tree.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			f.begins(d.Doc, d.Name)
			f.acts(d)
			f.named(d.Name)
		case *ast.GenDecl:
			for _, s := range d.Specs {
				f.specified(d, s)
			}
		}
	}
}

// specified looks at a constant, variable or type; a comment on a group in parentheses is about the group.
func (f *file) specified(d *ast.GenDecl, s ast.Spec) {
	switch s := s.(type) {
	case *ast.TypeSpec:
		f.begins(cmp.Or(s.Doc, alone(d)), s.Name)
		f.named(s.Name)
	case *ast.ValueSpec:
		f.begins(cmp.Or(s.Doc, alone(d)), s.Names...)
	}
}

func alone(d *ast.GenDecl) *ast.CommentGroup {
	if d.Lparen.IsValid() {
		return nil
	}
	return d.Doc
}

// begins marks a comment whose first word, after an article, is none of the names.
func (f *file) begins(doc *ast.CommentGroup, names ...*ast.Ident) {
	words := strings.Fields(doc.Text())
	if len(words) > 1 && slices.Contains([]string{"A", "An", "The"}, words[0]) {
		words = words[1:]
	}
	if len(words) == 0 || slices.ContainsFunc(names, func(n *ast.Ident) bool {
		return strings.Trim(words[0], ",.:;'s") ==
			strings.Trim(n.Name, "s")
	}) {
		return
	}
	f.add("begin", doc.Pos(), names[0].Name+": "+words[0])
}

// acts marks the comment of a function that says what the function is, not what it does; what a test shows may be so.
func (f *file) acts(d *ast.FuncDecl) {
	words := strings.Fields(d.Doc.Text())
	if len(words) < 2 || words[0] != d.Name.Name || words[1] != "is" && words[1] != "are" {
		return
	}
	if !strings.HasSuffix(f.name, "_test.go") || !testing.MatchString(d.Name.Name) {
		f.add("verb", d.Doc.Pos(), strings.Join(words[:2], " "))
	}
}

func (f *file) named(name *ast.Ident) {
	if vague.MatchString(name.Name) {
		f.add("name", name.Pos(), "func "+name.Name)
	}
}

// variables marks parameters, results and local variables by their names, where they are read over many lines.
func (f *file) variables() {
	last := map[*ast.Object]int{}
	ast.Inspect(f.tree, func(n ast.Node) bool {
		if id, isIdent := n.(*ast.Ident); isIdent && id.Obj != nil {
			last[id.Obj] = max(last[id.Obj], f.fset.Position(id.Pos()).Line)
		}
		return true
	})
	for _, obj := range slices.SortedFunc(maps.Keys(last), func(a, b *ast.Object) int {
		return cmp.Compare(a.Pos(),
			b.Pos())
	}) {
		if obj.Kind == ast.Var && vague.MatchString(obj.Name) && last[obj]-f.fset.Position(obj.Pos()).Line >= shortest &&
			!f.field(obj) {
			f.add("name", obj.Pos(), obj.Name)
		}
	}
}

// field reports whether an object is the field of a struct, whose type and comment say what it is.
func (f *file) field(obj *ast.Object) bool {
	inStruct := false
	ast.Inspect(f.tree, func(n ast.Node) bool {
		if s, isStruct := n.(*ast.StructType); isStruct && s.Pos() <= obj.Pos() && obj.Pos() < s.End() {
			inStruct = true
		}
		return !inStruct
	})
	return inStruct
}

// show prints the places below some folders, and a table of counts.
func show(all []place, folders []string) {
	slices.SortStableFunc(all, func(a, b place) int {
		return cmp.Or(cmp.Compare(a.file, b.file),
			cmp.Compare(a.line, b.line))
	})
	count := map[string]int{}
	for _, p := range all {
		if within(p.file, folders) {
			fmt.Printf("%s:%d: %s: %s\n", p.file, p.line, p.mark, p.text)
		}
		count[p.mark+" "+filepath.Dir(p.file)]++
		count[p.mark+" all"]++
		count["any "+filepath.Dir(p.file)]++
	}
	for _, mark := range marks() {
		fmt.Printf("%6s ", mark)
	}
	fmt.Println(" folder")
	rooms := []string{}
	for key := range count {
		if room, isAny := strings.CutPrefix(key, "any "); isAny {
			rooms = append(rooms, room)
		}
	}
	slices.Sort(rooms)
	for _, room := range append(rooms, "all") {
		for _, mark := range marks() {
			fmt.Printf("%6d ", count[mark+" "+room])
		}
		fmt.Printf(" %s\n", room)
	}
}

func within(name string, folders []string) bool {
	return slices.ContainsFunc(folders, func(f string) bool {
		return f == "." || strings.HasPrefix(name, strings.TrimSuffix(f, "/")+"/") || name == f
	})
}

// judge refuses a folder with more marks than it is allowed; where folders are named, it judges these alone.
func judge(all []place, allowed map[string]int, folders []string) error {
	found := map[string]int{}
	for _, p := range all {
		found[p.mark+" "+filepath.Dir(p.file)]++
	}
	var bad []string
	for key, n := range found {
		room := key[strings.Index(key, " ")+1:]
		if n > allowed[key] && (len(folders) == 0 || within(room+"/x", folders)) {
			bad = append(bad, fmt.Sprintf("%s: %d, .ci/english.txt allows %d", key, n, allowed[key]))
		}
	}
	if slices.Sort(bad); len(bad) > 0 {
		return fmt.Errorf("%s", strings.Join(bad, "\n"))
	}
	return nil
}
