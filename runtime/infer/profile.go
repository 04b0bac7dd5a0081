package infer

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"weir/internal/bitmath"
	"weir/internal/plaintext"
	"weir/pipeline/domain"
	"weir/schema"
)

const (
	maxDistinct = 200 // values of a text column that still look like categories
	maxCodes    = 12  // integers that still look like codes of categories
	maxDigits   = 12  // of a whole number that still looks like a quantity
)

// sureMissing lists spellings of missing that mean nothing else, and those that mean missing only
// in a column of numbers.
func sureMissing() []string { return []string{"?", "NA", "N/A", "n/a", "NaN", "nan", "null", "NULL"} }
func likelyMissing() []string {
	return []string{"N", "None", "none", ".", "-", "*"}
}

// profile is what is seen of one column.
type profile struct {
	name      string
	stored    domain.Column // what it is where it holds nothing
	cells     int64
	empty     int64
	missing   map[string]int64 // by spelling, declared, sure and likely
	declared  []string         // spellings of missing that a person named
	distinct  map[string]bool  // other spellings, as long as they may be categories
	kept      int              // bytes of them
	many      bool             // there were more than that
	numbers   span             // of the others
	dates     bool
	days      span // of dates
	forms     forms
	odd       oddities
	places    [8]int64 // cells by digits after the point, as long as all are numbers; of the last, 7 or more
	marks     sentinels
	sentinels []string // numbers that sentinel takes as missing
	reason    string   // why the column is drafted to be left out, or what else a person has to know of it
}

// span of the numbers of a column.
type span struct {
	all         bool // every cell is a number
	whole       bool // and a whole one
	least, most float64
	decimals    int
	shortest    int  // digits of the shortest cell that is digits alone; 0 where another is not
	padded      bool // a whole number begins with a zero, as codes do
}

func newProfile(name string, i int, declared []string) *profile {
	if name == "" {
		name = fmt.Sprintf("column_%d", i+1) // as package table names it
	}
	return &profile{name: name, missing: map[string]int64{}, declared: declared, distinct: map[string]bool{},
		stored: domain.Column{Type: domain.Text}, dates: true,
		numbers: newSpan(), days: newSpan(), marks: sentinels{map[string]int64{}, newSpan()}}
}

func newSpan() span {
	return span{all: true, whole: true, shortest: math.MaxInt, least: math.Inf(1), most: math.Inf(-1)}
}

func (p *profile) see(v []byte) {
	p.cells++
	if len(v) == 0 {
		p.empty++
		return
	}
	if slices.ContainsFunc(p.declared, func(s string) bool { return s == string(v) }) ||
		len(v) <= 4 && (slices.Contains(sureMissing(), string(v)) || slices.Contains(likelyMissing(), string(v))) {
		p.missing[string(v)]++
		return
	}
	if p.numbers.all {
		p.places[min(decimals(string(v)), len(p.places)-1)]++
	}
	like := sentinelLike(v)
	if like {
		p.marks.cells[string(v)]++
	}
	if p.distinct[string(v)] {
		return
	}
	p.keep(v)
	p.odd.see(v)
	if p.numbers.all {
		p.numbers.see(string(v))
	}
	if p.marks.core.all && !like {
		p.marks.core.see(string(v))
	}
	if p.dates {
		p.dates = p.days.day(v)
	}
	p.forms.see(string(v))
}

// keep counts a new spelling. Those that no domain has room for together are no
// categories, and are not kept: a text may be long.
func (p *profile) keep(v []byte) {
	if p.many = p.many || len(p.distinct) == maxDistinct || p.kept+len(v) > schema.MaxBytes; !p.many {
		p.distinct[string(v)] = true
		p.kept += len(v)
	}
}

// day sees a cell of a column of dates, and says whether it is one.
func (n *span) day(v []byte) bool {
	day, ok := domain.ParseDay(string(v))
	if ok {
		n.least, n.most = math.Min(n.least, day), math.Max(n.most, day)
	}
	return ok
}

func (n *span) see(s string) {
	x, err := strconv.ParseFloat(s, 64)
	if err != nil || strings.ContainsAny(s, "xX_") || math.IsNaN(x) || math.IsInf(x, 0) {
		n.all = false
		return
	}
	n.whole = n.whole && x == math.Trunc(x) && math.Abs(x) < 1<<53
	n.least, n.most = math.Min(n.least, x), math.Max(n.most, x)
	n.decimals = max(n.decimals, decimals(s))
	n.padded = n.padded || zeroFirst(s)
	if n.shortest = min(n.shortest, len(s)); strings.Trim(s, "0123456789") != "" {
		n.shortest = 0
	}
}

// ids reports whether every cell is a whole number too long for a quantity: numbers of persons
// or samples, whose bounds mean nothing, and of which float64 does not tell the longest apart.
func (p *profile) ids() bool { return p.numbers.all && !p.codes() && p.numbers.shortest > maxDigits }

// codes reports whether few whole numbers stand for categories.
func (p *profile) codes() bool {
	return p.numbers.whole && !p.many && len(p.distinct) <= maxCodes && p.cells >= 10*int64(len(p.distinct))
}

// decimals counts digits after the point; 99 stands for an exponent.
func decimals(s string) int {
	point := -1
	for i, c := range s {
		switch c {
		case '.':
			point = i
		case 'e', 'E':
			return 99
		}
	}
	if point < 0 {
		return 0
	}
	return len(s) - 1 - point
}

