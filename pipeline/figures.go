package pipeline

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Figures holds the declarations of a kind.
type Figures []Figure

// Find returns the figure that a name belongs to, and what it is to it. A figure of that very
// name comes before one that has the name as a reference.
func (fs Figures) Find(name string) (f Figure, p FigurePlace, declared bool) {
	for _, f := range fs {
		if f.Name == name {
			return f, p, true
		}
	}
	for _, f := range fs {
		if p, matches := f.Match(name); matches {
			return f, p, true
		}
	}
	return f, p, false
}

// Ends returns the names of the ends of the interval of a figure or reference, if it may have one.
func (fs Figures) Ends(name string) (low, high string, may bool) {
	f, p, declared := fs.Find(name)
	if !declared || !f.Interval || p.Of != "" {
		return "", "", false
	}
	low, high = IntervalEnds(name)
	return low, high, true
}

// Problem says what is wrong with the declarations; "" where nothing is.
func (fs Figures) Problem() string {
	names := map[string]bool{}
	for _, f := range fs {
		switch {
		case f.Name == "" || f.Doc == "" || f.Better == "":
			return fmt.Sprintf("figure %q needs a name, a doc and a direction", f.Name)
		case strings.Contains(f.Name, "."):
			return fmt.Sprintf("figure %s has a name with a point, which ends a name", f.Name)
		case names[f.Name]:
			return fmt.Sprintf("figure %s is declared twice", f.Name)
		}
		names[f.Name] = true
	}
	for _, f := range fs {
		if f.Real != "" && !names[f.Real] {
			return fmt.Sprintf("figure %s is compared with %s, which is not declared", f.Name, f.Real)
		}
	}
	return ""
}

// StageFigures are the declarations of a run by stage. A stage of a kind that this program
// does not know has none, and its figures are plain numbers: without words, direction and
// interval, the first two by name in front.
type StageFigures map[string]Figures

// SplitFigureKey cuts STAGE.NAME.PART, as a record has it; part is "" where there is none.
func SplitFigureKey(key string) (stage, name, part string) {
	stage, name, _ = strings.Cut(key, ".")
	name, part, _ = strings.Cut(name, ".")
	return stage, name, part
}

// RenameFigureKey returns the key of another figure of the same stage and part.
func RenameFigureKey(key, name string) string {
	stage, _, part := SplitFigureKey(key)
	if part != "" {
		name += "." + part
	}
	return stage + "." + name
}

// Find returns the figure that a key belongs to, and what it is to it.
func (s StageFigures) Find(key string) (Figure, FigurePlace, bool) {
	stage, name, _ := SplitFigureKey(key)
	return s[stage].Find(name)
}

// Interval returns the interval of 95 % of a figure, where both its ends are among the values.
func (s StageFigures) Interval(values map[string]float64, key string) (ends [2]float64, has bool) {
	stage, name, _ := SplitFigureKey(key)
	low, high, may := s[stage].Ends(name)
	if !may {
		return ends, false
	}
	from, one := values[RenameFigureKey(key, low)]
	to, other := values[RenameFigureKey(key, high)]
	return [2]float64{from, to}, one && other
}

// IsEnd reports whether a key is an end of the interval of another figure among the values.
func (s StageFigures) IsEnd(values map[string]float64, key string) bool {
	_, p, _ := s.Find(key)
	_, there := values[RenameFigureKey(key, p.Of)]
	return p.Of != "" && there
}

// Reference returns the key of what real rows reach in a figure, and what they are in words;
// "" where the figure has no such reference.
func (s StageFigures) Reference(key string) (of, words string) {
	f, p, declared := s.Find(key)
	switch {
	case !declared || !p.Itself():
		return "", ""
	case f.Real != "":
		return RenameFigureKey(key, f.Real), "the real rows themselves"
	case slices.Contains(f.Beside, RealTrain):
		return RenameFigureKey(key, RealTrain.Name(f.Name)), RealTrain.Words(f.Learnt)
	}
	return "", ""
}

// mostHeadlines is the most figures of one stage that are shown first.
const mostHeadlines = 5

// Headlines picks, for each stage, the figures of whole tables that people look at first; of a
// stage that has none of those its first two by name.
func (s StageFigures) Headlines(values map[string]float64) (keys []string) {
	names := map[string][]string{}
	for key := range values {
		if stage, name, part := SplitFigureKey(key); part == "" {
			names[stage] = append(names[stage], name)
		}
	}
	for _, stage := range slices.Sorted(maps.Keys(names)) {
		slices.Sort(names[stage])
		var first []string
		for _, f := range s[stage] {
			if f.Headline && slices.Contains(names[stage], f.Name) {
				first = append(first, f.Name)
			}
		}
		if len(first) == 0 {
			first = names[stage][:min(2, len(names[stage]))]
		}
		for _, name := range first[:min(mostHeadlines, len(first))] {
			keys = append(keys, stage+"."+name)
		}
	}
	return keys
}

// Judged returns the keys that name a figure with a verdict, by stage name, then in the order of declaration.
func (s StageFigures) Judged(keys []string) (judged []string) {
	for _, stage := range slices.Sorted(maps.Keys(s)) {
		for _, f := range s[stage] {
			if key := stage + "." + f.Name; f.Verdict != nil && slices.Contains(keys, key) {
				judged = append(judged, key)
			}
		}
	}
	return judged
}
