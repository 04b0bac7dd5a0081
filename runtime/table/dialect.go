package table

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"

	"weir/pipeline"
)

// dialect is pipeline.CSV, checked and with its defaults.
type dialect struct {
	encoding     namedEncoding
	delim, quote byte
	comment      []byte
	suffix       []byte
	trim         bool
	header       bool
	ignoreExtra  bool
	unknownNull  bool
	missing      []string
	sheet, area  string // of a workbook
	unit         string // column of privacy units whose unknown values are missing, and told apart before
}

// newDialect fills in defaults; tab is the default delimiter of .tsv. A
// delimiter with blanks around it, as ", ", is that character with trim.
func newDialect(name string, c *pipeline.CSV) (*dialect, error) {
	if c == nil {
		c = &pipeline.CSV{}
	}
	d := &dialect{delim: ',', quote: '"', comment: []byte(c.Comment), suffix: []byte(c.StripSuffix), trim: c.Trim,
		header: c.Header == nil || *c.Header, ignoreExtra: c.Extra == "ignore", unknownNull: c.Unknown == "missing",
		missing: c.Missing, sheet: c.Sheet, area: c.Range}
	if Tabbed(name) {
		d.delim = '\t'
	}
	if err := d.encoded(name, c.Encoding); err != nil {
		return nil, err
	}
	return d, d.characters(name, c)
}

// encoded takes an encoding by its name; the empty one is UTF-8.
func (d *dialect) encoded(file, name string) error {
	var names []string
	for _, e := range encodings() {
		if e.name == name || name == "" {
			d.encoding = e
			return nil
		}
		names = append(names, e.name)
	}
	return wrong(file, "csv.encoding is %q, must be one of %s", name, strings.Join(names, ", "))
}

func (d *dialect) characters(name string, c *pipeline.CSV) error {
	delim := c.Delimiter
	if len(delim) > 1 && strings.Trim(delim, " ") != "" {
		delim, d.trim = strings.Trim(delim, " "), true
	}
	for _, set := range []struct {
		key, value string
		to         *byte
	}{{"delimiter", delim, &d.delim}, {"quote", c.Quote, &d.quote}} {
		if set.value == "" {
			continue
		}
		if len(set.value) != 1 || strings.ContainsAny(set.value, "\r\n\x00") || set.value[0] >= 0x80 {
			return wrong(name, "csv.%s is %q, must be one ASCII character", set.key, set.value)
		}
		*set.to = set.value[0]
	}
	return d.coherent(name, c)
}

func (d *dialect) coherent(name string, c *pipeline.CSV) error {
	if d.delim == d.quote {
		return wrong(name, "csv.delimiter and csv.quote are both %q, must differ", d.delim)
	}
	if c.Extra != "" && c.Extra != "error" && c.Extra != "ignore" {
		return wrong(name, "csv.extra is %q, must be error or ignore", c.Extra)
	}
	if c.Unknown != "" && c.Unknown != "error" && c.Unknown != "missing" {
		return wrong(name, "csv.unknown is %q, must be error or missing", c.Unknown)
	}
	return nil
}

// Tabbed reports whether a tab parts the cells of a text file of this name where csv names no
// delimiter. It is all that a file's name says of its rows.
func Tabbed(name string) bool {
	name = strings.TrimSuffix(strings.TrimSuffix(strings.ToLower(name), ".gz"), ".zst")
	return strings.HasSuffix(name, ".tsv") || strings.HasSuffix(name, ".tab")
}

// shown returns how a delimiter is written in a message and in YAML.
func shown(delim byte) string {
	if delim == '\t' {
		return `"\t"`
	}
	return fmt.Sprintf("%q", string(delim))
}

// extra returns the words for columns that are not declared, nil where they are ignored.
func (d *dialect) extra(words func(i int) string) func(i int) string {
	if d.ignoreExtra {
		return nil
	}
	return words
}

// namedEncoding is an encoding of text by the name that csv.encoding has for it; without a decoder text is UTF-8.
type namedEncoding struct {
	name    string
	decoder encoding.Encoding
}

func encodings() []namedEncoding {
	return []namedEncoding{
		{"utf-8", nil},
		{"latin-1", charmap.ISO8859_1},
		{"windows-1252", charmap.Windows1252},
		{"utf-16", unicode.UTF16(unicode.LittleEndian, unicode.UseBOM)},
	}
}

// unreadable returns where text stops being what its encoding allows, or -1. A decoder writes U+FFFD for what it
// cannot read.
func (d *dialect) unreadable(text []byte) int {
	if d.encoding.decoder != nil {
		return bytes.IndexRune(text, utf8.RuneError)
	}
	if utf8.Valid(text) {
		return -1
	}
	for place := 0; ; {
		r, n := utf8.DecodeRune(text[place:])
		if r == utf8.RuneError && n == 1 {
			return place
		}
		place += n
	}
}

// encodingRule says what is wrong with text that unreadable has found, and which encodings are accepted.
func (d *dialect) encodingRule() string {
	if d.encoding.decoder != nil {
		return "holds what is no " + d.encoding.name + " text; accepted: another csv.encoding, or the file as it was exported"
	}
	return "is not UTF-8 text; accepted: UTF-8, or windows-1252, latin-1 or utf-16 declared: csv.encoding in a spec, " +
		"--encoding of weir domain infer, weir init and weir evaluate"
}

// lineAt returns the line of a place in a chunk.
func (c chunk) lineAt(at int) int64 { return c.line + int64(bytes.Count(c.data[:at], []byte{'\n'})) }
