package pipelinetest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"weir/pipeline"
	"weir/privacy"
	"weir/privacy/mechanism"
	"weir/privacy/noise"
)

// wrong is independent with another body: what it releases of exact counts.
type wrong struct {
	independent
	lazy, secret bool
	body         func(env *pipeline.Env, exact [][]int64) (any, error)
}

func (s *wrong) Plan(in pipeline.Headers) (pipeline.Work, error) {
	w, err := s.independent.Plan(in)
	w.Lazy, w.Secret = s.lazy, s.secret
	out := w.Out["model"]
	w.Run = func(ctx context.Context, env *pipeline.Env, in pipeline.Tables) (pipeline.Tables, error) {
		exact, err := marginals(ctx, in["in"])
		if err != nil {
			return nil, err
		}
		numbers, err := s.body(env, exact)
		if err != nil {
			return nil, err
		}
		return release(out, numbers)
	}
	return w, err
}

const sigma = 100 // so wide that numbers of noise agree by chance too seldom to be one

// paidFor returns the right body.
func paidFor(env *pipeline.Env, exact [][]int64) (any, error) {
	paid, err := env.Privacy.Open("marginals")
	if err != nil {
		return nil, err
	}
	noisy := make([][]int64, len(exact))
	for i := range exact {
		if noisy[i], err = mechanism.ReleaseCounts(paid, exact[i]); err != nil {
			return nil, err
		}
	}
	return noisy, nil
}

// before does something before the right body.
func before(do func(env *pipeline.Env, exact [][]int64) error) func(*pipeline.Env, [][]int64) (any, error) {
	return func(env *pipeline.Env, exact [][]int64) (any, error) {
		if err := do(env, exact); err != nil {
			return nil, err
		}
		return paidFor(env, exact)
	}
}

// byHand takes each use itself and has each give what comes out of it.
func byHand(each func(env *pipeline.Env, u *privacy.Use, i int, counts []int64) []int64) func(*pipeline.Env,
	[][]int64) (any, error) {
	return func(env *pipeline.Env, exact [][]int64) (any, error) {
		paid, err := env.Privacy.Open("marginals")
		if err != nil {
			return nil, err
		}
		for i := range exact {
			u, err := paid.Next()
			if err != nil {
				return nil, err
			}
			exact[i] = each(env, u, i, exact[i])
		}
		return exact, nil
	}
}

// noisyCounts adds noise of a scale from a stream.
func noisyCounts(st *noise.Stream, counts []int64, scale float64) []int64 {
	out := append([]int64(nil), counts...)
	st.IntegerGaussian(out, scale)
	return out
}

// skips says that all uses were taken by the attempt before.
func skips(env *pipeline.Env, uses int) error {
	paid, err := env.Privacy.Open("marginals")
	if err != nil {
		return err
	}
	return paid.Resume(int64(uses))
}

// checkpoints leaves a file.
func checkpoints(env *pipeline.Env, _ [][]int64) error {
	f, err := env.Create("counts")
	if err != nil {
		return err
	}
	return f.Close()
}

func rowsOf(exact [][]int64) (n int64) {
	for _, c := range exact[0] {
		n += c
	}
	return n
}

