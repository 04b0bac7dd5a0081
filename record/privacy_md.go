package record

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"weir/internal/bitmath"
	"weir/internal/plaintext"
	"weir/privacy"
)

// PrivacyStatement returns PRIVACY.md: what a release promises, in plain words and from
// public facts only.
func PrivacyStatement(r *Run) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Privacy of %s\n\n", r.Name)
	plan, err := r.planned()
	b.WriteString(r.invented() + promise(r, plan))
	b.WriteString(stayed(plan) + publicFiles(plan))
	b.WriteString("\n## What was spent\n\n")
	if err != nil {
		fmt.Fprintf(&b, "The plan in this record cannot be read: %v.\n\n", err)
	}
	b.WriteString(spendTable(plan, r.statedReason()))
	b.WriteString(charges(r, plan))
	b.WriteString(audit(plan, r.statedReason()))
	b.WriteString("\n## What was released\n\n")
	for _, f := range r.Release {
		if f.Path == "release/PRIVACY.md" { // cannot hold its own digest
			continue
		}
		fmt.Fprintf(&b, "- `%s` (%s)\n", strings.TrimPrefix(f.Path, "release/"), f.SHA256)
	}
	b.WriteString(conditioned(plan) + formulas(r))
	b.WriteString("\n## What this does not promise\n\n" + limits(r))
	fmt.Fprintf(&b, "\n## Provenance\n\n- run %s, weir %s\n- spec %s\n- dataset %s, version %s, as its ledger names "+
		"it\n- noise key commitment %s\n",
		r.ID, r.Weir, r.SpecDigest, r.Dataset.ID, r.Dataset.Version, r.KeyCommitment)
	return plaintext.Text(b.String())
}

// invented heads the documents of a run whose source describes nobody, so that nobody takes its tables for data.
func (r *Run) invented() string {
	if r.Dataset.Invented == "" {
		return ""
	}
	return fmt.Sprintf("**MADE UP: %s drew the source rows, which describe nobody. What follows from them says nothing "+
		"of any people.**\n\n", r.Dataset.Invented)
}

// BillText returns BILL.txt: in words what the release promises and what paid for it, then the plan and its bill.
func BillText(r *Run) string {
	var b strings.Builder
	plan, _ := r.planned() // one that cannot be read has no mechanisms to name; PRIVACY.md says why
	fmt.Fprintf(&b, "Bill of %s\n\n%s\n", r.Name, strings.NewReplacer("**", "", "`", "").Replace(r.invented()+promise(r,
		plan)))
	for _, s := range plan.Stages {
		if len(s.Spends) == 0 {
			continue
		}
		fmt.Fprintf(&b, "Stage %s looked at the rows%s: %s.\n", s.ID, alone(s), s.mechanisms())
	}
	b.WriteString("\nThe plan and its bill, as weir plan prints them:\n\n" + r.Bill)
	return plaintext.Text(b.String())
}

// alone says what a stage costs by itself; "" where nothing is proven of it.
func alone(s plannedStage) string {
	if s.Alone == nil {
		return ""
	}
	return ", for epsilon " + Bound(*s.Alone) + " alone"
}

// mechanisms names what a stage looks at rows by, each once.
func (s plannedStage) mechanisms() string {
	var names []string
	for _, p := range s.Spends {
		if !slices.Contains(names, p.Mechanism) {
			names = append(names, p.Mechanism)
		}
	}
	return strings.Join(names, "; ")
}

// NotPrivate heads everything that a test with a known seed writes.
const NotPrivate = "NOT PRIVATE: the noise of this run came from a seed that anyone can repeat. It is a test, not a " +
	"release."

func promise(r *Run, plan planned) string {
	t := r.Terms
	switch {
	case r.Insecure:
		return "**" + NotPrivate + "** No epsilon holds for\nthe files beside this page, whatever the plan below would " +
			"have promised with secret noise.\n"
	case t.Claims == "none" && t.Proven == nil:
		return "No privacy is claimed. Nothing in this folder was computed from private rows; every output of the run that " +
			"was\ncomputed from them stays internal.\n"
	case t.Proven == nil:
		return fmt.Sprintf("**No epsilon is proven for this run** (claims: %s). %s\n%s", t.Claims, sentence(t.Reason),
			published(t))
	}
	if *t.Proven == 0 && len(r.Charges) == 0 { // with charges it is noise so great that delta alone covers all
		return unpaid(r, plan)
	}
	text := fmt.Sprintf("The files beside this page were made by mechanisms that together are differentially private, "+
		"with\n"+
		"**epsilon = %s** (proven, rounded up, accountant %s) at **delta = %g**, adjacency `%s`, privacy unit: %s.\n\n",
		Bound(*t.Proven), t.Accountant, t.Delta, t.Adjacency, r.Dataset.Unit)
	return text + provided(r) + meaning(t) + published(t)
}

