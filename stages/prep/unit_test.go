package prep

import (
	"errors"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow/array"

	"weir/pipeline"
	compiler "weir/pipeline/compile"
	"weir/pipeline/domain"
	"weir/pipeline/pipelinetest"
	"weir/pipeline/spec"
)

// visits is a spec of a table of which a person has up to 400 rows.
const visits = `weir: 1
name: visits
dataset:
  file: visits.csv
  privacy_unit: {column: pid, max_rows: 400}
  domain:
    columns:
      - {name: pid, type: integer, bounds: [0, 1000000]}
      - {name: visit, type: integer, bounds: [0, 400]}
      - {name: grade, type: ordinal, categories: [low, high]}
privacy: {epsilon: 1, delta: 1e-6, adjacency: add_remove}
stages:
`

func compiled(t *testing.T, stages string) (*compiler.Plan, error) {
	t.Helper()
	return compiledUnder(t, "add_remove", stages)
}

func compiledUnder(t *testing.T, adjacency, stages string) (*compiler.Plan, error) {
	t.Helper()
	return compiledText(t, strings.Replace(visits, "add_remove", adjacency, 1)+stages)
}

func compiledText(t *testing.T, text string) (*compiler.Plan, error) {
	t.Helper()
	kinds, err := pipeline.NewRegistry(Kinds())
	if err != nil {
		t.Fatal(err)
	}
	s, err := spec.Parse(spec.Input{File: "visits.yaml", Data: []byte(text)}, kinds.Reading(pipelinetest.Sources()...))
	if err != nil {
		return nil, err
	}
	return compiler.Compile(s)
}

// TestWhatIsNotTheUnitIsRefused: whatever takes the place of the unit's column, under its name, is refused where
// rows of a unit have to go one way, as a matter of privacy (exit 3).
func TestWhatIsNotTheUnitIsRefused(t *testing.T) {
	relabel := `  relabel: {kind: derive, columns: [{name: pid, formula: "visit * 7919 + pid", type: integer, bounds: [0, 1000000]}]}` + "\n"
	for name, stages := range map[string]string{
		"overwritten": relabel,
		"dropped, then new": "  lose: {kind: drop, columns: [pid]}\n" + strings.ReplaceAll(relabel, " + pid",
			""),
		"overwritten by a copy of itself": `  relabel: {kind: derive, columns: [{name: pid, formula: "pid", type: integer, bounds: [0, 1000000]}]}` + "\n",
		"brought back over another": "  code: {kind: discretize, columns: [pid], bins: 50}\n  lose: {kind: drop, columns: " +
			"[pid]}\n" +
			`  relabel: {kind: derive, columns: [{name: pid, formula: "visit % 2 == 0 ? \"x\" : \"y\"", type: ordinal, categories: [x, y]}]}` + "\n  back: {kind: decode}\n",
		"drawn inside its bin": "  code: {kind: discretize, columns: [pid], bins: 50, inverse: uniform}\n  back: {kind: " +
			"decode}\n",
		"its bin by quantiles": "  code: {kind: discretize, columns: [pid], strategy: quantile}\n",
		"hidden by a mark":     "  mark: {kind: missing_indicator, columns: [pid]}\n  back: {kind: decode}\n",
		"imputed":              "  fill: {kind: impute_knn, scope: table, columns: [pid]}\n",
	} {
		for kind, stage := range map[string]string{"shard": "  parts: {kind: shard, shards: 8}\n",
			"split": "  parts: {kind: split}\n"} {
			_, err := compiled(t, stages+stage)
			var ds spec.Diagnostics
			if !errors.As(err, &ds) || !ds.Privacy() || ds[0].Rule != "W35" || ds[0].Stage != "parts" ||
				!strings.Contains(err.Error(), "pid") {
				t.Errorf("%s, then %s: %v, must be refused by W35, naming pid", name, kind, err)
			}
		}
	}
}

