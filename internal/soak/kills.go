package main

import (
	"bytes"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
)

// killOptions are the flags of the subcommand kills, which ends small runs of the real program at random moments,
// continues them until they are done, and checks what they leave (docs/design/soak.md).
type killOptions struct {
	kills    int
	seed     uint64
	together int
	out, dir string
	program  string // that is killed; "" is built first
}

// runKills parses the flags of the subcommand and kills.
func runKills(args []string) error {
	var o killOptions
	f := flag.NewFlagSet("soak kills", flag.ExitOnError)
	f.IntVar(&o.kills, "n", 10000, "how many kills")
	f.Uint64Var(&o.seed, "seed", uint64(time.Now().UnixNano()), "seed of all choices; the moments are as the machine is")
	f.IntVar(&o.together, "together", 4*runtime.GOMAXPROCS(0), "how many runs live at a time")
	f.StringVar(&o.out, "out", "soak-findings", "folder for what is found")
	f.StringVar(&o.dir, "dir", "", "folder to run in (default: the system's for temporary files)")
	f.Parse(args)
	return o.run()
}

// killSoak is what the lives share.
type killSoak struct {
	killOptions
	want map[string]string // the release of a run that nobody killed, by the names of its files

	mu     sync.Mutex
	length time.Duration // of a run from start to end, lately
	killed int
	by     map[string]int // what ended a process
	lives  int
	found  int
}

func (o killOptions) run() error {
	dir, err := os.MkdirTemp(o.dir, "weir-kills")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	o.dir = dir
	s := &killSoak{killOptions: o, by: map[string]int{}}
	if s.program == "" {
		if s.program, err = buildWeir(dir); err != nil {
			return err
		}
	}
	if err := s.reference(); err != nil {
		return fmt.Errorf("a run that nobody killed: %w", err)
	}
	fmt.Printf("soak kills: seed %d, a run takes %s\n", o.seed, s.length.Round(time.Millisecond))
	return s.all()
}

// all lets lives begin until enough of them were ended.
func (s *killSoak) all() error {
	began := time.Now()
	var group sync.WaitGroup
	errs := make(chan error, s.together)
	for range s.together {
		group.Add(1)
		go func() {
			defer group.Done()
			errs <- s.some()
		}()
	}
	group.Wait()
	for range s.together {
		if err := <-errs; err != nil {
			return err
		}
	}
	took := time.Since(began)
	var keys []string
	for _, signal := range slices.Sorted(maps.Keys(s.by)) {
		keys = append(keys, fmt.Sprintf("%s: %d", signal, s.by[signal]))
	}
	fmt.Printf("soak kills: %d kills (%s) of %d runs in %s, %.0f a second; %d findings\n",
		s.killed, strings.Join(keys, ", "), s.lives, took.Round(time.Second), float64(s.killed)/took.Seconds(), s.found)
	if s.found > 0 {
		return fmt.Errorf("%d findings, in %s", s.found, s.out)
	}
	return nil
}

// mostFaults findings are enough.
const mostFaults = 20

// next numbers the next life, if there is to be one.
func (s *killSoak) next() (n int, more bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.killed >= s.kills || s.found >= mostFaults {
		return 0, false
	}
	s.lives++
	return s.lives, true
}

// some lives one life after the other.
func (s *killSoak) some() error {
	for {
		n, more := s.next()
		if !more {
			return nil
		}
		l := &life{killSoak: s, number: n, dir: filepath.Join(s.dir, fmt.Sprint("life-", n)),
			rng: rand.New(rand.NewPCG(s.seed, uint64(n)))}
		l.secret = n%8 == 0
		fault, err := l.live()
		if err == nil && fault != "" {
			err = l.report(fault)
		}
		if err != nil {
			return err
		}
		if err := os.RemoveAll(l.dir); err != nil {
			return err
		}
	}
}

// report writes a finding: what is wrong, what was done to the run, and all that it left.
func (l *life) report(fault string) error {
	l.mu.Lock()
	l.found++
	l.mu.Unlock()
	dir := filepath.Join(l.out, fmt.Sprintf("%d-kills-%d", l.killSoak.seed, l.number))
	fmt.Printf("soak kills: run %d: %s\n  see %s\n", l.number, fault, dir)
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if err := os.CopyFS(filepath.Join(dir, "left"), os.DirFS(l.dir)); err != nil {
		return err
	}
	text := fmt.Sprintf("run %d of seed %d: go run ./internal/soak kills -seed %d\n\n%s\n\nended by:\n%s", l.number,
		l.killSoak.seed, l.killSoak.seed, fault, l.story.String())
	return os.WriteFile(filepath.Join(dir, "fault.txt"), []byte(text), 0o644)
}

// buildWeir makes the program that is killed.
func buildWeir(dir string) (string, error) {
	path := filepath.Join(dir, "weir")
	// where files were changed, each start digests the program
	c := exec.Command("go", "build", "-ldflags=-s -w", "-o", path, "weir/cmd/weir")
	if out, err := c.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w: %s", err, out)
	}
	return path, nil
}

// process is one start of a run.
type process struct {
	cmd  *exec.Cmd
	errs bytes.Buffer
	done chan struct{}
}

// noiseSeed is the seed of the noise of runs that are compared byte for byte.
const noiseSeed = "5"

func (l *life) start() (*process, error) {
	args := []string{"run", "spec.yaml"}
	if !l.secret {
		args = append(args, "--insecure-noise-seed", noiseSeed)
	}
	return l.launch(args...)
}

// launch starts the program in the folder of the life.
func (l *life) launch(args ...string) (*process, error) {
	p := &process{cmd: exec.Command(l.program, args...), done: make(chan struct{})}
	p.cmd.Dir, p.cmd.Stderr = l.dir, &p.errs
	p.cmd.Env = append(os.Environ(), "GOMAXPROCS=2", "GOGC=off") // runs too small to need a collector
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	began := time.Now()
	go func() {
		defer close(p.done)
		if p.cmd.Wait() == nil && args[0] == "run" {
			l.took(time.Since(began))
		}
	}()
	return p, nil
}

// within reports whether the process ends in this time.
func (p *process) within(d time.Duration) bool {
	select {
	case <-p.done:
		return true
	case <-time.After(d):
		return false
	}
}

// signal may come too late, which is as good.
func (p *process) signal(s os.Signal) { p.cmd.Process.Signal(s) }

// wait waits for the end of a process that nobody ends, and returns what went wrong, or "".
func (p *process) wait() string {
	if !p.within(5 * time.Minute) {
		p.signal(os.Kill)
		<-p.done
		return "does not end"
	}
	return p.fault()
}

func (p *process) fault() string {
	if p.code() == 0 {
		return ""
	}
	return fmt.Sprintf("exit code %d: %s", p.code(), p.stderr())
}

// ended reports whether a signal ended the process, at once or with the exit code of an
// interrupted run.
func (p *process) ended() bool { return p.hasEnded() && (p.code() == 130 || p.code() == -1) }

func (p *process) hasEnded() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// code returns the exit code; -1 for a process that a signal ended, or that has not ended.
func (p *process) code() int {
	if !p.hasEnded() {
		return -1
	}
	return p.cmd.ProcessState.ExitCode()
}

func (p *process) stderr() string { return p.errs.String() }
