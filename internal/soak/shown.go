package main

import (
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
)

// shown takes down what a run shows on its way: the log that users get, and the
// progress.
type shown struct {
	mu    sync.Mutex
	lines strings.Builder
	stage []string
	total map[string]bool
	errs  map[string]error // of stages
}

func (s *shown) Start(stage, kind string) { s.note("start of " + stage + ", " + kind) }
func (s *shown) End(stage string, reused bool, err error) {
	s.note(fmt.Sprintf("end of %s, reused %t: %s", stage, reused, describe(err)))
	if err == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.errs == nil {
		s.errs = map[string]error{}
	}
	s.errs[stage] = err
}

func (s *shown) note(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stage = append(s.stage, line)
}

func (s *shown) Resumed(stage string, done, total int64) {
	s.note(fmt.Sprintf("%s goes on from %d of %d", stage, done, total))
}

func (s *shown) Progress(stage string, _, total int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.total == nil {
		s.total = map[string]bool{}
	}
	s.total[fmt.Sprintf("%s of %d", stage, total)] = true
}

func (s *shown) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lines.Write(b)
}

func (s *shown) addTo(seen map[string]string) {
	totals := slices.Sorted(maps.Keys(s.total))
	slices.Sort(s.stage) // of two that run side by side, either may be first
	lines := strings.Split(s.lines.String(), "\n")
	slices.Sort(lines)
	seen["the log"], seen["the stages"], seen["the totals of progress"] = strings.Join(lines, "\n"),
		strings.Join(s.stage, "\n"), strings.Join(totals, "\n")
}

// log is the log of `weir run` without --verbose, less the time.
func (s *shown) log() *slog.Logger {
	return slog.New(slog.NewTextHandler(s, &slog.HandlerOptions{Level: slog.LevelWarn, ReplaceAttr: func(_ []string,
		a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}))
}
