package infer

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
)

// sentinels are numbers of a column that code books use for missing, such as -9, 99 and 998, and the span of all
// others.
type sentinels struct {
	cells map[string]int64 // by spelling
	core  span
}

// sentinelLike reports whether a cell is such a number: -1, or nines that end in 7, 8 or 9, or eights or sevens alone.
func sentinelLike(cell []byte) bool {
	digits, minus := bytes.CutPrefix(cell, []byte{'-'})
	if whole, part, split := bytes.Cut(digits, []byte{'.'}); split && len(bytes.Trim(part, "0")) == 0 {
		digits = whole
	}
	if len(digits) == 0 || len(digits) > 7 {
		return false
	}
	first, last := digits[:len(digits)-1], digits[len(digits)-1]
	switch {
	case last < '1' || last > '9':
		return false
	case minus && last == '1' && len(first) == 0:
		return true
	}
	return last >= '7' && (len(bytes.Trim(first, "9")) == 0 || last < '9' && len(bytes.Trim(first, string(last))) == 0)
}

// found returns the spellings that stand apart from the other numbers, and takes the others into the core. A number
// stands apart where a fifth of the range of the others is free before it, and twice the widest gap between them; a
// negative one where no other is negative.
func (s *sentinels) found(cells int64, gap float64) (separate []string) {
	spelled := make([]string, 0, len(s.cells))
	for text := range s.cells {
		spelled = append(spelled, text)
	}
	size := func(text string) float64 { x, _ := strconv.ParseFloat(text, 64); return max(x, -x) }
	slices.SortFunc(spelled, func(a, b string) int { return cmp.Or(cmp.Compare(size(a), size(b)), cmp.Compare(a, b)) })
	for _, text := range spelled {
		if s.core.least <= s.core.most && s.standsApart(text, cells, gap) {
			separate = append(separate, text)
		} else {
			s.core.see(text)
		}
	}
	return separate
}

func (s *sentinels) standsApart(text string, cells int64, gap float64) bool {
	x, _ := strconv.ParseFloat(text, 64)
	room := max(1, 2*gap, (s.core.most-s.core.least)/5)
	switch {
	case x < 0 && s.core.least >= 0:
		return true
	case x < 0:
		return x < -9 && s.core.least-x > room
	case x <= 9 && s.cells[text]*100 < cells: // a rare 9 is a count as well
		return false
	}
	return x-s.core.most > room
}

// sentinel takes numbers that stand apart as missing, which a person has to confirm.
func (p *profile) sentinel() {
	if !p.numbers.all || p.numbers.padded || p.ids() || !p.marks.core.all {
		return
	}
	p.sentinels = p.marks.found(p.cells, p.gap())
	if len(p.sentinels) == 0 {
		return
	}
	p.declared = append(slices.Clone(p.declared), p.sentinels...)
	for _, text := range p.sentinels {
		p.missing[text] += p.marks.cells[text]
		delete(p.distinct, text)
	}
	p.numbers = p.marks.core
}

// gap returns the widest one between neighbouring values of a column that has few, those aside that may be marks of
// missing.
func (p *profile) gap() (widest float64) {
	if p.many {
		return 0
	}
	var list []float64
	for text := range p.distinct {
		if x, err := strconv.ParseFloat(text, 64); err == nil && !sentinelLike([]byte(text)) {
			list = append(list, x)
		}
	}
	slices.Sort(list)
	for i := 1; i < len(list); i++ {
		widest = max(widest, list[i]-list[i-1])
	}
	return widest
}
