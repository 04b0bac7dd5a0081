package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
	"unicode"
)

// escape is what a terminal would obey and XML cannot hold, with what HTML would.
const escape = "\x1b[2J\x00\x07\u0085\u202e<b>&\"'"

// hostile puts an escape behind every text below v.
func hostile(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		if v.CanSet() {
			v.SetString(v.String() + escape)
		}
	case reflect.Pointer:
		if !v.IsNil() {
			hostile(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			hostile(v.Field(i))
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			hostile(v.Index(i))
		}
	}
}

// TestWellFormed: names, labels and notes with control characters leave drawings that
// are XML, and a page without any.
func TestWellFormed(t *testing.T) {
	r := full()
	for i := range r.Columns {
		hostile(reflect.ValueOf(&r.Columns[i]))
	}
	for _, part := range []any{&r.Name, &r.Source, &r.Findings, &r.Released, &r.Tables, &r.Shares, &r.Curves, &r.LeftOut,
		&r.Relations.Names, &r.Groups[1].Stage} {
		hostile(reflect.ValueOf(part))
	}
	files, err := r.Files(10)
	if err != nil {
		t.Fatal(err)
	}
	drawings := 0
	for _, f := range files {
		if strings.HasSuffix(f.Name, ".png") {
			continue
		}
		if strings.ContainsFunc(string(f.Data), func(c rune) bool {
			return unicode.IsControl(c) && c != '\n' && c != '\t' ||
				c == '\u202e'
		}) {
			t.Errorf("%s holds a control character", f.Name)
		}
		if strings.HasSuffix(f.Name, ".svg") {
			drawings++
			d := xml.NewDecoder(bytes.NewReader(f.Data))
			for err = nil; err == nil; {
				_, err = d.Token()
			}
			if !errors.Is(err, io.EOF) {
				t.Errorf("%s is not well-formed: %v", f.Name, err)
			}
		}
	}
	if drawings < 5 {
		t.Errorf("only %d drawings were judged", drawings)
	}
}