// unpaid returns what is said of a run that released nothing of the private table. What it made of
// files that others have noised is theirs to promise.
func unpaid(r *Run, plan planned) string {
	text := fmt.Sprintf("Nothing beside this page was computed from the rows of the private table: no mechanism of this "+
		"run looked at them, so it\n"+
		"adds nothing to what is known of anyone in it (**epsilon = 0** of this run, adjacency `%s`, privacy unit: %s).\n",
		r.Terms.Adjacency, r.Dataset.Unit)
	for _, f := range plan.PublicFiles {
		if f.Terms != "" {
			text += fmt.Sprintf("\n**This is no promise to those whom `%s` counts.** The files were made from its noisy "+
				"counts; what protects\n"+
				"those people is what %s declares of them: %s. weir has not checked it and cannot.\n", f.Name, f.By, f.Terms)
		}
	}
	return text
}

// meaning explains the promise to someone new to the terms. A test
// between two equally likely neighbouring tables is right with probability at
// most (e^epsilon + delta) / (1 + e^epsilon) (Kairouz, Oh, Viswanath 2015).
func meaning(t Terms) string {
	change := "Had one unit's rows been added to or left out of the private table"
	guess := "whether one unit is in the table"
	if t.Adjacency == privacy.ReplaceOne {
		change = "Had one unit's rows in the private table been any other rows"
		guess = "which of two candidates one unit's rows are"
	}
	grow := bitmath.Exp(*t.Proven)
	return fmt.Sprintf("%s, any outcome of the release would have been at most e^epsilon\n"+
		"(%s) times as likely, up to a probability of %g. Someone who knows everything else and has to guess\n"+
		"%s, both being equally likely beforehand, is right with a probability of at most %s.\n"+
		"The same holds for anything computed from these files.\n", change, Bound(grow), t.Delta, guess,
		correct(*t.Proven, t.Delta))
}

func correct(epsilon, delta float64) string {
	p := 1 / (1 + bitmath.Exp(-epsilon)) // e^epsilon / (1 + e^epsilon), without overflow
	p += delta / (1 + bitmath.Exp(epsilon))
	return Bound(math.Ceil(p*1000)/10) + " %"
}

func published(t Terms) string {
	if t.Published == nil {
		return ""
	}
	return fmt.Sprintf("\nThe paper's own accounting gives epsilon (published) = %s. It is shown for comparison and is "+
		"not a claim of this release.\n", Bound(*t.Published))
}

// spendTable lists the mechanisms of the plan; why one has no proof stands there unless the
// head of the page has told it.
func spendTable(p planned, text string) string {
	var b strings.Builder
	for _, s := range p.Stages {
		for _, p := range s.Spends {
			if b.Len() == 0 {
				b.WriteString("| stage | mechanism | sensitivity | noise multiplier (stage) | uses | epsilon alone (stage) | " +
					"cumulative |\n|---|---|---|---|---|---|---|\n")
			}
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %s |\n", cell(s.ID), cell(p.Mechanism), cell(p.Sensitivity),
				figure(s.NoiseMultiplier, Number), useCount(p.Uses),
				figure(s.Alone, Bound), figure(s.Cumulative, Bound))
		}
	}
	for _, s := range p.Stages {
		if why := s.Unproven.String(); why != "" && !strings.Contains(text, why) {
			fmt.Fprintf(&b, "\nStage `%s` has no proven bound: %s.\n", s.ID, strings.TrimSuffix(why, "."))
		}
		if s.Published != nil {
			fmt.Fprintf(&b, "\nStage `%s`, published accounting: epsilon %s (%s).\n", s.ID, Bound(*s.Published),
				s.PublishedMethod)
		}
	}
	if b.Len() > 0 {
		b.WriteString("\n")
	}
	return b.String()
}

func useCount(n int64) string {
	if n < 0 {
		return "any, within a total"
	}
	return fmt.Sprint(n)
}

// stayed says where the rows were counted that did not come to weir, and what came instead.
func stayed(p planned) string {
	if p.Dataset.Stays == "" {
		return ""
	}
	sample := "no row"
	if rows := p.sample(); rows > 0 {
		sample = fmt.Sprintf("a sample of at most %d rows, for figures that only the owner sees", rows)
	}
	return "\n## Where the rows stayed\n\nThe rows of the private table stayed in " + p.Dataset.Stays +
		", which counted them. The owner's weir was given\n" +
		"counts, hashes of at most 4096 rows by which the owner is told of tables that share them, and " + sample + ".\n" +
		"None of this is released: what is, is listed below, made with the noise that was paid for.\n"
}