// faults returns wrong kinds by what is wrong with them, each with a word of what the
// suite has to say of it.
func faults() map[string]struct {
	stage wrong
	says  string
} {
	type entry = struct {
		stage wrong
		says  string
	}
	var once []int64 // the noise that is drawn once
	return map[string]entry{
		"none": {wrong{body: paidFor}, ""},
		"never opens its spend": {wrong{body: func(_ *pipeline.Env, exact [][]int64) (any, error) { return exact, nil }},
			"0 of 1 planned mechanisms were opened"},
		"opens twice": {wrong{body: before(func(env *pipeline.Env, exact [][]int64) error {
			_, err := paidFor(env, exact)
			return err
		})}, "opened twice"},
		"releases the exact counts beside": {wrong{body: func(env *pipeline.Env, exact [][]int64) (any, error) {
			_, err := paidFor(env, exact)
			return exact, err
		}}, "depends on private rows past them"},
		"draws some of its uses": {wrong{body: func(env *pipeline.Env, exact [][]int64) (any, error) {
			return paidFor(env,
				exact[:1])
		}},
			"was used 1 of 3 planned times"},
		"takes its uses and draws nothing": {
			wrong{body: byHand(func(_ *pipeline.Env, u *privacy.Use, _ int, c []int64) []int64 {
				return privacy.Release(u, c, c)
			})}, "took no stream"},
		"takes streams and draws nothing": {
			wrong{body: byHand(func(_ *pipeline.Env, u *privacy.Use, _ int, c []int64) []int64 {
				u.Stream("counts", 0)
				return privacy.Release(u, c, c)
			})}, "what comes out of use 1 is what went in"},
		"draws and releases past the mechanism": {
			wrong{body: byHand(func(_ *pipeline.Env, u *privacy.Use, _ int, c []int64) []int64 {
				return noisyCounts(u.Stream("counts", 0), c, sigma)
			})}, "0 of 3 uses handed on what came out"},
		"the same noise in every column": {
			wrong{body: byHand(func(_ *pipeline.Env, u *privacy.Use, i int, c []int64) []int64 {
				if st := u.Stream("counts", 0); i == 0 {
					once = noisyCounts(st, make([]int64, len(c)), sigma)
				}
				out := append([]int64(nil), c...)
				for j := range out {
					out[j] += once[j]
				}
				return privacy.Release(u, c, out)
			})}, "uses 1 and 2 have the same noise"},
		"one stream twice": {wrong{body: byHand(func(_ *pipeline.Env, u *privacy.Use, _ int, c []int64) []int64 {
			u.Stream("counts", 0)
			return privacy.Release(u, c, noisyCounts(u.Stream("counts", 0), c, sigma))
		})}, "asked for twice"},
		"half the noise": {wrong{body: byHand(func(_ *pipeline.Env, u *privacy.Use, _ int, c []int64) []int64 {
			return privacy.Release(u, c, noisyCounts(u.Stream("counts", 0), c, sigma/2))
		})}, "has not the planned deviation"},
		"twice the noise": {wrong{body: byHand(func(_ *pipeline.Env, u *privacy.Use, _ int, c []int64) []int64 {
			return privacy.Release(u, c, noisyCounts(u.Stream("counts", 0), c, 2*sigma))
		})}, "has not the planned deviation"},
		"secret draws for noise": {wrong{secret: true, body: byHand(func(env *pipeline.Env, u *privacy.Use, i int,
			c []int64) []int64 {
			u.Stream("counts", 0)
			return privacy.Release(u, c, noisyCounts(env.Secret(fmt.Sprint("noise ", i)), c, sigma))
		})}, "another key gives the same outputs"},
		"public draws for noise": {wrong{body: byHand(func(env *pipeline.Env, u *privacy.Use, i int, c []int64) []int64 {
			rng, out := env.Rand(fmt.Sprint("noise ", i)), append([]int64(nil), c...)
			for j := range out {
				out[j] += int64(sigma * rng.NormFloat64())
			}
			return privacy.Release(u, c, out)
		})}, "another key gives the same outputs"},
		"a secret that nobody planned": {
			wrong{body: before(func(env *pipeline.Env, _ [][]int64) error { env.Secret("any"); return nil })},
			"which its plan does not say"},
		"uses follow the data": {wrong{body: func(env *pipeline.Env, exact [][]int64) (any, error) {
			return paidFor(env, exact[:2+exact[0][0]%2])
		}}, "the number of uses depends on the data"},
		"a contribution 1 % too large": {wrong{body: byHand(func(_ *pipeline.Env, u *privacy.Use, _ int, c []int64) []int64 {
			in := make([]float64, len(c))
			for j := range in {
				in[j] = 1.01 * float64(c[j])
			}
			return privacy.Release(u, in, noisyCounts(u.Stream("counts", 0), c, sigma))
		})}, "its sensitivity is larger than paid for"},
		"a mean beside the marginals": {wrong{body: func(env *pipeline.Env, exact [][]int64) (any, error) {
			noisy, err := paidFor(env, exact)
			return []any{noisy, float64(exact[1][0]) / float64(1+rowsOf(exact))}, err
		}}, "depends on private rows past them"},
		"a count in an error": {wrong{body: before(func(_ *pipeline.Env, exact [][]int64) error {
			if n := rowsOf(exact); n < 40 {
				return fmt.Errorf("%d rows are too few", n)
			}
			return nil
		})}, "it tells of private rows"},
		"an error for many rows": {wrong{body: before(func(_ *pipeline.Env, exact [][]int64) error {
			if n := rowsOf(exact); n > 1000 {
				return fmt.Errorf("%d rows do not fit", n)
			}
			return nil
		})}, `1500 rows: error: "" becomes "1500 rows do not fit"`},
		"another release for many rows": {wrong{body: func(env *pipeline.Env, exact [][]int64) (any, error) {
			n := rowsOf(exact)
			noisy, err := paidFor(env, exact)
			return []any{noisy, n > 1000}, err
		}}, "1500 rows: output model is released and differs"},
		"exact counts when run again": {wrong{body: func(env *pipeline.Env, exact [][]int64) (any, error) {
			if _, err := env.Restore("counts"); err == nil {
				return exact, skips(env, len(exact))
			}
			return before(checkpoints)(env, exact)
		}}, "killed after file 1 and run again: releases other bytes"},
		"fails when run again": {wrong{body: before(func(env *pipeline.Env, exact [][]int64) error {
			if _, err := env.Restore("counts"); err == nil {
				return errors.New("cannot read what it wrote")
			}
			return checkpoints(env, exact)
		})}, "killed after file 1 and run again: cannot read what it wrote"},
		"none, with a file": {wrong{body: before(checkpoints)}, ""},
		"an error for an empty table": {wrong{body: before(func(_ *pipeline.Env, exact [][]int64) error {
			if rowsOf(exact) == 0 {
				return errors.New("nothing to count")
			}
			return nil
		})}, `"" becomes "nothing to count"`},
		"a count as progress": {
			wrong{body: before(func(env *pipeline.Env, exact [][]int64) error { env.Progress(0, rowsOf(exact)); return nil })},
			`progress: "0 of 40 (1 times)" becomes "0 of 39 (1 times)"`},
		"a count as what is done": {
			wrong{body: before(func(env *pipeline.Env, exact [][]int64) error {
				env.Progress(rowsOf(exact),
					1000)
				return nil
			})},
			`progress: "40 of 1000 (1 times)" becomes "39 of 1000 (1 times)"`},
		"a report for each row": {wrong{body: before(func(env *pipeline.Env, exact [][]int64) error {
			for range rowsOf(exact) {
				env.Progress(0, 1)
			}
			return nil
		})}, `progress: "0 of 1 (40 times)" becomes "0 of 1 (39 times)"`},
		"a count in the log": {wrong{body: before(func(env *pipeline.Env, exact [][]int64) error {
			env.Log.Info("read", "rows", rowsOf(exact))
			return nil
		})},
			"lines of the log"},
		"a count as a file": {wrong{body: before(func(env *pipeline.Env, exact [][]int64) error {
			f, err := env.Create(fmt.Sprint("part ", rowsOf(exact)))
			if err != nil {
				return err
			}
			return f.Close()
		})}, "files created"},
		"computed anew by each reader": {wrong{lazy: true, body: paidFor}, "planned as lazy"},
	}
}

