// Package words puts plans, kinds and differences into words for people: text, Markdown, Mermaid, Graphviz. Data goes
// in and text comes out: it opens nothing, compiles nothing and sees no work of a plan, so that what another version of
// weir wrote can be compared too.
package words

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"weir/internal/plaintext"
	"weir/pipeline"
	"weir/privacy"
)

// Plan returns a plan as a person reads it: the DAG, then the bill.
func Plan(p *pipeline.Plan) string { return PlanTo(p, 0) }

// PlanTo returns what Plan does for a terminal with that many columns; 0 means none, where a line of a table is
// one line.
func PlanTo(p *pipeline.Plan, columns int) string {
	b := &page{columns: columns}
	fmt.Fprintf(b, "%s  %s\n\n", p.Name, p.Digest)
	textStages(b, p)
	textDecided(b, p)
	textElsewhere(b, p)
	textSends(b, p)
	b.WriteString("\n")
	textBill(b, p)
	textPublic(b, p)
	for _, f := range p.Findings {
		b.WriteString("\n")
		b.wrap("%s", Finding(f))
	}
	text := plaintext.Text(b.String())
	if columns > 0 {
		return WrapTo(text, columns) // what is broken nowhere else
	}
	return text
}

// page is a text that is being written, for a terminal with that many columns; 0 means none.
type page struct {
	strings.Builder
	columns int
}

// wrap writes prose.
func (b *page) wrap(format string, args ...any) {
	b.WriteString(WrapTo(fmt.Sprintf(format, args...), b.columns))
}

// table writes rows in columns.
func (b *page) table(rows [][]string) { b.WriteString(Table(rows, b.columns)) }

// Finding words a finding with its fix, or with the reason for which the spec acknowledges it, in lines.
func Finding(f pipeline.Finding) string {
	path, level, rest := "", string(f.Level), ""
	if f.Stage != "" {
		path = " at " + f.Stage
	}
	switch {
	case f.Acknowledged != "":
		level, rest = "acknowledged "+level, "  because: "+f.Acknowledged+"\n"
	case f.Fix != "":
		rest = "  instead: " + f.Fix + "\n"
	}
	return plaintext.Text(fmt.Sprintf("%s %s%s: %s\n%s", level, f.Rule, path, f.Message, rest))
}

func textStages(b *page, p *pipeline.Plan) {
	source := p.Dataset.Source
	rows := [][]string{{"STAGE", "KIND", "READS", "CLASS", "STABILITY"}, {pipeline.DatasetID, source.Kind,
		strings.TrimPrefix(source.Name, source.Kind+": "), string(pipeline.Private), p.Dataset.Stability.String()}}
	for _, s := range p.Steps {
		stability := s.Stability
		if stability == "" {
			stability = "-"
		}
		rows = append(rows, []string{s.ID, s.Kind, inputsOf(s), string(s.Class), stability})
	}
	b.table(rows)
}

// textDecided writes a line for each setting that the spec leaves open.
func textDecided(b *page, p *pipeline.Plan) {
	head := "\nDECIDED  where the spec leaves it open\n"
	for _, s := range p.Steps {
		for _, d := range s.Decided {
			b.WriteString(head)
			head = ""
			fmt.Fprintf(b, "  %s.%s: %s (%s)\n", s.ID, d.Setting, d.Value, d.Why)
		}
	}
}

// textSends writes a line for each released table that is written to a server.
func textSends(b *page, p *pipeline.Plan) {
	head := "\nWRITES  when all else of a run is done, a table that must not be there before\n"
	for _, s := range p.Steps {
		if s.Sends != "" {
			fmt.Fprintf(b, "%s  %s  %s\n", head, s.ID, s.Sends)
			head = ""
		}
	}
}

// textElsewhere writes a line for each stage in front of the models where another program reads the rows.
func textElsewhere(b *page, p *pipeline.Plan) {
	head := fmt.Sprintf("\nROWS  come to weir, which computes all stages; whether %s could:\n", p.Dataset.Source.Program)
	if p.Dataset.Source.Stays {
		fmt.Fprintf(b, "\nROWS  stay in %s, which computes and counts them; weir gets counts and hashes of rows, and draws "+
			"the noise\n", p.Dataset.Source.Program)
		head = ""
	}
	var rows [][]string
	for _, s := range p.Steps {
		if s.Elsewhere != "" {
			rows = append(rows, []string{"  " + s.ID, s.Elsewhere})
		}
	}
	if len(rows) > 0 {
		b.WriteString(head)
		b.table(rows)
	}
}

func inputsOf(s *pipeline.Step) string {
	var refs []string
	for _, port := range slices.Sorted(maps.Keys(s.Inputs)) {
		for _, r := range s.Inputs[port] {
			refs = append(refs, r.String())
		}
	}
	if len(refs) > 4 {
		return fmt.Sprintf("%s and %d more", strings.Join(refs[:3], ", "), len(refs)-3)
	}
	return strings.Join(refs, ", ")
}

