package lock

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// MaxBytes is far above what the specs of a folder take.
const MaxBytes = 16 << 20

// Problem is a line that weir did not write so.
type Problem struct {
	Line  int
	Spec  string // whose line it is, where that can be read
	Mark  bool   // it is a mark of a conflict
	Error string
}

// Parse reads a lock. Lines that are as weir writes them come back as entries, all others
// as problems, in the order of the file.
func Parse(text string) (all []Entry, problems []Problem) {
	p := parser{seen: map[string]int{}}
	for i, line := range strings.Split(text, "\n") {
		p.line(i+1, strings.TrimSuffix(line, "\r"))
	}
	return p.all, p.problems
}

type parser struct {
	all      []Entry
	problems []Problem
	seen     map[string]int // lines by key
	last     int
}

func (p *parser) line(n int, line string) {
	switch {
	case line == "" || strings.HasPrefix(line, "#"):
		return
	case mark(line):
		p.problems = append(p.problems, Problem{Line: n, Mark: true, Error: "is a mark of a conflict that was not resolved"})
		return
	}
	e, err := parseLine(line)
	if err == nil {
		err = p.fits(n, e)
	}
	if err != nil {
		p.problems = append(p.problems, Problem{Line: n, Spec: e.Spec, Error: err.Error()})
		return
	}
	p.seen[e.key()], p.last = n, n
	p.all = append(p.all, e)
}

// fits refuses what stands twice, or where weir would not have put it.
func (p *parser) fits(n int, e Entry) error {
	if before, twice := p.seen[e.key()]; twice {
		return fmt.Errorf("says what %s of %s is, as line %d does already", e.Name(), spelled([]string{e.Spec}), before)
	}
	if len(p.all) > 0 && order(p.all[len(p.all)-1], e) > 0 {
		return fmt.Errorf("stands after line %d, must stand before it: the lines are sorted", p.last)
	}
	return nil
}

func mark(line string) bool {
	return slices.ContainsFunc([]string{"<<<<<<<", "=======", ">>>>>>>", "|||||||"},
		func(m string) bool { return strings.HasPrefix(line, m) })
}

// parseLine reads one line. Where only its spec can be read, the entry holds that.
func parseLine(line string) (Entry, error) {
	malformed := errors.New(
		`is not a line of a lock, must be: SPEC dataset ID VERSION, SPEC file STAGE NAME DIGEST, SPEC part NAME DIGEST, ` +
			`SPEC stage NAME KIND VERSION DIGEST or SPEC weir VERSION`)
	words, ok := split(line)
	if !ok || len(words) < 2 {
		return Entry{}, malformed
	}
	names, values, known := shape(words[1])
	e := Entry{Spec: words[0], What: words[1]}
	if !known || len(words) != 2+names+values {
		return e, malformed
	}
	e.Names, e.Is = words[2:2+names], words[2+names:]
	if (e.What == Public || e.What == Stage) && !isDigest(e.Is[values-1]) {
		return e, errors.New("ends in no digest, must end in sha256: and 64 hexadecimal digits")
	}
	if e.line() != line {
		return e, errors.New("is not spelled as weir spells it, must be: " + e.line())
	}
	return e, nil
}

func isDigest(word string) bool {
	hex, is := strings.CutPrefix(word, "sha256:")
	return is && len(hex) == 64 && strings.Trim(hex, "0123456789abcdef") == ""
}

// split takes the words of a line apart; false where they are not single words or quoted
// ones, a space between two.
func split(line string) (words []string, ok bool) {
	for rest := line; ; {
		word, after, more := strings.Cut(rest, " ")
		if strings.HasPrefix(rest, `"`) {
			quoted, err := strconv.QuotedPrefix(rest)
			if err != nil {
				return nil, false
			}
			if word, err = strconv.Unquote(quoted); err != nil {
				return nil, false
			}
			rest = rest[len(quoted):]
			after, more = strings.CutPrefix(rest, " ")
			if rest != "" && !more {
				return nil, false
			}
		}
		words = append(words, word)
		if !more {
			return words, true
		}
		rest = after
	}
}

// Damage returns nil, or says of every line what is wrong with it. A rewriting of some specs
// may drop the problems of their lines and the marks of conflicts about them.
func Damage(file string, problems []Problem, rewritten ...string) error {
	var errs []error
	for _, p := range problems {
		if len(rewritten) > 0 && (p.Mark || slices.Contains(rewritten, p.Spec)) {
			continue
		}
		errs = append(errs, fmt.Errorf("%s:%d: %s", file, p.Line, p.Error))
	}
	return errors.Join(errs...)
}
