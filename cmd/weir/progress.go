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
		return &bars{p: mpb.New(mpb.WithOutput(w), mpb.WithWidth(40), mpb.WithRefreshRate(150*time.Millisecond)), bars: map[string]*bar{}}
	}
	return &lines{w: w, began: map[string]time.Time{}, said: map[string]time.Time{}}
}

type bars struct {
	p    *mpb.Progress
	mu   sync.Mutex
	bars map[string]*bar
}

type bar struct {
	*mpb.Bar
	note string
}

// Start adds a bar whose total is not known yet.
func (b *bars) Start(stage, kind string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	entry := &bar{}
	entry.Bar = b.p.AddBar(0,
		mpb.PrependDecorators(decor.Name(stage, decor.WC{W: 14, C: decor.DindentRight}), decor.Percentage(decor.WC{W: 5})),
		mpb.AppendDecorators(decor.OnComplete(decor.Any(func(s decor.Statistics) string { return rateText(s.Current, s.Total) }), ""),
			decor.OnComplete(decor.AverageSpeed(0, " %.0f/s", decor.WC{W: 10}), ""),
			decor.OnComplete(decor.AverageETA(decor.ET_STYLE_GO, decor.WC{W: 7}), " done")))
	b.bars[stage] = entry
}

func rateText(done, total int64) string {
	if total == 0 {
		return ""
	}
	return fmt.Sprintf("%d/%d", done, total)
}

func (b *bars) Progress(stage string, done, total int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if entry := b.bars[stage]; entry != nil && total > 0 {
		entry.SetTotal(total, false)
		entry.SetCurrent(min(done, total-1)) // the last unit is End's, so that a bar closes once
	}
}

func (b *bars) End(stage string, reused bool, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	entry := b.bars[stage]
	if entry == nil {
		return
	}
	if err != nil {
		entry.Abort(false)
		return
	}
	entry.SetTotal(max(1, entry.Current()+1), false)
	entry.SetCurrent(max(1, entry.Current()+1))
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
