// Package codebook makes a domain of what a publisher says of a table: one file that describes columns by itself
// (Import), or a list of columns
// (data-specs of the NIST challenges) and codebooks (of IPUMS, with every code and its
// label, a line on each column, or dictionaries of NIST's data excerpts). It opens no table. What it reads may come
// from anyone: sizes are bounded, and damage is named with its line.
package codebook

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// MaxBytes is the most of one file that is read.
const MaxBytes = 8 << 20

// Entry is what a codebook says of a column.
type Entry struct {
	Doc   string
	Codes []Code      // in the order of the file; nil where it lists none
	Range *[2]float64 // of numbers beside or instead of codes; nil where it gives none
}

// Code is a value and what it means.
type Code struct{ Value, Label string }

// Book is what codebooks say, by column.
type Book struct {
	by      map[string]*Entry
	sources map[string]string // which file lists the codes of a column
}

// NewBook returns one that says nothing.
func NewBook() *Book { return &Book{by: map[string]*Entry{}, sources: map[string]string{}} }

// Of returns what is said of a column, and by which file its codes are listed.
func (b *Book) Of(name string) (e Entry, source string) {
	if at := b.by[name]; at != nil {
		e = *at
	}
	return e, b.sources[name]
}

func (b *Book) entry(name string) *Entry {
	if b.by[name] == nil {
		b.by[name] = &Entry{}
	}
	return b.by[name]
}

// grammar is the grammar of the lines of a codebook. A section of IPUMS is " NAME<tab><tab>title"
// and then a line "code<tab><tab>label" for each value, with headings between that begin
// with tabs. A line on a column is "NAME: text".
type grammar struct{ section, code, about *regexp.Regexp }

func newGrammar() grammar {
	return grammar{section: regexp.MustCompile(`^ ([A-Z][A-Z0-9_]*)\t+(.*)$`),
		code:  regexp.MustCompile(`^([0-9]{1,12})\t+(.*)$`),
		about: regexp.MustCompile(`^([A-Z][A-Z0-9_]*):[ \t]*(.*)$`)}
}

// Add reads a codebook, called name in messages, into b. Codes that an earlier file
// lists for a column are kept.
func (b *Book) Add(name string, data []byte) error {
	if len(data) > MaxBytes {
		return fmt.Errorf("%s: has %d bytes, must have at most %d", name, len(data), MaxBytes)
	}
	if !utf8.Valid(data) || bytes.IndexByte(data, 0) >= 0 {
		return fmt.Errorf("%s: is not text in UTF-8, must be", name)
	}
	if isDictionary(data) {
		if err := b.dictionary(name, data); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		return nil
	}
	r := &reading{grammar: newGrammar(), book: b, file: name, own: map[string]bool{}}
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, len(data)+1)
	for n := 1; lines.Scan(); n++ {
		if err := r.line(strings.TrimRight(lines.Text(), "\r ")); err != nil {
			return fmt.Errorf("%s:%d: %w", name, n, err)
		}
	}
	if len(r.own) == 0 {
		return fmt.Errorf("%s: describes no column; a codebook has lines \"NAME: text\", or sections \" NAME<tab>title\" "+
			"with lines \"code<tab>label\"", name)
	}
	return lines.Err()
}

// reading is a codebook on its way.
type reading struct {
	grammar
	book  *Book
	file  string
	at    string          // the column whose codes are being listed; "" before the first
	skip  bool            // another file lists them
	codes map[string]bool // of the section
	own   map[string]bool // columns that this file has met
}

func (r *reading) line(line string) error {
	if m := r.section.FindStringSubmatch(line); m != nil {
		return r.open(m[1], m[2])
	}
	switch m := r.grammar.code.FindStringSubmatch(line); {
	case r.at == "":
		if about := r.about.FindStringSubmatch(line); about != nil {
			r.describe(about[1], about[2])
		}
		return nil // what stands before the first section is about the extract
	case line == "" || line[0] == '\t':
		return nil // a heading, or a place that has no code of its own
	case m == nil:
		return fmt.Errorf("is %.60q in the section of %s, must be code<tab>label, or a heading that begins with a tab", line,
			r.at)
	default:
		return r.list(plainCode(m[1]), strings.TrimSpace(m[2]))
	}
}

