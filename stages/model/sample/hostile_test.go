package sample

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"time"

	"weir/internal/stattest"
	"weir/pipeline"
	"weir/pipeline/bill"
	"weir/pipeline/domain"
	"weir/pipeline/pipelinetest"
	"weir/privacy"
	"weir/privacy/noise"
	"weir/schema"
	"weir/stages/model/artifact"
	"weir/stages/model/graphical"
)

// ruled returns a small table under rules of every form, so that its models hold masks, bins,
// leaves, points of cells, merged categories and totals.
func ruled(n int) pipelinetest.Input {
	d := &domain.Domain{
		Columns: []domain.Column{
			{Name: "in", Type: domain.Date, Bounds: &[2]float64{0, 999}},
			{Name: "out", Type: domain.Date, Bounds: &[2]float64{0, 999}, Nullable: true},
			{Name: "ward", Type: domain.Categorical, Categories: []string{"a", "b", "c", "d", "e"}},
			{Name: "house", Type: domain.Categorical, Categories: []string{"north", "south"}, Nullable: true},
			{Name: "income", Type: domain.Integer, Bounds: &[2]float64{0, 199999}, Nullable: true},
			{Name: "dose", Type: domain.Numeric, Bounds: &[2]float64{0, 1}, Step: 0.25},
		},
		Constraints: []domain.Constraint{
			{Order: []string{"in", "out"}},
			{Function: &domain.Function{Of: "ward", Column: "house", Map: map[string]schema.Text{"a": "north", "b": "north",
				"c": "south", "d": "south", "e": "south"}}},
			{Impossible: map[string]domain.Choice{"ward": {"d"}, "in": {"..99", "500..700"}}},
			{Total: []domain.Cell{{Where: map[string]domain.Choice{"dose": {"..0.5"}}, Count: 100},
				{Where: map[string]domain.Choice{"dose": {"0.75.."}}, Count: 200}}},
		},
	}
	columns := make([][]any, len(d.Columns))
	for i := range n {
		row := []any{i * 13 % 1000, 999 - i%300, string(rune('a' + i*i%5)), []string{"north", "south"}[i%2],
			i * 977 % 1000 * (i % 3), float64(i%5) / 4}
		if i%9 == 4 {
			row[1], row[3], row[4] = nil, nil, nil
		}
		for j, v := range row {
			columns[j] = append(columns[j], v)
		}
	}
	h := pipeline.TableHeader(d, pipeline.Header{Class: pipeline.Private, Stability: pipeline.Rows(1), Rows: int64(n),
		OwnRows: true,
		Terms:   pipeline.Terms{Adjacency: privacy.ReplaceOne, Claims: pipeline.ClaimsProven}})
	return pipelinetest.Input{Header: h, Rows: pipelinetest.Rows(d, columns...)}
}

// model returns the description that a kind releases of a table; nil of a kind that does not
// learn.
func model(t testing.TB, kind pipeline.Kind, in pipelinetest.Input) []byte {
	t.Helper()
	h := pipeline.Headers{"in": in.Header}
	w, err := kind.New().Plan(h)
	if err != nil || len(w.Spends) == 0 {
		return nil
	}
	plan, err := bill.Price(&kind, h, w, 0.05, in.Header.Terms.Adjacency)
	if err != nil {
		t.Fatal(err)
	}
	env := pipelinetest.Env(1)
	env.Privacy = &pipelinetest.Ledger{Key: noise.Key{4, 5}, Plan: plan}
	out, err := w.Run(t.Context(), env, pipeline.Tables{"in": pipeline.FromRecords(in.Header, in.Rows)})
	if err != nil {
		t.Fatal(err)
	}
	files, err := pipeline.ReadFiles(t.Context(), out["model"])
	if err != nil {
		t.Fatal(err)
	}
	return files[1].Data
}

