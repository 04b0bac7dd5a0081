package main

import (
	"errors"
	"io"
	"testing"
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
