package ledger

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"
)

// Bounds of what a crash leaves of one line (docs/design/ledger.md, "What a crash leaves").
const (
	noLine  = 300     // bytes into which no line fits
	maxLine = 1 << 20 // bytes of a line that was cut short; charges have hundreds
)

// Remnant is what a crash left of a line whose Append never returned: removed from
// the ledger, and kept.
type Remnant struct {
	Line  int // that it would have become
	Bytes int
	Path  string // of the file that keeps it
}

// errNoRemnant refuses the end of a ledger that could have been charges.
func errNoRemnant(rest []byte) error {
	what := "ends without a newline and is not"
	if bytes.IndexByte(rest, 0) >= 0 {
		what = "holds zero bytes, which may have been charges, and is not"
	}
	return fmt.Errorf("%s what a crash leaves of one line after the line before (%d bytes): nothing was removed; restore the ledger from version control or a backup, or, if these bytes never were a charge, move them out of the file", what, len(rest))
}

// remnant reports whether rest, which ends the file behind the entries, is what a crash
// leaves of one line: its beginning, as weir writes it, or a line of which one stretch is
// zeros. Everything else may have been charges.
func remnant(rest []byte, entries []Entry, dataset string) bool {
	head := headHash(entries, dataset)
	from, to := bytes.IndexByte(rest, 0), bytes.LastIndexByte(rest, 0)+1
	if from < 0 {
		return len(rest) <= maxLine && begins(rest, head)
	}
	return len(rest) <= oneLine(entries) && len(bytes.Trim(rest[from:to], "\x00")) == 0 &&
		(from == 0 || begins(rest[:from], head)) && ends(rest[to:])
}

// oneLine is a length at which zeros stand for one line and no more: into less than twice
// noLine two do not fit, and charges of one dataset are about as long as each other.
func oneLine(entries []Entry) int {
	longest := 2*noLine - 1
	for _, e := range entries {
		if line, err := e.line(); err == nil {
			longest = max(longest, len(line))
		}
	}
	return longest
}

// ends reports whether text behind zeros can be the end of a line: no line begins in it.
func ends(text []byte) bool {
	text = bytes.TrimSuffix(text, []byte("\n"))
	return utf8.Valid(text) && !bytes.Contains(text, []byte(`{"prev"`)) &&
		bytes.IndexFunc(text, func(r rune) bool { return r < ' ' }) < 0
}

// unfilled parts the end of a file from the zeros behind it.
func unfilled(end []byte) (written, zeros []byte) {
	written = bytes.TrimRight(end, "\x00")
	return written, end[len(written):]
}

// begins reports whether text is a proper beginning of a line that follows head.
func begins(text []byte, head string) bool {
	first := []byte(`{"prev":"` + head + `","time":"`)
	n := min(len(text), len(first))
	if !bytes.Equal(text[:n], first[:n]) {
		return false
	}
	var whole json.RawMessage
	if err := json.NewDecoder(bytes.NewReader(text)).Decode(&whole); !errors.Is(err, io.ErrUnexpectedEOF) {
		return false
	}
	return spelled(text[:members(text)])
}

// members is where the last whole member of an object that is cut short ends.
func members(text []byte) (end int) {
	dec := json.NewDecoder(bytes.NewReader(text))
	if _, err := dec.Token(); err != nil {
		return 0
	}
	for {
		var value json.RawMessage
		_, err := dec.Token()
		if err != nil || dec.Decode(&value) != nil || int(dec.InputOffset()) == len(text) {
			return end // a number at the end may go on
		}
		end = int(dec.InputOffset())
	}
}

// spelled reports whether whole members of a line are those that weir writes, in its order.
func spelled(text []byte) bool {
	if len(text) == 0 {
		return true
	}
	var e Entry
	dec := json.NewDecoder(io.MultiReader(bytes.NewReader(text), bytes.NewReader([]byte("}"))))
	dec.DisallowUnknownFields()
	if dec.Decode(&e) != nil {
		return false
	}
	again, err := e.line()
	return err == nil && bytes.HasPrefix(again, text)
}