// column guesses the declaration, with bounds and categories from the data.
func (p *profile) column() domain.Column {
	c := domain.Column{Name: p.name, Source: domain.Undecided}
	p.sentinel()
	p.setMissing(&c)
	switch {
	case len(p.distinct) == 0 && !p.many:
		c.Type, c.Step, c.Zone = p.stored.Type, p.stored.Step, p.stored.Zone
	case p.named():
		p.leaveOut(&c)
	case p.ids():
		p.reason = whyLong
		p.leaveOut(&c)
	case p.truth(&c):
	case p.numbers.all && !p.numbers.padded:
		p.setNumber(&c)
	case p.dates:
		c.Type, c.Bounds = domain.Date, p.days.bounds(1)
	case p.formed(&c):
	case !p.many && len(p.distinct) <= maxDistinct && !p.hidden():
		c.Type = domain.Categorical
		c.Categories, c.Aliases = alike(p.values())
	default:
		c.Type = domain.Text
	}
	return c
}

// alike parts spellings into categories and their aliases: what differs in case and blanks alone is one category, named
// by the spelling with the fewest capitals: how often each is used is not a public fact.
func alike(values []string) (categories []string, aliases domain.Aliases) {
	groups := map[string]domain.Spellings{}
	var order []string
	for _, v := range values {
		folded := strings.ToLower(strings.TrimSpace(v))
		if groups[folded] == nil {
			order = append(order, folded)
		}
		groups[folded] = append(groups[folded], v)
	}
	for _, folded := range order {
		group := groups[folded]
		name := slices.Index(group, slices.MinFunc(group, func(a, b string) int { return capitals(a) - capitals(b) }))
		categories = append(categories, group[name])
		if len(group) > 1 {
			if aliases == nil {
				aliases = domain.Aliases{}
			}
			aliases[group[name]] = slices.Delete(slices.Clone(group), name, name+1)
		}
	}
	return categories, aliases
}

func capitals(s string) (n int) {
	for _, r := range s {
		if unicode.IsUpper(r) {
			n++
		}
	}
	return n
}

// hidden reports whether a value cannot be shown, and so is not a category.
func (p *profile) hidden() bool {
	for v := range p.distinct {
		if !plaintext.Printable(v) {
			return true
		}
	}
	return false
}

// setMissing splits the spellings of missing from values: N is one only among
// numbers, unless a person named it.
func (p *profile) setMissing(c *domain.Column) {
	for _, s := range p.declared {
		if p.missing[s] > 0 && !slices.Contains(c.Missing, s) {
			c.Missing = append(c.Missing, s)
		}
	}
	for _, s := range append(sureMissing(), likelyMissing()...) {
		n := p.missing[s]
		if n == 0 || slices.Contains(p.declared, s) {
			continue
		}
		if slices.Contains(likelyMissing(), s) && !p.numbers.all || len(p.distinct) == 0 && !p.many &&
			!slices.Contains(sureMissing(), s) {
			p.distinct[s] = true
			p.numbers.all, p.dates = false, false
			continue
		}
		c.Missing = append(c.Missing, s)
	}
	c.Nullable = p.empty > 0 || len(c.Missing) > 0
}

// formed declares a column whose cells have one form of numbers, of dates or of times.
func (p *profile) formed(c *domain.Column) bool {
	number := p.forms.number()
	switch {
	case p.numbers.all:
		return false
	case len(p.forms.days) == 1:
		day := p.forms.days[0]
		c.Type, c.Format, c.Bounds = domain.Date, day.format(), day.span.bounds(1)
	case len(p.forms.moments) == 1:
		p.forms.moments[0].declare(c)
	case number != nil:
		c.Format = number.format()
		number.span.declare(c)
	default:
		return false
	}
	return true
}

func (p *profile) setNumber(c *domain.Column) {
	n := p.numbers
	codes := p.codes()
	switch {
	case codes && len(p.distinct) == 2 && p.distinct["0"] && p.distinct["1"]:
		c.Type, c.Categories = domain.Boolean, []string{"0", "1"}
		return
	case codes && n.decimals == 0:
		c.Type, c.Categories = domain.Categorical, p.values()
		return
	}
	n.declare(c)
	if places, ok := p.usual(); ok && c.Type == domain.Numeric {
		c.Step = bitmath.Pow(10, -float64(places))
	}
}

// declare makes a column one of the numbers of a span.
func (n span) declare(c *domain.Column) {
	if n.whole {
		c.Type, c.Step = domain.Integer, 1
	} else {
		c.Type = domain.Numeric
		if n.decimals <= 6 {
			c.Step = bitmath.Pow(10, -float64(n.decimals))
		}
	}
	c.Bounds = n.bounds(c.Step)
}

// usual returns the digits after the point that 99 % of the cells keep to; ok is false where they keep to no six.
func (p *profile) usual() (places int, ok bool) {
	all, count := int64(0), int64(0)
	for _, cells := range p.places {
		all += cells
	}
	for places, cells := range p.places[:len(p.places)-1] {
		if count += cells; count*100 >= all*99 {
			return places, true
		}
	}
	return 0, false
}

// bounds returns the ends of the span. A domain has no room for a range of one value,
// so a column that holds one gets the next value of its grid beside it.
func (n span) bounds(step float64) *[2]float64 {
	b := &[2]float64{n.least, n.most}
	if n.least < n.most {
		return b
	}
	if b[1] += step; b[1] == b[0] {
		b[1] = math.Nextafter(b[0], math.Inf(1))
	}
	if math.IsInf(b[1], 1) {
		b[0], b[1] = math.Nextafter(n.least, 0), n.least
	}
	return b
}

// values in order: by number if they are numbers, else by spelling.
func (p *profile) values() []string {
	list := slices.Sorted(maps.Keys(p.distinct))
	if p.numbers.all {
		slices.SortStableFunc(list, func(a, b string) int {
			x, _ := strconv.ParseFloat(a, 64)
			y, _ := strconv.ParseFloat(b, 64)
			return int(math.Copysign(1, x-y))
		})
	}
	return list
}
