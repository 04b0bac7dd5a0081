//go:build long

package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"weir/stages"
)

// TestCanariesFindTwice: the same model, counting each row twice, exceeds what it paid for, at 1e-6.
func TestCanariesFindTwice(t *testing.T) {
	domain, rows := wards(6200)
	found := played(t, subject(t, kindsAndTwice(t), domain, rows, fmt.Sprintf(wardsSpec, "twice")), 6000, 3)
	if last := found.Bounds[1]; !found.Refuted || *last.Epsilon <= *found.Proven || *last.Part <= 1 {
		t.Errorf("twice the sensitivity shows epsilon %.3g at %g (proven: %.3g), must be above", *last.Epsilon, last.Level,
			*found.Proven)
	}
}

// TestCanariesThatReplaceRows: under replace_one a canary is one of two rows in the place of one. A right model is
// refuted with a chance of 1e-6, and one that counts each row twice is found.
func TestCanariesThatReplaceRows(t *testing.T) {
	domain, rows := wards(3200)
	spec := strings.NewReplacer("add_remove", "replace_one", "privacy_unit: row", "privacy_unit: row, rows_public: 2000").
		Replace(wardsSpec)
	for kind, runs := range map[string]int{"independent": 1, "twice": 4} {
		found := played(t, subject(t, kindsAndTwice(t), domain, rows, fmt.Sprintf(spec, kind)), 1500, runs)
		if found.Own != 1500 || found.Refuted != (kind == "twice") || *found.Bounds[0].Part < 0.3 {
			t.Errorf("%s: refuted is %v, by %d canaries on their own; %.3g of the claim, must be .3 or more", kind,
				found.Refuted, found.Own, *found.Bounds[0].Part)
		}
	}
}

// TestCanariesOfEveryModel: canaries refute no kind that learns, many in one run or one in many: a right kind fails
// with a chance of 2e-6. Detectors leave no rows in which several canaries could be told apart. What is refuted at
// confidence .95 is logged.
func TestCanariesOfEveryModel(t *testing.T) {
	for _, kind := range learned(t) {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := modelStudy(t, quickModels()[kind], kind, oddTables()["ordinary"])
			games := [][2]int{{1, 90}}
			if !strings.HasPrefix(kind, "anomaly_") {
				games = append(games, [2]int{200, 3})
			}
			s.unrefuted(games...)
		})
	}
}

// unrefuted plays games on the spec of a study, none of which may refute its bill.
func (s study) unrefuted(games ...[2]int) {
	t := s.t
	t.Helper()
	subject := s.subject(stages.Kinds())
	for _, game := range games {
		found := played(t, subject, game[0], game[1])
		if last := found.Bounds[1]; found.Refuted || last.Any > *found.Proven {
			t.Errorf("%d canaries in %d runs show epsilon %.3g at 1e-6, of %.3g proven", game[0], game[1], last.Any,
				*found.Proven)
		}
		t.Logf("%d canaries in %d runs:\n%s", game[0], game[1], found.Text())
	}
}

// paidAnswers returns the stages that release something but a model for a charge, with their settings.
func paidAnswers() map[string]string {
	return map[string]string{"dp_count": "", "dp_bounds": "", "dp_categories": "",
		"dp_covariance":          ", columns: [age, flag]",
		"dp_logistic_regression": ", target: flag, columns: [age]",
		"dp_poisson_regression":  ", target: flag, columns: [age]",
		"dp_query":               ", questions: [{name: a, ask: mean, column: age}, {name: b, ask: count}]"}
}

// TestCanariesOfEveryAnswer: a single canary refutes no kind that releases answers, with the same chance.
func TestCanariesOfEveryAnswer(t *testing.T) {
	reg, err := registry()
	if err != nil {
		t.Fatal(err)
	}
	answers := paidAnswers()
	for _, name := range reg.Names() {
		if strings.HasPrefix(name, "dp_") && !slices.Contains(learned(t), name) {
			if _, tried := answers[name]; !tried {
				t.Errorf("%s is not tried", name)
			}
		}
	}
	domains := map[string]string{"dp_bounds": "{name: age, type: integer}",
		"dp_categories": "{name: age, type: categorical, categories: private}"}
	for _, kind := range slices.Sorted(maps.Keys(answers)) {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			age := domains[kind]
			if age == "" {
				age = "{name: age, type: integer, bounds: [0, 100]}"
			}
			s := study{t, t.TempDir()}
			s.write("domain.yaml", "columns:\n  - "+age+"\n  - {name: flag, type: boolean}\n")
			rows := "age,flag\n"
			for i := range 80 {
				rows += fmt.Sprintf("%d,%d\n", 20+i*7%50, i%2)
			}
			s.write("rows.csv", rows)
			s.write("spec.yaml", "weir: 1\nname: answers\ndataset: {file: rows.csv, domain: domain.yaml, privacy_unit: row}\n"+
				"privacy: {epsilon: 3, delta: 1e-6, accountant: rdp, adjacency: add_remove}\nstages:\n  answer: {kind: "+kind+
				", from: dataset"+answers[kind]+"}\n")
			s.unrefuted([2]int{1, 120})
		})
	}
}
