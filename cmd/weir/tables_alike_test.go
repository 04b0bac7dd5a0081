package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"weir/internal/stattest"
	"weir/pipeline"
)

// quickModels says how kinds that learn from a private table are run quickly, behind encode where they are nets. A kind
// that is not here is run with its defaults, before encode.
func quickModels() map[string]string {
	const sampled = "steps: 4, expected_batch_size: 16, sampling_rate: 0.2, checkpoint_every: 2"
	const coder = "encoder: [4], decoder: [4], latent_dim: 2"
	const phase = "steps: 3, expected_batch_size: 16, sampling_rate: 0.2"
	return map[string]string{
		"independent": "", "marginal_tree": "", "mst": "", "aim": "bins: 3", "privbayes": "bins: 3", "auto": "target: flag",
		"dp_wgan": "from: encode, critic_steps: 2, generator: [4], critic: [4], latent_dim: 2, " + sampled,
		"dp_gan": "from: encode, label: group, critic_steps: 2, generator: [4], critic: [4], latent_dim: 2, " +
			"dropout: 0.2, " + sampled,
		"gs_wgan": "from: shards, steps: 3, batch_size: 4, warm_steps: 2, generator: [4], critic: [4], " +
			"latent_dim: 2, checkpoint_every: 2",
		"pate_gan": "from: shards, steps: 3, batch_size: 4, generator: [4], student: [4], latent_dim: 2, " +
			"checkpoint_every: 2",
		"dp_vae":           "from: encode, " + coder + ", " + sampled,
		"dp_syn":           "from: encode, label: group, " + coder + ", " + sampled + ", mixture: {components: 1, rounds: 2}",
		"mixture":          "components: 2, stratify: [flag], " + sampled,
		"anomaly_detector": sampled, "anomaly_forest": "trees: 3, depth: 3",
		"dp_auto_gan": "from: encode, autoencoder: {hidden: [4], code: 2, " + phase +
			"}, gan: {generator: [4], critic: [4], critic_steps: 1, " + phase + "}, checkpoint_every: 2",
		"rdp_cgan": "from: encode, label: group, autoencoder: {code: 2, " + phase +
			"}, gan: {critic_steps: 1, latent_dim: 2, generated_batch: 4, " + phase + "}, checkpoint_every: 2",
	}
}

// learned lists the kinds of the program that learn a model or a detector from a table.
func learned(t *testing.T) (names []string) {
	t.Helper()
	r, err := registry()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range r.Names() {
		k := r.Kind(name)
		if len(k.In) > 0 && k.In[0].Form == pipeline.FormTable && (k.Out[0].Form == pipeline.FormModel ||
			k.Out[0].Form == pipeline.FormDetector) {
			names = append(names, name)
		}
	}
	return names
}

// manyRows is the private count of the largest table, which must not show anywhere.
const manyRows = 17919

// oddTables returns what only rows tell: no message, exit code, count or name of a file may.
// No two have the same numbers.
func oddTables() map[string]func(b *strings.Builder) {
	rows := func(n, groups, flags int) func(b *strings.Builder) {
		return func(b *strings.Builder) {
			for i := range n {
				fmt.Fprintf(b, "%d,%c,%d\n", 20000+(i*7919+1009*n+101*groups+11*flags)%60000, 'a'+rune(i%groups), i/3%flags)
			}
		}
	}
	return map[string]func(b *strings.Builder){"ordinary": rows(80, 3, 2), "an empty category": rows(80, 2, 2),
		"a single class": rows(80, 1, 1),
		"no rows":        rows(0, 1, 1), "far more rows": rows(manyRows, 3, 2)}
}

// modelStudy returns a study of one model on a table of which 80 rows are said to be public.
// Under add_remove nothing may tell that it has others; under replace_one the owner is told.
func modelStudy(t *testing.T, settings, kind string, rows func(b *strings.Builder)) study {
	s := study{t, t.TempDir()}
	b := &strings.Builder{}
	b.WriteString("income,group,flag\n")
	rows(b)
	s.write("data.csv", b.String())
	s.write("domain.yaml", "columns:\n  - {name: income, type: integer, bounds: [0, 100000]}\n  - {name: group, type: "+
		"categorical, categories: [a, b, c]}\n  - {name: flag, type: boolean}\n")
	model := strings.TrimSuffix("{kind: "+kind+", "+settings, ", ") + "}"
	if !strings.Contains(settings, "from:") {
		model = strings.Replace(model, "{", "{from: dataset, ", 1)
	}
	more, text := "", "  sample: {kind: sample, rows: 20}\n"
	if strings.HasPrefix(kind, "anomaly_") {
		text = ""
	}
	if strings.Contains(settings, "from: shards") {
		more = "  split: {kind: shard, shards: 4, by: random}\n  shards: {kind: encode}\n"
	} else if strings.Contains(settings, "from: encode") {
		more = "  encode: {kind: encode, one_hot: [group]}\n"
	}
	s.write("spec.yaml", "weir: 1\nname: study\ndataset: {file: data.csv, domain: domain.yaml, rows_public: "+
		"80}\nprivacy: {epsilon: 3, delta: 1e-6, accountant: rdp, adjacency: add_remove}\nseed: 3\nstages:\n"+
		more+"  train: "+model+"\n"+text)
	return s
}

