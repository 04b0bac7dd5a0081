package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vbauerster/mpb/v8"
)

// TestBarsEnd: a bar that was never told a total, one that was, and one whose
// stage failed all let Wait return.
func TestBarsEnd(t *testing.T) {
	b := newBars(io.Discard, mpb.WithAutoRefresh())
	b.Start("silent", "drop")
	b.Start("told", "dp_wgan")
	b.Start("failed", "read")
	b.Progress("told", 3, 10)
	b.Progress("told", 10, 10)
	b.End("silent", false, nil)
	b.End("told", false, nil)
	b.End("failed", false, errors.New("no"))
	done := make(chan struct{})
	go func() { b.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatal("Wait does not return: the terminal would hang")
	}
}

// TestStoppedIsNotDone: neither a bar nor a line says of a stage that was stopped that it is
// done; both say where it stands, and where it went on from.
func TestStoppedIsNotDone(t *testing.T) {
	for name, newOne := range map[string]func(io.Writer) progress{
		"bars":  func(w io.Writer) progress { return newBars(w, mpb.WithAutoRefresh()) },
		"lines": func(w io.Writer) progress { return newProgress(w, false) },
	} {
		var out bytes.Buffer
		p := newOne(&out)
		p.Start("early", "read")
		p.End("early", false, context.Canceled)
		p.Start("train", "gs_wgan")
		p.Resumed("train", 64, 1000)
		p.Progress("train", 65, 1000)
		time.Sleep(300 * time.Millisecond) // two refreshes
		p.End("train", false, context.Canceled)
		p.Wait()
		for _, want := range []string{"64", "65", "1000", "stopped"} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%s: %q, must say %s", name, out.String(), want)
			}
		}
		if strings.Contains(out.String(), "done") {
			t.Errorf("%s: %q: nothing is done", name, out.String())
		}
	}
}

// TestFinishedBarsStand: a stage that ended is written once more and then left alone, so that the
// many stages of an experiment are not all drawn again at every refresh.
func TestFinishedBarsStand(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	b := newBars(&out, mpb.WithAutoRefresh())
	b.Start("first", "read")
	b.End("first", false, nil)
	b.Start("second", "read")
	b.End("second", false, errors.New("no"))
	b.Start("train", "dp_gan")
	time.Sleep(1500 * time.Millisecond) // ten refreshes
	b.End("train", false, nil)
	b.Wait()
	for _, stage := range []string{"first", "second"} {
		// Its bar as it was when it ended, its last one, and a refresh that came between.
		if n := strings.Count(out.String(), stage); n < 1 || n > 3 {
			t.Errorf("the bar of %s is drawn %d times, must be drawn once it ended and left alone", stage, n)
		}
	}
}

// TestLookingIsTold: nothing is said of rows that are known within five seconds; of others what is read, and how long
// it took.
func TestLookingIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for took, want := range map[time.Duration]string{
			4900 * time.Millisecond: "",
			27 * time.Second: "dataset: reading stays.csv to tell which dataset it is; rows that are new take longest\n" +
				"dataset: known after 27s\n",
		} {
			var out bytes.Buffer
			known := newProgress(&out, true).Looking("stays.csv")
			time.Sleep(took)
			known()
			if out.String() != want {
				t.Errorf("of %s it is said %q, must be %q", took, out.String(), want)
			}
		}
	})
}
