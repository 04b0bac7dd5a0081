package infer

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"weir/internal/disk"
	"weir/internal/plaintext"
	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/runtime/store"
)

// PageSuffix ends the name of the private page of a file, behind the name of the file.
const PageSuffix = ".weir-private.md"

// PageHead begins a private page, by which it is told from what others wrote.
const PageHead = "# PRIVATE: what the rows of "

// fewRows is the number of rows below which a value may point at a person.
const fewRows = 10

// page words what the rows look like, for whoever decides on the draft. It quotes values of rows and counts them, and
// stays where the rows stay.
func (f *finding) page() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s%s look like\n\nBy weir domain infer, for whoever decides on its draft. This page quotes rows "+
		"and counts them: keep it where they are\n"+
		"kept, never commit, send or publish it, and remove it once the domain is decided. No other file of weir reads "+
		"it.\n\n", PageHead, cellText(path.Base(f.of.Name)))
	fmt.Fprintf(&b, "%s rows, %d columns. ", thousands(f.rows), len(f.columns))
	switch {
	case f.unread != nil:
		fmt.Fprintf(&b, "The draft does not read its own file, so nothing is said of spread and rules: %s\n",
			plaintext.Text(f.unread.Error()))
	case f.sample.whole():
		b.WriteString("Spread is by all rows.\n")
	default:
		fmt.Fprintf(&b, "Spread is by about one row in %s, %s rows; rules were tried on all.\n", thousands(f.sample.stride),
			thousands(int64(f.sample.len())))
	}
	f.decisions(&b)
	f.table(&b)
	f.ruled(&b)
	return b.Bytes()
}

// decisions lists what a person should look at before the bounds are declared.
func (f *finding) decisions(b *bytes.Buffer) {
	b.WriteString("\n## What to decide\n\n")
	any := false
	for i := range f.columns {
		for _, text := range f.columnAdvice(i) {
			any = true
			fmt.Fprintf(b, "- `%s`: %s\n", cellText(f.columns[i].Name), cellText(text))
		}
	}
	if !any {
		b.WriteString("Nothing but what the draft marks.\n")
	}
}

// columnAdvice words what the rows say of one column.
func (f *finding) columnAdvice(i int) (list []string) {
	p, c := f.profiles[i], &f.columns[i]
	if p.reason != "" {
		list = append(list, p.reason+".")
	}
	if filled := p.filled(); filled == 0 {
		return append(list, "no row has a value: leave it out (kind drop).")
	} else if filled < 0.05 {
		list = append(list, fmt.Sprintf("%s of rows have a value: leave it out (kind drop), or budget goes into what is "+
			"missing.", percent(filled)))
	}
	if len(p.sentinels) > 0 {
		list = append(list, "taken as missing, since they stand apart from all other numbers: "+
			f.counted(p.sentinels, p.missing)+".")
	}
	if names := p.unnamed(); len(names) > 0 && (c.Type == domain.Text || c.Type == domain.Categorical) && p.reason == "" {
		list = append(list, fmt.Sprintf("all other cells are numbers. Where these mean missing, draft again with "+
			"--missing %s.", strings.ReplaceAll(quotedList(names), ", ", " --missing ")))
		if slices.ContainsFunc(names, domain.IsLimit) {
			list = append(list, "limits of what was measured, such as <0.5, are missing values to weir, or become a number "+
				"before: "+
				"half of the limit, say.")
		}
	}
	if f.sample == nil {
		return list
	}
	list = append(list, f.perPerson(i)...)
	if sorted := f.sample.present(i); len(sorted) > 0 && p.reason == "" {
		if c.Type.Coded() {
			list = append(list, f.rare(i)...)
		} else if c.Bounds != nil {
			list = append(list, narrower(c, sorted)...)
		}
	}
	return list
}

// fewSteps is the number of values between bounds below which narrower ones gain nothing.
const fewSteps = 20

