package anomaly

import (
	"fmt"
	"math"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/schema"
	"weir/stages/internal/columns"
	"weir/stages/model/artifact"
	"weir/train"
)

// A detector looks at rows of a table as it is before the stage encode, so that one
// detector serves private rows and drawn ones, which have the source's columns again. What
// it makes of a value follows from the domain and that value alone:
//
//   - a number is its place between its bounds, 0 to 1, an ordinal or boolean category its
//     place in the list;
//   - another category is a 1 among zeros;
//   - missing is a category more, or the middle with a 1 in a number of its own.
const (
	middle = 0.5
	// reach is how far outside its bounds, in lengths of them, a value is still told from
	// those further out. Who leaves values outside wants them found.
	reach = 10
)

// width is how many numbers a row of d becomes.
func width(d *domain.Domain) int {
	n := 0
	for i := range d.Columns {
		n += widthOf(&d.Columns[i])
	}
	return n
}

func widthOf(c *domain.Column) int {
	n := 1
	if c.Type == domain.Categorical {
		n = len(c.Categories)
	}
	if c.Nullable {
		n++
	}
	return n
}

// code makes the rows of a frame that has the columns of d numbers.
func code(d *domain.Domain, f *columns.Frame) (*train.Rows, error) {
	rows := train.NewRows(f.Rows)
	for i := range d.Columns {
		c := &d.Columns[i]
		from := f.Column(c.Name)
		if from == nil {
			return nil, fmt.Errorf("column %s: is missing, must be there", c.Name)
		}
		if err := add(rows, c, from); err != nil {
			return nil, fmt.Errorf("column %s: %w", c.Name, err)
		}
	}
	return rows, nil
}

func add(rows *train.Rows, c *domain.Column, from *columns.Column) error {
	if c.Type == domain.Categorical {
		return train.Categorical(rows, categories(c, from.Codes), widthOf(c))
	}
	values, absent := places(c, from)
	err := rows.Numeric(values)
	if err == nil && c.Nullable {
		err = rows.Numeric(absent)
	}
	return err
}

// categories are codes, of which missing is the last; where the domain has none missing,
// rows refuse one.
func categories(c *domain.Column, from []int32) []int32 {
	to := make([]int32, len(from))
	for i, v := range from {
		if to[i] = v; v < 0 && c.Nullable {
			to[i] = int32(len(c.Categories))
		}
	}
	return to
}

// places are where values lie, and ones where they are missing.
func places(c *domain.Column, from *columns.Column) (values, absent []float32) {
	lo, length := 0., math.Max(1, float64(len(c.Categories)-1))
	if !c.Type.Coded() {
		lo, length = c.Bounds[0], c.Bounds[1]-c.Bounds[0]
	}
	n := max(len(from.Codes), len(from.Numbers))
	values, absent = make([]float32, n), make([]float32, n)
	for i := range n {
		switch {
		case from.Absent(i):
			values[i], absent[i] = middle, 1
		case c.Type.Coded():
			values[i] = place(float64(from.Codes[i]), lo, length)
		default:
			values[i] = place(from.Numbers[i], lo, length)
		}
	}
	return values, absent
}

// place is 0 at lo and 1 a length above. Of bounds with one value between, which have no
// length, that value is at 0 and others are out of reach.
func place(x, lo, length float64) float32 {
	if x == lo {
		return 0
	}
	return float32(min(max((x-lo)/length, -reach), 1+reach))
}

// need adds a problem for each column that a detector cannot look at.
func need(h pipeline.Header, ps *schema.Problems) {
	var encoded []string
	for i := range h.Domain.Columns {
		c := &h.Domain.Columns[i]
		found, dropped := fmt.Sprintf("a table whose column %s is ", c.Name), "; drop it where the detector need not look at it"
		switch {
		case c.Encoding != nil:
			encoded = append(encoded, c.Name)
		case c.Private() || c.Type.Coded() && c.Type != domain.Boolean && len(c.Categories) == 0:
			ps.Refuse("W02", "from", found+"without declared categories", "one with categories that are public or released (dp_categories)"+dropped)
		case c.Type == domain.Text:
			ps.Add("from", found+"text", "a table of numbers and categories"+dropped)
		case !c.Type.Coded() && c.Bounds == nil:
			ps.Refuse("W01", "from", found+"a number without bounds", "one with bounds that are public or released (dp_bounds)"+dropped)
		}
	}
	if len(encoded) > 0 {
		ps.Add("from", "a table whose "+pipeline.ColumnsAre(encoded)+" encoded", "a table as it is before the stage encode")
	}
	if err := artifact.CheckDomain(&domain.Domain{Columns: h.Domain.Columns}); err != nil && len(*ps) == 0 {
		ps.Add("from", "a table of which a detector cannot be released: "+err.Error(), "a table whose detector can be read back")
	}
}
