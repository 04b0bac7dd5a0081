package graphical

import (
	"maps"
	"slices"
	"testing"

	"weir/internal/stattest"
	"weir/pipeline"
	"weir/pipeline/pipelinetest"
)

// conformance lists the cases of every kind: each stage on a table whose row count is public, on
// two with a private one (under add_remove, behind a filter), and on one where a unit has two rows.
// An ordinary run takes two of the four for a stage, in turns: each table meets half of the stages.
func conformance() map[string][]pipelinetest.Case {
	cases := map[string][]pipelinetest.Case{}
	turn := 0
	for _, name := range slices.Sorted(maps.Keys(configured())) {
		stages := configured()[name]
		for _, what := range slices.Sorted(maps.Keys(stages)) {
			turn++
			for i, table := range conformanceTables() {
				if stattest.Long || i%2 == turn%2 {
					c := pipelinetest.Case{Name: what + table.name, In: map[string]pipelinetest.Input{"in": table.in},
						Stage: stages[what]}
					cases[name] = append(cases[name], c)
				}
			}
		}
	}
	for _, k := range append(learning(), autoKind()) {
		cases[k.Name] = append(cases[k.Name], pipelinetest.Case{Name: "rules", In: map[string]pipelinetest.Input{
			"in": stays(40)}, Stage: slim(k)})
	}
	return cases
}

// namedInput is a table and what tells its case from others.
type namedInput struct {
	name string
	in   pipelinetest.Input
}

func conformanceTables() []namedInput {
	group := ward(40)
	group.Header.Stability = pipeline.Rows(2)
	filtered := ward(40)
	filtered.Header.Rows = 0
	return []namedInput{{"", ward(40)}, {" add_remove", private(ward(40))}, {" group", group}, {" filtered", filtered}}
}

// configured lists stages of each kind.
func configured() map[string]map[string]func() pipeline.Stage {
	return map[string]map[string]func() pipeline.Stage{
		treeName: {
			"default": marginalTreeKind().New,
			"settings": func() pipeline.Stage {
				s := marginalTreeKind().New().(*MarginalTree)
				s.Target, s.Bins, s.Select, s.MaxModelSize = "smoker", 4, 0.1, 1
				s.Edges = map[string][]float64{"age": {18, 30, 50, 90}, "income": {0, 1000.5, 50000}}
				s.Workload = []Wanted{{Columns: []string{"age", "smoker", "region"}}, {Columns: []string{"age", "smoker"},
					Weight: 3}}
				s.NoiseMultiplier = 0.05 // so little that pairs are measured
				return s
			},
			"fixed": func() pipeline.Stage { return measuring() },
		},
		independentName: {"default": independentKind().New},
		mstName: {
			"default": mstKind().New,
			"settings": func() pipeline.Stage {
				s := slim(mstKind())().(*MST)
				s.Target, s.Bins, s.Select, s.NoiseMultiplier = "smoker", 4, 0.2, 0.05
				s.Workload = []Wanted{{Columns: []string{"age", "smoker", "region"}}, {Columns: []string{"dose", "seen"},
					Weight: 3}}
				return s
			},
		},
		aimName: {
			"default":  aimCase("exponential"),
			"gaussian": aimCase("gaussian"),
		},
		bayesName: {
			"default": bayesCase("released"), "published": bayesCase("published"),
		},
		autoName: {
			"default": autoKind().New,
			"little noise": func() pipeline.Stage {
				s := slim(autoKind())().(*Auto)
				s.Target, s.Rows, s.NoiseMultiplier = "smoker", 1000, 0.05
				return s
			},
			"fixed": func() pipeline.Stage {
				s := slim(autoKind())().(*Auto)
				s.Sets, s.Bins, s.Rows, s.NoiseMultiplier = measuring().Sets, 4, 1000, 0.05
				return s
			},
		},
	}
}

// aimCase returns few rounds: what left is too little for two is spent in one.
func aimCase(selection string) func() pipeline.Stage {
	return func() pipeline.Stage {
		s := slim(aimKind())().(*AIM)
		s.Selection, s.Bins, s.NoiseMultiplier, s.Target = selection, 3, 0.05, "smoker"
		s.Workload = []Wanted{{Columns: []string{"age", "smoker", "region"}}, {Columns: []string{"dose", "seen"}, Weight: 3}}
		return s
	}
}

func bayesCase(score string) func() pipeline.Stage {
	return func() pipeline.Stage {
		s := slim(privBayesKind())().(*PrivBayes)
		s.Score, s.Bins, s.NoiseMultiplier, s.Target = score, 3, 0.02, "smoker"
		return s
	}
}

func TestConformance(t *testing.T) {
	cases := conformance()
	cases[scoreName] = scoring(t)
	cases[fromName] = []pipelinetest.Case{{Name: "model", Whole: true, Stage: marginalsFromKind().New,
		In: map[string]pipelinetest.Input{"model": modelInput(t)}}}
	for name, stage := range map[string]func() pipeline.Stage{intervalsName: intervalsKind().New,
		measuredName: measuredKind().New} {
		cases[name] = []pipelinetest.Case{{Name: "model", Whole: true, Stage: stage, In: map[string]pipelinetest.Input{
			"in": modelInput(t)}}}
	}
	pipelinetest.CheckKinds(t, Kinds(), cases)
}
