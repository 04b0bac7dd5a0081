package ledger

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"unicode/utf8"

	"weir/internal/disk"
	"weir/privacy"
)

// reading says whose change is asked for. The table and its argument are in
// docs/design/ledger.md, "Units and adjacencies".
type reading struct {
	unit  Unit
	asked privacy.Adjacency
	pairs privacy.Adjacency // that the events are accounted under
}

// newReading asks for a change of unit under the adjacency. A row that comes or
// goes may exchange what a person contributes, so with charges for persons all
// are accounted for an exchange, which bounds a removal.
func newReading(entries []Entry, adjacency privacy.Adjacency, unit Unit) (reading, error) {
	r := reading{unit, adjacency, adjacency}
	if _, err := privacy.ParseAdjacency(string(adjacency)); err != nil {
		return r, err
	}
	persons := slices.ContainsFunc(entries, func(e Entry) bool { return e.Unit.Column != "" })
	if unit.Column == "" && persons {
		r.pairs = privacy.ReplaceOne
	}
	return r, unit.valid()
}

// event returns what e costs the unit asked for, as an event under r.pairs, or why
// nothing is known.
func (r reading) event(e Entry) (event privacy.Event, why string) {
	event = e.Event.Event
	n, why := r.changed(e)
	switch {
	case event == nil || e.Unproven != "":
		return nil, "has no proven bound: " + e.Unproven
	case e.Adjacency == privacy.ReplaceOne && r.asked == privacy.AddRemove:
		return nil, "holds under replace_one, from which nothing follows under add_remove"
	case why != "":
		return nil, why
	case r.crosses(e) && fixedSize(event):
		return nil, "samples a fixed number of rows, for which nothing is proven where the row count changes"
	}
	event, err := privacy.Group(event, n)
	if err == nil && e.Adjacency != r.pairs {
		event, err = privacy.Exchanged(event)
	}
	if err != nil {
		return nil, err.Error()
	}
	return event, ""
}

// changed returns how many of the units that e was charged for change with the one
// asked for, or why that is not known.
func (r reading) changed(e Entry) (n int, why string) {
	charged, message := e.Unit.Column, r.unit.Column
	switch {
	case charged == message:
		return 1, "" // whatever the number of rows: its run kept no more than it charged for
	case charged != "" && message != "":
		return 0, fmt.Sprintf("holds for one %s, from which nothing follows for one %s", charged, message)
	case message != "" && e.Adjacency == privacy.ReplaceOne && r.unit.MaxRows > 1:
		return 0, fmt.Sprintf("holds for rows exchanged, which keeps their number; one %s may have more rows than another",
			message)
	case message != "":
		return r.unit.MaxRows, ""
	case e.Adjacency == privacy.ReplaceOne:
		return 0, fmt.Sprintf("holds for one %s exchanged, which keeps their number; a row may be the only one of its %s",
			charged, charged)
	case r.asked == privacy.ReplaceOne:
		return 2, "" // the old row's person loses it, the new row's gains it
	}
	return 1, ""
}

// crosses reports whether e is read for another kind of change than it states,
// beyond an exchange of the same unit.
func (r reading) crosses(e Entry) bool {
	return e.Unit.Column != r.unit.Column && e.Adjacency == privacy.AddRemove || r.pairs != r.asked
}

// fixedSize reports whether e samples without replacement anywhere.
func fixedSize(e privacy.Event) bool {
	switch e := e.(type) {
	case privacy.SampledWithoutReplacement:
		return true
	case privacy.PoissonSampled:
		return fixedSize(e.Event)
	case privacy.Repeated:
		return fixedSize(e.Event)
	case privacy.Composed:
		return slices.ContainsFunc(e.Events, fixedSize)
	case privacy.Parallel:
		return slices.ContainsFunc(e.Events, fixedSize)
	}
	return false
}

// notes says how charges for another unit or adjacency were counted.
func (r reading) notes(e Entry) []string {
	var out []string
	if e.Adjacency != r.pairs {
		out = append(out, "charges made under add_remove are counted as exchanges")
	}
	switch {
	case e.Unit.Column == r.unit.Column:
	case e.Unit.Column == "":
		out = append(out, fmt.Sprintf("charges for rows are counted for %d rows, which must be all that the table holds of "+
			"one %s", r.unit.MaxRows, r.unit.Column))
	default:
		out = append(out, fmt.Sprintf("charges for one %s are counted for a row as an exchange of its %s", e.Unit.Column,
			e.Unit.Column))
	}
	return out
}

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
	return fmt.Errorf("%s what a crash leaves of one line after the line before (%d bytes): nothing was removed; "+
		"restore the ledger from version control or a backup, or, if these bytes never were a charge, move them out of the "+
		"file", what, len(rest))
}

// remnant reports whether rest, which ends the file behind the entries, is what a crash
// leaves of one line: its beginning, as weir writes it, or a line of which one stretch is
// zeros. Everything else may have been charges.
func remnant(rest []byte, entries []Entry, dataset string) bool {
	head := headHash(entries, dataset)
	start, end := bytes.IndexByte(rest, 0), bytes.LastIndexByte(rest, 0)+1
	if start < 0 {
		return len(rest) <= maxLine && begins(rest, head)
	}
	return len(rest) <= oneLine(entries) && len(bytes.Trim(rest[start:end], "\x00")) == 0 &&
		(start == 0 || begins(rest[:start], head)) && ends(rest[end:])
}

// oneLine returns a length at which zeros stand for one line and no more: into less than twice
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

// members returns where the last whole member of an object that is cut short ends.
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

// remnantName returns the name of the nth file with what was removed from a ledger.
func remnantName(path string, n int) string { return fmt.Sprintf("%s.remnant-%d", path, n) }

// Aside keeps data in a file of its own beside the ledger, for the owner alone. A file
// that is there is never written over; one that holds the same bytes is theirs.
func (f file) Aside(data []byte) (string, error) {
	for n := 1; ; n++ {
		path := remnantName(f.path, n)
		err := f.disk.New(path, 0o600, data)
		if !errors.Is(err, fs.ErrExist) {
			return path, err
		}
		if kept, err := disk.ReadFile(path, 0); err == nil && bytes.Equal(kept, data) {
			return path, f.disk.Sync(path)
		}
	}
}

// Remnants lists the files beside the ledger at path that keep what was removed from it.
func Remnants(path string) (retained []string, err error) {
	for n := 1; ; n++ {
		name := remnantName(path, n)
		if _, err := os.Lstat(name); errors.Is(err, fs.ErrNotExist) {
			return retained, nil
		} else if err != nil {
			return retained, err
		}
		retained = append(retained, name)
	}
}
