package table

import (
	"bytes"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"

	"weir/pipeline"
	"weir/pipeline/domain"
)

// places returns a domain whose categories are not ASCII.
func places() *domain.Domain {
	return &domain.Domain{Columns: []domain.Column{
		{Name: "größe", Type: domain.Numeric},
		{Name: "ort", Type: domain.Categorical, Categories: []string{"Zürich", "Málaga"}},
	}}
}

const placesText = "größe,ort\n1.5,Zürich\n2,Málaga\n"

func encoded(t *testing.T, e encoding.Encoding, text string) string {
	t.Helper()
	out, err := e.NewEncoder().String(text)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestEncodings: text of each encoding is the rows that it spells, and of none but its own.
func TestEncodings(t *testing.T) {
	big := unicode.UTF16(unicode.BigEndian, unicode.UseBOM)
	little := unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)
	for name, c := range map[string]struct{ text, encoding, want string }{
		"latin-1":               {encoded(t, charmap.ISO8859_1, placesText), "latin-1", ""},
		"windows-1252":          {encoded(t, charmap.Windows1252, placesText), "windows-1252", ""},
		"utf-16":                {encoded(t, big, placesText), "utf-16", ""},
		"utf-16 without a mark": {encoded(t, little, placesText), "utf-16", ""},
		"utf-8":                 {placesText, "utf-8", ""},
		"utf-8 with a mark":     {"\xef\xbb\xbf" + placesText, "", ""},
		"latin-1, undeclared": {encoded(t, charmap.ISO8859_1, "n,ort\n"+placesText), "",
			"f.csv: line 2: is not UTF-8 text; accepted: UTF-8, or windows-1252"},
		"latin-1 in the header": {encoded(t, charmap.ISO8859_1, placesText), "",
			"f.csv: line 1: is not UTF-8 text; accepted: UTF-8, or windows-1252"},
		"utf-16, undeclared": {encoded(t, big, placesText), "",
			"csv.encoding in a spec, --encoding of weir domain infer"},
		"half a character":      {encoded(t, big, placesText) + "\x00", "utf-16", "line 4: holds what is no utf-16 text"},
		"utf-8 read as latin-1": {placesText, "latin-1", `column "größe"`},
		"an encoding of our own": {placesText, "ebcdic",
			`csv.encoding is "ebcdic", must be one of utf-8, latin-1, windows-1252, utf-16`},
		"a character cut by CRLF": {strings.ReplaceAll(encoded(t, charmap.Windows1252, placesText), "\n", "\r\n"),
			"windows-1252", ""},
	} {
		d := places()
		if name == "latin-1, undeclared" {
			d = &domain.Domain{Columns: []domain.Column{{Name: "n", Type: domain.Numeric},
				{Name: "ort", Type: domain.Categorical, Categories: []string{"x"}}}}
		}
		rows, err := readText(c.text, &pipeline.CSV{Encoding: c.encoding}, d)
		switch {
		case c.want == "" && (err != nil || rows != 2):
			t.Errorf("%s: %d rows, %v", name, rows, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: %v, must hold %q", name, err, c.want)
		}
	}
}

// TestLongEncodedText: a file of many chunks has the rows that it has as UTF-8.
func TestLongEncodedText(t *testing.T) {
	text := "größe,ort\n" + strings.Repeat("1.5,Zürich\n2,Málaga\n", 10_000)
	rows, err := readText(encoded(t, charmap.ISO8859_1, text), &pipeline.CSV{Encoding: "latin-1"}, places())
	if rows != 20_000 || err != nil {
		t.Errorf("%d rows, %v", rows, err)
	}
}

func zstandard(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	w, err := zstd.NewWriter(&b)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestZstandard: a file and its compressed form have the same rows; a damaged one is named, whatever byte is wrong.
func TestZstandard(t *testing.T) {
	text := "n,x,c\n" + strings.Repeat("1,2.5,red\n2,7.25,blue\n", 500)
	whole := zstandard(t, text)
	if rows, err := readText(whole, nil, small()); rows != 1000 || err != nil {
		t.Errorf("%d rows, %v", rows, err)
	}
	for i := 4; i < len(whole); i++ {
		damaged := []byte(whole)
		damaged[i] ^= 0x55
		if rows, err := readText(string(damaged), nil, small()); err == nil && rows != 1000 {
			t.Errorf("byte %d: %d rows and no error", i, rows)
		}
		if _, err := readText(whole[:i], nil, small()); err == nil {
			t.Errorf("cut at byte %d: no error", i)
		}
	}
	_, err := readText(whole[:len(whole)-4]+"\x00\x00\x00\x00", nil, small())
	if err == nil || !strings.Contains(err.Error(), "the compressed data is damaged") {
		t.Errorf("a wrong checksum: %v", err)
	}
}
