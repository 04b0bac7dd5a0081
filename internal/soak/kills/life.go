package kills

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// life is one run, from its first start to its release.
type life struct {
	*soak
	number int
	dir    string
	secret bool // noise from the system's randomness, with an owner's side; else from a seed
	rng    *rand.Rand
	story  strings.Builder // what happened to it
}

const spec = `weir: 1
name: tiny
dataset: {file: data.csv, domain: {columns: [{name: group, type: categorical, categories: [a, b, c]}, {name: flag, type: boolean}]}, rows_public: 100}
privacy: {epsilon: 100, delta: 1e-6, adjacency: replace_one, accountant: rdp}
seed: 3
stages:
  encode: {kind: encode}
  train: {kind: dp_wgan, steps: 12, noise_multiplier: 2, expected_batch_size: 8, generator: [4], critic: [4], latent_dim: 2, generated_batch: 8, checkpoint_every: 3}
  sample: {kind: sample, rows: 20}
`

// charges is how many the spec plans.
const charges = 1

// table is made up: 100 rows.
func table() string {
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
	for name, text := range map[string]string{"spec.yaml": spec, "data.csv": table()} {
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
	return fmt.Sprintf("%s: exit code %d: %s", sig, p.code(), p.said()), false
}

func (s *soak) usual() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.length
}

// took keeps what a whole run takes; the machine may become slower or faster.
func (s *soak) took(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.length == 0 {
		s.length = d
	}
	s.length += (d - s.length) / 8
}

func (s *soak) count(by string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.killed++
	s.by[by]++
	if s.killed%tellAfter == 0 {
		fmt.Printf("soak kills: %d of %d, %d findings\n", s.killed, s.kills, s.found)
	}
}

// tellAfter is how many kills pass between two words.
const tellAfter = 500