// publicFiles says which further files entered without protection, and who says
// that they need none.
func publicFiles(p planned) string {
	if len(p.PublicFiles) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("\n## Files taken as public\n\nThe promise does not cover the rows of these files, which are declared " +
		"to hold nothing private.\n\n")
	for _, f := range p.PublicFiles {
		fmt.Fprintf(&b, "- `%s` (stage `%s`), declared public by %s%s\n", f.Name, f.Stage, f.By, declaredTerms(f.Terms))
	}
	return b.String()
}

// declaredTerms tells of a file of noisy counts what its makers say of their noise.
func declaredTerms(terms string) string {
	if terms == "" {
		return ""
	}
	return ". It holds noisy counts, by their declaration of " + terms +
		": this is outside of what was proven here, and adds to it for whoever is in both"
}

func figure(x *float64, show func(float64) string) string {
	if x == nil {
		return "none"
	}
	return show(*x)
}

// cell keeps text inside its cell of a table.
func cell(s string) string {
	return strings.NewReplacer("|", "\\|", "\n", " ").Replace(s)
}

func charges(r *Run, plan planned) string {
	if len(r.Charges) == 0 {
		return "Nothing was charged: no mechanism drew noise.\n"
	}
	var b strings.Builder
	b.WriteString("Charges, as recorded in the ledger of the dataset:\n\n")
	for _, c := range r.inOrder() {
		fmt.Fprintf(&b, "- stage `%s`, `%s`: %s", c.Stage, c.Name, plan.charged(c))
		if c.Run != "" {
			fmt.Fprintf(&b, ", charged in run %s, whose output is used here again", c.Run)
		}
		b.WriteString("\n")
	}
	b.WriteString(reusedCharges(r, plan))
	b.WriteString(ledgerTotal(r))
	return b.String()
}

// charged returns the event of a charge, which the ledger has none of where nothing is proven.
func (p planned) charged(c Charge) string {
	for _, s := range p.Stages {
		if s.ID == c.Stage && s.Unproven != (privacy.Unproven{}) {
			return "no event, since nothing is proven of it (" + s.Unproven.Rule + ")"
		}
	}
	event, err := privacy.MarshalEvent(c.Event.Event)
	if err != nil {
		event = []byte(err.Error())
	}
	return "`" + string(event) + "`"
}

// inOrder returns the charges as the plan has them: stages that run side by side pay
// in any order.
func (r *Run) inOrder() []Charge {
	place := map[string]int{}
	if p, err := r.planned(); err == nil {
		for i, s := range p.Stages {
			place[s.ID] = i
		}
	}
	list := slices.Clone(r.Charges)
	slices.SortStableFunc(list, func(a, b Charge) int {
		return cmp.Or(cmp.Compare(place[a.Stage], place[b.Stage]), cmp.Compare(a.Name, b.Name))
	})
	return list
}

// audit lists the rules that the spec touches, without the reasons that the head of the page told.
func audit(p planned, text string) string {
	var b strings.Builder
	for _, f := range p.Findings {
		if b.Len() == 0 {
			b.WriteString("\n## What the audit of the spec found\n\n")
		}
		fmt.Fprintf(&b, "- %s, %s", f.Rule, f.Level)
		if f.Stage != "" {
			fmt.Fprintf(&b, ", stage `%s`", f.Stage)
		}
		if p.unproven(f, text) {
			f.Message = "no epsilon is proven, as said above"
		}
		fmt.Fprintf(&b, ": %s\n", f.Message)
		b.WriteString(answered(f))
	}
	return b.String()
}

// answered says why a warning is accepted, or that nobody says why. A reason is text of people, so it is quoted as
// code.
func answered(f Finding) string {
	switch {
	case f.Acknowledged != "":
		return "  Accepted, because: `" + strings.ReplaceAll(f.Acknowledged, "`", "'") + "`\n"
	case f.Level == "warning":
		return "  The spec gives no reason for accepting it.\n"
	}
	return ""
}

func sentence(s string) string {
	if s == "" {
		return ""
	}
	return strings.ToUpper(s[:1]) + s[1:] + "."
}

// provided returns what the proof asks of those who wrote the specs, beside the promise that rests on it.
func provided(r *Run) string {
	if n := r.paidIn(); n > 1 {
		return fmt.Sprintf("The mechanisms were charged in %d runs, and this is proven if none of them was chosen after a "+
			"look at what another had\n"+
			"released; see \"What was spent\" below.\n\n", n)
	}
	return ""
}

