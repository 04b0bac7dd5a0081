package main

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"weir/privacy/ledger"
	"weir/record"
	"weir/runtime/store"
)

// life is one run, from its first start to its release.
type life struct {
	*killSoak
	number int
	dir    string
	secret bool // noise from the system's randomness, with an owner's side; else from a seed
	rng    *rand.Rand
	story  strings.Builder // what happened to it
}

const killedSpec = `weir: 1
name: tiny
dataset: {file: data.csv, domain: {columns: [{name: group, type: categorical, categories: [a, b, c]}, {name: flag, type: boolean}]}, rows_public: 100}
privacy: {epsilon: 100, delta: 1e-6, adjacency: replace_one, accountant: rdp}
seed: 3
stages:
  encode: {kind: encode}
  train: {kind: dp_wgan, steps: 12, noise_multiplier: 2, expected_batch_size: 8, generator: [4], critic: [4], latent_dim: 2, generated_batch: 8, checkpoint_every: 3}
  sample: {kind: sample, rows: 20}
`

// killedCharges is how many the spec plans.
const killedCharges = 1

// killedTable returns a made-up table of 100 rows.
func killedTable() string {
	var b strings.Builder
	b.WriteString("group,flag\n")
	for i := range 100 {
		fmt.Fprintf(&b, "%c,%d\n", 'a'+rune(i%3), i%2)
	}
	return b.String()
}

