package runtime

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"

	"weir/pipeline"
	"weir/pipeline/compile"
	"weir/pipeline/domain"
	"weir/pipeline/spec"
	"weir/privacy"
	"weir/runtime/store"
	"weir/runtime/table"
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

// recipeOf is the digest of step's recipe, given those of the stages that it
// reads, the digests of its public files and the seed of its public randomness.
func recipeOf(step *compile.Step, recipes map[string]string, files map[string]string, plan *compile.Plan, seed uint64, repeat int) (string, error) {
	r := recipe{Kind: step.Kind, Version: step.Version, Stage: step.ID, Settings: step.Settings, Seed: seed,
		Inputs: chain(plan, step, recipes), Terms: termsOf(plan), Sample: step.Sample}
	for _, f := range step.Work.Files {
		named := "private " + path.Base(f.Path)
		if f.Public {
			named = files[f.Path]
			if table.Tabbed(f.Path) {
				named += " tab"
			}
		}
		r.Files = append(r.Files, named)
	}
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

// contentOf tells apart what the private files of a run hold. It stays on the owner's side.
func contentOf(plan *compile.Plan, s *opened, digest func(file string) (string, error)) (string, error) {
	all := []string{s.content}
	for i := range plan.Steps {
		for _, f := range plan.Steps[i].Work.Files {
			if f.Public {
				continue
			}
			of, err := digest(f.Path)
			if err != nil {
				return "", atStage(plan.Steps[i].ID, err)
			}
			all = append(all, of)
		}
	}
	if len(all) == 1 {
		return s.content, nil
	}
	return store.DigestJSON(all)
}

// reading is the version of how a source is read, from bytes to the rows that the first stage meets. It
// goes up when equal bytes give other rows, or the same rows in another order: secrets of the same name
// would fall to other rows (TestReadingIsPinned).
const reading = 2

// readingOfTimes is the version of how columns of times are read, beside reading: since 1 a stored NaT is missing.
const readingOfTimes = 1

// timesOf is readingOfTimes where the domain, which may be nil, has a column of times.
func timesOf(d *domain.Domain) int {
	if d != nil && slices.ContainsFunc(d.Columns, func(c domain.Column) bool { return c.Type.Moment() }) {
		return readingOfTimes
	}
	return 0
}

// sourceRecipe is the digest of what the source table is, whatever its rows.
func sourceRecipe(id, version string, d *spec.Dataset) (string, error) {
	return store.DigestJSON(struct {
		Reading     int
		ID, Version string
		Domain      *domain.Domain
		CSV         *pipeline.CSV
		Unit        pipeline.Unit
		Source      any `json:"Tab,omitempty"` // Declared.Reading, under the name of the first that there was
		Times       int `json:",omitempty"`
	}{reading, id, version, d.Columns(), d.CSV, d.PrivacyUnit, d.Declared.Reading, timesOf(d.Columns())})
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
func chain(plan *compile.Plan, step *compile.Step, of map[string]string) map[string][]string {
	inputs := map[string][]string{}
	for port, refs := range step.Inputs {
		for _, ref := range refs {
			if from := plan.Step(ref.Stage); from != nil && from.First == ref.Port {
				ref.Port = ""
			}
			inputs[port] = append(inputs[port], of[ref.Stage]+"#"+ref.Port)
		}
	}
	return inputs
}
