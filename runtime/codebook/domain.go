package codebook

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"weir/internal/plaintext"
	"weir/pipeline/domain"
	"weir/schema"
)

const (
	// mostCodes is the longest list of categories that a column without one in a codebook
	// gets from its maxval alone: codes of occupations have three digits.
	mostCodes = 1000
	// mostLabels is up to how many codes a column's doc has their labels.
	mostLabels = 12
	longest    = 80 // bytes of a label or title
)

// Form says how the code for not available of an amount is declared.
type Form string

const (
	AsMissing  Form = "missing"  // a spelling of a missing value
	AsSentinel Form = "sentinel" // a number of the column, for a stage of kind not_available
)

// Domain makes columns of data-specs, called file, and what a codebook says of them.
//
//   - A codebook lists codes: categories, those up to maxval.
//   - One of those whose list UCLANESL's program read from the private rows (SEA, METAREA,
//     METAREAD, COUNTY, CITY), and no codebook lists it: categories: private, since a range
//     of codes says nothing of which are in use and which of them are taken is not a public
//     fact.
//   - maxval is at most 1000: categories 0 to maxval.
//   - a schema of an excerpt, see excerpt.
//   - else an amount: bounds 0 to maxval. A maxval of nines (9999; 999998) is the code for
//     not available, and no amount.
//
// What no domain may be, such as two columns of one name, is a problem of file.
func Domain(file string, listed []Listed, book *Book, form Form) (*domain.Domain, error) {
	d := &domain.Domain{}
	for _, l := range listed {
		e, key := book.Of(l.Name)
		c := domain.Column{Name: l.Name, Type: domain.Categorical, Source: "public"}
		codes := upTo(e.Codes, l.Maxval)
		switch {
		case l.Maxval == 0:
			excerpt(&c, file, l, e, key)
		case len(codes) > 0:
			for _, code := range codes {
				c.Categories = append(c.Categories, code.Value)
			}
			c.Doc = sentence(short(e.Doc), labels(codes), "codes by "+key+", up to the maxval of "+file)
		case readFromRows(l.Name):
			c.Categories, c.Source = domain.Categories{}, ""
			c.Doc = sentence(short(e.Doc), fmt.Sprintf("codes to %d by %s; which of them are in use is not public knowledge "+
				"(UCLANESL's program read it from the rows)", l.Maxval, file))
		case l.Maxval <= mostCodes:
			for v := range l.Maxval + 1 {
				c.Categories = append(c.Categories, strconv.FormatInt(v, 10))
			}
			c.Doc = sentence(short(e.Doc), "0 to the maxval of "+file)
		default:
			amount(&c, l.Maxval, form)
			c.Doc = sentence(short(e.Doc), "0 to the maxval of "+file)
		}
		d.Columns = append(d.Columns, c)
	}
	if problems := domain.CheckDraft(file, d); len(problems) > 0 {
		return nil, problems
	}
	return d, nil
}

// excerpt declares a column of a schema of NIST's data excerpts. A dictionary's range, or
// its codes, are public; what the schema lists alone is what occurs in the rows, which a
// person has to decide on (W01, W02).
func excerpt(c *domain.Column, file string, l Listed, e Entry, key string) {
	if l.Null != "" {
		c.Missing, c.Nullable = domain.Spellings{l.Null}, true
	}
	codes, numbers := withoutMissing(e.Codes, l.Null)
	switch {
	case e.Range != nil && numbers:
		number := *e.Range
		for _, code := range codes {
			x, _ := strconv.ParseFloat(code.Value, 64)
			number = [2]float64{min(number[0], x), max(number[1], x)}
		}
		ranged(c, number, l.Whole)
		c.Doc = sentence(short(e.Doc), "range by "+key)
	case len(codes) > 0 && e.Range == nil:
		for _, code := range codes {
			c.Categories = append(c.Categories, code.Value)
		}
		c.Doc = sentence(short(e.Doc), labels(codes), "codes by "+key)
	case l.Bounds != nil:
		ranged(c, *l.Bounds, l.Whole)
		c.Source, c.Doc = domain.Undecided, sentence(short(e.Doc), "least and greatest value that occur, by "+file)
	default:
		c.Categories = l.Values
		c.Source, c.Doc = domain.Undecided, sentence(short(e.Doc), "values that occur, by "+file)
	}
}

// withoutMissing returns the codes but for the code of a missing value, and whether all are numbers.
func withoutMissing(codes []Code, null string) (retained []Code, numbers bool) {
	numbers = true
	for _, c := range codes {
		if c.Value == null || c.Value == "" || !plaintext.Printable(c.Value) {
			continue
		}
		x, err := strconv.ParseFloat(c.Value, 64)
		numbers = numbers && err == nil && x-x == 0
		retained = append(retained, c)
	}
	return retained, numbers
}

// ranged declares a number; a range of whole numbers that its ends are not is widened.
func ranged(c *domain.Column, b [2]float64, whole bool) {
	c.Type = domain.Numeric
	if whole {
		c.Type, c.Step, b = domain.Integer, 1, [2]float64{math.Floor(b[0]), math.Ceil(b[1])}
	}
	c.Bounds = &b
}

// amount declares a number with bounds.
func amount(c *domain.Column, maxval int64, form Form) {
	c.Type, c.Step, c.Bounds = domain.Integer, 1, &[2]float64{0, float64(maxval)}
	if !notAvailable(maxval) || form == AsSentinel {
		return
	}
	c.Bounds[1]--
	c.Missing, c.Nullable = domain.Spellings{strconv.FormatInt(maxval, 10)}, true
}

