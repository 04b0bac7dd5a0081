package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// sharded makes the study train gs_wgan on 50 shards with further settings.
func sharded(settings string) func(study) {
	return func(s study) {
		s.edit("spec.yaml", "  encode:", "  shard: {kind: shard, shards: 50}\n  encode:")
		s.edit("spec.yaml", "kind: dp_wgan, steps: 40, critic_steps: 1, expected_batch_size: 16",
			"kind: gs_wgan, steps: 4, "+settings)
	}
}

// reading adds a table that evaluation reads.
func reading(file string) func(study) {
	return func(s study) {
		s.write("other.csv", "a,b\n1,2\n")
		s.write("spec.yaml", s.read("spec.yaml")+"  more: {kind: read, file: "+file+
			", class: private, like: dataset}\n  look: {kind: marginals, real: more, synthetic: sample}\n")
	}
}

// TestNothingIsChargedThatIsCertainToFail: each of these was charged and then failed, or
// took all memory, by what the spec, the folders and public files say alone.
func TestNothingIsChargedThatIsCertainToFail(t *testing.T) {
	t.Parallel()
	edit := func(old, new string) func(study) { return func(s study) { s.edit("spec.yaml", old, new) } }
	long := strings.Repeat("s", 240)
	for name, c := range map[string]struct {
		change func(study)
		code   int
		want   string
	}{
		"a generator of a million squared": {edit("generator: [8]", "generator: [1000000, 1000000]"), exitUsage,
			"stages.train.generator: is [1000000 1000000]"},
		"a generator beyond all numbers": {edit("generator: [8]", "generator: [4000000000, 4000000000, 4000000000]"),
			exitUsage, "16 GiB"},
		"a critic of a million squared": {edit("critic: [8]", "critic: [1000000, 1000000]"), exitUsage,
			"stages.train.critic"},
		"too many layers": {edit("critic: [8]", "critic: [8"+strings.Repeat(", 8", 64)+"]"), exitUsage,
			"is 65 layers, must be at most 64"},
		"latents beyond memory": {edit("latent_dim: 4", "latent_dim: 9000000000"), exitUsage,
			"stages.train.latent_dim"},
		"generated rows beyond memory": {edit("steps: 40", "generated_batch: 10000000000, steps: 40"), exitUsage,
			"stages.train.generated_batch"},
		"a batch beyond float32": {edit("expected_batch_size: 16", "expected_batch_size: 1e300"), exitUsage,
			"must be at most"},
		"a clip below float32": {edit("steps: 40", "max_grad_norm: 1e-300, steps: 40"), exitUsage,
			"range of float32"},
		"a clip above float32": {edit("steps: 40", "max_grad_norm: 1e300, steps: 40"), exitUsage,
			"range of float32"},
		"a million critics": {func(s study) {
			sharded("batch_size: 16")(s)
			s.edit("spec.yaml", "shards: 50", "shards: 1000000")
			s.edit("spec.yaml", "critic: [8]", "critic: [4096]")
		}, exitUsage, "on each of 1000000 shards"},
		"a query beyond memory": {sharded("batch_size: 10000000000"), exitUsage, "stages.train.batch_size"},
		"a query below float32": {sharded("max_grad_norm: 1e-300"), exitUsage, "range of float32"},
		"steps without end":     {edit("steps: 40", "steps: 900000000000"), exitUsage, "stages.train.steps"},
		"rows without end": {edit("rows: 50", "rows: 9000000000000000000"), exitUsage,
			"stages.sample.rows"},
		"a long name": {edit("  sample:", "  "+long+":"), exitUsage, "at most 64 bytes"},
		"a long name, two bytes a letter": {edit("  sample:", "  "+strings.Repeat("é", 33)+":"), exitUsage,
			"at most 64 bytes"},
		"a name with NUL":                    {edit("  sample:", `  "a\0b":`), exitUsage, "the stage name"},
		"a name with a bell":                 {edit("  sample:", `  "a\ab":`), exitUsage, "the stage name"},
		"a table for evaluation that is not": {reading("gone.csv"), exitFailed, "gone.csv"},
		"a folder for evaluation":            {reading("."), exitFailed, "more"},
		"another table for evaluation":       {reading("other.csv"), exitFailed, "declared columns"},
		"a cache that cannot be written": {func(s study) {
			if err := os.MkdirAll(s.path("runs/cache"), 0o755); err != nil {
				s.t.Fatal(err)
			}
			if err := os.Chmod(s.path("runs/cache"), 0o555); err != nil {
				s.t.Fatal(err)
			}
		}, exitFailed, "writable"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStudy(t, 60)
			c.change(s)
			code, _, errs := s.run()
			if code != c.code || !strings.Contains(errs, c.want) {
				t.Errorf("exit code %d, must be %d and say %q: %s", code, c.code, c.want, errs)
			}
			if paid, _ := filepath.Glob(s.path("*.weir-ledger.jsonl")); len(paid) > 0 {
				t.Error("it was charged")
			}
			if code, _, errs := s.weir("check", s.path("spec.yaml")); c.code == exitUsage && code != exitUsage {
				t.Errorf("check: exit code %d: %s", code, errs)
			}
			if left, _ := filepath.Glob(s.path("runs/study/2*")); len(left) > 0 {
				t.Errorf("%v is left of a run that was refused", left)
			}
		})
	}
}
