package columns

// Align returns the frames on their common columns, in the order of the first,
// with one list of categories a column: the list of the first frame, then what the
// others add. Columns that are not comparable are in Dropped of every result,
// with the reason. Nothing of the inputs is changed.
func Align(frames ...*Frame) []*Frame {
	out := make([]*Frame, len(frames))
	for i, f := range frames {
		out[i] = &Frame{Rows: f.Rows}
	}
	drops := merged(frames)
	for i := range frames[0].Columns {
		name := frames[0].Columns[i].Name
		cols, reason := matching(frames, name)
		if reason != "" {
			drops = append(drops, Drop{name, reason})
			continue
		}
		unify(cols)
		for k := range out {
			out[k].Columns = append(out[k].Columns, cols[k])
		}
	}
	for k := range out {
		out[k].Dropped = drops
	}
	return out
}

// merged lists what the frames dropped already, and the columns that only later
// frames have.
func merged(frames []*Frame) []Drop {
	var drops []Drop
	seen := map[string]bool{}
	add := func(d Drop) {
		if !seen[d.Column] {
			seen[d.Column] = true
			drops = append(drops, d)
		}
	}
	for _, f := range frames {
		for _, d := range f.Dropped {
			add(d)
		}
	}
	for _, f := range frames[1:] {
		for i := range f.Columns {
			if name := f.Columns[i].Name; frames[0].Column(name) == nil {
				add(Drop{name, "is not in every table"})
			}
		}
	}
	return drops
}

func matching(frames []*Frame, name string) ([]Column, string) {
	cols := make([]Column, len(frames))
	for k, f := range frames {
		c := f.Column(name)
		if c == nil {
			return nil, "is not in every table"
		}
		if c.Coded() != frames[0].Column(name).Coded() {
			return nil, "is " + string(frames[0].Column(name).Type) + " in one table and " + string(c.Type) + " in another"
		}
		cols[k] = *c
	}
	return cols, ""
}

// unify gives coded columns one list of categories.
func unify(cols []Column) {
	if !cols[0].Coded() {
		return
	}
	list, place := []string(nil), map[string]int32{}
	for k := range cols {
		for _, v := range cols[k].Categories {
			if _, ok := place[v]; !ok {
				place[v] = int32(len(list))
				list = append(list, v)
			}
		}
	}
	for k := range cols {
		cols[k].recode(place, list)
	}
}

func (c *Column) recode(place map[string]int32, list []string) {
	dst, same := make([]int32, len(c.Categories)), true
	for i, v := range c.Categories {
		dst[i] = place[v]
		same = same && dst[i] == int32(i)
	}
	c.Categories = list
	if same {
		return
	}
	codes := make([]int32, len(c.Codes))
	for i, v := range c.Codes {
		codes[i] = -1
		if v >= 0 {
			codes[i] = dst[v]
		}
	}
	c.Codes = codes
}

// Recode returns the column with its codes in the order of list; categories that
// list lacks are missing.
func (c Column) Recode(list []string) Column {
	place := map[string]int32{}
	for _, v := range c.Categories {
		place[v] = -1
	}
	for i, v := range list {
		place[v] = int32(i)
	}
	c.recode(place, list)
	return c
}