// notAvailable: IPUMS writes N/A of an amount as nines, or as nines and an 8.
func notAvailable(maxval int64) bool {
	s := strconv.FormatInt(maxval, 10)
	return maxval > mostCodes && strings.Trim(s[:len(s)-1], "9") == "" && (strings.HasSuffix(s, "9") ||
		strings.HasSuffix(s, "8"))
}

// Sentinels returns the amounts of a domain made AsSentinel with their codes for not
// available, as the stage not_available takes them.
func Sentinels(listed []Listed, d *domain.Domain) (columns []string) {
	for i, c := range d.Columns {
		if listed[i].Maxval > 0 && c.Type == domain.Integer && notAvailable(listed[i].Maxval) {
			columns = append(columns, fmt.Sprintf("%s: %d", c.Name, listed[i].Maxval))
		}
	}
	return columns
}

// readFromRows: the columns whose category lists the published program took from the
// private file (PAPERS section 2).
func readFromRows(name string) bool {
	return slices.Contains([]string{"SEA", "METAREA", "METAREAD", "COUNTY", "CITY"}, name)
}

// upTo returns the codes from 0 to maxval, ascending.
func upTo(codes []Code, maxval int64) []Code {
	var retained []Code
	value := func(c Code) int64 {
		n, err := strconv.ParseInt(c.Value, 10, 64)
		if err != nil {
			return maxMaxval + 1
		}
		return n
	}
	for _, c := range codes {
		if value(c) <= maxval {
			retained = append(retained, c)
		}
	}
	slices.SortFunc(retained, func(a, b Code) int { return cmp.Compare(value(a), value(b)) })
	return retained
}

// labels says what few codes mean.
func labels(codes []Code) string {
	if len(codes) > mostLabels {
		return ""
	}
	var list []string
	for _, c := range codes {
		list = append(list, c.Value+" "+short(c.Label))
	}
	return strings.Join(list, ", ")
}

func short(s string) string {
	s = strings.TrimSuffix(strings.Join(strings.Fields(plaintext.Text(s)), " "), ".")
	if len(s) <= longest {
		return s
	}
	return strings.ToValidUTF8(s[:longest-3], "") + "..."
}

// sentence joins the parts that there are; of none it is "".
func sentence(parts ...string) string {
	text := strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), "; ")
	if text == "" {
		return ""
	}
	return text + "."
}

// YAML writes a domain with a comment of lines before it; a line for each key, lists on one.
func YAML(d *domain.Domain, comment ...string) ([]byte, error) {
	var b bytes.Buffer
	for _, line := range comment {
		// names of files are in it, which may hold ends of lines
		fmt.Fprintf(&b, "# %s\n", strings.Join(strings.Fields(plaintext.Text(line)), " "))
	}
	b.WriteString("columns:\n")
	for i := range d.Columns {
		write(&b, &d.Columns[i])
	}
	if b.Len() > schema.MaxBytes {
		return nil, fmt.Errorf("the domain would be %d bytes long, and weir check reads at most %d (1 MiB); import fewer "+
			"columns", b.Len(), schema.MaxBytes)
	}
	return b.Bytes(), nil
}

func write(b *bytes.Buffer, c *domain.Column) {
	fmt.Fprintf(b, "  - name: %s\n    type: %s\n", plaintext.YAML(c.Name), c.Type)
	if c.Bounds != nil {
		fmt.Fprintf(b, "    bounds: [%s, %s]\n", bound(c, 0), bound(c, 1))
	}
	switch {
	case c.Categories != nil && len(c.Categories) == 0:
		b.WriteString("    categories: private # a stage of kind dp_categories releases a list for a charge\n")
	case len(c.Categories) > 0:
		fmt.Fprintf(b, "    categories: [%s]\n", plaintext.YAMLList(c.Categories))
	}
	if len(c.Aliases) > 0 {
		b.WriteString("    aliases:\n")
		for _, category := range slices.Sorted(maps.Keys(c.Aliases)) {
			fmt.Fprintf(b, "      %s: [%s]\n", plaintext.YAML(category), plaintext.YAMLList(c.Aliases[category]))
		}
	}
	if c.Step > 0 {
		fmt.Fprintf(b, "    step: %s\n", step(c))
	}
	if c.Format != "" {
		fmt.Fprintf(b, "    format: %s\n", plaintext.YAML(c.Format))
	}
	if c.Zone != "" {
		fmt.Fprintf(b, "    zone: %s\n", c.Zone)
	}
	if len(c.Missing) > 0 {
		fmt.Fprintf(b, "    missing: [%s]\n", plaintext.YAMLList(c.Missing))
	}
	if c.Nullable {
		b.WriteString("    nullable: true\n")
	}
	if c.Source != "" {
		fmt.Fprintf(b, "    source: %s\n", c.Source)
	}
	if c.Doc != "" {
		fmt.Fprintf(b, "    doc: %s\n", plaintext.YAML(c.Doc))
	}
}

// step returns the step of a column as a spec writes it: a word such as minute for moments, else a number.
func step(c *domain.Column) string {
	for word, seconds := range domain.Steps() {
		if c.Type.Moment() && seconds == c.Step {
			return word
		}
	}
	return number(c.Step)
}

func bound(c *domain.Column, pos int) string {
	if c.Type.Calendar() {
		return c.Show(c.Bounds[pos])
	}
	return number(c.Bounds[pos])
}

func number(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }
