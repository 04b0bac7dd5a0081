package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"

	"weir/internal/plaintext"
)

// newLog writes for scripts, with time and level, where every stage is asked for
// (verbose), and else for a person: what needs a look, a line each.
func newLog(w io.Writer, verbose bool) *slog.Logger {
	if verbose {
		return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: slog.LevelInfo}))
	}
	return slog.New(&notes{w: w, mu: &sync.Mutex{}})
}

// notes is a handler that prints warnings as sentences.
type notes struct {
	w     io.Writer
	mu    *sync.Mutex
	attrs []slog.Attr
}

func (n *notes) Enabled(_ context.Context, l slog.Level) bool { return l >= slog.LevelWarn }

func (n *notes) Handle(_ context.Context, r slog.Record) error {
	var with []string
	add := func(a slog.Attr) bool {
		with = append(with, fmt.Sprintf("%s: %v", a.Key, a.Value))
		return true
	}
	for _, a := range n.attrs {
		add(a)
	}
	r.Attrs(add)
	text := r.Message
	if len(with) > 0 {
		text += " (" + strings.Join(with, ", ") + ")"
	}
	text = plaintext.Text(text)
	n.mu.Lock()
	defer n.mu.Unlock()
	_, err := fmt.Fprintf(n.w, "%s %s\n", paint(n.w, bold, "note:"), text)
	return err
}

func (n *notes) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &notes{n.w, n.mu, append(n.attrs[:len(n.attrs):len(n.attrs)], attrs...)}
}

// WithGroup is for groups of attributes, which nobody here makes.
func (n *notes) WithGroup(string) slog.Handler { return n }
