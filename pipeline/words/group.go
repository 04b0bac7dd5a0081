package words

import "weir/pipeline"

// Group is a heading of the list of kinds with its kinds, by name.
type Group struct {
	Title string
	Kinds []*pipeline.Kind
}

// groupTitles lists the headings in the order in which they are shown.
func groupTitles() []string {
	return []string{"Models", "Rows of a model", "Answers without a model", "Anomalies", "Preparation", "Evaluation",
		"Pages and files"}
}

// Groups returns the kinds of a registry by what they give, models first. A group without kinds is left out.
func Groups(reg *pipeline.Registry) []Group {
	members := map[string][]*pipeline.Kind{}
	for _, name := range reg.Names() {
		kind := reg.Kind(name)
		members[groupOf(kind)] = append(members[groupOf(kind)], kind)
	}
	var groups []Group
	for _, title := range groupTitles() {
		if len(members[title]) > 0 {
			groups = append(groups, Group{title, members[title]})
		}
	}
	return groups
}

// groupOf returns the heading of a kind, from its ports alone.
func groupOf(k *pipeline.Kind) string {
	switch k.Out[0].Form {
	case pipeline.FormModel:
		return "Models"
	case pipeline.FormAnswers, pipeline.FormCount:
		return "Answers without a model"
	case pipeline.FormMetrics:
		return "Evaluation"
	case pipeline.FormFiles:
		return "Pages and files"
	}
	switch {
	case k.Draws:
		return "Rows of a model"
	case takesScorer(k):
		return "Anomalies"
	}
	return "Preparation"
}

// takesScorer reports whether a kind gives or reads what scores rows.
func takesScorer(k *pipeline.Kind) bool {
	if k.Out[0].Form == pipeline.FormDetector {
		return true
	}
	for _, p := range k.In {
		if p.Form == pipeline.FormDetector || p.Form == pipeline.FormModel {
			return true
		}
	}
	return false
}
