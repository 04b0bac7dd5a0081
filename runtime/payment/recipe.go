package payment

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"

	"weir/pipeline"
	"weir/pipeline/compile"
	"weir/pipeline/domain"
	"weir/pipeline/spec"
	"weir/privacy"
	"weir/runtime/store"
)

// recipe says what is done to the dataset, from public facts alone: the
// dataset's id and declared version, and every setting on the way. Its digest
// names the streams of noise and the charge, so that another computation is
// another charge with other noise. It holds no digest of private content: equal
// ones would tell that two filters keep the same rows.
type recipe struct {
	Kind     string              `json:"kind"`
	Version  int                 `json:"version"`
	Stage    string              `json:"stage"` // public randomness is a function of the stage's name
	Settings json.RawMessage     `json:"settings"`
	Inputs   map[string][]string `json:"inputs"`
	Seed     uint64              `json:"seed"`
	Files    []string            `json:"files,omitempty"` // of public ones their digest, of private ones their name
	Spends   []recipeSpend       `json:"spends,omitempty"`
	Terms    terms               `json:"terms"`
	Repeat   int                 `json:"repeat,omitempty"` // of an experiment, where noise is drawn
	Plan     string              `json:"plan,omitempty"`   // digest of the spec, where the stage shows the plan
	Budget   []float64           `json:"budget,omitempty"` // epsilon and delta, where the stage goes by them
	Sample   int64               `json:"sample,omitempty"` // rows that it reads of those that stay in a database
}

type recipeSpend struct {
	Name      string       `json:"name"`
	Type      string       `json:"type"`
	Mechanism any          `json:"mechanism"`
	Event     privacy.JSON `json:"event"`
}

// Recipes returns the recipes of the stages of a plan on a dataset, and of the dataset, by stage. seed gives the seed
// of a step's public randomness, and public names the content of a public file as the step reads it. A step whose file
// public cannot name, by ErrUnopened, has no recipe, and nor does what comes after it.
func Recipes(plan *compile.Plan, data Dataset, repeat int, seed func(*compile.Step) uint64,
	public func(file string) (string, error)) (map[string]string, error) {
	source, err := SourceRecipe(data.ID, data.Version, &plan.Spec.Dataset)
	if err != nil {
		return nil, err
	}
	recipes := map[string]string{pipeline.DatasetID: source}
	for i := range plan.Steps {
		step := &plan.Steps[i]
		files, err := fileNames(step, public)
		if errors.Is(err, ErrUnopened) || !hasInputs(step, recipes) {
			continue
		}
		if err != nil {
			return nil, pipeline.AtStage(step.ID, err)
		}
		if recipes[step.ID], err = recipeOf(step, recipes, files, plan, seed(step), repeat); err != nil {
			return nil, err
		}
	}
	return recipes, nil
}

// ErrUnopened is said of a public file that nobody looks at.
var ErrUnopened = errors.New("the file is not opened")

// fileNames names the files that a step reads: public ones by what they hold, private ones by how they are called.
func fileNames(step *compile.Step, public func(file string) (string, error)) (names []string, err error) {
	for _, f := range step.Work.Files {
		name := "private " + path.Base(f.Path)
		if f.Public {
			if name, err = public(f.Path); err != nil {
				return nil, err
			}
		}
		names = append(names, name)
	}
	return names, nil
}

// hasInputs reports whether all that a step reads has a recipe.
func hasInputs(step *compile.Step, recipes map[string]string) bool {
	for _, refs := range step.Inputs {
		if slices.ContainsFunc(refs, func(r pipeline.Ref) bool { return recipes[r.Stage] == "" }) {
			return false
		}
	}
	return true
}

// recipeOf returns the digest of a step's recipe, given the recipes of the stages that it
// reads, the names of its files and the seed of its public randomness.
func recipeOf(step *compile.Step, recipes map[string]string, files []string, plan *compile.Plan, seed uint64,
	repeat int) (string, error) {
	r := recipe{Kind: step.Kind, Version: step.Version, Stage: step.ID, Settings: step.Settings, Seed: seed,
		Inputs: chain(plan, step, recipes), Files: files, Terms: termsOf(plan), Sample: step.Sample}
	for _, s := range step.Spends {
		if plan.Budget.Infinite() {
			s.Value = nil // there is no noise, and clips may be infinite, which JSON has no number for
		}
		r.Spends = append(r.Spends, recipeSpend{s.Name, fmt.Sprintf("%T", s.Value), s.Value, s.Event})
	}
	if len(r.Spends) > 0 {
		r.Repeat = repeat
	}
	if step.Work.OfPlan {
		r.Plan = plan.Digest
	}
	if step.Work.OfBudget && !plan.Budget.Infinite() {
		r.Budget = []float64{float64(plan.Budget), plan.Delta}
	}
	return store.DigestJSON(r)
}

