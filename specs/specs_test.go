// Package specs_test plans every embedded spec with the kinds of weir.
package specs_test

import (
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"weir/pipeline"
	"weir/pipeline/compile"
	"weir/pipeline/spec"
	"weir/privacy/account"
	"weir/runtime/experiment"
	"weir/runtime/files"
	"weir/stages"

	"github.com/google/go-cmp/cmp"

	"weir/internal/stattest"
	"weir/pipeline/words"
	"weir/runtime"
	"weir/specs"
)

var update = flag.Bool("update", false, "rewrite the golden plans")

// kinds returns all that weir knows.
func kinds() (*pipeline.Registry, error) { return runtime.Registry(stages.Kinds()) }

// read reads an embedded spec.
func read(name string, set ...string) (*spec.Spec, error) {
	reg, err := kinds()
	if err != nil {
		return nil, err
	}
	folder, err := files.OpenFolder(".", false)
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	text, _ := specs.Read(name)
	return runtime.ParseSpec("specs:"+name, text, set, folder, reg)
}

func planOf(name string, set ...string) (*compile.Plan, error) {
	s, err := read(name, set...)
	if err != nil {
		return nil, err
	}
	return compile.Compile(s)
}

// compilerOf returns what compiles the trials of the spec of a plan.
func compilerOf(base *compile.Plan) experiment.Compiler {
	return func(trial spec.Trial, compiled func(*spec.Spec) (*compile.Plan, error)) (*compile.Plan, error) {
		s, err := base.Spec.Trial(trial)
		if err != nil {
			return nil, err
		}
		return compiled(s)
	}
}

// TestTrialsReadAlone: a trial says what it says of a spec of which no other trial was read, overrides of the command
// line included.
func TestTrialsReadAlone(t *testing.T) {
	t.Parallel()
	for name, set := range map[string][]string{"jalko-carat-like": nil, "dp-vae-adult-bins": nil,
		"ganad-mst-cervical": {"privacy.accountant=rdp", "seed=11"}} {
		base, err := read(name, set...)
		if err != nil {
			t.Fatal(err)
		}
		trials, err := base.Experiment.Trials()
		if err != nil {
			t.Fatal(err)
		}
		for _, trial := range trials {
			if trial.Repeat > 0 {
				continue
			}
			alone, err := read(name, set...)
			if err != nil {
				t.Fatal(err)
			}
			want, err := alone.Trial(trial)
			if err != nil {
				t.Fatal(err)
			}
			got, err := base.Trial(trial)
			if err != nil {
				t.Fatal(err)
			}
			wanted, _ := want.Canonical()
			if text, _ := got.Canonical(); string(text) != string(wanted) || got.Digest != want.Digest {
				t.Errorf("%s with %s differs (-alone +after others):\n%s", name, trial.Name(),
					cmp.Diff(string(wanted), string(text)))
			}
		}
	}
}

// TestTrialsShareTheirBills: the plans of an experiment ask accountants of what they have in common once, together with
// the plan of the spec; planned again, they ask nothing.
func TestTrialsShareTheirBills(t *testing.T) {
	t.Parallel()
	s, err := read("ganad-mst-cervical", "privacy.accountant=rdp")
	if err != nil {
		t.Fatal(err)
	}
	together := &account.Memory{}
	base, err := compile.Remembering(s, together)
	if err != nil {
		t.Fatal(err)
	}
	trials, err := s.Experiment.Trials()
	if err != nil {
		t.Fatal(err)
	}
	alone := together.Questions()
	priced := func(one experiment.Compiler) int {
		if _, err := experiment.Priced(base, trials, one); err != nil {
			t.Fatal(err)
		}
		return together.Questions()
	}
	shared := priced(compilerOf(base))
	if again := priced(compilerOf(base)); again != shared {
		t.Errorf("planned again, an experiment asks %d questions, must be none", again-shared)
	}
	each := 0
	for _, trial := range trials {
		if memory := (&account.Memory{}); trial.Repeat == 0 {
			sp, err := s.Trial(trial)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := compile.Remembering(sp, memory); err != nil {
				t.Fatal(err)
			}
			each += memory.Questions()
		}
	}
	if shared <= alone || 2*shared > each {
		t.Errorf("an experiment asks %d questions, its plans alone %d and its spec %d: must be at most half of the plans' "+
			"and more than the spec's", shared, each, alone)
	}
}

func compileFile(path string) (*compile.Plan, error) {
	reg, err := kinds()
	if err != nil {
		return nil, err
	}
	s, err := runtime.LoadSpec(path, nil, false, reg)
	if err != nil {
		return nil, err
	}
	return compile.Compile(s)
}

