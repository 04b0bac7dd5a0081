package compare

import (
	"fmt"
	"strconv"
	"strings"

	"weir/internal/plain"
	"weir/privacy"
)

// longest is how many characters of a value are shown; --json has all of it.
const longest = 72

// word is a value in one line.
func word(v any) string {
	switch v := v.(type) {
	case nil:
		return "none"
	case number:
		return string(v)
	case string:
		return quoted(v)
	case []any:
		return inBrackets(v)
	case *mapping:
		parts := make([]string, len(v.keys))
		for i, k := range v.keys {
			parts[i] = quoted(k) + ": " + word(v.values[k])
		}
		return cut("{" + strings.Join(parts, ", ") + "}")
	}
	return fmt.Sprint(v)
}

// quoted is a text as it is where it can be taken for nothing else.
func quoted(s string) string {
	if s == "" || s == "none" || !plain.Printable(s) || strings.TrimSpace(s) != s {
		return cut(strconv.Quote(s))
	}
	return cut(s)
}

func cut(s string) string {
	if r := []rune(s); len(r) > longest {
		return string(r[:longest-3]) + "..."
	}
	return s
}

func inBrackets(list []any) string {
	parts := make([]string, len(list))
	for i, v := range list {
		parts[i] = word(v)
	}
	if text := "[" + strings.Join(parts, ", ") + "]"; len(text) <= longest {
		return text
	}
	return cut(fmt.Sprintf("%d values: %s", len(list), strings.Join(parts, ", ")))
}

// sides are the values of a change. Of a long list, the second says what came and went;
// of two numbers, as many digits as tell them apart.
func (c Change) sides() (before, after string) {
	a, one := c.Before.([]any)
	b, other := c.After.([]any)
	if one && other && max(len(word(a)), len(word(b))) >= longest-10 {
		return fmt.Sprintf("%d values", len(a)), fmt.Sprintf("%d values", len(b)) + cameAndWent(a, b)
	}
	x, one := c.Before.(number)
	y, other := c.After.(number)
	if one && other && short(c.Path, x) != short(c.Path, y) {
		return short(c.Path, x), short(c.Path, y)
	}
	before, after = word(c.Before), word(c.After)
	if x, is := c.Before.(number); is && !other {
		before = short(c.Path, x)
	}
	if y, is := c.After.(number); is && !one {
		after = short(c.Path, y)
	}
	return before, after
}

// short is a number of a bill with five digits: an epsilon rounded up, as bounds are.
// Settings are shown as they were written.
func short(path string, n number) string {
	f, err := strconv.ParseFloat(string(n), 64)
	last := path[strings.LastIndex(path, ".")+1:]
	switch {
	case err != nil || len(n) <= 8:
		return string(n)
	case strings.HasPrefix(last, "epsilon_"):
		return privacy.Bound(f)
	case last == "noise_multiplier" || last == "share":
		return fmt.Sprintf("%.5g", f)
	}
	return string(n)
}

// cameAndWent names what only one of two lists holds, a few of each.
func cameAndWent(a, b []any) string {
	text := ""
	for _, way := range []struct {
		what      string
		of, else_ []any
	}{{"added", b, a}, {"removed", a, b}} {
		if only := onlyIn(way.of, way.else_); len(only) > 0 {
			text += fmt.Sprintf("; %d %s: %s", len(only), way.what, few(only))
		}
	}
	if text == "" {
		return ", in another order"
	}
	return text
}

func onlyIn(of, other []any) (words []string) {
	known := map[string]bool{}
	for _, v := range other {
		known[word(v)] = true
	}
	for _, v := range of {
		if !known[word(v)] {
			words = append(words, word(v))
		}
	}
	return words
}

func few(words []string) string {
	const most = 5
	if len(words) > most {
		return strings.Join(words[:most], ", ") + fmt.Sprintf(" and %d more", len(words)-most)
	}
	return strings.Join(words, ", ")
}

// Line words a change in one line.
func (c Change) Line() string {
	before, after := c.sides()
	switch c.What {
	case Added:
		return c.Path + ": " + after
	case Removed:
		return c.Path + ": " + before
	case Renamed:
		return c.Path + ": is called " + after + " now"
	case Reordered:
		return c.Path + ": in another order"
	}
	return c.Path + ": " + before + " -> " + after
}

// where splits the path of a line of the bill into its stage and its figure.
func (c Change) where() (stage, figure string) {
	stage, figure, _ = strings.Cut(c.Path, ".")
	if figure == "" {
		figure = "bill"
	}
	return stage, figure
}

// moved is the difference of two figures with its sign.
func (f Figure) moved() string {
	if f.Before == nil || f.After == nil {
		return ""
	}
	return fmt.Sprintf("%+.4f", *f.After-*f.Before)
}

// verdict words a verdict; a figure without one is left open, and what that means stands below the table, once.
func (f Figure) verdict() string {
	if f.Verdict == NoSpread {
		return ""
	}
	if f.Spread != "" {
		return f.Verdict + " (" + f.Spread + ")"
	}
	return f.Verdict
}

func shown(v *float64, i *[2]float64) string {
	switch {
	case v == nil:
		return "-"
	case i != nil:
		return fmt.Sprintf("%.4f (%.4f to %.4f)", *v, i[0], i[1])
	}
	return fmt.Sprintf("%.4f", *v)
}

// bound is an epsilon, rounded up, or none.
func bound(x *float64) string {
	if x == nil {
		return "none"
	}
	return privacy.Bound(*x)
}

// listing are the figures that people read first: those of whole tables that moved. The
// others are counted by their verdict.
func listing(all []Figure) (told []Figure, rest map[string]int) {
	rest = map[string]int{}
	for _, f := range all {
		if strings.Count(f.Name, ".") < 2 && f.Verdict != Unchanged {
			told = append(told, f)
		} else {
			rest[f.Verdict]++
		}
	}
	return told, rest
}

// counted words the figures that are not listed.
func counted(rest map[string]int) string {
	var parts []string
	for _, verdict := range []string{Beyond, Within, NoSpread, OneSide, Unchanged} {
		words := verdict
		if verdict == NoSpread {
			words = "without a verdict"
		}
		if n := rest[verdict]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, words))
		}
	}
	return strings.Join(parts, ", ")
}

// private heads the figures against real rows, wherever they are shown.
const private = "PRIVATE: computed from real rows; for the owner of the data, not for a pull request or a release"

// spreadWords says what the verdicts mean.
const spreadWords = "Beyond: the intervals of 95 % of the two runs (over test rows) do not meet; or, where a figure has none, it moved more than 95 % of the moves between repeats; so of twenty that noise alone moved, one is beyond."

// openWords says what a figure without a verdict is.
const openWords = "Without a verdict: no spread known, since the figure has neither an interval nor repeats that differ; weir run --fresh or experiment.repeats make some."

// roomOf is what is left, rounded down.
func roomOf(x float64) string { return privacy.Room(x) }
