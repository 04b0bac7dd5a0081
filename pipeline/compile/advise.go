package compile

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/pipeline/spec"
	"weir/schema"
)

// advise tells of a domain that an earlier run has paid for, and warns of what is allowed
// and often a mistake: a row as unit where several rows may be one person's (W25).
func (c *compiler) advise() {
	c.paidElsewhere()
	d := &c.spec.Dataset
	if d.PrivacyUnit.Column != "" {
		c.nameless(d)
		return
	}
	for _, column := range d.Columns().Columns {
		if NamesUnits(column) {
			c.warn("W25", fmt.Sprintf("the privacy unit is a row, and the column %s looks as if it named persons: if one has "+
				"several rows, each row is protected and the person is not", column.Name),
				fmt.Sprintf("privacy_unit: {column: %s, max_rows: ...}, or privacy.acknowledge: {W25: why each has one row}",
					column.Name))
			return
		}
	}
}

// nameless notes that rows without a unit are not capped (W25): a spelling of missing must
// not name a person.
func (c *compiler) nameless(d *spec.Dataset) {
	column := d.Columns().Column(d.PrivacyUnit.Column)
	if !column.Nullable {
		return
	}
	spelled := slices.Clone(column.Missing)
	if d.CSV != nil {
		spelled = append(spelled, d.CSV.Missing...)
	}
	which := "empty"
	if len(spelled) > 0 {
		which += " or " + strings.Join(spelled, ", ")
	}
	c.warning(pipeline.Finding{Rule: "W25", Level: pipeline.LevelNote,
		Message: fmt.Sprintf("a row whose %s is missing (%s) is a unit of its own, whatever max_rows is: of a person with "+
			"several such rows each row is protected and the person is not", column.Name, which),
		Fix: "give every row its unit, and leave nullable and missing out; or privacy.acknowledge: {W25: why " +
			"such rows are of one person each}"})
}

// paidElsewhere says which parts of the declared domain were released for a charge of
// their own (W01, W02): this bill does not have it, the ledger of the dataset does.
func (c *compiler) paidElsewhere() {
	columns := map[string][]string{}
	for _, column := range c.spec.Dataset.Columns().Columns {
		if domain.IsStageSource(column.Source) {
			columns[column.Source] = append(columns[column.Source], column.Name)
		}
	}
	for _, source := range slices.Sorted(maps.Keys(columns)) {
		c.plan.Findings = append(c.plan.Findings, pipeline.Finding{Rule: "W01", Level: pipeline.LevelNote,
			Message: fmt.Sprintf("bounds or categories of %s were released by %s; this bill is without that charge, and the "+
				"promise holds for both releases together as the ledger of the dataset adds them up",
				strings.Join(columns[source], ", "), source)})
	}
}

// needless notes what the spec acknowledges and nothing warns of (W46). What is found in the data only a run knows, and
// of an experiment each run may have warnings that others have not.
func (c *compiler) needless() {
	if c.spec.Experiment != nil {
		return
	}
	for _, rule := range slices.Sorted(maps.Keys(c.spec.Privacy.Acknowledge)) {
		found := func(f pipeline.Finding) bool { return f.Rule == rule }
		known, err := spec.FindRule(rule)
		if err == nil && known.Held == spec.HeldByCheck && !slices.ContainsFunc(c.plan.Findings, found) {
			c.plan.Findings = append(c.plan.Findings, pipeline.Finding{Rule: "W46", Level: pipeline.LevelNote,
				Message: "the spec acknowledges " + rule + ", and nothing warns of it",
				Fix:     "take it out of privacy.acknowledge, so that a later warning is read"})
		}
	}
}

// NamesUnits reports whether a column seems to identify persons: by its name, and because its values are unbounded.
func NamesUnits(c domain.Column) bool {
	return (c.Type == domain.Text || c.Type == domain.Integer) && domain.IdentifierOf(c.Name) == domain.IDNumber
}