// narrower says where bounds could be narrower: 99 of 100 rows lie in half of them.
func narrower(c *domain.Column, sorted []float64) []string {
	low, high := central(sorted)
	if width := c.Bounds[1] - c.Bounds[0]; width < 2*(high-low) || width < fewSteps*c.Step {
		return nil
	}
	return []string{fmt.Sprintf("99 %% of rows %s, and the bounds of the draft are [%s, %s]: narrower bounds are worth "+
		"more than epsilon.",
		between(c, sorted), bound(c, 0), bound(c, 1))}
}

// central returns where 99 of 100 rows lie; an end that has many rows is taken as it is.
func central(sorted []float64) (low, high float64) {
	least, most := sorted[0], sorted[len(sorted)-1]
	low, high = quantile(sorted, 0.005), quantile(sorted, 0.995)
	switch {
	case low == least && high < most:
		high = quantile(sorted, 0.99)
	case high == most && low > least:
		low = quantile(sorted, 0.01)
	}
	return low, high
}

// between words central.
func between(c *domain.Column, sorted []float64) string {
	low, high := central(sorted)
	show := func(v float64) string {
		if c.Type.Calendar() {
			return c.Show(v)
		}
		short, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 7, 64), 64)
		return number(short)
	}
	switch {
	case low == high:
		return "are " + show(low)
	case low == sorted[0] && high < sorted[len(sorted)-1]:
		return "are at most " + show(high)
	case high == sorted[len(sorted)-1] && low > sorted[0]:
		return "are at least " + show(low)
	}
	return "are from " + show(low) + " to " + show(high)
}

// rare says which categories few rows have.
func (f *finding) rare(i int) []string {
	c, counts := &f.columns[i], f.codeCounts(i)
	var names []string
	for code, n := range counts {
		if n*int(f.sample.stride) < fewRows {
			names = append(names, c.Categories[code])
		}
	}
	if len(names) == 0 {
		return nil
	}
	const most = 8
	text := quotedList(names[:min(len(names), most)])
	if len(names) > most {
		text += " and others"
	}
	return []string{fmt.Sprintf("values with fewer than %d rows: %d of %d (%s). List them by public knowledge alone, "+
		"or say categories: private.", fewRows, len(names), len(counts), text)}
}

func (f *finding) codeCounts(i int) []int {
	counts := make([]int, len(f.columns[i].Categories))
	for _, v := range f.sample.columns[i] {
		if v == v {
			counts[int(v)]++
		}
	}
	return counts
}

// perPerson says how many rows a value of a column has that may name whose a row is.
func (f *finding) perPerson(i int) []string {
	k := slices.Index(f.units, i)
	if k < 0 || len(f.perUnit) <= k || len(f.perUnit[k]) == 0 {
		return nil
	}
	var counts []float64
	for _, n := range f.perUnit[k] {
		counts = append(counts, float64(n))
	}
	slices.Sort(counts)
	high := quantile(counts, 0.99)
	return []string{fmt.Sprintf("%s values; 99 %% of them have at most %s rows, one has %s: as privacy unit, max_rows "+
		"%s keeps nearly all.",
		thousands(int64(len(counts))), number(high), number(counts[len(counts)-1]), number(high))}
}

// table has a line for each column.
func (f *finding) table(b *bytes.Buffer) {
	b.WriteString("\n## Columns\n\n| column | drafted as | filled | values | 99 % of rows |\n| --- | --- | ---: | ---: " +
		"| --- |\n")
	for i := range f.columns {
		c, p := &f.columns[i], f.profiles[i]
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s |\n", cellText(c.Name), c.Type, percent(p.filled()), f.values(i),
			cellText(f.spread(i)))
	}
}

// values counts the values of a column, in words.
func (f *finding) values(i int) string {
	p := f.profiles[i]
	if !p.many {
		return thousands(int64(len(p.distinct)))
	}
	if f.sample == nil {
		return fmt.Sprintf("over %d", maxDistinct)
	}
	n := thousands(int64(max(maxDistinct+1, distinct(f.sample.present(i)))))
	if !f.sample.whole() {
		return "at least " + n
	}
	return n
}