func textBill(b *page, p *pipeline.Plan) {
	if p.Budget.Infinite() {
		b.WriteString("BILL: none. No privacy is claimed (epsilon: inf); every output stays internal.\n")
		return
	}
	fmt.Fprintf(b, "BILL  budget epsilon %s, delta %.3g, %s, unit: %s, accountant %s, claims %s\n",
		fiveDigits(float64(p.Budget)), p.Delta, p.Adjacency, p.Dataset.PrivacyUnit, p.Accountant, p.Claims)
	if cap := p.Dataset.Budget; cap != nil {
		fmt.Fprintf(b, "CAP   dataset.budget epsilon %s at delta %.3g, filter %s\n", fiveDigits(cap.Epsilon), cap.Delta,
			cap.Filter)
	}
	rows := [][]string{{"  STAGE", "MECHANISM", "NOISE", "USES", "SHARE", "EPSILON ALONE", "CUMULATIVE"}}
	for _, s := range p.Steps {
		rows = append(rows, spendRows(s)...)
	}
	b.table(rows)
	for _, s := range p.Steps {
		textEvents(b, s)
	}
	textTotal(b, p)
}

func noiseText(s *pipeline.Step) string {
	if s.NoiseMultiplier == nil {
		return "-"
	}
	how := "fixed"
	if s.Calibrated {
		how = "calibrated"
	}
	return fmt.Sprintf("%s (%s)", fiveDigits(*s.NoiseMultiplier), how)
}

// spendRows returns a row for each mechanism; what holds for the stage as a whole stands in the first.
func spendRows(s *pipeline.Step) (rows [][]string) {
	for i, p := range s.Spends {
		if i > 0 {
			rows = append(rows, []string{"  ", p.Mechanism, "", uses(p.Uses), "", "", ""})
			continue
		}
		share := "-"
		if s.Share != nil {
			share = fiveDigits(*s.Share)
		}
		rows = append(rows, []string{"  " + s.ID, p.Mechanism, noiseText(s), uses(p.Uses), share, orElse("-", s.Alone),
			orElse("-", s.Cumulative)})
	}
	return rows
}

func uses(n int64) string {
	if n == privacy.AnyNumber {
		return "any"
	}
	return fmt.Sprint(n)
}

func textEvents(b *page, s *pipeline.Step) {
	for _, p := range s.Spends {
		fmt.Fprintf(b, "  %s: sensitivity %s\n", s.ID+"."+p.Name, p.Sensitivity)
		text, err := privacy.MarshalEvent(p.Event.Event)
		if err == nil {
			fmt.Fprintf(b, "    %s\n", text)
		}
	}
	if s.PublishedMethod != "" {
		b.wrap("    published accounting: epsilon %s of this stage (%s)\n", orElse("none", s.Published), s.PublishedMethod)
	}
	if why := s.Unproven.String(); why != "" {
		for i, rule := range gaps(why) {
			b.wrap("    %-17s%s\n", []string{"no proven bound:", ""}[min(i, 1)], rule)
		}
	}
}

func textPublic(b *page, p *pipeline.Plan) {
	if len(p.Public) == 0 {
		return
	}
	b.WriteString("\nFILES DECLARED PUBLIC  their rows are not protected\n")
	for _, f := range p.Public {
		fmt.Fprintf(b, "  %s: %s, declared by %s\n", f.Stage, f.Name, f.By)
		if f.Guarantee != "" {
			fmt.Fprintf(b, "    noisy counts, by their declaration of %s: outside of what is proven here\n", f.Guarantee)
		}
	}
}

func textTotal(b *page, p *pipeline.Plan) {
	b.wrap("  epsilon (proven)     %s%s%s\n", orElse("none", p.Epsilon.Proven), ofDelta(p), reason(p))
	if p.Epsilon.Published != nil || p.Claims == pipeline.ClaimsPublished {
		fmt.Fprintf(b, "  epsilon (published)  %s\n", orElse("none", p.Epsilon.Published))
	}
	if p.Naive != nil {
		fmt.Fprintf(b, "  by naive addition    %s\n", privacy.Bound(*p.Naive))
	}
}

// ofDelta says of a plan that pays and comes to 0 that the number was not rounded.
func ofDelta(p *pipeline.Plan) string {
	paid := slices.ContainsFunc(p.Steps, func(s *pipeline.Step) bool { return len(s.Spends) > 0 })
	if p.Epsilon.Proven == nil || *p.Epsilon.Proven > 0 || !paid {
		return ""
	}
	return ", exactly: the noise is so great that delta alone covers what one unit changes"
}

func reason(p *pipeline.Plan) string {
	if p.Epsilon.Proven != nil || p.Epsilon.Reason == "" {
		return ""
	}
	var list []string
	for _, s := range p.Steps {
		if why := s.Unproven.String(); why != "" {
			var rules []string
			for _, rule := range gaps(why) {
				rule, _, _ = strings.Cut(rule, ":")
				rules = append(rules, rule)
			}
			list = append(list, fmt.Sprintf("stage %s by %s, see above", s.ID, strings.Join(rules, ", ")))
		}
	}
	if len(list) == 0 {
		return ": " + p.Epsilon.Reason
	}
	return ": " + strings.Join(list, "; ")
}

// gaps returns the rules of a stage without a proof, each with why it fails.
func gaps(why string) []string {
	var list []string
	for _, part := range strings.Split(why, "; ") {
		if n := len(list); n > 0 && !regexp.MustCompile(`^W\d\d: `).MatchString(part) {
			list[n-1] += "; " + part
			continue
		}
		list = append(list, part)
	}
	return list
}

func fiveDigits(x float64) string { return fmt.Sprintf("%.5g", x) }

// orElse shows a bound, rounded up, or what stands for none.
func orElse(none string, x *float64) string {
	if x == nil {
		return none
	}
	return privacy.Bound(*x)
}