// experiment says how often a spec with an experiment is charged (W17).
func (c *compiler) experiment() {
	if c.spec.Experiment == nil {
		return
	}
	trials, err := c.spec.Experiment.Trials()
	if err != nil {
		var p schema.Problem
		errors.As(err, &p)
		c.fault(p.Path, p.Found, p.Accepted, "")
		return
	}
	part := partOf(c.spec.Experiment)
	c.warn("W17", fmt.Sprintf("the experiment is %s over the private data%s; repeats, and runs that differ in what "+
		"is paid for or in what lies before, are each a charge like this bill, and the others share one",
		runs(len(trials)), part),
		"try settings on demo data, and run once on the private table")
	if len(trials) > 1 || part != "" {
		c.warn("W18", "choosing which of these runs to release by their scores against private rows is a release of its "+
			"own, which no charge covers",
			"say beforehand which run is released, or release all of them")
	}
}

// runs words a number of runs.
func runs(n int) string {
	if n == 1 {
		return "1 run"
	}
	return fmt.Sprintf("%d runs", n)
}

// partOf says which repeats are run of an experiment that leaves earlier ones to other parts; "" where it leaves none.
func partOf(e *spec.Experiment) string {
	switch e.FirstRepeat {
	case 0, 1:
		return ""
	case e.Repeats:
		return fmt.Sprintf(", repeat %d alone", e.Repeats)
	}
	return fmt.Sprintf(", repeats %d to %d alone", e.FirstRepeat, e.Repeats)
}

func (c *compiler) fault(path, found, accepted, rule string) {
	d := c.spec.Fault(path, found, accepted, "")
	d.Rule = rule
	c.faults = append(c.faults, d)
}

func (c *compiler) warn(rule, message, fix string) {
	c.warning(pipeline.Finding{Rule: rule, Level: pipeline.LevelWarning, Message: message, Fix: fix})
}

// warning adds a finding, with the reason for which the spec accepts it.
func (c *compiler) warning(f pipeline.Finding) {
	f.Acknowledged = c.spec.Privacy.Acknowledge[f.Rule]
	c.plan.Findings = append(c.plan.Findings, f)
}

// find adds a finding of a stage or of the bill, whose notes no spec has to accept.
func (c *compiler) find(f pipeline.Finding) {
	if f.Level == pipeline.LevelWarning {
		c.warning(f)
		return
	}
	c.plan.Findings = append(c.plan.Findings, f)
}

// mostNamed rules are written out in a note.
const mostNamed = 3

// unruled notes that rows drawn from a model may break rules that the domain declares (W41).
// Whether a model holds them its header says (pipeline.Header.Ruled).
func (c *compiler) unruled(s *spec.Stage, out pipeline.Headers) {
	for _, h := range out {
		if h.Form != pipeline.FormModel || h.Ruled || h.Domain == nil {
			continue
		}
		if rules := declared(h.Domain); len(rules) > 0 {
			c.plan.Findings = append(c.plan.Findings, pipeline.Finding{Rule: "W41", Level: pipeline.LevelNote, Stage: s.ID,
				Message: fmt.Sprintf("a model of kind %s does not hold the rules of the domain: rows drawn from it may break %s, "+
					"and the domain of the release leaves the rules out", s.Kind.Name, someOf(rules)),
				Fix: "a model of marginals (such as marginal_tree), which holds every rule in every row; a stage of kind " +
					"constraints counts the rows that break one"})
		}
	}
}

// declared words the rules about the columns of a table, as they stood before the first step
// that sampling undoes.
func declared(d *domain.Domain) (list []string) {
	first := d
	if len(d.History) > 0 && d.History[0].Before != nil {
		first = d.History[0].Before
	}
	rules, _ := domain.ReadRules(first)
	for _, r := range rules {
		if !slices.ContainsFunc(r.Columns, func(at int) bool { return d.Column(first.Columns[at].Name) == nil }) {
			list = append(list, r.Label)
		}
	}
	return list
}

func someOf(rules []string) string {
	if n := len(rules) - mostNamed; n > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(rules[:mostNamed], ", "), n)
	}
	return strings.Join(rules, ", ")
}