// spread says where nearly all rows of a column lie.
func (f *finding) spread(i int) string {
	c := &f.columns[i]
	if f.sample == nil {
		return ""
	}
	sorted := f.sample.present(i)
	switch {
	case len(sorted) == 0 || c.Type == domain.Text || f.profiles[i].reason != "":
		return ""
	case c.Type.Coded():
		return f.common(i, len(sorted))
	}
	return between(c, sorted)
}

// common says how few categories nearly all rows have, and the commonest.
func (f *finding) common(i, rows int) string {
	counts := f.codeCounts(i)
	order := make([]int, len(counts))
	for code := range order {
		order[code] = code
	}
	slices.SortStableFunc(order, func(a, b int) int { return counts[b] - counts[a] })
	sum, n := 0, 0
	for n = 0; n < len(order) && sum*100 < rows*99; n++ {
		sum += counts[order[n]]
	}
	first := order[0]
	return fmt.Sprintf("have one of %d; %s of rows are %q", n, percent(float64(counts[first])/float64(rows)),
		f.columns[i].Categories[first])
}

// ruled lists what the domain can say of columns together, and what it cannot.
func (f *finding) ruled(b *bytes.Buffer) {
	if len(f.rules) == 0 {
		return
	}
	b.WriteString("\n## Rules\n\nEvery row keeps them. One that holds by definition is worth declaring: models then " +
		"keep it whatever the noise is.\nOne that only happens to hold says something of these rows, and does not belong " +
		"into a domain.\n\n")
	for _, c := range f.rules {
		names := make([]string, len(c.columns))
		for i, at := range c.columns {
			names[i] = f.columns[at].Name
		}
		last := names[len(names)-1]
		if c.rule == nil {
			fmt.Fprintf(b, "- `%s`: %s\n", cellText(last), cellText(c.remark))
		} else {
			fmt.Fprintf(b, "- %s\n", cellText(ruleYAML(c.rule)))
		}
	}
	if f.unproposed > 0 {
		fmt.Fprintf(b, "\n%d more are not listed.\n", f.unproposed)
	}
}

// filled returns the share of rows with a value.
func (p *profile) filled() float64 {
	missing := p.empty
	for _, n := range p.missing {
		missing += n
	}
	for _, s := range append(sureMissing(), likelyMissing()...) {
		if p.distinct[s] { // a category after all
			missing -= p.missing[s]
		}
	}
	return float64(p.cells-missing) / float64(p.cells)
}

func (f *finding) counted(names []string, cells map[string]int64) string {
	var list []string
	for _, name := range names {
		list = append(list, fmt.Sprintf("%s (%s rows)", name, thousands(cells[name])))
	}
	return strings.Join(list, ", ")
}

func quotedList(names []string) string {
	list := make([]string, len(names))
	for i, name := range names {
		list[i] = "'" + name + "'"
	}
	return strings.Join(list, ", ")
}

func percent(share float64) string {
	switch {
	case share > 0 && share < 0.001:
		return "under 0.1 %"
	case share < 1 && share > 0.999:
		return "over 99.9 %"
	}
	return number(math.Round(share*1000)/10) + " %"
}

// thousands writes a count with commas.
func thousands(n int64) string {
	form, _ := domain.ReadNumberForm("1,234")
	return string(form.Append(nil, fmt.Append(nil, n)))
}

// cellText returns text that stays inside a line and a cell of a table in Markdown.
func cellText(s string) string {
	return strings.NewReplacer("|", `\|`, "\n", " ", "`", "'").Replace(plaintext.Text(s))
}

