package schema

import (
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// printer writes a layout anew.
type printer struct {
	*layout
	leads  map[*yaml.Node][]string // by key or item of a list: comments above it; "" is an empty line
	foots  map[*yaml.Node][]string // by mapping or list: comments below its last entry
	head   []string                // comments at the top of the file, which stay there
	last   int                     // line that has been looked at for comments
	closed []*yaml.Node            // mappings and lists that have ended since the last entry, the innermost first
}

// file writes the whole file.
func (p *printer) file(o *object) []byte {
	p.leads, p.foots = map[*yaml.Node][]string{}, map[*yaml.Node][]string{}
	var out []string
	if inBrackets(p.root) {
		p.head = texts(p.gap(p.root.Line))
		out = p.trailing(p.flow(p.root, o, 0), p.ends[p.root])
		p.last = p.ends[p.root]
		p.foots[p.root] = texts(p.gap(len(p.lines)))
	} else {
		p.assign(p.root, nil)
		p.last = max(p.last, p.endOf(p.root))
		p.shareOut(len(p.lines), 0, nil)
		out = p.block(p.root, o, 0)
	}
	if len(p.head) > 0 {
		out = slices.Concat(p.head, out)
	}
	if inBrackets(p.root) {
		out = append(out, trimEnd(p.foots[p.root])...)
	}
	return []byte(strings.Join(trimStart(out), "\n") + "\n")
}

func inBrackets(n *yaml.Node) bool {
	return n.Kind != yaml.ScalarNode && (n.Style&yaml.FlowStyle != 0 || len(n.Content) == 0)
}

// endOf returns the last line of a value.
func (p *printer) endOf(n *yaml.Node) int {
	if end, ok := p.ends[n]; ok {
		return end
	}
	end := n.Line
	for _, c := range n.Content {
		end = max(end, p.endOf(c))
	}
	return end
}

// assign shares the comments that stand alone out to the entries of a block and of all below it, in the order of the
// file. item is the item of a list that n is the value of, nil for none.
func (p *printer) assign(n, item *yaml.Node) {
	step := 1
	if n.Kind == yaml.MappingNode {
		step = 2
	}
	for i := 0; i < len(n.Content); i += step {
		entry, value := n.Content[i], n.Content[i+step-1]
		owner := entry
		if i == 0 && item != nil {
			owner = item
		}
		line := entry.Line
		var holder *yaml.Node
		if n.Kind == yaml.SequenceNode {
			line, holder = p.dash(n, entry), entry
		}
		p.shareOut(line, n.Column, owner)
		if c, ok := p.comments[line]; ok && !c.alone && line < entry.Line {
			p.leads[owner] = append(p.leads[owner], c.text) // behind a dash that stands alone
		}
		if value.Kind == yaml.ScalarNode || inBrackets(value) {
			p.last = max(p.last, p.endOf(value))
		} else {
			p.assign(value, holder)
		}
	}
	p.closed = append(p.closed, n)
}

// dash returns the line of the dash of an item.
func (p *printer) dash(list, item *yaml.Node) int {
	for line := min(item.Line, len(p.masked)-1); line > p.last; line-- {
		if row := p.masked[line]; len(row) >= list.Column && row[list.Column-1] == '-' && !p.inside[line] {
			return line
		}
	}
	return item.Line
}

// shareOut gives the comments up to a line to the entry that begins there, in a column; comments that are indented
// more go to the block that they close. A nil owner is the end of the file.
func (p *printer) shareOut(line, column int, owner *yaml.Node) {
	first := p.last == 0
	pending := p.gap(line)
	p.last = max(p.last, line)
	if first {
		p.head, pending = topOf(pending)
	}
	ended := p.indented(pending, column)
	for i, c := range pending[:ended] {
		n := p.closedBy(pending[i:])
		p.foots[n] = append(p.foots[n], c.text)
	}
	if owner != nil {
		p.leads[owner] = append(p.leads[owner], texts(pending[ended:])...)
	}
	p.closed = nil
}

// topOf cuts the comments above the first entry into comments at the top of the file and comments of the entry, at the
// last empty line; without one all are at the top.
func topOf(pending []lineComment) (head []string, rest []lineComment) {
	for i := len(pending) - 1; i >= 0; i-- {
		if pending[i].text == "" {
			return texts(pending[:i+1]), pending[i+1:]
		}
	}
	return texts(pending), nil
}

// indented counts the comments that belong to what ends before them: all up to the last one that is indented more than
// the column of what follows.
func (p *printer) indented(pending []lineComment, column int) (n int) {
	for i, c := range pending {
		if len(p.closed) == 0 || c.text != "" && c.column <= column {
			break
		}
		if c.text != "" {
			n = i + 1
		}
	}
	return n
}

// closedBy returns the innermost block that has ended and whose indent the next comment has.
func (p *printer) closedBy(pending []lineComment) *yaml.Node {
	for _, c := range pending {
		if c.text == "" {
			continue
		}
		if at := slices.IndexFunc(p.closed, func(n *yaml.Node) bool { return n.Column <= c.column }); at >= 0 {
			return p.closed[at]
		}
		break
	}
	return p.closed[len(p.closed)-1]
}

func texts(list []lineComment) (all []string) {
	for _, c := range list {
		all = append(all, c.text)
	}
	return all
}

// gap lists the comments that stand alone behind the last line that was looked at and before a line, with one without
// text for empty lines.
func (p *printer) gap(line int) (list []lineComment) {
	for number := p.last + 1; number < line; number++ {
		c, ok := p.comments[number]
		switch {
		case p.inside[number]:
		case ok && c.alone:
			list = append(list, c)
		case !ok && strings.TrimSpace(string(p.lines[number])) == "" && len(list) > 0 && list[len(list)-1].text == "":
		case !ok && strings.TrimSpace(string(p.lines[number])) == "":
			list = append(list, lineComment{})
		}
	}
	return list
}

// block writes a mapping or list that is not in brackets.
func (p *printer) block(n *yaml.Node, o *object, indent int) (out []string) {
	o = settingsOf(o, n)
	add := func(entry *yaml.Node, lines []string) {
		lead := p.leads[entry]
		if len(out) == 0 {
			lead = trimStart(lead)
			if len(lead) > 0 && indent == 0 && len(p.head) > 0 && p.head[len(p.head)-1] != "" {
				lead = slices.Concat([]string{""}, lead)
			}
		}
		out = append(append(out, indented(lead, indent)...), lines...)
	}
	if n.Kind == yaml.SequenceNode {
		for _, item := range n.Content {
			add(item, p.item(item, o.object("items"), indent))
		}
	} else {
		for _, i := range inOrder(n, o) {
			key := n.Content[i]
			add(key, p.pair(key, n.Content[i+1], schemaOf(o, key.Value), indent))
		}
	}
	return append(out, indented(trimEnd(p.foots[n]), indent)...)
}

// pair writes a key with its value.
func (p *printer) pair(key, value *yaml.Node, o *object, indent int) []string {
	head := p.scalar(key, indent)
	head[len(head)-1] += ":"
	switch {
	case value.Kind == yaml.ScalarNode && p.tokens[value].lines[0] == "" && !p.tokens[value].block:
		return p.trailing(head, key.Line)
	case value.Kind != yaml.ScalarNode && !inBrackets(value):
		return append(p.trailing(head, key.Line), p.block(value, o, indent+2)...)
	case inBrackets(value) && value.Line > key.Line:
		head = append(p.trailing(head, key.Line), "")
		return p.trailing(joined(head, strings.Repeat(" ", indent+2), p.flow(value, o, indent+2)), p.ends[value])
	}
	out := p.value(head, value, o, indent)
	if c, ok := p.comments[key.Line]; ok && !c.alone && value.Line > key.Line {
		out = slices.Concat(indented([]string{c.text}, indent), out)
	}
	return out
}

// value writes a scalar or what is in brackets behind what stands before it.
func (p *printer) value(head []string, value *yaml.Node, o *object, indent int) []string {
	if inBrackets(value) {
		return p.trailing(joined(head, " ", p.flow(value, o, indent)), p.ends[value])
	}
	lines := p.scalar(value, indent+2)
	lines[0] = strings.TrimLeft(lines[0], " ")
	if p.tokens[value].block {
		return append(p.trailing(joined(head, " ", lines[:1]), value.Line), lines[1:]...)
	}
	return p.trailing(joined(head, " ", lines), p.ends[value])
}

// item writes an item of a list.
func (p *printer) item(n *yaml.Node, o *object, indent int) []string {
	dash := []string{strings.Repeat(" ", indent) + "-"}
	if n.Kind != yaml.ScalarNode && !inBrackets(n) {
		lead := p.takeLead(n, o)
		lines := p.block(n, o, indent+2)
		lines[0] = dash[0] + lines[0][indent+1:]
		return append(indented(lead, indent), lines...)
	}
	if n.Kind == yaml.ScalarNode && p.tokens[n].lines[0] == "" && !p.tokens[n].block {
		return p.trailing(dash, n.Line)
	}
	return p.value(dash, n, o, indent)
}

// takeLead takes the comments above the first entry of an item, which stand above the dash.
func (p *printer) takeLead(n *yaml.Node, o *object) []string {
	first := n.Content[0]
	if n.Kind == yaml.MappingNode {
		first = n.Content[inOrder(n, settingsOf(o, n))[0]]
	}
	lead := p.leads[first]
	delete(p.leads, first)
	return trimStart(lead)
}

// scalar returns the spelling of a scalar, all its lines indented.
func (p *printer) scalar(n *yaml.Node, indent int) []string {
	return indented(p.tokens[n].lines, indent)
}

// trailing adds the comment that stands behind something in a line.
func (p *printer) trailing(out []string, line int) []string {
	if c, ok := p.comments[line]; ok && !c.alone {
		out[len(out)-1] += " " + c.text
	}
	return out
}

// flow writes what is in brackets, with line breaks where the file has them. Its first line has no indent.
func (p *printer) flow(n *yaml.Node, o *object, indent int) []string {
	o = settingsOf(o, n)
	marks := map[yaml.Kind][2]string{yaml.MappingNode: {"{", "}"}, yaml.SequenceNode: {"[", "]"}}[n.Kind]
	out, last, free := []string{marks[0]}, n.Line, !p.commented(n)
	step := 1
	order := make([]int, len(n.Content))
	for i := range order {
		order[i] = i
	}
	if n.Kind == yaml.MappingNode {
		step, order = 2, inOrder(n, nil)
		if free {
			order = inOrder(n, o)
		}
	}
	for slot, i := range order {
		// Where settings change places, the line breaks between them stay.
		begin := n.Content[slot*step].Line
		out = p.breakLine(out, last, begin, indent+2, indent+2, slot > 0)
		last = max(begin, p.endOf(n.Content[slot*step+step-1]))
		var lines []string
		if step == 2 {
			lines = p.flowPair(n.Content[i], n.Content[i+1], schemaOf(o, n.Content[i].Value), indent+2)
		} else {
			lines = p.flowValue(n.Content[i], o.object("items"), indent+2)
		}
		if slot < len(order)-1 {
			lines[len(lines)-1] += ","
		}
		out = joined(out, "", lines)
	}
	if end := p.ends[n]; end > last && len(order) > 0 {
		out = p.breakLine(out, last, end, indent+2, indent, false)
	}
	out[len(out)-1] += marks[1]
	return out
}

// breakLine goes from the line of one item to the line of the next, with the comments between, which have an indent of
// their own.
func (p *printer) breakLine(out []string, last, next, comments, indent int, blank bool) []string {
	if next <= last {
		if blank {
			out[len(out)-1] += " "
		}
		return out
	}
	out = p.trailing(out, last)
	for line := last + 1; line < next; line++ {
		if c, ok := p.comments[line]; ok {
			out = append(out, strings.Repeat(" ", comments)+c.text)
		}
	}
	return append(out, strings.Repeat(" ", indent))
}

func (p *printer) flowPair(key, value *yaml.Node, o *object, indent int) []string {
	out := p.scalar(key, indent+2)
	out[0] = strings.TrimLeft(out[0], " ")
	if value.Kind == yaml.ScalarNode && p.tokens[value].lines[0] == "" {
		return out
	}
	out[len(out)-1] += ":"
	return joined(out, " ", p.flowValue(value, o, indent))
}

func (p *printer) flowValue(n *yaml.Node, o *object, indent int) []string {
	if n.Kind != yaml.ScalarNode {
		return p.flow(n, o, indent)
	}
	out := p.scalar(n, indent+2)
	out[0] = strings.TrimLeft(out[0], " ")
	return out
}

// joined puts lines behind lines, the first of which goes on the last line.
func joined(head []string, between string, tail []string) []string {
	head[len(head)-1] += between + tail[0]
	return append(head, tail[1:]...)
}

// indented indents lines that are not empty.
func indented(lines []string, indent int) []string {
	out := make([]string, len(lines))
	for i, line := range lines {
		if line != "" {
			line = strings.Repeat(" ", indent) + line
		}
		out[i] = line
	}
	return out
}

func trimStart(list []string) []string {
	for len(list) > 0 && list[0] == "" {
		list = list[1:]
	}
	return list
}

func trimEnd(list []string) []string {
	for len(list) > 0 && list[len(list)-1] == "" {
		list = list[:len(list)-1]
	}
	return list
}
