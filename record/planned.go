package record

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"weir/privacy"
)

// planned is what the release documents need of a plan (pipeline.Plan as JSON), all of it
// public: it is computed from the spec before any data is read.
type planned struct {
	Stages   []plannedStage `json:"stages"`
	Findings []Finding      `json:"findings"`
	Dataset  struct {
		RowsPublic int64  `json:"rows_public"`
		Columns    int    `json:"columns"`
		Budget     any    `json:"budget"`       // nil: the dataset has none
		Stays      string `json:"rows_stay_in"` // database that counts the rows; "": they come to weir
	} `json:"dataset"`
	Naive       *float64     `json:"epsilon_by_addition"`
	PublicFiles []publicFile `json:"public_files"`
}

type plannedStage struct {
	ID       string          `json:"id"`
	Kind     string          `json:"kind"`
	Class    string          `json:"class"`
	Settings json.RawMessage `json:"settings"`
	Sample   int64           `json:"sample"` // rows of the dataset's that it reads at most, where they stay in a database
	Spends   []privacy.Line  `json:"spends"`
	Events   []privacy.JSON  `json:"events"` // of the spends, in order
	Outputs  map[string]struct {
		Form  string `json:"form"`
		Class string `json:"class"`
	} `json:"outputs"`
	privacy.Cost
}

// Compared reports whether a stage of the run computes figures from real rows.
func (r *Run) Compared() bool {
	p, err := r.planned()
	return err == nil && p.judged()
}

// judged reports whether a stage compares the release with real rows.
func (p planned) judged() bool {
	for _, s := range p.Stages {
		for _, out := range s.Outputs {
			if out.Form == "metrics" && out.Class == "private" {
				return true
			}
		}
	}
	return false
}

// Sample returns how many rows of a table that stays in a database the stages of the run read at most; 0 where they
// read none, and where the table does not stay.
func (r *Run) Sample() int64 {
	p, _ := r.planned() // a plan that cannot be read is told in the release documents
	return p.sample()
}

func (p planned) sample() (rows int64) {
	for _, s := range p.Stages {
		rows = max(rows, s.Sample)
	}
	return rows
}

// Finding is an audit rule that the plan touches.
type Finding struct {
	Rule    string `json:"rule"`
	Level   string `json:"level"`
	Stage   string `json:"stage"`
	Message string `json:"message"`
	Fix     string `json:"fix"`
	// Acknowledged is the reason that the spec gives for accepting the finding; "" where it gives none.
	Acknowledged string `json:"acknowledged"`
}

// publicFile is a further file that the spec declares to hold no private row.
type publicFile struct {
	Stage string `json:"stage"`
	Name  string `json:"name"` // without its folder
	By    string `json:"declared_by"`
	Terms string `json:"declared_terms"` // what they say that its noise keeps
}

func (r *Run) planned() (planned, error) {
	var p planned
	if len(r.Plan) == 0 {
		return p, nil
	}
	err := json.Unmarshal(r.Plan, &p)
	return p, err
}

// unruled says which rules of the domain released rows may break (W41); nothing where
// every model holds them.
func unruled(p planned) string {
	var b strings.Builder
	for _, f := range p.Findings {
		if f.Rule == "W41" {
			fmt.Fprintf(&b, "\n**Rules between columns are not held.** Stage `%s`: %s.\n", f.Stage, f.Message)
		}
	}
	return b.String()
}

// conditioned says of each table that is drawn under conditions what they are and what it
// is no evidence of; nothing where there is none. Conditions are settings, so public.
func conditioned(p planned) string {
	var b strings.Builder
	for _, s := range p.Stages {
		var settings struct {
			Where map[string][]string `json:"where"`
		}
		if s.Kind != "sample" || json.Unmarshal(s.Settings, &settings) != nil || len(settings.Where) == 0 {
			continue
		}
		fmt.Fprintf(&b, "\n**The table `%s` is a selection.** It holds only rows with %s (`where`), drawn until there were "+
			"as many as asked for.\n"+
			"How many rows it has, and the shares of values in it, say nothing of the population or of the private table: "+
			"within the\n"+
			"condition they are those of the model, and how common the condition is it does not tell.\n", s.ID,
			conditions(settings.Where))
	}
	return b.String()
}

// conditions words values by column, such as `ward` north or south, and `age` 65.. .
func conditions(where map[string][]string) string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(where)) {
		list = append(list, strings.ReplaceAll(fmt.Sprintf("%s = %s", name, strings.Join(where[name], " or ")), "`", "'"))
	}
	return "`" + strings.Join(list, "`, `") + "`"
}