func (l *life) born() error {
	if err := os.MkdirAll(l.dir, 0o755); err != nil {
		return err
	}
	for name, text := range map[string]string{"spec.yaml": killedSpec, "data.csv": killedTable()} {
		if err := os.WriteFile(filepath.Join(l.dir, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// mostKills of one life: the next start is left alone.
const mostKills = 20

// live starts the run until it is done, ends it in between, and says what is wrong with
// what it left, or "".
func (l *life) live() (fault string, err error) {
	if err := l.born(); err != nil {
		return "", err
	}
	for n := 0; ; n++ {
		p, err := l.start()
		if err != nil {
			return "", err
		}
		if n >= mostKills || l.rng.Float64() < 0.05 {
			if why := p.wait(); why != "" {
				return why, nil
			}
			return l.check()
		}
		if why, done := l.end(p); why != "" {
			return why, nil
		} else if done {
			return l.check()
		}
	}
}

// end ends a process at a moment of its life, and tells whether it was done before.
func (l *life) end(p *process) (fault string, done bool) {
	sig := syscall.SIGKILL
	switch l.rng.IntN(10) {
	case 0:
		sig = syscall.SIGTERM
	case 1:
		sig = syscall.SIGINT
	}
	after := time.Duration(l.rng.Float64() * 1.1 * float64(l.usual()))
	if p.within(after) {
		return p.fault(), true
	}
	fmt.Fprintf(&l.story, "%s after %s\n", sig, after.Round(time.Millisecond))
	p.signal(sig)
	p.within(time.Minute)
	switch {
	case p.ended():
		l.count(sig.String())
		return "", false
	case p.code() == 0:
		return "", true
	}
	return fmt.Sprintf("%s: exit code %d: %s", sig, p.code(), p.stderr()), false
}

func (s *killSoak) usual() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.length
}

// took keeps what a whole run takes; the machine may become slower or faster.
func (s *killSoak) took(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.length == 0 {
		s.length = d
	}
	s.length += (d - s.length) / 8
}

func (s *killSoak) count(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.killed++
	s.by[key]++
	if s.killed%tellAfter == 0 {
		fmt.Printf("soak kills: %d of %d, %d findings\n", s.killed, s.kills, s.found)
	}
}

// tellAfter is how many kills pass between two words.
const tellAfter = 500

// reference runs once, unharmed, to know what a release is and how long it takes.
func (s *killSoak) reference() error {
	l := &life{killSoak: s, dir: filepath.Join(s.dir, "reference")}
	if err := l.born(); err != nil {
		return err
	}
	p, err := l.start()
	if err != nil {
		return err
	}
	if why := p.wait(); why != "" {
		return errors.New(why)
	}
	dir, _, err := l.run()
	if err == nil {
		s.want, err = store.RunDir{Path: dir}.Listing()
	}
	return err
}

// run returns the one run that a life has, and its record.
func (l *life) run() (string, *record.Run, error) {
	dirs, err := store.Runs(filepath.Join(l.dir, "runs", "tiny"))
	if err != nil {
		return "", nil, err
	}
	if len(dirs) != 1 {
		return "", nil, fmt.Errorf("there are %d runs, must be 1", len(dirs))
	}
	rec, err := store.ReadRecord(dirs[0])
	return dirs[0], rec, err
}

// check says what is wrong with what a finished run left, or "".
func (l *life) check() (string, error) {
	dir, rec, err := l.run()
	if err != nil {
		return err.Error(), nil
	}
	if rec.Status != record.Done {
		return fmt.Sprintf("the run is %s, must be done", rec.Status), nil
	}
	if err := errors.Join(l.checkLedger(rec), l.checkRelease(dir, rec), l.checkFiles()); err != nil {
		return err.Error(), nil
	}
	if !l.secret {
		return "", nil
	}
	p, err := l.launch("verify", dir) // draws the noise again, and compares
	if err != nil {
		return "", err
	}
	return p.wait(), nil
}

// checkLedger checks that the ledger has each planned charge once, and the head that the record states.
func (l *life) checkLedger(rec *record.Run) error {
	name := "data.csv.NOT-PRIVATE.weir-ledger.jsonl"
	if l.secret {
		name = "data.csv.weir-ledger.jsonl"
	}
	data, err := os.ReadFile(filepath.Join(l.dir, name))
	if err != nil {
		return err
	}
	entries, err := ledger.Parse(data)
	if err != nil {
		return err
	}
	if len(entries) != killedCharges {
		return fmt.Errorf("the ledger has %d charges, must have %d", len(entries), killedCharges)
	}
	if len(rec.Charges) != killedCharges || rec.Charges[0].ID != entries[0].ID {
		return fmt.Errorf("the record states %d charges, must be the charges of the ledger", len(rec.Charges))
	}
	return ledger.Includes(entries, ledger.Head{Count: rec.Dataset.LedgerCount, Hash: rec.Dataset.LedgerHead})
}

// documentPath is the one released file that says which run it is of.
const documentPath = "release/PRIVACY.md"

// checkRelease checks that the release is whole, as the record says, and where the noise is the same
// byte for byte the release of a run that nobody killed.
func (l *life) checkRelease(dir string, rec *record.Run) error {
	run := store.RunDir{Path: dir}
	if err := run.CheckRelease(rec); err != nil || l.secret {
		return err
	}
	got, err := run.Listing()
	if err != nil {
		return err
	}
	for name, digest := range l.want {
		if got[name] != digest && (got[name] == "" || name != documentPath) {
			return fmt.Errorf("%s: differs from the file of a run that nobody killed, must be the same bytes", name)
		}
	}
	if len(got) != len(l.want) {
		return fmt.Errorf("the release has %d files, must have %d", len(got), len(l.want))
	}
	return nil
}

// checkFiles checks that nothing half-written, no private checkpoint, and nothing private that others may read is
// left.
func (l *life) checkFiles() error {
	var wrong []error
	closed := "\x00" // a folder that its owner alone enters
	err := filepath.WalkDir(l.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if leftBehind(d.Name()) {
			wrong = append(wrong, fmt.Errorf("%s: is left", path))
		}
		info, err := d.Info()
		if err != nil || strings.HasPrefix(path, closed) || isPublic(path) {
			return err
		}
		private := info.Mode().Perm()&0o077 == 0
		if d.IsDir() && private {
			closed = path + string(filepath.Separator)
		}
		if !d.IsDir() && !private {
			wrong = append(wrong, fmt.Errorf("%s: has mode %v, must be its owner's alone", path, info.Mode()))
		}
		return nil
	})
	return errors.Join(append(wrong, err)...)
}

// leftBehind returns names of files and folders that a finished run must not leave.
func leftBehind(name string) bool {
	return strings.Contains(name, ".tmp") || strings.HasPrefix(name, ".weir-") || name == "scratch"
}

// isPublic files are the input, the ledger, which may be committed, and what is released.
func isPublic(path string) bool {
	name := filepath.Base(path)
	return name == "spec.yaml" || name == "data.csv" || name == ".gitignore" || strings.HasSuffix(name,
		".weir-ledger.jsonl") ||
		filepath.Base(filepath.Dir(path)) == "release"
}