// TestWhatIsOfTheUnitIsKept: what is computed of the unit's own value alone still names the unit under
// add_remove. Under replace_one only the value itself does: two units may share a
// bin, and with it a shard, so that to exchange one for another changes two shards.
func TestWhatIsOfTheUnitIsKept(t *testing.T) {
	same := map[string]bool{"as it is": true, "other columns": true, "marked": true, "selected": true,
		"others imputed": true}
	for name, stages := range map[string]string{
		"as it is":           "",
		"other columns":      `  more: {kind: derive, columns: [{name: late, formula: "visit > pid", type: boolean}]}` + "\n",
		"held to bounds":     "  hold: {kind: bounds, outside: clip}\n",
		"without a sentinel": "  mark: {kind: not_available, columns: {pid: 99999}}\n",
		"marked":             "  mark: {kind: missing_indicator, columns: [pid]}\n",
		"filled":             "  fill: {kind: impute_constant, numbers: {pid: 0}}\n",
		"in bins":            "  code: {kind: discretize, columns: [pid], bins: 50}\n",
		"in bins and back":   "  code: {kind: discretize, columns: [pid], bins: 50}\n  back: {kind: decode}\n",
		"encoded":            "  code: {kind: encode}\n",
		"encoded and back":   "  code: {kind: encode}\n  back: {kind: decode}\n",
		"selected":           "  some: {kind: select, columns: [visit, pid]}\n  fewer: {kind: filter, keep: visit < 9}\n",
		"others imputed": "  rest: {kind: read, class: public, file: more.csv, like: dataset}\n  fill: {kind: " +
			"impute_knn, from: dataset, scope: reference, reference: rest, columns: [visit]}\n",
	} {
		plan, err := compiled(t, stages+"  parts: {kind: shard, shards: 8}\n")
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if s := plan.Step("parts").Stability; s != "shards(8)" {
			t.Errorf("%s: stability is %s, must be shards(8)", name, s)
		}
		_, err = compiledUnder(t, "replace_one", stages+"  parts: {kind: shard, shards: 8}\n")
		var ds spec.Diagnostics
		if refused := errors.As(err, &ds) && ds.Privacy() && ds[0].Rule == "W35"; refused == same[name] {
			t.Errorf("%s, under replace_one: %v, must be refused by W35: %t", name, err, !same[name])
		}
	}
}

// TestUnlistedUnitsShareAValue: units that are no category share the missing value. Under add_remove it is their draw,
// all rows of one go one way; under replace_one, where each row without a unit draws for itself,
// the column does not name the unit. Text keeps every name, and so does a list without csv.unknown.
func TestUnlistedUnitsShareAValue(t *testing.T) {
	const listed, text = "type: categorical, categories: [a, b], nullable: true}", "type: text, nullable: true}"
	for _, c := range []struct {
		adjacency, column, unknown string
		refused                    bool
	}{
		{"add_remove", listed, "missing", false}, {"replace_one", listed, "missing", true},
		{"replace_one", listed, "error", false}, {"replace_one", text, "missing", false},
	} {
		text := strings.NewReplacer("add_remove", c.adjacency, "type: integer, bounds: [0, 1000000]}", c.column,
			"file: visits.csv", "file: visits.csv\n  csv: {unknown: "+c.unknown+"}").Replace(visits)
		for kind, stage := range map[string]string{"shard": "  parts: {kind: shard, shards: 8}\n",
			"split": "  parts: {kind: split}\n"} {
			_, err := compiledText(t, text+stage)
			var ds spec.Diagnostics
			if refused := errors.As(err, &ds) && ds.Privacy() && ds[0].Rule == "W35"; refused != c.refused || err != nil &&
				!refused {
				t.Errorf("%s, unknown %s, %s, %s: %v, must be refused by W35: %t", c.adjacency, c.unknown, c.column, kind, err,
					c.refused)
			}
		}
	}
}

// TestFurtherFilesHaveNoUnits: a file beside the dataset is capped by nobody: whatever its columns are called, its
// private rows stay unbounded.
func TestFurtherFilesHaveNoUnits(t *testing.T) {
	plan, err := compiled(t, "  more: {kind: read, class: private, file: more.csv, like: dataset}\n  parts: {kind: "+
		"shard, shards: 8}\n")
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"more", "parts"} {
		if s := plan.Step(id).Stability; s != "unbounded" {
			t.Errorf("%s: stability is %s, must be unbounded", id, s)
		}
	}
}

// TestOwnRows: after which stages the rows that change with a unit are still its own.
func TestOwnRows(t *testing.T) {
	in := cleaned(t).Header
	free, private := public(cleaned(t)).Header, in
	inShards := in.WithShardColumn(3)
	inShards.Stability = pipeline.Shards(3)
	knn := func(scope string) pipeline.Stage {
		return &ImputeKNN{Neighbors: 3, Weights: "uniform", Scope: scope, Scale: "none"}
	}
	quantile := &Discretize{Strategy: "quantile", Bins: 3}
	for _, c := range []struct {
		name      string
		stage     pipeline.Stage
		in        pipeline.Header
		reference *pipeline.Header
		port      string
		want      bool
	}{
		{"a row alone", &Bounds{Outside: "clip"}, in, nil, "out", true},
		{"filter", &Filter{Keep: "age > 30", Missing: "drop"}, in, nil, "out", true},
		{"independent split", &Split{Train: 0.5, Test: 0.5}, in, nil, "train", true},
		{"shard", &Shard{Shards: 4, By: "random"}, in, nil, "out", true},
		{"public reference", knn("reference"), in, &free, "out", true},
		{"public quantiles", quantile, in, &free, "out", true},
		{"other rows cross the cut", &Split{Train: 0.5, Test: 0.5, Stratify: "grade"}, in, nil, "train", false},
		{"other rows are imputed", knn("table"), in, nil, "out", false},
		{"other rows of the shard", knn("shard"), inShards, nil, "out", false},
		{"private reference", knn("reference"), in, &private, "out", false},
		{"quantiles", quantile, in, nil, "out", false},
		{"private quantiles", quantile, in, &private, "out", false},
	} {
		headers := pipeline.Headers{"in": c.in}
		if c.reference != nil {
			headers["reference"] = *c.reference
		}
		w, err := c.stage.Plan(headers)
		if err != nil || w.Out[c.port].OwnRows != c.want {
			t.Errorf("%s: own rows %t, error %v; want %t", c.name, w.Out[c.port].OwnRows, err, c.want)
		}
	}
}

