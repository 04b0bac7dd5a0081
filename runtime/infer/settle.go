package infer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/template"

	"weir/internal/bitmath"
	"weir/pipeline"
	"weir/pipeline/compile"
	"weir/pipeline/domain"
	"weir/schema"
)

// beginning is what a spec is begun with (template/from.yaml.tmpl).
type beginning struct {
	Name              string // of the spec
	File, Domain, CSV string
	Source            []string // settings that say where the table is, in place of File and CSV
	Stays             bool     // rows stay in a database, so that none are split
	Sampled           bool     // of these, some may leave for figures
	Placeholder       bool     // the file is yet to be named
	Rows              int64
	Sample            int64 // rows to draw
	Delta             string
	Dropped           []dropped // before anything else
	Names             []dropped // behind the split, which a privacy unit has to reach
	Numbers           bool      // some column has bounds
	Open              []string  // columns whose categories a stage has to release
	Target, Learner   string
	Epsilon           string
	Unit              string // the column of privacy units; "" where a row is one
	MaxRows           int64  // of a unit
	Template          string // survey, registry or claims; "" is none
	Model             string // the kind that learns; "" is the one that takes the model which fits
	Encoded           bool   // it learns nets, of rows that are encoded and have no gaps
	FillNumbers       []filled
	FillCategories    []filled
	Filter            string // of the budget that is offered; "": no filter measures all that is spent
	Cap               string // epsilon of the budget that is offered
	Train, Test       string // shares of the split
	FewTest           bool   // the part for testing is too small for verdicts
}

// dropped is a column that is left out, and why.
type dropped struct{ Name, Why string }

// settle decides by the domain.
func (b *beginning) settle(d *domain.Domain, unit, target string) error {
	if unit != "" && d.Column(unit) == nil {
		return unknownColumn("--unit", unit, d)
	}
	b.Unit = unit
	b.Sample, b.Delta = 10000, "1e-6"
	twentieths := testShare(b.Rows)
	b.Train, b.Test = twentieth(20-twentieths), twentieth(twentieths)
	if b.Rows > 0 {
		b.Sample, b.Delta = max(1, b.Rows*(20-twentieths)/20), deltaFor(b.Rows)
		b.FewTest = b.Rows*twentieths/20 < leastTest
	}
	for _, c := range d.Columns {
		if c.Name == unit {
			b.Names = append(b.Names, dropped{c.Name, "is the privacy unit, of which no model may learn"})
		} else if compile.NamesUnits(c) {
			b.Names = append(b.Names, dropped{c.Name, "looks as if it named persons; if some have several rows, make it the " +
				"privacy unit"})
		} else if why := unmeasured(c); why != "" {
			b.Dropped = append(b.Dropped, dropped{c.Name, why})
		} else if c.Private() {
			b.Open = append(b.Open, c.Name)
		} else if c.Bounds != nil {
			b.Numbers = true
		}
	}
	if out := b.out(); len(out) == len(d.Columns) {
		return fmt.Errorf("--from: is a domain whose columns cannot be measured (%s), must have categories, or numbers "+
			"with bounds", out[0].Why)
	}
	return b.predict(d, target)
}

// leastTest is the fewest rows of which a report gives a verdict (record/report); the part for testing has twice as
// many where the table can spare them.
const leastTest = 200

// testShare returns the part of rows for testing, in twentieths: a tenth, or up to eight where that would be too few
// rows and so many are enough. Of a table whose number of rows is private it is a fifth.
func testShare(rows int64) int64 {
	switch {
	case rows == 0:
		return 4
	case rows*8/20 < leastTest:
		return 2
	}
	return max(2, min(8, (2*leastTest*20+rows-1)/rows))
}

// twentieth writes a share.
func twentieth(n int64) string { return strconv.FormatFloat(float64(n)/20, 'f', -1, 64) }

// Learnt returns the table that the model learns from.
func (b *beginning) Learnt() string {
	switch {
	case len(b.Names) > 0:
		return "nameless"
	case !b.Stays:
		return "split.train"
	case len(b.Open) > 0:
		return "categories"
	case b.Numbers:
		return "clean"
	case len(b.Dropped) > 0:
		return "features"
	}
	return pipeline.DatasetID
}

// out returns all columns that no model sees.
func (b *beginning) out() []dropped { return slices.Concat(b.Dropped, b.Names) }

// deltaFor returns a power of ten, at most a tenth of one over the rows.
func deltaFor(rows int64) string {
	return fmt.Sprintf("1e-%d", int(math.Ceil(bitmath.Log10(float64(rows))-1e-9))+1)
}

// unmeasured says why a column cannot be learnt as it is; "" for one that can.
func unmeasured(c domain.Column) string {
	switch {
	case c.Private():
		return ""
	case c.Type == domain.Text:
		return "is text, an open set of values; list categories in the domain to keep it, or say categories: private"
	case !c.Type.Coded() && c.Bounds == nil:
		return "has no bounds; to keep it declare them in the domain, or have them released for a charge by a stage of " +
			"kind dp_bounds before train"
	}
	return ""
}

// unknownColumn refuses the name of no column that a flag gives; of a name of several words a shell gives the first
// one.
func unknownColumn(flag, name string, d *domain.Domain) error {
	p := schema.UnknownName(flag, "column of the domain", name, d.Names())
	for _, column := range d.Names() {
		if strings.HasPrefix(column, name+" ") {
			p.Accepted += fmt.Sprintf("; a name of several words is put in quotes: %s %s", flag, shellWord(column))
			break
		}
	}
	return schema.Problems{p}.Err()
}

// predict takes a target, and a learner that goes with its type.
func (b *beginning) predict(d *domain.Domain, target string) error {
	if target == "" {
		return nil
	}
	pos := d.Index(target)
	if pos < 0 {
		return unknownColumn("--target", target, d)
	}
	out := b.out()
	if i := slices.IndexFunc(out, func(c dropped) bool { return c.Name == target }); i >= 0 {
		return fmt.Errorf("--target: is %s, which %s; must be a column with categories or bounds", target, out[i].Why)
	}
	b.Target, b.Learner = target, "linear_regression"
	if c := &d.Columns[pos]; c.Type.Coded() || c.Private() {
		b.Learner = "logistic_regression"
	}
	return nil
}

// beginningTemplate writes names in such a way that YAML reads them as they are, and in
// comments so that they stay there.
func beginningTemplate() (*template.Template, error) {
	return template.New("from.yaml.tmpl").Funcs(template.FuncMap{"q": quoted, "names": func(list []dropped) string {
		names := make([]string, len(list))
		for i, c := range list {
			names[i] = c.Name
		}
		return listed(names)
	}, "list": listed}).ParseFS(templates, "template/from.yaml.tmpl")
}

// listed returns the items of a YAML list.
func listed(names []string) string {
	items := make([]string, len(names))
	for i, name := range names {
		items[i] = quoted(name)
	}
	return strings.Join(items, ", ")
}

// quoted returns a YAML string: a JSON one, unless it can be nothing else.
func quoted(s string) string {
	if regexp.MustCompile(`^(\.\./)*[A-Za-z_][A-Za-z0-9_./-]*$`).MatchString(s) &&
		!slices.Contains([]string{"y", "n", "yes", "no", "on", "off", "true", "false", "null"}, strings.ToLower(s)) {
		return s
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.Encode(s) // a string always encodes
	return strings.TrimSpace(b.String())
}
