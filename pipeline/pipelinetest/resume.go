package pipelinetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sync"

	"weir/pipeline"
)

// scratch keeps the files of an attempt for the next, and ends it after some of them.
type scratch struct {
	mu    sync.Mutex
	files map[string][]byte
	left  int // files until the end; below 0: none
	end   context.CancelFunc
}

var errEnded = errors.New("the attempt has been ended")

// attach gives a stage the files.
func (s *scratch) attach(env *pipeline.Env) {
	env.Create = func(name string) (io.WriteCloser, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.left == 0 {
			return nil, errEnded
		}
		return &scratchFile{s: s, name: name}, nil
	}
	env.Restore = func(name string) (io.ReadCloser, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		data, ok := s.files[name]
		if !ok {
			return nil, fs.ErrNotExist
		}
		return io.NopCloser(bytes.NewReader(data)), nil
	}
}

// scratchFile takes its name when it is closed, like the files of a run.
type scratchFile struct {
	bytes.Buffer
	s    *scratch
	name string
}

func (f *scratchFile) Close() error {
	s := f.s
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.left == 0 {
		return errEnded
	}
	s.files[f.name] = bytes.Clone(f.Bytes())
	if s.left--; s.left == 0 {
		s.end()
	}
	return nil
}

// checkResumed checks that a paid stage that leaves files and is killed after one of them
// releases, when it is run again, what it had released without the interruption.
// Whatever else comes of reading the file was not drawn from the mechanisms.
func checkResumed(t reporter, c Case) {
	if _, plan, err := c.planned(); err != nil || len(plan) == 0 {
		return
	}
	whole := c.recorded(1).outcome
	n := len(whole.sight.files)
	if whole.err != nil || n == 0 {
		return
	}
	checkResumedAfter(t, c, whole, 1)
	if n > 1 {
		checkResumedAfter(t, c, whole, n)
	}
}

// checkResumedAfter kills the first attempt after so many files.
func checkResumedAfter(t reporter, c Case, whole outcome, files int) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	s := &scratch{files: map[string][]byte{}, left: files, end: cancel}
	observe(ctx, c, manner{key: 1, env: s.attach})
	s.left = -1
	again := observe(context.Background(), c, manner{key: 1, drawn: 1 << 40, env: s.attach})
	what := fmt.Sprintf("killed after file %d and run again", files)
	if again.err != nil {
		t.Errorf("%s: %v", what, again.err)
		return
	}
	if err := again.ledger.Close(); err != nil {
		t.Errorf("%s: what was paid is not what was planned: %v", what, err)
	}
	if differs(t, whole, again) {
		t.Errorf("%s: releases other bytes than a run that nobody killed", what)
	}
}