// TestOthersRowsAreInNoShard: where rows of other units change, shards confine nothing, and places in the
// table mean nothing, though the row count is public and rows(1) holds.
func TestOthersRowsAreInNoShard(t *testing.T) {
	h := clinicTable().Header
	h.OwnRows = false // as after a removal by rank
	for _, rule := range []string{"random", "position"} {
		w, err := (&Shard{Shards: 4, By: rule}).Plan(pipeline.Headers{"in": h})
		if err != nil || w.Out["out"].Stability != pipeline.Unbounded() {
			t.Errorf("by %s: stability is %v, error %v; want unbounded", rule, w.Out["out"].Stability, err)
		}
	}
	w, err := (&Split{Train: 0.5, Test: 0.5}).Plan(pipeline.Headers{"in": h})
	if err != nil || !w.Secret || w.Out["train"].Rows != 0 || w.Out["train"].Stability != pipeline.Rows(1) {
		t.Errorf("split: secret %t, %d public rows, error %v; want independent secret draws", w.Secret, w.Out["train"].Rows,
			err)
	}
}

// TestUnitsThatGoOneWayAreNoted: units that are clipped to one bound, and rows without a unit, are one value for a
// split (W44). Nothing is noted of other columns, of values that are made missing with a unit of their own, or of a
// table whose units are rows.
func TestUnitsThatGoOneWayAreNoted(t *testing.T) {
	const split = "  parts: {kind: split}\n"
	nullable := strings.Replace(visits, "bounds: [0, 1000000]}", "bounds: [0, 1000000], nullable: true}", 1)
	rows := strings.Replace(visits, "  privacy_unit: {column: pid, max_rows: 400}\n", "", 1)
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"clipped": {visits + "  hold: {kind: bounds, outside: clip}\n" + split,
			[]string{"hold: units whose pid lies beyond a bound all get that bound"}},
		"others clipped": {visits + "  hold: {kind: bounds, outside: clip, columns: [visit]}\n" + split, nil},
		"made missing": {visits + "  hold: {kind: bounds, outside: missing}\n" + split,
			[]string{"parts: rows whose pid is missing all go to one part"}},
		"without a unit":  {nullable + split, []string{"parts: rows whose pid is missing all go to one part"}},
		"as they are":     {visits + split, nil},
		"a row is a unit": {rows + "  hold: {kind: bounds, outside: clip}\n" + split, nil},
		"nullable, a row": {strings.Replace(nullable, "  privacy_unit: {column: pid, max_rows: 400}\n", "", 1) + split, nil},
		"clipped, no unit": {nullable + "  hold: {kind: bounds, outside: clip}\n" + split, []string{"hold: units whose",
			"parts: rows whose"}},
	} {
		plan, err := compiledText(t, c.text)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var got []string
		for _, f := range plan.Findings {
			if f.Rule == "W44" {
				got = append(got, f.Stage+": "+f.Message)
			}
		}
		same := len(got) == len(c.want)
		for i := range min(len(got), len(c.want)) {
			same = same && strings.HasPrefix(got[i], c.want[i])
		}
		if !same {
			t.Errorf("%s: noted %q, must be %q", name, got, c.want)
		}
	}
}

// TestReplacedRowsMoveNoOther: an id beyond bounds, like a sentinel or missing is replaced, and the ids of all other
// rows stay as they were, though no float64 holds them. When all were rounded, one row changed the parts of every unit.
func TestReplacedRowsMoveNoOther(t *testing.T) {
	const id = 1<<60 + 1
	for name, c := range map[string]struct {
		stage pipeline.Stage
		other any
	}{
		"bounds": {&Bounds{Outside: "clip", Columns: []string{"id"},
			Bounds: map[string]Limits{"id": {Lower: pointer(0), Upper: pointer(9e18)}}}, -5},
		"not_available":   {&NotAvailable{Columns: map[string]float64{"id": 99}, Suffix: "_na"}, 99},
		"impute_constant": {&ImputeConstant{Numbers: map[string]float64{"id": 0}}, nil},
	} {
		in := table([]domain.Column{{Name: "id", Type: domain.Integer, Nullable: true}}, []any{id, c.other, id + 2})
		ids := columnNamed(pipelinetest.After(t, in, c.stage), "id").(*array.Int64)
		if ids.Value(0) != id || ids.Value(2) != id+2 {
			t.Errorf("%s: %d and %d have become %v", name, id, id+2, ids)
		}
	}
}