// Reading is the version of how a source is read, from bytes to the rows that the first stage meets. It
// goes up when equal bytes give other rows, or the same rows in another order: secrets of the same name
// would fall to other rows (TestReadingIsPinned).
const Reading = 2

// readingOfTimes is the version of how columns of times are read, beside Reading: since 1 a stored NaT is missing.
const readingOfTimes = 1

// timesOf returns readingOfTimes where the domain, which may be nil, has a column of times, else 0.
func timesOf(d *domain.Domain) int {
	if d != nil && slices.ContainsFunc(d.Columns, func(c domain.Column) bool { return c.Type.Moment() }) {
		return readingOfTimes
	}
	return 0
}

// SourceRecipe returns the digest of what the source table is, whatever its rows.
func SourceRecipe(id, version string, d *spec.Dataset) (string, error) {
	return store.DigestJSON(struct {
		Reading     int
		ID, Version string
		Domain      *domain.Domain
		CSV         *pipeline.CSV
		Unit        pipeline.Unit
		Source      any `json:"Tab,omitempty"` // Declared.Reading, under the name of the first that there was
		Times       int `json:",omitempty"`
	}{Reading, id, version, d.Columns(), d.CSV, d.PrivacyUnit, d.Declared.Reading, timesOf(d.Columns())})
}

// address says where a stage's output is stored: its recipe, and everything
// private that it rests on. It stays on the owner's side.
type address struct {
	Recipe string              `json:"recipe"`
	Inputs map[string][]string `json:"inputs"`
	Files  []string            `json:"files,omitempty"` // digests of all files, private ones too
	Key    string              `json:"key,omitempty"`   // commitment of the noise key, where noise is drawn
	Secret string              `json:"secret,omitempty"`
	Test   bool                `json:"test,omitempty"` // noise is from a seed, which pages and names of files say
}

// sourceAddress returns the address of the dataset, or "" where nobody has opened it.
func (t *Task) sourceAddress() (string, error) {
	if t.Rows == nil {
		return "", nil
	}
	return store.DigestJSON(address{Recipe: t.Recipes[pipeline.DatasetID], Files: []string{t.Rows.Source}})
}

// address returns where the outputs of a step lie whose noise is drawn with the key of this
// commitment; the addresses of its inputs are known. It holds what the rows are, so it is "" where nobody has opened
// the data.
func (p *Purse) address(ctx context.Context, step *compile.Step, key string) (string, error) {
	t := p.task
	if t.Rows == nil {
		return "", nil
	}
	a := address{Recipe: t.Recipes[step.ID], Key: key, Test: t.Seed != nil}
	for _, f := range step.Work.Files {
		digest, err := t.Rows.Digest(ctx, f.Path)
		if err != nil {
			return "", err
		}
		a.Files = append(a.Files, digest)
	}
	if step.Work.Secret {
		a.Secret = t.Rows.Secret.Commitment()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	a.Inputs = chain(t.Plan, step, p.addresses)
	return store.DigestJSON(a)
}

// terms are what rows may be dealt and checked by, and what proofs about them rest on: a
// table that was stored under others is another one.
type terms struct {
	Adjacency  privacy.Adjacency `json:"adjacency"`
	Unit       pipeline.Unit     `json:"unit"`
	RowsPublic int64             `json:"rows_public"`
	Claims     pipeline.Claims   `json:"claims"`
	NoPrivacy  bool              `json:"no_privacy"`
}

func termsOf(p *compile.Plan) terms {
	d := &p.Spec.Dataset
	return terms{p.Adjacency, d.PrivacyUnit, d.RowsPublic, p.Claims, p.Budget.Infinite()}
}

// chain lists the digests of the stages that step reads, by port. The first output of a stage
// may be named or not, and is the same one.
func chain(plan *compile.Plan, step *compile.Step, names map[string]string) map[string][]string {
	inputs := map[string][]string{}
	for port, refs := range step.Inputs {
		for _, ref := range refs {
			if read := plan.Step(ref.Stage); read != nil && read.First == ref.Port {
				ref.Port = ""
			}
			inputs[port] = append(inputs[port], names[ref.Stage]+"#"+ref.Port)
		}
	}
	return inputs
}