// seenOf returns all that others than the owner may see of a run, but for drawn rows and
// weights: the exit code, what is printed, the names of files, and what the documents say.
func seenOf(t *testing.T, s study) (seen, run string) {
	code, out, errs := s.run("--workers", "1")
	runs, _ := filepath.Glob(s.path("runs/study/2*"))
	if code != exitDone {
		return fmt.Sprintf("exit code %d\n%s%s", code, s.plain(out), s.plain(errs)), ""
	}
	if len(runs) != 1 {
		t.Fatalf("the runs are %v, must be one", runs)
	}
	b := &strings.Builder{}
	fmt.Fprintf(b, "exit code %d\n%s%s", code, s.plain(out), s.plain(errs))
	err := filepath.WalkDir(runs[0], func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			fmt.Fprintf(b, "file %s\n", s.plain(path))
		}
		if err == nil && strings.Contains(path, "/release/") && slices.Contains([]string{".md", ".txt", ".yaml"},
			filepath.Ext(path)) {
			b.WriteString(s.plain(contents(t, path)))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String(), runs[0]
}

// plain leaves out of a text what is of its run: folder, time, digests, how far a stage was after ten seconds, that
// rows take long to be known, and what is said of noisy counts that were released.
func (s study) plain(text string) string {
	text = strings.ReplaceAll(text, s.dir, "DIR")
	text = regexp.MustCompile(`(?m)^train: bounds are far wider(.*\n)+?\n`).ReplaceAllString(text, "")
	for pattern, whole := range map[string]string{`[0-9]{8}[T-][0-9]{6}[0-9a-zA-Z.-]*`: "RUN",
		`done in [0-9.µa-z]+`: "done in TIME", `(ds-|sha256:)[0-9a-f]+`: "DIGEST",
		`[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9:.]+Z?`: "TIME", `(?m)^\w+: [0-9]+ of [0-9]+, .* left\n`: "",
		`(?m)^dataset: (reading|known after) .*\n`: ""} {
		text = regexp.MustCompile(pattern).ReplaceAllString(text, whole)
	}
	return text
}

// TestTablesLookAlike: a run of each model shows the same of an ordinary table, of one with
// an empty category, of one with a single class, without rows and with two hundred times as
// many; and no loss, count or cell of them. An ordinary run of the tests compares every model
// on a table without rows, and one of either family on all.
func TestTablesLookAlike(t *testing.T) {
	t.Parallel()
	settings := quickModels()
	for _, kind := range learned(t) {
		quick := settings[kind]
		t.Run(kind, func(t *testing.T) {
			tables := oddTables()
			want, _ := seenOf(t, modelStudy(t, quick, kind, tables["ordinary"]))
			if !strings.HasPrefix(want, "exit code 0\n") {
				t.Fatal(want)
			}
			for what, rows := range tables {
				if !stattest.Long && what != "no rows" && kind != "independent" && kind != "dp_wgan" {
					continue
				}
				s := modelStudy(t, quick, kind, rows)
				got, run := seenOf(t, s)
				if got != want {
					t.Errorf("%s shows\n%s", what, firstDifference(want, got))
				}
				if run != "" {
					checkNoFigures(t, what, got+s.plain(contents(t, filepath.Join(run, "run.json"))), run)
				}
			}
		})
	}
}

// checkNoFigures looks in what is shown for the losses of the owner's trace and the number
// of rows.
func checkNoFigures(t *testing.T, what, shown, run string) {
	t.Helper()
	if regexp.MustCompile(fmt.Sprintf(`(^|[^0-9.])%d($|[^0-9.])`, manyRows)).MatchString(shown) {
		t.Errorf("%s: the number of rows shows", what)
	}
	f, err := os.Open(filepath.Join(run, "internal", "trace.jsonl"))
	if os.IsNotExist(err) {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var line struct{ Value json.Number }
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			t.Fatal(err)
		}
		if v := line.Value.String(); len(v) > 6 && strings.Contains(shown, v[:7]) {
			t.Errorf("%s: the loss %s shows", what, v)
		}
	}
}

// firstDifference returns the first line that differs.
func firstDifference(a, b string) string {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			return fmt.Sprintf("%q\nwhere the ordinary table shows\n%q", y[i], x[i])
		}
	}
	return fmt.Sprintf("%d lines where the ordinary table shows %d", len(y), len(x))
}