// use does all with a description that weir does with a model that comes from anyone.
func use(ctx context.Context, kind string, description []byte) (panicked string, err error) {
	defer func() {
		if e := recover(); e != nil {
			panicked = fmt.Sprintf("%v\n%s", e, debug.Stack())
		}
	}()
	h := pipeline.Header{Form: pipeline.FormModel, Class: pipeline.Released}
	packed, err := artifact.Pack(h, kind, 1, []pipeline.File{{Name: "model.json", Data: description}})
	if err != nil {
		return "", err
	}
	m, err := read(ctx, packed)
	if err != nil {
		return "", err
	}
	packed.Header.Domain = m.Header().Domain
	rows := int64(50)
	env := pipelinetest.Env(1)
	if err := drawHostile(ctx, &Stage{Rows: &rows, Categorical: "sample"}, m, env); err != nil {
		return "", err
	}
	var errs []string
	for _, k := range graphical.Kinds() {
		in, tables := pipeline.Headers{}, pipeline.Tables{}
		switch k.Name {
		case "intervals", "measured":
			in["in"], tables["in"] = packed.Header, packed
		case "score":
			rows := ruled(20)
			in["in"], tables["in"] = rows.Header, pipeline.FromRecords(rows.Header, rows.Rows)
			in["model"], tables["model"] = packed.Header, packed
		case "marginals_from":
			in["model"], tables["model"] = packed.Header, packed
		default:
			continue
		}
		w, err := k.New().Plan(in)
		out := pipeline.Tables{}
		if err == nil {
			out, err = w.Run(ctx, env, tables)
		}
		for _, t := range out { // score is made as it is read
			if err == nil {
				_, err = pipelinetest.Collect(ctx, t)
			}
		}
		if err != nil {
			errs = append(errs, k.Name+": "+err.Error())
		}
	}
	if err := drawHostile(ctx, &Stage{Rows: &rows, Copies: 2, Categorical: "sample"}, m, env); err != nil {
		errs = append(errs, "copies: "+err.Error())
	}
	if len(errs) > 0 {
		return "", fmt.Errorf("%s", strings.Join(errs, "\n"))
	}
	return "", nil
}

func drawHostile(ctx context.Context, s *Stage, m artifact.Model, env *pipeline.Env) error {
	t, err := s.DrawAll(m, *s.Rows, pipeline.Released, env)
	if err != nil {
		return err
	}
	n := int64(0)
	for rec, err := range t.Open(ctx) {
		if err != nil {
			return err
		}
		n += rec.NumRows()
	}
	if want := *s.Rows * int64(max(1, s.Copies)); n != want {
		return fmt.Errorf("%d rows of %d", n, want)
	}
	return nil
}

// TestHostileModels: whatever somebody writes into a released model, there are rows or a
// sentence, in a bounded time and memory. What is wrong with a model is said when it is
// read, not by the fit. WEIR_HOSTILE is how many models are tried.
func TestHostileModels(t *testing.T) {
	names, bases := models(t)
	cases := stattest.Rounds(50, 150)
	if n, err := strconv.Atoi(os.Getenv("WEIR_HOSTILE")); err == nil {
		cases = n
	}
	chosen := 0
	for i := range cases {
		rng := rand.New(rand.NewPCG(5, uint64(i)))
		pos := rng.IntN(len(bases))
		description := mutant(rng, bases[pos])
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		panicked, err := use(ctx, names[pos], description)
		stop()
		runtime.ReadMemStats(&after)
		bad := panicked
		switch used := after.TotalAlloc - before.TotalAlloc; {
		case panicked != "":
		case errors.Is(err, context.DeadlineExceeded):
			bad = "takes a minute"
		case used > 1<<30:
			bad = fmt.Sprintf("takes %d MB", used>>20)
		case err != nil && (strings.ContainsAny(err.Error(), "\x00\x1b") || !strings.HasPrefix(err.Error(), "model: ") &&
			strings.Contains(err.Error(), ": graphical: ")):
			bad = "says " + err.Error()
		}
		if bad != "" {
			path := filepath.Join(os.TempDir(), fmt.Sprintf("hostile-%d.json", i))
			t.Errorf("case %d, a model of %s (in %s, %v): %s", i, names[pos], path, os.WriteFile(path, description, 0o600), bad)
		}
		if err == nil {
			chosen++
		}
	}
	if chosen < cases/20 || chosen > cases/2 {
		t.Errorf("%d of %d models were drawn from; must be some, and less than half", chosen, cases)
	}
}

// models returns one of each kind, of many rows and of few.
func models(t *testing.T) (names []string, bases [][]byte) {
	t.Helper()
	for _, k := range graphical.Kinds() {
		for _, n := range []int{300, 5} {
			if data := model(t, k, ruled(n)); data != nil && k.Name != "auto" { // which releases models of other kinds
				names, bases = append(names, k.Name), append(bases, data)
				if panicked, err := use(t.Context(), k.Name, data); err != nil || panicked != "" {
					t.Errorf("%s of %d rows as it was: %v %s", k.Name, n, err, panicked)
				}
			}
		}
	}
	return names, bases
}
