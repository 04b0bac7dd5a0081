package words

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"weir/pipeline"
	"weir/privacy"
)

// examplePlan returns a plan of a paid stage and what is drawn from it.
func examplePlan() *pipeline.Plan {
	alone, noise := 0.36, 1.1
	reads := func(port string, refs ...pipeline.Ref) map[string][]pipeline.Ref {
		return map[string][]pipeline.Ref{port: refs}
	}
	return &pipeline.Plan{Name: "test", Digest: "sha256:0", Budget: 1, Delta: 1e-5,
		Dataset: pipeline.DatasetPlan{Source: pipeline.Declared{Kind: "file", Name: "patients.csv",
			Place: "/home/ann/patients.csv"}, Stability: pipeline.Rows(4)},
		Epsilon: pipeline.EpsilonPair{Reason: "stage train: the encoder has no noise", Published: &alone},
		Steps: []*pipeline.Step{
			{ID: "clean", Kind: "clean", Class: pipeline.Private, Stability: "rows(4)",
				Inputs: reads("in", pipeline.Ref{Stage: "dataset"})},
			{ID: "train", Kind: "learn", Decided: []pipeline.Decided{{Setting: "target", Value: "income",
				Why: "from stage utility"}}, Class: pipeline.Released,
				Inputs: reads("in", pipeline.Ref{Stage: "clean", Port: "out"}), Cost: privacy.Cost{NoiseMultiplier: &noise,
					Alone: &alone},
				Spends: []pipeline.Planned{{Line: privacy.Line{Name: "train", Mechanism: "DP-SGD",
					Sensitivity: "1 (L2) when a row is replaced", Uses: -1}}}},
			{ID: "sample", Kind: "draw", Class: pipeline.Released, Inputs: reads("in", pipeline.Ref{Stage: "train"})},
		},
		Findings: []pipeline.Finding{{Rule: "W33", Level: pipeline.LevelNote, Stage: "train", Message: "a note",
			Fix: "another"}}}
}

// TestDrawingsAreComplete: every stage and every edge is drawn, and of the source
// its name without its folder.
func TestDrawingsAreComplete(t *testing.T) {
	dot, mermaid := DOT(examplePlan()), Mermaid(examplePlan())
	for _, s := range examplePlan().Steps {
		if !strings.Contains(dot, `"`+s.ID+`"`) || !strings.Contains(mermaid, "  "+s.ID) {
			t.Errorf("%s is not drawn", s.ID)
		}
	}
	if n, m := strings.Count(mermaid, "-->"), strings.Count(dot, " -> "); n != 3 || m != 3 {
		t.Errorf("%d and %d edges are drawn, must be 3", n, m)
	}
	for _, text := range []string{dot, mermaid, Plan(examplePlan())} {
		if strings.Contains(text, "/home") || !strings.Contains(text, "patients.csv") {
			t.Errorf("the source is not named, or with its folder: %s", text)
		}
	}
}

// TestSourceIsRead: in the table of stages the dataset has the kind of its source, and reads it, once under each head.
func TestSourceIsRead(t *testing.T) {
	for want, source := range map[string]pipeline.Declared{
		"dataset file patients.csv private": {Kind: "file", Name: "patients.csv"},
		"dataset demo adult private":        {Kind: "demo", Name: "demo: adult"},
	} {
		p := examplePlan()
		p.Dataset.Source = source
		if text := strings.Join(strings.Fields(Plan(p)), " "); !strings.Contains(text, want) {
			t.Errorf("%s\nmust have %s", text, want)
		}
	}
}

// TestTextSaysWhatIsNotProven, what holds of the source, and how findings are mended.
func TestTextSaysWhatIsNotProven(t *testing.T) {
	text := Plan(examplePlan())
	for _, want := range []string{"none: stage train: the encoder has no noise", "epsilon (published)  0.36", "rows(4)",
		"any", "clean.out",
		"note W33 at train: a note\n  instead: another\n", "train.train: sensitivity 1 (L2)",
		"\n  train.target: income (from stage utility)\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
}

// TestGapsAreByRule: reasons are told rule by rule, and a reason may hold semicolons.
func TestGapsAreByRule(t *testing.T) {
	got := gaps("W03: rows change; all of them; W36: one draw for a batch")
	if want := []string{"W03: rows change; all of them", "W36: one draw for a batch"}; !slices.Equal(got, want) {
		t.Errorf("got %q, must be %q", got, want)
	}
}

// TestPublishedNumberStandsWithItsMethod: the number of a stage is shown, also where the whole run has
// none because another stage has none.
func TestPublishedNumberStandsWithItsMethod(t *testing.T) {
	x := 1.5
	for want, s := range map[string]*pipeline.Step{
		"epsilon 1.5 of this stage (by hand)":  {Cost: privacy.Cost{PublishedMethod: "by hand", Published: &x}},
		"epsilon none of this stage (by hand)": {Cost: privacy.Cost{PublishedMethod: "by hand"}},
	} {
		var b page
		if textEvents(&b, s); !strings.Contains(b.String(), want) {
			t.Errorf("%s, must say %s", b.String(), want)
		}
	}
}

// TestTextFitsATerminal: sentences of a plan are broken between words, and nothing of them
// is lost; what has no space to break at stays whole.
func TestTextFitsATerminal(t *testing.T) {
	long := strings.Repeat("one secret draw serves ë batch, ", 12) + "and no more"
	p := examplePlan()
	p.Epsilon.Reason = long
	p.Findings = append(p.Findings, pipeline.Finding{Rule: "W36", Level: pipeline.LevelWarning, Stage: "train",
		Message: long, Fix: long})
	text := Plan(p)
	for line := range strings.Lines(text) {
		if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > prose {
			t.Errorf("a line has %d columns, must have at most %d: %s", n, prose, line)
		}
	}
	if got := strings.Count(strings.Join(strings.Fields(text), " "), long); got != 3 {
		t.Errorf("the sentence stands %d times when lines are joined, must stand 3 times:\n%s", got, text)
	}
	if word := strings.Repeat("x", 300) + "\n"; Wrap("  "+word) != "  "+word {
		t.Error("a word without a space was broken")
	}
}

// TestPage: prose is cut at blanks, with nothing lost; tables stay as they are.
func TestPage(t *testing.T) {
	item, row := "- "+strings.Repeat("twelve bytes ", 30)+"end", "| "+strings.Repeat("cell ", 60)+"|"
	page := string(Page([]byte("short\n" + item + "\n" + row + "\n")))
	for _, line := range strings.Split(page, "\n") {
		if len(line) > 116 && line != row {
			t.Errorf("%d bytes in %q, must be at most 116", len(line), line)
		}
	}
	if strings.Join(strings.Fields(page), " ") != strings.Join(strings.Fields("short "+item+" "+row), " ") {
		t.Errorf("words changed: %q", page)
	}
	if !strings.Contains(page, row) || !strings.Contains(page, "\n  twelve") {
		t.Errorf("a table was cut or an item does not hang: %q", page)
	}
}