// TestSpecsKeepTheirBills: an embedded experiment plans as it did when its
// golden plan was written (by this program; the epsilons in it are held against
// reference libraries by the tests of privacy/). A change is deliberate: -update.
func TestSpecsKeepTheirBills(t *testing.T) {
	for _, name := range specs.Names() {
		if !stattest.Long && !*update && slowToPrice.MatchString(name) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			plan, err := planOf(name)
			if err != nil {
				t.Fatal(err)
			}
			golden := filepath.Join("testdata", name+".plan.txt")
			if *update {
				if err := os.WriteFile(golden, []byte(words.Plan(plan.Plan)), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), words.Plan(plan.Plan)); diff != "" {
				t.Errorf("the plan has changed (-golden +now):\n%s", diff)
			}
		})
	}
}

// slowToPrice matches the specs whose plan an ordinary run of the tests leaves out: two of GANAD's
// three tables, and four that take seconds.
var slowToPrice = regexp.MustCompile(`^ganad-.*-(uci|cardio)(-published)?$|` +
	`^(turku-gs-wgan-sample|ganad-pate-gan-cervical-published|jalko-adult-tailored|jalko-carat-like)$`)

// TestTablesAreLearnedOnceForAllT: what an experiment over the number of questions compares with its answers
// does not depend on that number: equal recipes, noise included, so that one charge serves all. Answers differ.
// Each of the three stages has the epsilon that the head of the spec says, within 2.5 %. An ordinary run
// takes one of the two specs.
func TestTablesAreLearnedOnceForAllT(t *testing.T) {
	t.Parallel()
	for name, each := range map[string]float64{"jalko-carat-like": 1, "jalko-adult-tailored": 1.1} {
		if !stattest.Long && name == "jalko-adult-tailored" {
			continue
		}
		var recipes [2]map[string]string
		for i, queries := range []string{"2", "20"} {
			plan, err := planOf(name, "stages.ask.queries="+queries)
			if err != nil {
				t.Fatal(err)
			}
			if recipes[i], err = runtime.Recipes(plan, "", 0); err != nil {
				t.Fatal(err)
			}
			for _, s := range plan.Steps {
				if alone := s.Alone; len(s.Spends) > 0 && (alone == nil || math.Abs(*alone/each-1) > 0.025) {
					t.Errorf("%s: the epsilon of %s alone is %v, must be about %g", name, s.ID, alone, each)
				}
			}
		}
		for _, stage := range []string{"mixture", "bayes", "like-mixture", "like-bayes"} {
			if recipes[0][stage] == "" || recipes[0][stage] != recipes[1][stage] {
				t.Errorf("%s: %s is another computation at another number of questions", name, stage)
			}
		}
		if recipes[0]["ask"] == recipes[1]["ask"] {
			t.Errorf("%s: answers of 2 and of 20 questions are one computation", name)
		}
	}
}

// TestPublishedSpecsHaveThePapersLabels: in each cell of the experiments of Jälkö et al. as published a tailored answer
// has the label as its published epsilon, within the 1 % that three digits of a noise leave, and the mixture what
// PAPERS section 5 recomputes for its noise, with 6 % at most for the sizes of strata; of Carat's noise our arithmetic
// gives .93. All of them together have a proven epsilon, which is below. An ordinary run of the tests looks at Carat's
// cells alone.
func TestPublishedSpecsHaveThePapersLabels(t *testing.T) {
	t.Parallel()
	cells := regexp.MustCompile(`^(?:e([0-9.]+)-)?t[0-9]+$`)
	mixtures := map[string]float64{"1": 0.928, "1.1": 1.06, "2": 1.90, "4": 3.62, "8": 7.42, "14": 13.2}
	published := map[string]int{"jalko-carat-like-published": 4}
	if stattest.Long {
		published["jalko-adult-tailored-published"] = 20
	}
	for name, n := range published {
		base, err := planOf(name)
		if err != nil {
			t.Fatal(err)
		}
		base.Spec.Experiment.Repeats = 1
		trials, err := base.Spec.Experiment.Trials()
		if err != nil || len(trials) != n {
			t.Fatalf("%s: %d cells, %v; must have %d", name, len(trials), err, n)
		}
		x, err := experiment.NewPlan(base, trials, compilerOf(base))
		if err != nil {
			t.Fatal(err)
		}
		plans := x.Plans
		for i, p := range plans {
			label := cells.FindStringSubmatch(trials[i].Cell)[1]
			if label == "" {
				label = "1"
			}
			want, err := strconv.ParseFloat(label, 64)
			ask, mixture := p.Step("ask").Published, p.Step("mixture").Published
			if err != nil || ask == nil || mixture == nil || math.Abs(*ask/want-1) > 0.01 || *mixture < 0.99*mixtures[label] ||
				*mixture > 1.06*mixtures[label] {
				t.Errorf("%s, %s: the paper's epsilons are %v and %v, must be about %g and %g", name, trials[i].Cell, ask, mixture,
					want, mixtures[label])
			}
			if p.Epsilon.Proven == nil || p.Epsilon.Published == nil || *p.Epsilon.Proven >= *p.Epsilon.Published {
				t.Errorf("%s, %s: the epsilons are %v and %v", name, trials[i].Cell, p.Epsilon.Proven, p.Epsilon.Published)
			}
		}
	}
}

