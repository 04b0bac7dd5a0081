package table

import (
	"context"
	"io"
	"sync"

	"github.com/apache/arrow/go/v15/arrow"
)

// result is what became of one chunk.
type result struct {
	record   arrow.Record
	problems problems
	err      error // of reading, ends the flow
}

// flow reads and decompresses in one goroutine and parses chunks in others.
// Results come in the order of the file: each waits in its own channel.
type flow struct {
	results chan chan result
	running sync.WaitGroup
}

func (f *flow) wait() {
	for range f.results { // lets the reader see that nobody listens
	}
	f.running.Wait()
}

// start begins to read; the caller drains results and then waits.
func (t *csvTable) start(ctx context.Context) *flow {
	f := &flow{results: make(chan chan result, t.options.Workers)}
	f.running.Add(1)
	go func() {
		defer f.running.Done()
		defer close(f.results)
		if err := t.cut(ctx, f); err != nil {
			send(ctx, f, result{err: err})
		}
	}()
	return f
}

func send(ctx context.Context, f *flow, r result) {
	c := make(chan result, 1)
	c <- r
	select {
	case f.results <- c:
	case <-ctx.Done():
	}
}

// cut hands chunks to Workers parsers; buffers go back and forth, so that at
// most Workers+1 of them exist.
func (t *csvTable) cut(ctx context.Context, f *flow) error {
	s, err := openText(t.fsys, t.name, t.dialect)
	if err != nil {
		return err
	}
	defer s.Close()
	line, err := skipBlank(s, t.dialect)
	if err != nil {
		return t.ended(ctx, err, line)
	}
	split := newSplitter(untilDone{ctx, s}, t.dialect, t.options.BatchRows, chunkBytes)
	split.line = line
	parsers := make(chan *parser, t.options.Workers)
	for range t.options.Workers {
		parsers <- newParser(t)
	}
	buffers := make(chan []byte, t.options.Workers+1)
	for range cap(buffers) {
		buffers <- nil
	}
	for {
		buf := <-buffers
		c, err := split.next(buf)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return t.ended(ctx, err, split.line)
		}
		out := make(chan result, 1)
		select {
		case f.results <- out:
		case <-ctx.Done():
			return ctx.Err()
		}
		p := <-parsers
		f.running.Add(1)
		go func() {
			defer f.running.Done()
			out <- p.chunk(c)
			parsers <- p
			buffers <- c.data
		}()
	}
}

func (t *csvTable) ended(ctx context.Context, err error, line int64) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return t.failed(err, line)
}
