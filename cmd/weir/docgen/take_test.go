package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestTakesTheNewestSweep: of two sweeps of a spec the newer is taken, of its metrics those that the inventory names,
// with the seconds of all stages; taken again, nothing changes.
func TestTakesTheNewestSweep(t *testing.T) {
	runs, dest := t.TempDir(), t.TempDir()
	write := func(id, run, auroc string) {
		dir := filepath.Join(runs, "turku-gs-wgan-250", "sweeps", id)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		text := `{"name": "turku-gs-wgan-250", "grid": [], "runs": [{"run": "` + run + `", "settings": {}, "repeat": 1, "public_seed": 7,
			"metrics": {"utility.auroc": ` + auroc + `, "utility.f1": 0.4}, "seconds": {"train": 40, "utility": 2}}]}`
		if err := os.WriteFile(filepath.Join(dir, "sweep.json"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("20261126-100000-aaaa", "old", "0.5")
	write("20261126-110000-aaaa", "new", "0.75")
	want := "spec,commit,cell,at,run,seed,figure,value,seconds\nturku-gs-wgan-250,abc,,,new,7,utility.auroc,0.75,42\n"
	for range 2 {
		if err := take("abc", dest, []string{runs}); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(filepath.Join(dest, "turku-gs-wgan-250.csv"))
		if err != nil || string(data) != want {
			t.Errorf("%v\n%s\nmust be\n%s", err, data, want)
		}
	}
}

// TestTakesParts: an experiment that was run in parts, by two machines or when the folders of the first part were gone,
// is taken part by part; each run has its own seed, and what was taken before stays.
func TestTakesParts(t *testing.T) {
	dest := t.TempDir()
	sweep := func(run, seed string) string {
		runs := t.TempDir()
		dir := filepath.Join(runs, "turku-gs-wgan-250", "sweeps", "x")
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		text := `{"name": "turku-gs-wgan-250", "grid": [], "runs": [{"run": "` + run + `", "settings": {}, "repeat": ` +
			seed + `, "public_seed": ` + seed + `, "metrics": {"utility.auroc": 0.5}, "seconds": {"train": 40}}]}`
		if err := os.WriteFile(filepath.Join(dir, "sweep.json"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return runs
	}
	for _, folders := range [][]string{{sweep("a", "1")}, {sweep("b", "2"), sweep("c", "3")}} {
		if err := take("abc", dest, folders); err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile(filepath.Join(dest, "turku-gs-wgan-250.csv"))
	want := "spec,commit,cell,at,run,seed,figure,value,seconds\n"
	for _, run := range []string{"a,1", "b,2", "c,3"} {
		want += "turku-gs-wgan-250,abc,,," + run + ",utility.auroc,0.5,40\n"
	}
	if err != nil || string(data) != want {
		t.Errorf("%v\n%s\nmust be\n%s", err, data, want)
	}
}

// TestTakesARepeatOnce: where the best point of a repeat is taken, a repeat that two parts hold is refused, and what
// was taken before stays; the same part can be taken again.
func TestTakesARepeatOnce(t *testing.T) {
	dest := t.TempDir()
	sweep := func(run string) string {
		runs := t.TempDir()
		dir := filepath.Join(runs, "turku-gs-wgan-250", "sweeps", "x")
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		text := `{"name": "turku-gs-wgan-250", "grid": [], "runs": [{"run": "` + run + `", "settings": {}, ` +
			`"repeat": 3, "public_seed": 3, "metrics": {"utility.auroc": 0.5}, "seconds": {"train": 40}}]}`
		if err := os.WriteFile(filepath.Join(dir, "sweep.json"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return runs
	}
	one := sweep("a")
	for range 2 {
		if err := take("abc", dest, []string{one}); err != nil {
			t.Fatal(err)
		}
	}
	err := take("def", dest, []string{sweep("b")})
	if err == nil || !strings.Contains(err.Error(), "two runs of the repeat of seed 3, a and b") {
		t.Errorf("a second run of a repeat: %v", err)
	}
	data, err := os.ReadFile(filepath.Join(dest, "turku-gs-wgan-250.csv"))
	if err != nil || strings.Count(string(data), "\n") != 2 {
		t.Errorf("%v\n%s", err, data)
	}
}

// TestTakesTheBestPoint: of a repeat every run has the figure that says which is best, the best one the others that the
// inventory names there, and the last step what it names there.
func TestTakesTheBestPoint(t *testing.T) {
	runs, dest := t.TempDir(), t.TempDir()
	dir := filepath.Join(runs, "turku-gs-wgan-750", "sweeps", "x")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	text := `{"name": "turku-gs-wgan-750", "grid": ["stages.sample.step"], "runs": [`
	for i, run := range []string{`"1000", "auroc": 0.5`, `"2000", "auroc": 0.75`, `"19871", "auroc": 0.6`} {
		step, auroc, _ := strings.Cut(run, `, "auroc": `)
		if i > 0 {
			text += ","
		}
		text += `{"run": ` + step + `, "settings": {"stages.sample.step": ` + step + `}, "repeat": 1, "public_seed": 7,
			"metrics": {"utility.auroc": ` + auroc + `, "marginals.mean_synthetic.age": 3}, "seconds": {"utility": 2}}`
	}
	if err := os.WriteFile(filepath.Join(dir, "sweep.json"), []byte(text+"]}"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := take("abc", dest, []string{runs}); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(dest, "turku-gs-wgan-750.csv"))
	want := "spec,commit,cell,at,run,seed,figure,value,seconds\n" +
		"turku-gs-wgan-750,abc,,1000,1000,7,utility.auroc,0.5,2\n" +
		"turku-gs-wgan-750,abc,,19871,19871,7,utility.auroc,0.6,2\n" +
		"turku-gs-wgan-750,abc,,2000,2000,7,marginals.mean_synthetic.age,3,2\n" +
		"turku-gs-wgan-750,abc,,2000,2000,7,utility.auroc,0.75,2\n"
	if err != nil || string(data) != want {
		t.Errorf("%v\n%s\nmust be\n%s", err, data, want)
	}
}

func TestDamagedSweepIsNamed(t *testing.T) {
	runs := t.TempDir()
	dir := filepath.Join(runs, "turku-gs-wgan-250", "sweeps", "x")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "sweep.json"), []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := take("abc", t.TempDir(), []string{runs}); err == nil || !strings.Contains(err.Error(), "sweep.json") {
		t.Errorf("%v", err)
	}
}

func TestFolderWithoutSweepsIsNamed(t *testing.T) {
	runs := t.TempDir()
	if err := take("abc", t.TempDir(), []string{runs}); err == nil || !strings.Contains(err.Error(),
		runs+": holds no sweep") {
		t.Errorf("%v", err)
	}
}
