package compile

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"weir/pipeline"
	"weir/pipeline/spec"
	"weir/schema"
)

// aimStage pays for a model that may know a target.
type aimStage struct {
	Target string `yaml:"target,omitempty" json:"target,omitempty" doc:"Column to predict."`
	Alone  bool   `yaml:"alone,omitempty" json:"alone,omitempty" doc:"Cannot be where noise is much."`
}

func (s *aimStage) AimAt() *string { return &s.Target }

func (s *aimStage) Plan(in pipeline.Headers) (pipeline.Work, error) {
	var ps schema.Problems
	if s.Target != pipeline.NoTarget && in["in"].Domain.Column(s.Target) == nil {
		ps.Unknown("target", "column of the table", s.Target, in["in"].Domain.Names())
		return pipeline.Work{}, ps.Err()
	}
	pays := learn()
	pays.Law = "laplace"
	work, err := pays.Plan(in)
	work.Decide = func(scale float64) pipeline.Decision {
		if scale < 5 {
			return pipeline.Decision{}
		}
		if s.Alone && scale >= 5 {
			ps.Add("alone", "true, where noise is much", "false")
			return pipeline.Decision{Refused: ps}
		}
		return pipeline.Decision{Decided: []pipeline.Decided{{Setting: "kind", Value: "small", Why: "much noise"}},
			Findings: []pipeline.Finding{{Rule: "W25", Level: pipeline.LevelWarning, Message: "much noise"}}}
	}
	return work, err
}

// predictStage judges by predicting.
type predictStage struct {
	judgeStage `yaml:",inline"`
	Target     string `yaml:"target" json:"target" required:"true" doc:"Column to predict."`
}

func (s *predictStage) Predicts() string { return s.Target }

func aimed(t *testing.T, stages string, set ...string) (*Plan, error) {
	t.Helper()
	table := pipeline.Port{Name: "in", Form: pipeline.FormTable, Doc: "a table"}
	reg := fakes(t,
		pipeline.Kind{Name: "aim", Doc: "Pays.", In: []pipeline.Port{table},
			Out: []pipeline.Port{{Name: "model", Form: pipeline.FormModel, Doc: "a model"}},
			New: func() pipeline.Stage { return &aimStage{} }},
		pipeline.Kind{Name: "predict", Doc: "Predicts.", In: []pipeline.Port{table},
			Out: []pipeline.Port{{Name: "metrics", Form: pipeline.FormMetrics, Doc: "figures"}},
			New: func() pipeline.Stage { return &predictStage{} }})
	text := stages
	if !strings.HasPrefix(text, "weir") {
		text = head + "stages:\n" + stages
	}
	s, err := spec.Parse(spec.Input{File: "test.yaml", Data: []byte(text), Set: set, More: Faults}, reg)
	if err != nil {
		return nil, err
	}
	return Compile(s)
}

const (
	train    = "  train: {kind: aim, from: dataset}\n"
	draw     = "  sample: {kind: draw, rows: 10, from: train}\n"
	ofAge    = "  utility: {kind: predict, from: sample, target: age}\n"
	ofAgeToo = "  again: {kind: predict, from: dataset, target: age}\n"
	ofSex    = "  other: {kind: predict, from: dataset, target: sex}\n"
	ofNobody = "  wrong: {kind: predict, from: dataset, target: height}\n"
)

func mustAim(t *testing.T, stages string, set ...string) *Plan {
	t.Helper()
	p, err := aimed(t, stages, set...)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestTargetIsThatOfTheEvaluation, wherever in the spec it stands, as a setting like
// any other: in the canonical form, in the recipe's settings, on the printed plan.
func TestTargetIsThatOfTheEvaluation(t *testing.T) {
	for name, c := range map[string]struct{ stages, set, settings, says string }{
		"below":      {train + draw + ofAge, "", `{"target":"age"}`, "[{target age from stage utility}]"},
		"above":      {ofAgeToo + train, "", `{"target":"age"}`, "[{target age from stage again}]"},
		"two, equal": {train + draw + ofAge + ofAgeToo, "", `{"target":"age"}`, "[{target age from stage utility, again}]"},
		"given":      {train + draw + ofAge, "stages.train.target=sex", `{"target":"sex"}`, "[]"},
		"none": {train + draw + ofAge, "stages.train.target=none", `{"target":"none"}`,
			"[{target none as the spec says, though stage utility predicts age}]"},
		"nobody": {train + draw, "", `{"target":"none"}`, "[]"},
		"one of two": {train + draw + ofAge + ofSex, "stages.train.target=sex", `{"target":"sex"}`,
			"[{target sex from stage other}]"},
	} {
		var set []string
		if c.set != "" {
			set = append(set, c.set)
		}
		p := mustAim(t, c.stages, set...)
		if got := string(p.Step("train").Settings); got != c.settings {
			t.Errorf("%s: the settings of the recipe are %s, must be %s", name, got, c.settings)
		}
		if got := fmt.Sprint(p.Step("train").Decided); got != c.says {
			t.Errorf("%s: the plan says %s, must say %s", name, got, c.says)
		}
	}
}

// TestFilledTargetIsTheGivenOne: whether a target is written or taken over, it is the
// same spec, and reading the canonical form again gives the same plan, which verifying
// a run rests on. Another target is another spec.
func TestFilledTargetIsTheGivenOne(t *testing.T) {
	filled := mustAim(t, train+draw+ofAge)
	canonical, err := filled.Spec.Canonical()
	if err != nil {
		t.Fatal(err)
	}
	want, _ := json.Marshal(filled)
	for name, p := range map[string]*Plan{"given": mustAim(t, train+draw+ofAge, "stages.train.target=age"),
		"canonical": mustAim(t, string(canonical))} {
		if got, _ := json.Marshal(p); string(got) != string(want) {
			t.Errorf("%s:\n%s\nmust be\n%s", name, got, want)
		}
	}
	if p := mustAim(t, train+draw+ofAge, "stages.utility.target=sex"); p.Digest == filled.Digest ||
		string(p.Step("train").Settings) == string(filled.Step("train").Settings) {
		t.Error("the model of another target has the same settings")
	}
	if a, b := mustAim(t, train+draw), mustAim(t, train+draw, "stages.train.target=none"); a.Digest != b.Digest {
		t.Error("none written out is another spec than none because nothing is predicted")
	}
}

// TestTargetIsAskedFor where the spec names several, and told where it comes from where
// the table lacks it.
func TestTargetIsAskedFor(t *testing.T) {
	for name, c := range map[string]struct{ stages, want string }{
		"two": {train + draw + ofAge + ofSex, "stages.train.target: is left out, and the spec names age (predicted by " +
			"utility) and sex (predicted by other), must be one of age, sex, or none"},
		"unknown": {train + ofNobody,
			`stages.train.target: is "height", an unknown column of the table (from stage wrong), must be one of age, sex`},
	} {
		if _, err := aimed(t, c.stages); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v\nmust say: %s", name, err, c.want)
		}
	}
}

