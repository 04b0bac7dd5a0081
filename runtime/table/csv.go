package table

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/apache/arrow/go/v15/arrow"

	"weir/pipeline"
	"weir/pipeline/domain"
)

const (
	ruleNoHeader = "holds nothing, not even a header"
	ruleEmpty    = "holds no rows"
	ruleReturn   = "holds a carriage return that ends no line; accepted: lines that end with LF or CRLF (convert the " +
		"file, for example with tr '\\r' '\\n')"
)

// csvTable reads one text file.
type csvTable struct {
	fsys    FS
	name    string
	dialect *dialect
	domain  *domain.Domain
	schema  *arrow.Schema
	options options
	layout  layout
	header  string // the raw header, to see that the file is still the same one
}

// textFormat reads and writes text with a delimiter: CSV, TSV and what is like them.
type textFormat struct{}

// Name implements Format.
func (textFormat) Name() string { return "csv" }

// Begins implements Format: text is what is not an archive.
func (textFormat) Begins(head []byte) bool {
	return !begins(head, "PK\x03\x04", "\x28\xb5\x2f\xfd", "BZh", "\xfd7zXZ")
}

// openText opens a file at the beginning of its text.
func openText(fsys FS, name string, d *dialect) (*stream, error) {
	s, err := openStream(fsys, name)
	if err != nil {
		return nil, err
	}
	if err := s.asText(name, d); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// asText turns the content into UTF-8, behind its byte order mark.
func (s *stream) asText(name string, d *dialect) error {
	if d.encoding.decoder == nil && begins(s.head, "\xff\xfe", "\xfe\xff") {
		return wrong(name, "is UTF-16 text; accepted: UTF-8, or utf-16 declared: csv.encoding in a spec, --encoding of weir "+
			"domain infer and weir init")
	}
	if engine := s.databaseOf(); engine != "" {
		return wrong(name, "is a %s database; accepted: %s, or a YAML file whose dataset reads a table of it through "+
			"DuckDB (dataset.database)", engine, strings.Join(names(), ", "))
	}
	if d.encoding.decoder != nil {
		s.Reader = bufio.NewReaderSize(d.encoding.decoder.NewDecoder().Reader(s.Reader), 1<<18)
	}
	head, err := s.Peek(len(utf8Mark))
	if err != nil && err != io.EOF {
		return readError(name, err)
	}
	if begins(head, utf8Mark) {
		s.Discard(len(utf8Mark))
	}
	return nil
}

// databaseOf names the engine of a database in one file, by its first bytes ("Database File Format", sqlite.org, 1.3;
// DuckDB's "Storage Versions and Format"); "" for all else.
func (s *stream) databaseOf() string {
	head, _ := s.Peek(16)
	switch {
	case begins(head, "SQLite format 3\x00"):
		return "SQLite"
	case len(head) >= 12 && string(head[8:12]) == "DUCK" && bytes.IndexByte(head, 0) >= 0:
		return "DuckDB"
	}
	return ""
}

const utf8Mark = "\xef\xbb\xbf"

// open checks the first record.
func (textFormat) open(in *input) (rowReader, error) {
	if err := in.stream.asText(in.name, in.dialect); err != nil {
		return nil, err
	}
	t, err := openCSV(in)
	if err != nil {
		return nil, err
	}
	return t.Open, nil
}

// openCSV checks the first record and returns the layout of the file.
func openCSV(in *input) (*csvTable, error) {
	name, d, dom := in.name, in.dialect, in.domain
	t := &csvTable{fsys: in.fsys, name: name, dialect: d, domain: dom, schema: recordSchema(dom, d), options: in.options}
	p := &problems{file: name, unit: "line"}
	head, line, err := firstText(in.stream, d)
	if err != nil {
		return nil, t.failed(err, 1)
	}
	values, next, rule := firstRecord(d, head)
	switch {
	case len(values) == 0 && rule == "" && d.header:
		return nil, wrong(name, ruleNoHeader)
	case len(values) == 0 && rule == "": // a table without rows is a table
		t.layout = byPosition(len(dom.Columns), dom, p, line, d.ignoreExtra)
	case rule != "":
		p.add(line, "", rule)
	case returned(values):
		p.add(line, "", ruleReturn)
	case d.header && d.unreadable(head[:min(next, len(head))]) >= 0:
		p.add(line, "", d.encodingRule())
	case !t.delimited(values, head, p, line):
	case d.header:
		t.header = string(head[:min(next, len(head))])
		t.layout = byName(values, dom, p, line, d.extra(undeclared))
	default:
		t.layout = byPosition(len(values), dom, p, line, d.ignoreExtra)
		t.lookLikeHeader(values, p, line)
	}
	return t, p.err(false)
}

// firstText reads the first record, after blanks and comments, and says on which
// line it begins.
func firstText(s *stream, d *dialect) ([]byte, int64, error) {
	line, err := skipBlank(s, d)
	if err != nil {
		return nil, line, err
	}
	split := newSplitter(s, d, 1, 1<<16)
	c, err := split.next(nil)
	if err == io.EOF {
		return nil, line, nil
	}
	return c.data, line, err
}

// skipBlank moves over the blank and comment lines at the top, however many, and
// returns the line behind them.
func skipBlank(s *stream, d *dialect) (int64, error) {
	x := newLexer(d)
	x.line = 1
	for {
		b, err := s.Peek(s.Size())
		if err != nil && err != io.EOF {
			return x.line, err
		}
		end := err == io.EOF
		if x.buf = b; !end {
			x.buf = b[:bytes.LastIndexByte(b, '\n')+1]
		}
		p := x.skip(0)
		s.Discard(p)
		if p < len(x.buf) || end {
			return x.line, nil
		}
		if len(x.buf) == 0 && !x.commented(b) {
			return x.line, nil
		}
		if len(x.buf) == 0 {
			if err := s.dropLine(); err != nil {
				return x.line, err
			}
			x.line++
		}
	}
}

// returned reports line ends of CR alone, by which names and values come to stand
// in one line.
func returned(values []string) bool {
	return slices.ContainsFunc(values, func(v string) bool { return strings.ContainsRune(v, '\r') })
}

// delimited looks for a delimiter that fits better where only one column is found.
func (t *csvTable) delimited(values []string, head []byte, p *problems, line int64) bool {
	want := len(t.domain.Columns)
	if len(values) > 1 || want == 1 {
		return true
	}
	rule := fmt.Sprintf("has one column where the domain declares %d: the delimiter is %s", want, shown(t.dialect.delim))
	if c, cut := suggest(t.dialect, head, want); cut > 0 {
		rule += fmt.Sprintf("; %s would give %d: set csv.delimiter: %s (weir evaluate: --delimiter)", shown(c), cut, shown(c))
	}
	p.add(line, "", rule)
	return false
}

// lookLikeHeader catches header: false on a file that has one.
func (t *csvTable) lookLikeHeader(values []string, p *problems, line int64) {
	same := 0
	for _, v := range values {
		if t.domain.Column(v) != nil {
			same++
		}
	}
	if 2*same > len(values) {
		p.add(line, "", "holds the declared column names; set csv.header: true")
	}
}

// failed turns an error of reading into a problem.
func (t *csvTable) failed(err error, line int64) error {
	if errors.Is(err, errLong) {
		return &Error{Problems: []Problem{{File: t.name, Line: line, Unit: "line", Rule: errLong.Error()}}}
	}
	return readError(t.name, err)
}

// Open streams the rows; see pipeline.Table.
func (t *csvTable) Open(ctx context.Context) pipeline.Batches {
	return func(yield func(arrow.Record, error) bool) {
		if err := t.read(ctx, yield); err != nil {
			yield(nil, err)
		}
	}
}

// read yields records in order until a problem is found; from then on it only
// collects problems. errStop is never returned.
func (t *csvTable) read(ctx context.Context, yield func(arrow.Record, error) bool) error {
	ctx, cancel := context.WithCancel(ctx)
	flow := t.start(ctx)
	defer flow.wait()
	defer cancel()
	all := &problems{file: t.name, unit: "line"}
	for r := range flow.results {
		got := <-r
		if got.err != nil {
			return joined(all, got.err)
		}
		all.take(&got.problems)
		if all.full() {
			return all.err(true)
		}
		if len(all.list) > 0 || got.record == nil {
			continue
		}
		if !yield(got.record, nil) {
			return nil
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return all.err(false) // that there are no rows is no error: where their number is private, it would tell it
}

// joined adds what ended the reading to the problems found before.
func joined(all *problems, err error) error {
	if len(all.list) == 0 || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) ||
		errors.Is(err, pipeline.ErrChanged) {
		return err
	}
	for _, p := range asProblems(all.file, err) {
		all.merge(p)
	}
	return all.err(true)
}

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
