package compile

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/pipeline/spec"
	"weir/schema"
)

// wayOut is for plans that cannot wait for a domain.
const wayOut = "declared in dataset.domain: publicly, or by the domain that an earlier run has released " +
	"(docs/design/released-domain.md)"

// takesLate refuses tables whose domain a stage of the same run releases, where the kind
// needs it for its plan.
func (c *compiler) takesLate(s *spec.Stage, in pipeline.Headers) bool {
	names := in.LateColumns()
	if len(names) == 0 || s.Kind.Late {
		return true
	}
	c.refuse(s.ID, "", fmt.Sprintf("of kind %s, which plans by the bounds and categories of %s, and these are released "+
		"when the run is under way (%s)",
		s.Kind.Name, strings.Join(names, ", "), strings.Join(sources(in), ", ")),
		"of a kind that can wait for them, or have them "+wayOut)
	return false
}

// waitingFor returns what is said beside a problem of a stage that names a late column: what the plan
// does not know of it may be the cause.
func waitingFor(in pipeline.Headers, p schema.Problem) string {
	names := slices.DeleteFunc(in.LateColumns(), func(name string) bool { return !mentions(p.Path+" "+p.Found, name) })
	if len(names) == 0 {
		return ""
	}
	return fmt.Sprintf("; of %s the plan knows neither bounds nor categories: to plan by them have them %s",
		strings.Join(names, ", "), wayOut)
}

// mentions tells whether a text has the name, not as a part of a longer word.
func mentions(text, name string) bool {
	for i := strings.Index(text, name); i >= 0; {
		before, _ := utf8.DecodeLastRuneInString(text[:i])
		after, _ := utf8.DecodeRuneInString(text[i+len(name):])
		if !ofWord(before) && !ofWord(after) {
			return true
		}
		next := strings.Index(text[i+1:], name)
		if next < 0 {
			return false
		}
		i += 1 + next
	}
	return false
}

func ofWord(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

// sources returns the stages that release late columns.
func sources(in pipeline.Headers) []string {
	seen := map[string]bool{}
	for _, h := range in {
		for _, name := range h.LateColumns() {
			seen[h.Domain.Column(name).Source] = true
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

// nameStage puts the name of a stage on the columns that it releases: a stage does not know
// its own.
func (c *compiler) nameStage(out pipeline.Headers, stage string) {
	for _, h := range out {
		for _, name := range h.LateColumns() {
			if column := h.Domain.Column(name); column.Source == "" {
				column.Source = domain.StageSource(stage)
			}
		}
	}
}

// plansAgain has the work of a step that reads late columns planned a second time, when
// the run knows them. What the second plan promises and spends must be what the first
// did: it was checked, priced, printed and charged.
func (s *Step) plansAgain(stage pipeline.Stage) {
	if len(s.In.LateColumns()) == 0 {
		return
	}
	first := s.Work
	first.Out = first.Out.Clone()
	step := s.Step
	s.Work.Run = func(ctx context.Context, env *pipeline.Env, in pipeline.Tables) (pipeline.Tables, error) {
		again, err := stage.Plan(headersOf(in))
		switch noPrivacy := withoutPrivacy(in); {
		case err != nil && noPrivacy: // what was found is exact, and private
			return nil, errors.New("cannot be planned with the domain that the run has found")
		case err != nil:
			return nil, fmt.Errorf("with the domain that the run has released: %w", err)
		}
		if err := errors.Join(SamePromises(first, again), sameSpends(step, again)); err != nil {
			return nil, err
		}
		return again.Run(ctx, env, in)
	}
}

func withoutPrivacy(in pipeline.Tables) bool {
	for _, t := range in {
		if t.Terms.NoPrivacy {
			return true
		}
	}
	return false
}

func headersOf(in pipeline.Tables) pipeline.Headers {
	h := pipeline.Headers{}
	for port, t := range in {
		h[port] = t.Header
	}
	return h.Clone()
}

// SamePromises reports what a second plan of a step, made with the released domain,
// promises otherwise than the first.
func SamePromises(first, again pipeline.Work) error {
	if again.Lazy != first.Lazy || again.Secret != first.Secret || !slices.Equal(again.Files, first.Files) ||
		!slices.Equal(again.Write, first.Write) || len(again.Out) != len(first.Out) {
		return errOtherwise("works")
	}
	for port, a := range first.Out {
		b := again.Out[port]
		if a.Form != b.Form || a.Class != b.Class || a.Stability != b.Stability || a.OwnRows != b.OwnRows ||
			a.Rows != b.Rows || !a.Schema.Equal(b.Schema) {
			return errOtherwise("promises of its output " + port)
		}
		if a.Domain != nil && (b.Domain == nil || !slices.EqualFunc(a.Domain.Columns, b.Domain.Columns, sameColumn)) {
			return errOtherwise("has other columns in its output " + port)
		}
	}
	return nil
}

// sameColumn leaves out what may be released.
func sameColumn(a, b domain.Column) bool {
	return a.Name == b.Name && a.Type == b.Type && a.Nullable == b.Nullable && a.OfUnit == b.OfUnit &&
		a.FromUnit == b.FromUnit
}

// sameSpends holds a second plan against what is on the bill.
func sameSpends(step *pipeline.Step, again pipeline.Work) error {
	scale := 0.0 // without privacy
	if step.NoiseMultiplier != nil {
		scale = *step.NoiseMultiplier
	}
	if len(again.Spends) != len(step.Spends) {
		return errOtherwise("spends")
	}
	for i, spend := range again.Spends {
		if billed := step.Spends[i]; spend.Name != billed.Name || spend.Mechanism(scale) != billed.Value {
			return errOtherwise("spends on " + billed.Name)
		}
	}
	return nil
}

func errOtherwise(does string) error {
	return fmt.Errorf(
		"planned with the released domain the stage %s otherwise than its plan says; nothing more is charged", does)
}

// releasing is, beside the problem of a model that needs a list which the domain says is
// private, the lines that have one released for it.
func (c *compiler) releasing(s *spec.Stage, in pipeline.Headers, p schema.Problem) string {
	h := in["in"]
	if p.Rule != "W02" || h.Domain == nil || !s.Kind.Late || s.Kind.Out[0].Form != pipeline.FormModel {
		return ""
	}
	open := h.Domain.PrivateCategories()
	if len(open) == 0 {
		return ""
	}
	share := fmt.Sprintf("; and under privacy `split: {categories: 0.2, %s: 0.8}`", s.ID)
	if len(c.spec.Privacy.Split) > 0 {
		share = "; and its part in privacy.split"
	}
	return fmt.Sprintf("; add under stages, before %s, `%s`%s", s.ID, domain.ReleaseOf(open), share)
}