// ruleYAML returns a rule as a domain lists it, on one line.
func ruleYAML(c *domain.Constraint) string {
	switch {
	case len(c.Order) > 0:
		return "order: [" + plaintext.YAMLList(c.Order) + "]"
	case c.Function != nil:
		var pairs []string
		for _, value := range slices.Sorted(maps.Keys(c.Function.Map)) {
			pairs = append(pairs, plaintext.YAML(value)+": "+plaintext.YAML(string(c.Function.Map[value])))
		}
		return fmt.Sprintf("function: {column: %s, of: %s, map: {%s}}", plaintext.YAML(c.Function.Column),
			plaintext.YAML(c.Function.Of), strings.Join(pairs, ", "))
	}
	var pairs []string
	for _, name := range slices.Sorted(maps.Keys(c.Impossible)) {
		pairs = append(pairs, plaintext.YAML(name)+": ["+plaintext.YAMLList(c.Impossible[name])+"]")
	}
	return "impossible: {" + strings.Join(pairs, ", ") + "}"
}

// mostOfPage is more than a page of 10,000 columns has.
const mostOfPage = 1 << 30

// PlacePage says where the private page of a table goes, "" for nowhere, and refuses a place where a commit would
// publish it or where something else lies, before the table is read.
func PlacePage(data, page string) (string, error) {
	switch page {
	case "none":
		return "", nil
	case "":
		page = pipeline.Stem(data) + PageSuffix
	}
	if run := store.Releasing(page); run != "" {
		return "", fmt.Errorf("%s: lies in what the run %s releases, and it will quote rows: name a file "+
			"elsewhere by --page", page, run)
	}
	if disk.Tracked(page) {
		return "", fmt.Errorf("%s: git tracks it, and it will quote rows: git rm --cached %s and commit that, or say "+
			"--page none", page, page)
	}
	ignore := filepath.Join(filepath.Dir(page), ".gitignore")
	if _, err := os.Lstat(ignore); err == nil && disk.Staged(page) {
		return "", fmt.Errorf("%s: lies in a git work tree and no .gitignore names it, and it will quote rows: add the "+
			"line *%s* to %s, or say --page none", page, PageSuffix, ignore)
	}
	if dir := filepath.Dir(page); !(disk.Disk{}).Writable(dir) {
		return "", fmt.Errorf("%s: the folder cannot be written to: name a file elsewhere by --page, or say --page none", dir)
	}
	old, err := disk.ReadFile(page, mostOfPage)
	if errors.Is(err, fs.ErrNotExist) || err == nil && bytes.HasPrefix(old, []byte(PageHead)) {
		return page, nil
	}
	if err != nil {
		return "", err
	}
	return "", fmt.Errorf("%s: exists and is not a private page of weir: move it away, or name another file by --page",
		page)
}

// WritePage writes the private page of a table and, where none is, a .gitignore beside it.
func WritePage(page, data string, found *Drafted) error {
	if page == "" {
		return nil
	}
	var private []string
	if filepath.Clean(filepath.Dir(page)) == filepath.Clean(filepath.Dir(data)) && !pipeline.IsElsewhere(data) {
		private = append(private, filepath.Base(data))
	}
	if !strings.HasSuffix(page, PageSuffix) {
		private = append(private, filepath.Base(page))
	}
	if err := ignoreIn(filepath.Dir(page), private); err != nil {
		return err
	}
	return disk.Disk{}.WriteBytes(page, 0o600, found.Page)
}

// ignoreIn writes a .gitignore into a folder that has none: runs, keys, private pages and the named files.
func ignoreIn(dir string, private []string) error {
	text, err := ignoredIn(private...)
	if err != nil {
		return err
	}
	err = disk.Disk{}.New(filepath.Join(dir, ".gitignore"), 0o644, text)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

// ignoredIn returns a .gitignore for a folder in which these private files lie.
func ignoredIn(private ...string) ([]byte, error) {
	text, err := templates.ReadFile("template/gitignore")
	for i, file := range private {
		name := strings.NewReplacer(`\`, `\\`, "[", `\[`).Replace(file) // * and ? of a pattern mean the same there
		if i == 0 {
			text = append(text, "# private: it quotes rows, or holds them\n"...)
		}
		text = fmt.Appendf(text, "/%s\n", name)
	}
	return text, err
}
