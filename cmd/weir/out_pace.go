package main

import (
	"fmt"
	"sync"
	"time"
)

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

// text is the rate and the time left behind a separator, "" where too little is known.
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
