package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/term"

	"weir/runtime"
)

// progress is a Reporter that can be waited for.
type progress interface {
	runtime.Reporter
	Wait()
}

// newProgress shows bars on a terminal, plain lines elsewhere.
func newProgress(w io.Writer, quiet bool) progress {
	if f, ok := w.(*os.File); ok && !quiet && term.IsTerminal(int(f.Fd())) {
		return newBars(w)
	}
	return &lines{w: w, began: map[string]time.Time{}, said: map[string]time.Time{}}
}

type bars struct {
	p    *mpb.Progress
	mu   sync.Mutex
	bars map[string]*mpb.Bar
}

func newBars(w io.Writer, options ...mpb.ContainerOption) *bars {
	options = append(options, mpb.WithOutput(w), mpb.WithWidth(40), mpb.WithRefreshRate(150*time.Millisecond))
	return &bars{p: mpb.New(options...), bars: map[string]*mpb.Bar{}}
}

// Start adds a bar whose total is not known yet.
func (b *bars) Start(stage, kind string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	began := time.Now()
	b.bars[stage] = b.p.AddBar(0,
		mpb.PrependDecorators(decor.Name(stage, decor.WC{W: 14, C: decor.DindentRight}), decor.OnComplete(decor.Percentage(decor.WC{W: 5}), " done")),
		mpb.AppendDecorators(decor.Any(func(s decor.Statistics) string { return barText(s, time.Since(began)) })))
}

// barText is how far a stage is, at what rate, and the time left; the bar of a
// finished stage does not move any more.
func barText(s decor.Statistics, spent time.Duration) string {
	if s.Completed || s.Aborted || s.Total <= 0 || s.Current <= 0 {
		return ""
	}
	left := time.Duration(float64(spent) * float64(s.Total-s.Current) / float64(s.Current))
	return fmt.Sprintf(" %d/%d  %.0f/s  %s left", s.Current, s.Total, float64(s.Current)/spent.Seconds(), left.Round(time.Second))
}

func (b *bars) Progress(stage string, done, total int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if bar := b.bars[stage]; bar != nil && total > 0 {
		bar.SetTotal(total, false)
		bar.SetCurrent(min(done, total-1)) // the last unit is End's, so that a bar closes once
	}
}

func (b *bars) End(stage string, reused bool, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	bar := b.bars[stage]
	switch {
	case bar == nil:
	case err != nil:
		bar.Abort(false)
	default:
		bar.SetCurrent(bar.Current() + 1)
		bar.SetTotal(-1, true) // the total is where it stands, and it is complete
	}
}

func (b *bars) Wait() { b.p.Wait() }

// lines prints the beginning and end of each stage, and every ten seconds how
// far a long one is.
type lines struct {
	w     io.Writer
	mu    sync.Mutex
	began map[string]time.Time
	said  map[string]time.Time
}

const lineEvery = 10 * time.Second

func (l *lines) Start(stage, kind string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	l.began[stage], l.said[stage] = now, now
	fmt.Fprintf(l.w, "%s: %s\n", stage, kind)
}

func (l *lines) Progress(stage string, done, total int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	if total <= 0 || done <= 0 || now.Sub(l.said[stage]) < lineEvery {
		return
	}
	l.said[stage] = now
	spent := now.Sub(l.began[stage])
	left := time.Duration(float64(spent) * float64(total-done) / float64(done))
	fmt.Fprintf(l.w, "%s: %d of %d, %.0f/s, %s left\n", stage, done, total, float64(done)/spent.Seconds(), left.Round(time.Second))
}

func (l *lines) End(stage string, reused bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	how := "done in " + time.Since(l.began[stage]).Round(10*time.Millisecond).String()
	switch {
	case err != nil:
		how = "stopped"
	case reused:
		how = "reused"
	}
	fmt.Fprintf(l.w, "%s: %s\n", stage, how)
}

func (l *lines) Wait() {}
