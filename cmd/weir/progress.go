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
	Runs(done, total int, words string)    // of an experiment, how many have ended
	Looking(dataset string) (known func()) // runtime.Options.Looking
	Wait()
}

// newProgress shows bars on a terminal, plain lines elsewhere, and events where w takes them.
func newProgress(w io.Writer, quiet bool) progress {
	if e, ok := w.(*events); ok {
		return e
	}
	if f, ok := w.(*os.File); ok && !quiet && term.IsTerminal(int(f.Fd())) {
		return newBars(w)
	}
	return &lines{w: w, stages: map[string]*lineOf{}}
}

type bars struct {
	p    *mpb.Progress
	mu   sync.Mutex
	runs *mpb.Bar // of an experiment; nil before a run of one has ended

	wordsMu sync.Mutex // of what its bar says, which it reads whenever it likes
	words   string

	stages map[string]*barOf
}

// barOf is the bar of a stage at work.
type barOf struct {
	*mpb.Bar
	mu    sync.Mutex // of what the bar shows, which it does whenever it likes
	pace  pace
	from  int64 // an attempt before came so far
	ended string
}

func newBars(w io.Writer, options ...mpb.ContainerOption) *bars {
	options = append(options, mpb.WithOutput(w), mpb.WithWidth(40), mpb.WithRefreshRate(150*time.Millisecond),
		mpb.PopCompletedMode())
	return &bars{p: mpb.New(options...), stages: map[string]*barOf{}}
}

// Start adds a bar whose total is not known yet.
func (b *bars) Start(stage, kind string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	one := &barOf{}
	one.Bar = b.p.AddBar(0,
		mpb.PrependDecorators(decor.Name(stage, decor.WC{W: 14, C: decor.DindentRight}),
			decor.Any(one.share, decor.WC{W: 5})),
		mpb.AppendDecorators(decor.Any(one.text)))
	b.stages[stage] = one
}

// share returns how much is done, or how the stage ended.
func (b *barOf) share(s decor.Statistics) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ended != "" {
		return " " + b.ended
	}
	if s.Total <= 0 {
		return "0 %"
	}
	return fmt.Sprintf("%d %%", 100*s.Current/s.Total)
}

// text returns how far a stage is, where it went on from, and its pace; the bar of a finished
// stage does not move any more, and the bar of a stopped one says where it stands.
func (b *barOf) text(s decor.Statistics) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ended == stageDone || s.Total <= 0 || s.Current <= 0 {
		return ""
	}
	text := fmt.Sprintf(" %d/%d", s.Current, s.Total)
	if b.ended != "" {
		return text
	}
	if b.from > 0 {
		text += fmt.Sprintf(" (from %d)", b.from)
	}
	return text + b.pace.text("  ", s.Current, s.Total)
}

// Words of bars whose stages are at work no more.
const stageDone, stageStopped = "done", "stopped"

func (b *bars) Resumed(stage string, done, total int64) {
	b.set(stage, done, total, func(one *barOf) { one.from = done })
}

func (b *bars) Progress(stage string, done, total int64) {
	b.set(stage, done, total, func(*barOf) {})
}

func (b *bars) set(stage string, done, total int64, how func(*barOf)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	one := b.stages[stage]
	if one == nil || total <= 0 {
		return
	}
	one.mu.Lock()
	how(one)
	one.pace.add(time.Now(), done)
	one.mu.Unlock()
	one.SetTotal(total, false)
	one.SetCurrent(min(done, total-1)) // the last unit is End's, so that a bar closes once
}

func (b *bars) End(stage string, reused bool, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	one := b.stages[stage]
	if one == nil {
		return
	}
	one.mu.Lock()
	one.ended = stageDone
	if err != nil {
		one.ended = stageStopped
	}
	one.mu.Unlock()
	if err != nil {
		one.Abort(false)
		return
	}
	one.SetCurrent(one.Current() + 1)
	one.SetTotal(-1, true) // the total is where it stands, and it is complete
}

// Runs has a bar of its own, which stands until all runs have ended.
func (b *bars) Runs(done, total int, words string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.runs == nil {
		text := func(decor.Statistics) string {
			b.wordsMu.Lock()
			defer b.wordsMu.Unlock()
			return " " + b.words
		}
		b.runs = b.p.AddBar(int64(total), mpb.BarPriority(1<<20), mpb.BarRemoveOnComplete(),
			mpb.PrependDecorators(decor.Name("runs", decor.WC{W: 14, C: decor.DindentRight}), decor.Percentage(decor.WC{W: 5})),
			mpb.AppendDecorators(decor.Any(text)))
	}
	b.wordsMu.Lock()
	b.words = words
	b.wordsMu.Unlock()
	b.runs.SetCurrent(int64(done))
}

// Looking writes above the bars.
func (b *bars) Looking(dataset string) (known func()) { return looking(b.p, dataset) }

func (b *bars) Wait() {
	b.mu.Lock()
	if b.runs != nil {
		b.runs.Abort(true) // where some run failed it is not full
	}
	b.mu.Unlock()
	b.p.Wait()
}

// lines prints the beginning and end of each stage, and every ten seconds how
// far a long one is.
type lines struct {
	w      io.Writer
	mu     sync.Mutex
	stages map[string]*lineOf
}

// lineOf is what is known of a stage at work.
type lineOf struct {
	began, said time.Time
	done, total int64
	pace        pace
}