// open begins the section of a column.
func (r *reading) open(name, title string) error {
	if r.own[name] {
		return fmt.Errorf("has a second section of %s, must have one", name)
	}
	r.own[name], r.at, r.codes = true, name, map[string]bool{}
	r.skip = r.book.sources[name] != ""
	e := r.book.entry(name)
	if e.Doc == "" {
		e.Doc = strings.TrimSpace(title)
	}
	return nil
}

func (r *reading) describe(name, text string) {
	r.own[name] = true
	if e := r.book.entry(name); e.Doc == "" {
		e.Doc = strings.TrimSpace(text)
	}
}

func (r *reading) list(value, label string) error {
	if r.codes[value] {
		return fmt.Errorf("lists the code %s of %s a second time, must list it once", value, r.at)
	}
	r.codes[value] = true
	if r.skip {
		return nil
	}
	e := r.book.entry(r.at)
	e.Codes = append(e.Codes, Code{value, label})
	r.book.sources[r.at] = r.file
	return nil
}

// plainCode has no leading zeros, which the rows have not either.
func plainCode(s string) string {
	if s = strings.TrimLeft(s, "0"); s == "" {
		return "0"
	}
	return s
}

// isDictionary: a JSON object is a dictionary of NIST's data excerpts, any other text a
// codebook of lines.
func isDictionary(data []byte) bool {
	return bytes.HasPrefix(bytes.TrimSpace(data), []byte("{"))
}

// dictionary reads {NAME: {"description": ..., "values": {CODE: label, "min": ..., "max":
// ...}}}: codes, and a range of numbers where min and max are given. Columns without such
// values (a text that describes them) have a doc alone.
func (b *Book) dictionary(file string, data []byte) error {
	return whole(data, func(d *json.Decoder, name string) error {
		var topic struct {
			Description any             `json:"description"`
			Values      json.RawMessage `json:"values"`
		}
		if err := d.Decode(&topic); broken(err) {
			return err
		} else if err != nil {
			return fmt.Errorf("%.60q: is of another form, must be an object with a description and values", name)
		}
		e := b.entry(name)
		if text, ok := topic.Description.(string); ok && e.Doc == "" {
			e.Doc = strings.TrimSpace(text)
		}
		if b.sources[name] != "" || !bytes.HasPrefix(bytes.TrimSpace(topic.Values), []byte("{")) {
			return nil
		}
		if err := e.values(topic.Values); err != nil {
			return fmt.Errorf("%.60q: values: %w", name, err)
		}
		if len(e.Codes) > 0 || e.Range != nil {
			b.sources[name] = file
		}
		return nil
	})
}

func (e *Entry) values(data []byte) error {
	ends := map[string]float64{}
	err := whole(data, func(d *json.Decoder, key string) error {
		var v scalar
		if err := d.Decode(&v); err != nil {
			return fmt.Errorf("%.60q: is of another type, must be text or a number", key)
		}
		if key != "min" && key != "max" {
			e.Codes = append(e.Codes, Code{key, string(v)})
			return nil
		}
		x, err := strconv.ParseFloat(string(v), 64)
		if err != nil || x-x != 0 {
			return fmt.Errorf("%s: is %.60q, must be a number", key, v)
		}
		ends[key] = x
		return nil
	})
	least, one := ends["min"]
	most, two := ends["max"]
	switch {
	case err != nil || !one && !two:
		return err
	case !one || !two || !(least < most):
		return fmt.Errorf("has min and max that give no range, must have both, min below max")
	}
	e.Range = &[2]float64{least, most}
	return nil
}