// TestDecisionsKnowTheNoise: what a stage decides by its noise is decided by the noise of the
// bill, is printed, and is handed to whoever shows the plan as a copy.
func TestDecisionsKnowTheNoise(t *testing.T) {
	p := mustAim(t, train+draw, "privacy.epsilon=0.1")
	decided := p.Step("train").Decided
	if len(decided) != 1 || decided[0].Value != "small" {
		t.Fatalf("decided %v at a noise multiplier of %g", decided, *p.Step("train").NoiseMultiplier)
	}
	if f := p.Findings; len(f) != 1 || f[0].Stage != "train" {
		t.Errorf("findings %v, must be that of the stage", f)
	}
	p.View().Step("train").Decided[0].Value = "changed"
	if decided[0].Value != "small" {
		t.Error("a view of the plan changes the plan")
	}
	for name, set := range map[string][]string{"little noise": {"privacy.epsilon=10"}, "no noise": {"privacy.epsilon=inf",
		"privacy.claims=none"}} {
		if d := mustAim(t, train+draw, set...).Step("train").Decided; len(d) != 0 {
			t.Errorf("%s: decided %v", name, d)
		}
	}
	p = mustAim(t, train+draw, "privacy.epsilon=0.1", "privacy.acknowledge={W25: each person has one row here}")
	if len(p.Findings) != 1 || p.Findings[0].Warns() || p.Findings[0].Acknowledged != "each person has one row here" {
		t.Errorf("findings %v, must be one that is acknowledged", p.Findings)
	}
}

// TestDecisionsRefuse: a setting that cannot be carried out under the noise of the bill refuses the plan, at its place
// in the file, and not where the noise is such that it can be.
func TestDecisionsRefuse(t *testing.T) {
	alone := "  train: {kind: aim, from: dataset, alone: true}\n"
	if _, err := aimed(t, alone+draw, "privacy.epsilon=10"); err != nil {
		t.Errorf("with little noise: %v", err)
	}
	_, err := aimed(t, alone+draw, "privacy.epsilon=0.1")
	if err == nil || !strings.Contains(err.Error(), "test.yaml:12:44: stages.train.alone: is true, where noise is much, "+
		"must be false") {
		t.Errorf("%v, must refuse alone", err)
	}
}

// TestLostTargetIsTold: a stage that an override takes out takes the target of others with it, and whoever overrides
// is told, outside of the plan, which is the plan of a spec without that stage.
func TestLostTargetIsTold(t *testing.T) {
	const off = "stages.utility=off"
	for name, c := range map[string]struct {
		stages string
		set    []string
		told   string
	}{
		"lost":            {train + draw + ofAge, []string{off}, "--set stages.train.target=age leaves it as it was"},
		"given by others": {train + draw + ofAge + ofAgeToo, []string{off}, ""},
		"given":           {train + draw + ofAge, []string{off, "stages.train.target=age"}, ""},
		"none is meant":   {train + draw + ofAge, []string{off, "stages.train.target=none"}, ""},
	} {
		p, err := aimed(t, c.stages, c.set...)
		if err != nil {
			t.Fatal(name, err)
		}
		if got := strings.Join(p.Spec.Notes, "\n"); (c.told == "") != (got == "") || !strings.Contains(got, c.told) {
			t.Errorf("%s: told %q, must say %q", name, got, c.told)
		}
	}
	without, with := mustAim(t, train+draw), mustAim(t, train+draw+ofAge, off)
	one, _ := json.Marshal(without)
	other, _ := json.Marshal(with)
	if string(one) != string(other) {
		t.Errorf("the plan is\n%s\nmust be\n%s", other, one)
	}
}
