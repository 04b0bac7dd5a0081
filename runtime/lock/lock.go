// Package lock is weir.lock: what a run with --locked holds a spec, its data and the
// program to. It is text for version control, a line for each thing that may differ, and
// holds nothing of private rows: a dataset is named by its id and declared version.
// docs/design/lock.md has the reasons of its form.
package lock

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"weir/privacy"
)

// File is the name of a lock; it lies beside the specs of its folder.
const File = "weir.lock"

// What a line is of.
const (
	Dataset = "dataset" // id and declared version
	Public  = "file"    // of a further file that holds no private row: its digest
	Program = "program" // that reads the dataset, such as duckdb: its version
	Part    = "part"    // of the spec, such as privacy: its digest, or what it is where that is a word
	Stage   = "stage"   // kind, version of the kind, digest of settings and inputs
	Weir    = "weir"    // version of the program
)

// shape returns how many words name a thing, and how many say what it is; false for a thing
// that a lock does not know.
func shape(what string) (names, values int, known bool) {
	switch what {
	case Dataset:
		return 0, 2, true
	case Public:
		return 2, 1, true
	case Part, Program:
		return 1, 1, true
	case Stage:
		return 1, 3, true
	case Weir:
		return 0, 1, true
	}
	return 0, 0, false
}

// Entry is one line.
type Entry struct {
	Spec  string   // file name of the spec, in the folder of the lock
	What  string   // Dataset, Public, Program, Part, Stage or Weir
	Names []string // which one, such as the id of a stage
	Is    []string
}

// key returns the same for two entries that are of one thing.
func (e Entry) key() string { return e.Spec + "\n" + e.Name() }

// Name returns the thing without its spec, such as "stage train".
func (e Entry) Name() string { return spelled(append([]string{e.What}, e.Names...)) }

// Value returns what the thing is, such as "dp_wgan 2 sha256:...".
func (e Entry) Value() string { return spelled(e.Is) }

func (e Entry) line() string {
	return spelled(slices.Concat([]string{e.Spec, e.What}, e.Names, e.Is))
}

// spelled joins words; one that is empty or holds anything but letters, digits and a few
// marks is quoted, so that a line has the words that it seems to have.
func spelled(words []string) string {
	list := make([]string, len(words))
	for i, w := range words {
		list[i] = w
		if w == "" || strings.ContainsFunc(w, odd) {
			list[i] = strconv.QuoteToASCII(w)
		}
	}
	return strings.Join(list, " ")
}

func odd(r rune) bool {
	return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._:/+-", r))
}

// Of returns the entries of one spec.
func Of(all []Entry, spec string) []Entry {
	return slices.DeleteFunc(slices.Clone(all), func(e Entry) bool { return e.Spec != spec })
}

// heading begins every lock.
const heading = `# weir.lock: what "weir run --locked" holds each spec of this folder to. Commit it.
# "weir lock SPEC" writes the lines of a spec again, after a conflict too.
# Specs are sorted below the first digit of the SHA-256 of their names, and lines stand
# apart, so that git can merge what two branches add.
`

// Format returns the text of a lock, which depends on nothing but its entries.
func Format(all []Entry) string {
	var b strings.Builder
	b.WriteString(heading)
	sorted := slices.SortedFunc(slices.Values(all), order)
	for _, digit := range "0123456789abcdef" {
		fmt.Fprintf(&b, "\n# %c\n", digit)
		for len(sorted) > 0 && place(sorted[0].Spec) == string(digit) {
			b.WriteString("\n" + sorted[0].line() + "\n")
			sorted = sorted[1:]
		}
	}
	return b.String()
}

// place returns the digit below which a spec stands: guides that are always there keep the
// lines of two new specs apart wherever their names would sort.
func place(spec string) string {
	return strings.TrimPrefix(privacy.Digest([]byte(spec)), "sha256:")[:1]
}

func order(a, b Entry) int {
	return cmp.Or(cmp.Compare(place(a.Spec), place(b.Spec)), cmp.Compare(a.Spec, b.Spec), cmp.Compare(a.Name(), b.Name()))
}

// Difference is a thing that is not as it was locked. Was or Is is "" where it is not there.
type Difference struct {
	Name string `json:"name"`
	Was  string `json:"was"`
	Is   string `json:"is"`
}

// Compare lists what differs between two lists of entries of one spec, in the order of a lock.
func Compare(previous, actual []Entry) []Difference {
	before, current := values(previous), values(actual)
	var list []Difference
	for _, e := range slices.SortedFunc(slices.Values(slices.Concat(previous, actual)), order) {
		d := Difference{e.Name(), before[e.Name()], current[e.Name()]}
		if d.Was != d.Is && !slices.Contains(list, d) {
			list = append(list, d)
		}
	}
	return list
}

func values(all []Entry) map[string]string {
	items := map[string]string{}
	for _, e := range all {
		items[e.Name()] = e.Value()
	}
	return items
}

// String words a difference; of digests the beginning is shown.
func (d Difference) String() string {
	return fmt.Sprintf("%s: was %s, is %s", d.Name, short(d.Was), short(d.Is))
}

func short(value string) string {
	if value == "" {
		return "not there"
	}
	return regexp.MustCompile(`(sha256:[0-9a-f]{12})[0-9a-f]+`).ReplaceAllString(value, "$1…")
}

// Text lists differences, one a line.
func Text(list []Difference) string {
	var b strings.Builder
	for _, d := range list {
		b.WriteString("\n  " + d.String())
	}
	return b.String()
}