// TestWrongKindsAreFound: each fails conformance with a message that names the
// fault. "none" is right, so that no message comes of the frame that they share.
func TestWrongKindsAreFound(t *testing.T) {
	for what, f := range faults() {
		t.Run(what, func(t *testing.T) {
			r := &recorder{}
			f.stage.NoiseMultiplier = sigma
			r.run(func(t reporter) {
				checkCase(t, independentKind(), independentCase(&f.stage, visitors(40, privacy.AddRemove)))
			})
			said := strings.Join(r.said, "\n")
			if f.says == "" && said != "" || !strings.Contains(said, f.says) {
				t.Errorf("reported %q, want %q", said, f.says)
			}
		})
	}
}

// editing is the right kind, but that its run edits headers.
type editing struct {
	independent
	edit func(in pipeline.Table, out pipeline.Headers, exact [][]int64)
}

func (s *editing) Plan(in pipeline.Headers) (pipeline.Work, error) {
	w, err := s.independent.Plan(in)
	right, out := w.Run, w.Out
	w.Run = func(ctx context.Context, env *pipeline.Env, in pipeline.Tables) (pipeline.Tables, error) {
		exact, err := marginals(ctx, in["in"])
		if err != nil {
			return nil, err
		}
		s.edit(in["in"], out, exact)
		return right(ctx, env, in)
	}
	return w, err
}

// TestEditedHeadersAreFound: what a run writes into a header is read by others and released with domain.yaml.
func TestEditedHeadersAreFound(t *testing.T) {
	for what, f := range map[string]struct {
		edit func(in pipeline.Table, out pipeline.Headers, exact [][]int64)
		says string
	}{
		"nothing": {func(pipeline.Table, pipeline.Headers, [][]int64) {}, ""},
		"rows in a doc": {func(in pipeline.Table, _ pipeline.Headers, exact [][]int64) {
			in.Domain.Columns[0].Doc = fmt.Sprint(exact)
		}, "the run changed the header of in"},
		"its own class": {func(_ pipeline.Table, out pipeline.Headers, _ [][]int64) {
			h := out["model"]
			h.Class = pipeline.Public
			out["model"] = h
		}, "the run changed the header of model"},
	} {
		r, s := &recorder{}, &editing{edit: f.edit}
		s.NoiseMultiplier = sigma
		r.run(func(t reporter) { checkCase(t, independentKind(), independentCase(s, visitors(40, privacy.AddRemove))) })
		said := strings.Join(r.said, "\n")
		if f.says == "" && said != "" || !strings.Contains(said, f.says) {
			t.Errorf("%s: reported %q, want %q", what, said, f.says)
		}
	}
}
