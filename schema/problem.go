package schema

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/agnivade/levenshtein"
	"gopkg.in/yaml.v3"
)

// maxProblems bounds what one call returns; a file with more is broken in one way many times.
const maxProblems = 200

// Problem is one fault of a file: where it is, what was found there and what is accepted.
// Line and Column count from 1 (columns in characters); both are 0 for a value from --set, where File is
// "--set path". The JSON form has the same fields in snake case and is stable.
type Problem struct {
	File     string `json:"file"`
	Line     int    `json:"line"`
	Column   int    `json:"column"`
	Path     string `json:"path"`
	Found    string `json:"found"`
	Accepted string `json:"accepted"`
	Hint     string `json:"hint,omitempty"`
	Rule     string `json:"rule,omitempty"` // audit rule of a refusal of privacy, such as W03; "" for a fault of the file
}

// longList is the length of what is accepted from which on a question (DidYouMean) stands before it: behind a list of
// fifty kinds nobody reads it.
const longList = 100

// Error gives `file:line:col: path: is FOUND, must be ACCEPTED; HINT [RULE]`. A question stands before a long list.
func (p Problem) Error() string {
	var b strings.Builder
	b.WriteString(p.where())
	if p.Found != "" {
		b.WriteString("is " + p.Found)
	}
	first := p.Found != "" && len(p.Accepted) > longList && strings.HasPrefix(p.Hint, asking)
	if first {
		b.WriteString("; " + p.Hint)
	}
	if p.Accepted != "" {
		if p.Found != "" {
			b.WriteString(map[bool]string{true: " It ", false: ", "}[first])
		}
		b.WriteString("must be " + p.Accepted)
	}
	if p.Hint != "" && !first {
		b.WriteString("; " + p.Hint)
	}
	if p.Rule != "" {
		b.WriteString(" [" + p.Rule + "]")
	}
	return b.String()
}

func (p Problem) where() string {
	s := ""
	if p.File != "" {
		s = p.File + ": "
	}
	if p.Line > 0 {
		s = fmt.Sprintf("%s:%d:%d: ", p.File, p.Line, p.Column)
	}
	if p.Path == "" || p.File == setFile(p.Path) {
		return s
	}
	return s + p.Path + ": "
}

// Problems is a list of problems as one error, one a line. errors.As finds it behind Join.
type Problems []Problem

func (ps Problems) Error() string { return Lines(ps) }

// Lines returns the text of several errors, one a line.
func Lines[T error](errs []T) string {
	lines := make([]string, len(errs))
	for i, err := range errs {
		lines[i] = err.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap lets errors.As reach a single Problem.
func (ps Problems) Unwrap() []error {
	errs := make([]error, len(ps))
	for i, p := range ps {
		errs[i] = p
	}
	return errs
}

// Join sorts the problems by file and position, drops repeats and returns them as one error of type
// Problems; nil when there is none.
func Join(ps []Problem) error {
	if len(ps) == 0 {
		return nil
	}
	return Problems(tidy(slices.Clone(ps)))
}

// tidy sorts by position and drops repeats.
func tidy(ps []Problem) []Problem {
	slices.SortStableFunc(ps, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column),
			cmp.Compare(a.Path, b.Path), cmp.Compare(a.Found, b.Found), cmp.Compare(a.Accepted, b.Accepted))
	})
	return slices.CompactFunc(ps, func(a, b Problem) bool {
		a.Hint, b.Hint = "", ""
		return a == b
	})
}

// capped keeps the first maxProblems and says how many more there were.
func capped(ps []Problem) []Problem {
	if len(ps) <= maxProblems {
		return ps
	}
	last := ps[maxProblems]
	last.Path, last.Accepted, last.Hint = "", "", ""
	last.Found = fmt.Sprintf("the first of %d more problems that are not listed", len(ps)-maxProblems)
	return append(ps[:maxProblems:maxProblems], last)
}

// Add appends a problem of a path.
func (ps *Problems) Add(path, found, accepted string) {
	*ps = append(*ps, Problem{Path: path, Found: found, Accepted: accepted})
}

// Refuse appends a refusal of privacy at a path, with its audit rule.
func (ps *Problems) Refuse(rule, path, found, accepted string) {
	*ps = append(*ps, Problem{Path: path, Found: found, Accepted: accepted, Rule: rule})
}

// Err returns the problems as they are, or nil where there is none.
func (ps Problems) Err() error {
	if len(ps) == 0 {
		return nil
	}
	return ps
}

// Unknown appends the problem of a name that is not one of the accepted ones, with the nearest of them.
func (ps *Problems) Unknown(path, what, name string, accepted []string) {
	*ps = append(*ps, UnknownName(path, what, name, accepted))
}

// manyNames is how many accepted names a problem lists before it stops.
const manyNames = 20

// UnknownName returns the problem of a name that is not one of the accepted ones, with the nearest of them.
func UnknownName(path, what, name string, accepted []string) Problem {
	list := Words(accepted[:min(len(accepted), manyNames)])
	if len(accepted) > manyNames {
		list += fmt.Sprintf(" and %d more", len(accepted)-manyNames)
	}
	if near := Suggest(name, accepted); near != "" {
		list += "; " + asking + near + "?"
	}
	return Problem{Path: path, Found: fmt.Sprintf("%q, an unknown %s", name, what), Accepted: "one of " + list}
}

// maxSuggest is the longest word that is compared: edit distance costs the product of both lengths.
const maxSuggest = 64

