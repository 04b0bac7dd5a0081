package prep

import (
	"weir/pipeline/domain"
	"weir/schema"
)

// Together names what rows have in common that go one way in a split.
type Together struct {
	Column string `yaml:"column" json:"column" required:"true" format:"column" doc:"Column whose values say which rows belong together; rows without a value do."`
	After  string `yaml:"after,omitempty" json:"after,omitempty" doc:"Of a column of text: only what stands behind the first of this text counts, as V1.791 of X21.V1.791 after a full stop. A text without it counts whole."`
}

// together finds the column, which no rule on the units of the table may stand beside.
func (s *Split) together(ps *schema.Problems, p *splitting) {
	d, of := p.h.Domain, s.Together
	if p.unit >= 0 {
		ps.Add("together", "set for a table whose privacy unit has several rows", "absent: the rows of a unit go one way already")
	}
	if s.Stratify != "" {
		ps.Add("together", "set beside stratify", "one of the two: rows that go together may be of several classes")
	}
	at := d.Index(of.Column)
	if at < 0 {
		ps.Unknown("together.column", "column of the table", of.Column, d.Names())
		return
	}
	if of.After != "" && d.Columns[at].Type != domain.Text {
		ps.Add("together.after", "set for "+of.Column+", which is "+describe(&d.Columns[at]), "absent, or a mark in a column of text")
	}
	p.group, p.after = at, of.After
}
