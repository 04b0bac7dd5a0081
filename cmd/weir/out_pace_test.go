package main

import (
	"testing"
	"time"
)

// TestPace: the expected texts follow from the reports by (total-done)/rate.
func TestPace(t *testing.T) {
	for name, c := range map[string]struct {
		reports [][2]int64 // seconds since the start, units done
		want    string
	}{
		"nothing":                      {nil, ""},
		"one report":                   {[][2]int64{{30, 64}}, ""},
		"one tree after a long start":  {[][2]int64{{12, 1}, {13, 2}}, ""},
		"too short":                    {[][2]int64{{0, 0}, {4, 400}}, ""},
		"steady":                       {[][2]int64{{0, 0}, {5, 50}, {10, 100}}, ", 10/s, about 1m30s left"},
		"resumed at 900 of 1000":       {[][2]int64{{0, 900}, {10, 920}}, ", 2/s, about 40s left"},
		"slow":                         {[][2]int64{{0, 0}, {60, 6}}, ", 6/min, about 2h46m0s left"},
		"slow at first, faster lately": {[][2]int64{{0, 0}, {1000, 100}, {1030, 400}, {1060, 700}}, ", 10/s, about 30s left"},
		"many reports of a second": {[][2]int64{{0, 0}, {0, 10}, {0, 20}, {0, 30}, {10, 100}},
			", 10/s, about 1m30s left"},
	} {
		var p pace
		var done int64
		for _, r := range c.reports {
			done = r[1]
			p.add(time.Unix(r[0], 0), done)
		}
		if got := p.text(", ", done, 1000); got != c.want {
			t.Errorf("%s: %q, must be %q", name, got, c.want)
		}
	}
}

// TestRunsLeft: of four runs that took a minute each for the first two, two minutes are left; of none, nothing is said.
func TestRunsLeft(t *testing.T) {
	r := runsLeft{total: 4, done: 2}
	for done, want := range map[int]string{1: "1 of 4 runs done, about 6m0s left", 2: "2 of 4 runs done, about 2m0s left",
		4: "4 of 4 runs done"} {
		r.done = done
		if got := r.words(2 * time.Minute); got != want {
			t.Errorf("%q, must be %q", got, want)
		}
	}
	lines := []string{}
	r = runsLeft{total: 2, began: time.Now(), show: func(_, _ int, words string) { lines = append(lines, words) }}
	r.ran()
	r.ran()
	if len(lines) != 2 || lines[1] != "2 of 2 runs done" {
		t.Errorf("said %q", lines)
	}
}
