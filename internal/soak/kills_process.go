package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

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

// wait is for the end of a process that nobody ends; it says what went wrong, or "".
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

// code is -1 for a process that a signal ended, or that has not ended.
func (p *process) code() int {
	if !p.hasEnded() {
		return -1
	}
	return p.cmd.ProcessState.ExitCode()
}

func (p *process) stderr() string { return p.errs.String() }
