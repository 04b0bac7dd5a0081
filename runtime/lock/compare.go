package lock

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

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