// reusedCharges says what holds where a run has the output of earlier ones. The bound of a
// plan is for mechanisms that were chosen before any of them was seen; what one run charged
// was, whereas another run may have been written after a look at what that one released,
// even where this one charges nothing of its own.
func reusedCharges(r *Run, plan planned) string {
	n := r.paidIn()
	switch {
	case r.unproven():
		return ""
	case n == 1 && r.Charges[0].Run == "":
		return ""
	case n == 1:
		return "\nThis run charged nothing: all its noise is that of one earlier run, which the bound above counts.\n"
	}
	otherwise := "nothing is proven here for all of them together."
	if plan.Dataset.Budget != nil {
		otherwise = "what holds for\nall of them together is the total by the filter of the dataset's budget, which the " +
			"owner has (weir ledger show)."
	}
	return fmt.Sprintf("\nThe bound above counts all of these charges, which were made in %d runs. It holds if what "+
		"each run charged was fixed\n"+
		"before anything that was made of the noise of another was looked at; if not, %s\n", n, otherwise)
}

// paidIn returns in how many runs the noise of this one was charged.
func (r *Run) paidIn() int {
	runs := map[string]bool{}
	for _, c := range r.Charges {
		runs[c.Run] = true
	}
	return len(runs)
}

// unproven tells whether the release was made by mechanisms of which nothing is proven: then
// no document may speak of a bound.
func (r *Run) unproven() bool { return r.Terms.Proven == nil && r.Terms.Claims == "published" }

// statedReason returns why nothing is proven, where the head of PRIVACY.md says it.
func (r *Run) statedReason() string {
	if r.unproven() && !r.Insecure {
		return r.Terms.Reason
	}
	return ""
}

// unproven reports whether a finding is what was told of its stage.
func (p planned) unproven(f Finding, text string) bool {
	for _, s := range p.Stages {
		why := s.Unproven.String()
		if s.ID == f.Stage && f.Level == "warning" && why != "" && strings.Contains(text, why) &&
			strings.Contains(why, f.Rule+": ") {
			return true
		}
	}
	return false
}

// limits says what the release does not promise.
func limits(r *Run) string {
	bounds := "- It bounds what the release adds to anyone's knowledge of one unit; it does not hide facts about groups.\n"
	if r.unproven() {
		bounds = "- Nothing bounds what the release adds to anyone's knowledge of one unit. It may tell as much as the " +
			"private rows themselves.\n"
	}
	return bounds + `- It covers these files only. Metrics against real rows, logs and the run's internal folder are private.
- Bounds, categories and row counts that the domain declares public are taken as public knowledge.
`
}

// coincidence says what a row that is like a real one may tell.
func coincidence(r *Run) string {
	if r.unproven() {
		return "A row may coincide with a real one, and\nnothing bounds what that can reveal about a person.\n"
	}
	return "A row may coincide with a real one; what that can\nreveal about a person is within the bound of " +
		"`PRIVACY.md`.\n"
}

// ledgerTotal says what the charges are to the ledger of the dataset.
func ledgerTotal(r *Run) string {
	text := "\nThe ledger adds them to the charges of all other runs on the same data."
	if r.unproven() {
		text += " Where nothing is proven of a charge, no total of the\nledger is proven from there on, and no run with a " +
			"budget of the dataset is admitted."
	}
	return text + "\n"
}

// formulas says where a spreadsheet would compute cells of the released CSV files, and
// what was done about it; nothing where no name or category is one. Both are public.
func formulas(r *Run) string {
	var columns []string
	safe := true
	for _, t := range r.Tables {
		for _, c := range t.Columns {
			if plaintext.Formula(c.Name) || slices.ContainsFunc(c.Categories, plaintext.Formula) {
				columns, safe = append(columns, fmt.Sprintf("`%s.%s`", t.Stage, strings.ReplaceAll(c.Name, "`", "'"))), safe &&
					t.SpreadsheetSafe
			}
		}
	}
	switch {
	case len(columns) == 0:
		return ""
	case safe:
		return fmt.Sprintf("\nA spreadsheet would take cells of %s for formulas. In the CSV files they have an apostrophe "+
			"in front\n"+
			"(`write: {spreadsheet_safe: true}`), which is part of the cell to all other readers; the Parquet files have them "+
			"as they are.\n", strings.Join(columns, ", "))
	}
	return fmt.Sprintf("\nA spreadsheet takes cells of %s for formulas and computes them. They stand in the CSV files "+
		"as they are:\n"+
		"import these columns as text, or read the Parquet files.\n", strings.Join(columns, ", "))
}
