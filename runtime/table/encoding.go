package table

import (
	"bytes"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
)

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
	for at := 0; ; {
		r, n := utf8.DecodeRune(text[at:])
		if r == utf8.RuneError && n == 1 {
			return at
		}
		at += n
	}
}

// encodingRule says what text breaks that unreadable found.
func (d *dialect) encodingRule() string {
	if d.encoding.decoder != nil {
		return "holds what is no " + d.encoding.name + " text; accepted: another csv.encoding, or the file as it was exported"
	}
	return "is not UTF-8 text; accepted: UTF-8, or windows-1252, latin-1 or utf-16 declared: csv.encoding in a spec, --encoding of weir domain infer, weir init and weir evaluate"
}

// lineAt returns the line of a place in a chunk.
func (c chunk) lineAt(at int) int64 { return c.line + int64(bytes.Count(c.data[:at], []byte{'\n'})) }
