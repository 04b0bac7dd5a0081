package codebook

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"weir/schema"
)

// document is a JSON file that is read entry by entry, all its problems at once.
type document struct {
	file     string
	problems schema.Problems
}

// entry is a value of a document, with its place; one without data is not there.
type entry struct {
	in   *document
	path string
	data json.RawMessage
}

// openDocument returns the outermost entry of a file, which must be whole JSON.
func openDocument(file string, data []byte) (entry, error) {
	d := &document{file: file}
	var raw json.RawMessage
	r := json.NewDecoder(bytes.NewReader(data))
	if err := r.Decode(&raw); err != nil {
		return entry{}, fmt.Errorf("%s: is damaged at byte %d: %w", file, r.InputOffset(), err)
	}
	if _, err := r.Token(); err == nil {
		return entry{}, fmt.Errorf("%s: has text behind its object, must be one JSON object", file)
	}
	return entry{d, "", raw}, nil
}

func (e entry) there() bool { return len(e.data) > 0 && string(e.data) != "null" }

func (e entry) wrong(found, accepted string) {
	e.in.problems = append(e.in.problems, schema.Problem{File: e.in.file, Path: e.path, Found: found, Accepted: accepted})
}

// shown returns the beginning of an entry as it is written.
func (e entry) shown() string {
	text := string(e.data)
	if len(text) > 60 {
		text = text[:60] + "..."
	}
	return strconv.QuoteToASCII(text)
}

// at returns a place below the entry.
func (e entry) at(key string) string {
	if e.path == "" {
		return schema.Path(key)
	}
	return e.path + "." + schema.Path(key)
}

// keys returns the entries of an object, in their order. Keys beside the known ones are problems, unless none is given.
func (e entry) keys(known ...string) (names []string, keys map[string]entry) {
	keys = map[string]entry{}
	if !e.there() {
		return nil, keys
	}
	d := json.NewDecoder(bytes.NewReader(e.data))
	err := object(d, func(key string) error {
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return err
		}
		names, keys[key] = append(names, key), entry{e.in, e.at(key), raw}
		if len(known) > 0 && !slices.Contains(known, key) {
			var ps schema.Problems
			ps.Unknown(e.at(key), "key", key, known)
			ps[0].File = e.in.file
			e.in.problems = append(e.in.problems, ps...)
		}
		return nil
	})
	if err != nil {
		e.wrong(e.shown(), "an object, each key once")
	}
	return names, keys
}

// list returns the entries of a list.
func (e entry) list() (list []entry) {
	if !e.there() {
		return nil
	}
	var raw []json.RawMessage
	if err := json.Unmarshal(e.data, &raw); err != nil {
		e.wrong(e.shown(), "a list")
	}
	for i, r := range raw {
		list = append(list, entry{e.in, fmt.Sprintf("%s[%d]", e.path, i), r})
	}
	return list
}

// text returns a text; "" where it is not there.
func (e entry) text() (s string) {
	if e.there() && json.Unmarshal(e.data, &s) != nil {
		e.wrong(e.shown(), "text")
	}
	return s
}

// spelled returns a text, a number or a truth value as rows spell it; "" where it is not there.
func (e entry) spelled() string {
	if len(e.data) == 0 {
		return ""
	}
	var v scalar
	switch err := json.Unmarshal(e.data, &v); {
	case string(e.data) == "true" || string(e.data) == "false":
		return string(e.data)
	case err != nil:
		e.wrong(e.shown(), "text or a number")
	}
	return string(v)
}

func (e entry) spellings() (list []string) {
	for _, v := range e.list() {
		list = append(list, v.spelled())
	}
	return list
}

// number returns a finite number; 0 where it is not there.
func (e entry) number() float64 {
	if len(e.data) == 0 {
		return 0
	}
	x, err := strconv.ParseFloat(e.spelled(), 64)
	if err != nil || x-x != 0 {
		e.wrong(e.shown(), "a number")
		return 0
	}
	return x
}

func (e entry) yes() (yes bool) {
	if e.there() && json.Unmarshal(e.data, &yes) != nil {
		e.wrong(e.shown(), "true or false")
	}
	return yes
}

// need returns an entry below this one, and adds a problem where it is not there.
func (e entry) need(keys map[string]entry, key string) entry {
	if !keys[key].there() {
		e.wrong("without "+key, "an object with it")
	}
	return keys[key]
}

// one returns a text that is one of several.
func (e entry) one(items ...string) string {
	text := e.text()
	if !slices.Contains(items, text) && e.there() {
		e.unknown("value", text, items)
	}
	return text
}

func (e entry) unknown(what, text string, of []string) {
	var ps schema.Problems
	ps.Unknown(e.path, what, text, of)
	ps[0].File = e.in.file
	e.in.problems = append(e.in.problems, ps...)
}

// plainNumber spells a whole number without a point, as 1.0 is; other texts stay.
func plainNumber(text string) string {
	if x, err := strconv.ParseFloat(text, 64); err == nil && x == float64(int64(x)) && x < 1e15 && x > -1e15 {
		return strconv.FormatInt(int64(x), 10)
	}
	return text
}

// object reads a JSON object key by key, in its order; a key that comes twice is an error.
func object(d *json.Decoder, each func(key string) error) error {
	if t, err := d.Token(); broken(err) {
		return err
	} else if t != json.Delim('{') {
		return errors.New("is not a JSON object, must be one")
	}
	seen := map[string]bool{}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return err
		}
		key := t.(string) // a key of an object is nothing else
		if seen[key] {
			return fmt.Errorf("%.60q: is listed a second time, must be listed once", key)
		}
		seen[key] = true
		if err := each(key); err != nil {
			return err
		}
	}
	_, err := d.Token()
	return err
}

// whole reads a file that is one JSON object, and says of damage where it is.
func whole(data []byte, each func(d *json.Decoder, key string) error) error {
	d := json.NewDecoder(bytes.NewReader(data))
	if err := object(d, func(key string) error { return each(d, key) }); broken(err) {
		return fmt.Errorf("is damaged at byte %d: %w", d.InputOffset(), err)
	} else if err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("has text behind its object, must be one JSON object")
	}
	return nil
}

// broken tells JSON that ends or breaks from JSON that says something else.
func broken(err error) bool {
	var syntax *json.SyntaxError
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &syntax)
}