const lineEvery = 10 * time.Second

func (l *lines) Start(stage, kind string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	l.stages[stage] = &lineOf{began: now, said: now}
	fmt.Fprintf(l.w, "%s: %s\n", stage, kind)
}

func (l *lines) Resumed(stage string, done, total int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if of := l.stages[stage]; of != nil {
		of.pace.add(time.Now(), done)
		of.done, of.total = done, total
		fmt.Fprintf(l.w, "%s: goes on from its checkpoint at %d of %d\n", stage, done, total)
	}
}

func (l *lines) Progress(stage string, done, total int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	bar, now := l.stages[stage], time.Now()
	if bar == nil || total <= 0 {
		return
	}
	bar.pace.add(now, done)
	bar.done, bar.total = done, total
	if done <= 0 || now.Sub(bar.said) < lineEvery {
		return
	}
	bar.said = now
	fmt.Fprintf(l.w, "%s: %d of %d%s\n", stage, done, total, bar.pace.text(", ", done, total))
}

func (l *lines) End(stage string, reused bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	bar := l.stages[stage]
	if bar == nil {
		return
	}
	how := "done in " + time.Since(bar.began).Round(10*time.Millisecond).String()
	switch {
	case err != nil && bar.total > 0:
		how = fmt.Sprintf("%s at %d of %d", stageStopped, bar.done, bar.total)
	case err != nil:
		how = stageStopped
	case reused:
		how = "reused"
	}
	fmt.Fprintf(l.w, "%s: %s\n", stage, how)
}

func (l *lines) Runs(_, _ int, words string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	fmt.Fprintln(l.w, words)
}

// Looking has lines of its own between the others.
func (l *lines) Looking(dataset string) (known func()) { return looking(l, dataset) }

// Write writes whole lines.
func (l *lines) Write(text []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(text)
}

func (l *lines) Wait() {}

// quiet is how long weir may look at rows before it says so.
const quiet = 5 * time.Second

// looking says, where it takes long, that rows are read before any stage is at work.
func looking(w io.Writer, dataset string) (known func()) {
	began, done := time.Now(), make(chan struct{})
	saying := time.AfterFunc(quiet, func() {
		defer close(done)
		fmt.Fprintf(w, "dataset: reading %s to tell which dataset it is; rows that are new take longest\n", dataset)
	})
	return func() {
		if saying.Stop() {
			return
		}
		<-done
		fmt.Fprintf(w, "dataset: known after %s\n", time.Since(began).Round(10*time.Millisecond))
	}
}

// pace estimates the time that a stage still takes from what this process has seen of it
// lately: neither from what an attempt before did, nor from what came before its first
// report, such as reading the rows.
type pace struct {
	seen []reached // at least paceApart apart, of paceWindow
}

type reached struct {
	at   time.Time
	done int64
}

const (
	paceWindow = time.Minute
	paceApart  = time.Second
	paceLeast  = 5 * time.Second // that reports must span
	paceUnits  = 3               // that they must differ by: one may be unlike the others
)

// add takes a report.
func (p *pace) add(now time.Time, done int64) {
	n := len(p.seen)
	if n > 1 && p.seen[n-1].at.Sub(p.seen[n-2].at) < paceApart {
		p.seen = p.seen[:n-1] // the last report always counts
	}
	p.seen = append(p.seen, reached{now, done})
	for len(p.seen) > 2 && now.Sub(p.seen[1].at) >= paceWindow {
		p.seen = p.seen[1:]
	}
}

// text returns the rate and the time left behind a separator, "" where too little is known.
func (p *pace) text(separator string, done, total int64) string {
	if len(p.seen) < 2 {
		return ""
	}
	first, last := p.seen[0], p.seen[len(p.seen)-1]
	spent, units := last.at.Sub(first.at), last.done-first.done
	if spent < paceLeast || units < paceUnits {
		return ""
	}
	rate := float64(units) / spent.Seconds()
	left := time.Duration(float64(total-done) / rate * float64(time.Second))
	words := fmt.Sprintf("%.0f/s", rate)
	if rate < 1 {
		words = fmt.Sprintf("%.0f/min", 60*rate)
	}
	return fmt.Sprintf("%s%s%sabout %s left", separator, words, separator, coarse(left))
}

// runsLeft counts the runs of an experiment that have ended, and estimates from them how long the others take.
type runsLeft struct {
	mu          sync.Mutex
	began       time.Time
	done, total int
	show        func(done, total int, words string)
}

// ran takes up that a run has ended.
func (r *runsLeft) ran() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.done++
	r.show(r.done, r.total, r.words(time.Since(r.began)))
}

// words says how many runs have ended and, while some have not, how long these take if they are like the others.
func (r *runsLeft) words(spent time.Duration) string {
	text := fmt.Sprintf("%d of %d runs done", r.done, r.total)
	if r.done < r.total {
		text += fmt.Sprintf(", about %s left", coarse(spent*time.Duration(r.total-r.done)/time.Duration(r.done)))
	}
	return text
}

// coarse rounds a time to what an estimate can tell: seconds below a minute, tens of them
// below an hour, then minutes.
func coarse(d time.Duration) time.Duration {
	switch {
	case d < time.Minute:
		return d.Round(time.Second)
	case d < time.Hour:
		return d.Round(10 * time.Second)
	}
	return d.Round(time.Minute)
}