// Suggest returns the accepted word nearest to word by edit distance (case ignored), or "" when none is
// within a third of its length (at least one edit). Of equally near words the first accepted one wins.
func Suggest(word string, accepted []string) string {
	best, least := "", len([]rune(word))/3+1
	if len(word) < 3 {
		least = 1 // two letters are near to everything: only their case may differ
	}
	if len(word) > maxSuggest {
		return ""
	}
	low := strings.ToLower(word)
	for _, a := range accepted {
		if len(a) > maxSuggest || a == word {
			continue
		}
		if d := distance(low, strings.ToLower(a)); d < least {
			best, least = a, d
		}
	}
	return best
}

// distance returns the edit distance, where swapping two neighbours is one edit.
func distance(a, b string) int {
	for i := 0; i+1 < len(a) && len(a) == len(b); i++ {
		if a[i] != b[i] {
			if a[i] == b[i+1] && a[i+1] == b[i] && a[i+2:] == b[i+2:] {
				return 1
			}
			break
		}
	}
	return levenshtein.ComputeDistance(a, b)
}

// asking begins the hint of a name that may be meant.
const asking = "did you mean "

// DidYouMean words Suggest as a hint, "" where there is none.
func DidYouMean(word string, accepted []string) string {
	if s := Suggest(word, accepted); s != "" {
		return asking + s + "?"
	}
	return ""
}

// found describes a value in words: its sort and, shortened, what it is.
func found(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return foundMapping(n)
	case yaml.SequenceNode:
		return foundList(len(n.Content))
	case yaml.AliasNode:
		return "an alias"
	}
	switch {
	case n.Tag == "!!null" && n.Value == "":
		return "left empty"
	case n.Tag == "!!null":
		return "null"
	case n.Tag == "!!str" && n.Value == "":
		return "empty text"
	case n.Tag == "!!str":
		return "the text " + quoteShort(n.Value)
	}
	return shorten(n.Value)
}

func foundList(items int) string {
	switch items {
	case 0:
		return "an empty list"
	case 1:
		return "a list of 1 item"
	}
	return fmt.Sprintf("a list of %d items", items)
}

func foundMapping(n *yaml.Node) string {
	switch len(n.Content) {
	case 0:
		return "an empty mapping"
	case 2:
		return "a mapping with the key " + shorten(n.Content[0].Value)
	}
	var keys []string
	for i := 0; i < min(len(n.Content), 20); i += 2 {
		keys = append(keys, n.Content[i].Value)
	}
	return "a mapping with the keys " + shorten(strings.Join(keys, ", "))
}

// quoteShort quotes a text so that the quotation has at most maxQuoted characters.
func quoteShort(s string) string {
	q := []rune(strconv.Quote(cut(s)))
	if len(q) <= maxQuoted {
		return string(q)
	}
	return strings.TrimRight(string(q[:maxQuoted-2]), `\`) + `…"`
}

// valueHint says what was probably meant by a wrong value.
func valueHint(n *yaml.Node, rule *object) string {
	if n.Kind != yaml.ScalarNode {
		return ""
	}
	wants := map[string]bool{}
	var words []string
	gather(rule, wants, &words)
	low := strings.ToLower(n.Value)
	switch {
	case n.Tag == "!!str" && len(words) > 0:
		return DidYouMean(n.Value, words)
	case n.Tag == "!!str" && wants["boolean"] && strings.Contains(" yes y on ", " "+low+" "):
		return "write true"
	case n.Tag == "!!str" && wants["boolean"] && strings.Contains(" no n off ", " "+low+" "):
		return "write false"
	case (wants["number"] || wants["integer"]) && tooLarge(n, rule):
		return "it is too large"
	case n.Tag == "!!str" && (wants["number"] || wants["integer"]) && looksNumeric(n):
		return "write the number without quotes"
	case n.Tag != "!!str" && n.Tag != "!!null" && wants["string"]:
		return "for the text write it in quotes"
	case wants["array"] && n.Tag != "!!null" && !wants["string"] && !ofMappings(rule):
		return "write [" + shorten(n.Value) + "]"
	}
	return ""
}

// ofMappings tells whether every item of a list must be a mapping, which no single value is.
func ofMappings(rule *object) bool {
	items, _ := rule.get("items").(*object)
	return items != nil && slices.Equal(types(items), []string{"object"})
}

// gather collects the types and words that a schema accepts.
func gather(o *object, wants map[string]bool, words *[]string) {
	for _, t := range types(o) {
		wants[t] = true
	}
	enum, _ := o.get("enum").([]any)
	for _, v := range append(enum[:len(enum):len(enum)], o.get("const")) {
		if s, ok := v.(string); ok {
			*words = append(*words, s)
		}
	}
	for _, k := range []string{"anyOf", "oneOf"} {
		opts, _ := o.get(k).([]any)
		for _, opt := range opts {
			if c, ok := opt.(*object); ok {
				gather(c, wants, words)
			}
		}
	}
}

// tooLarge tells numbers beyond float64, which YAML reads as text, and beyond the 64 bits of a whole number.
func tooLarge(n *yaml.Node, rule *object) bool {
	if f := rule.text("format"); isNumber(n) && (f == "int64" || f == "uint64") {
		v, ok := scalar(n).(json.Number)
		return ok && !isInt64(v) && !isUint64(v) || ok && f == "int64" && !isInt64(v)
	}
	_, err := strconv.ParseFloat(n.Value, 64)
	return n.Tag == "!!str" && n.Style == 0 && errors.Is(err, strconv.ErrRange)
}

func looksNumeric(n *yaml.Node) bool {
	bare := yaml.Node{Kind: yaml.ScalarNode, Value: n.Value}
	t := bare.ShortTag()
	return n.Style != 0 && (t == "!!int" || t == "!!float")
}