// TestSpecsSayTheirFiles: the head of an embedded experiment has the command that names
// each file which it reads, and where the public one is to be had.
func TestSpecsSayTheirFiles(t *testing.T) {
	file := regexp.MustCompile(`(?m)^  (  )?file: (\S+)$`)
	for _, name := range specs.Names() {
		text, _ := specs.Read(name)
		head, body, _ := strings.Cut(string(text), "\nweir: 1\n")
		for _, found := range file.FindAllStringSubmatch(body, -1) {
			command := regexp.MustCompile(`(?m)^#   weir run specs:` + regexp.QuoteMeta(name) + ` .*\.file=/data/` +
				regexp.QuoteMeta(found[2]) + `( |$)`)
			if !command.MatchString(head) || !regexp.MustCompile(`doi:10\.|Kaggle`).MatchString(head) {
				t.Errorf("%s: its head does not say how %s is named, or where to get it", name, found[2])
			}
		}
	}
}

// TestExamplesCompile without the data that they read.
func TestExamplesCompile(t *testing.T) {
	found, err := filepath.Glob("../examples/*/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	compiled := 0
	for _, path := range append(found, "../runtime/infer/template/pipeline.yaml") {
		if filepath.Ext(filepath.Base(path[:len(path)-len(".yaml")])) == ".domain" || filepath.Base(path) == "domain.yaml" {
			continue
		}
		compiled++
		if _, err := compileFile(path); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
	if compiled < 4 {
		t.Errorf("%d examples were compiled, must be at least 4", compiled)
	}
}

// TestCheckSeeksNoNoiseForTrials: the outline of an experiment reads each combination once, whatever its repeats and
// with whichever it begins, and seeks no noise for any, which is what takes time.
func TestCheckSeeksNoNoiseForTrials(t *testing.T) {
	const name = "ganad-mst-cervical"
	base, err := planOf(name)
	if err != nil {
		t.Fatal(err)
	}
	base.Spec.Experiment.FirstRepeat = 3
	trials, err := base.Spec.Experiment.Trials()
	if err != nil {
		t.Fatal(err)
	}
	var read atomic.Int64
	one := compilerOf(base)
	x, err := experiment.Outlined(base, trials, func(trial spec.Trial,
		compiler func(*spec.Spec) (*compile.Plan, error)) (*compile.Plan, error) {
		read.Add(1)
		return one(trial, compiler)
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := int64(len(trials) / (base.Spec.Experiment.Repeats - 2)); read.Load() != want {
		t.Errorf("%d of %d runs were read, must be %d", read.Load(), len(trials), want)
	}
	for _, plan := range x.Plans {
		if plan.Epsilon.Proven != nil || len(plan.Steps) == 0 {
			t.Fatalf("epsilon is %v of %d stages, must be sought for none", plan.Epsilon.Proven, len(plan.Steps))
		}
	}
}

// TestTrialsHaveDomainsOfTheirOwn: trials that change the domain, by its file, by a file whose words another trial has
// under another name, or by one setting of a column, have the domain that they name, and leave nothing behind for the
// next one.
func TestTrialsHaveDomainsOfTheirOwn(t *testing.T) {
	t.Parallel()
	reg, err := kinds()
	if err != nil {
		t.Fatal(err)
	}
	column := func(name, upper string) string {
		return "{columns: [{name: " + name + ", type: integer, bounds: [0, " + upper + "], source: public}]}"
	}
	words := map[string]string{"a.yaml": column("x", "7"), "b.yaml": column("x", "8"), "c.yaml": column("x", "8")}
	for _, c := range []struct{ domain, grid, want string }{
		{"a.yaml", "dataset.domain: [a.yaml, b.yaml, a.yaml, c.yaml]", "x 7, x 8, x 7, x 8"},
		{column("x", "7"), "dataset.domain: [" + column("x", "9") + ", " + column("y", "9") + ", a.yaml]", "x 9, y 9, x 7"},
	} {
		src := spec.Input{File: "s.yaml", Read: func(name string) ([]byte, error) { return []byte(words[name]), nil },
			Data: []byte("weir: 1\nname: s\ndataset: {file: x.csv, domain: " + c.domain + "}\n" +
				"privacy: {epsilon: 1, delta: 1e-6, adjacency: add_remove}\nstages: {n: {kind: dp_count}}\n" +
				"experiment: {grid: {" + c.grid + "}}\n")}
		base, err := spec.Parse(src, reg)
		if err != nil {
			t.Fatal(err)
		}
		trials, err := base.Experiment.Trials()
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, trial := range trials {
			s, err := base.Trial(trial)
			if err != nil {
				t.Fatal(err)
			}
			of := s.Dataset.Columns().Columns[0]
			got = append(got, fmt.Sprintf("%s %v", of.Name, of.Bounds[1]))
		}
		if list := strings.Join(got, ", "); list != c.want {
			t.Errorf("domain %s, grid %s: trials have %s, must have %s", c.domain, c.grid, list, c.want)
		}
	}
}
