package spec

import (
	"fmt"
	"regexp"
)

// AuditRule is an entry of the table of what goes wrong in tools for private synthetic data: an id, a level (error,
// warning, note), what is found, what a spec should do instead, where to read on, what holds it, and the tests that
// show that it holds.
type AuditRule struct {
	ID        string   `json:"id"`
	Level     string   `json:"level"`
	Finding   string   `json:"finding"`
	Instead   string   `json:"instead"`
	Reference string   `json:"reference"`
	Held      Holder   `json:"held"`
	Tests     []string `json:"tests,omitempty"` // names of Go tests
	Eased     string   `json:"eased,omitempty"` // of an error: where it is a warning instead; "" where it never is

	// Advice is what of the rule no program sees, so that whoever signs a spec answers for it; "" where nothing is left.
	Advice string `json:"advice,omitempty"`
}

// Short says in a word or two what holds the rule, and whether advice is left.
func (r AuditRule) Short() string {
	short := map[Holder]string{HeldByCheck: "check", HeldByRun: "run", HeldByDesign: "design"}[r.Held]
	if r.Advice != "" {
		short += ", advice"
	}
	return short
}

// Acknowledgeable reports whether a spec may accept what the rule finds, with a reason: an error is beyond reasons, and
// a rule that is a note asks for none. The notes of a rule that warns elsewhere are accepted with its warnings.
func (r AuditRule) Acknowledgeable() bool { return r.Level == "warning" || r.Eased != "" }

// published are the numbers by which the reference of a rule is found.
var published = regexp.MustCompile(`(arXiv|doi) (\S+?)(?:[;,)]|$)`)

// URI returns where the reference of the rule can be read; "" for one that is a page of this project.
func (r AuditRule) URI() string {
	switch m := published.FindStringSubmatch(r.Reference); {
	case m == nil:
		return ""
	case m[1] == "doi":
		return "https://doi.org/" + m[2]
	default:
		return "https://arxiv.org/abs/" + m[2]
	}
}

// acknowledgeable lists the rules that a spec may accept.
func acknowledgeable() (ids []string) {
	for _, r := range AuditRules() {
		if r.Acknowledgeable() {
			ids = append(ids, r.ID)
		}
	}
	return ids
}

// easedRules lists the errors that are warnings elsewhere. What claims: published runs without a proof is refused under
// every other claim.
func easedRules() map[string]string {
	const program = "under claims: published, where no epsilon is proven"
	return map[string]string{"W03": program, "W04": program, "W05": program, "W08": program, "W13": program,
		"W14": program, "W15": program, "W16": program, "W37": program,
		"W18": program + "; of an experiment, since no compiler sees which of its runs is released"}
}

// Holder says what keeps a rule.
type Holder string

// Who keeps rules.
const (
	HeldByCheck  Holder = "by weir check, plan and run, which report it"
	HeldByRun    Holder = "by weir run, which reports it once it has read the data"
	HeldByDesign Holder = "by design: no spec can ask for it, and a kind that does it fails its tests"
)

// advisedRules says of rules what no program sees.
func advisedRules() map[string]string {
	const tuned = "that settings were not chosen by looking at private rows, in a run that was not charged or elsewhere"
	return map[string]string{
		"W01": "that bounds which the domain declares were not read off the rows",
		"W02": "that categories which the domain declares were not read off the rows",
		"W05": "that rows_public and the numbers of rows to draw are public knowledge",
		"W06": "that delta was not chosen by a private row count",
		"W13": "that a file which is declared public holds no private row",
		"W16": tuned, "W17": tuned, "W42": tuned,
		"W18": "that the run which is released was said beforehand",
		"W24": "that the adjacency is what the people in the table were promised",
		"W25": "that a row, or a value of the unit's column, is one person",
		"W32": "that other programs than weir have not spent on the same people",
		"W34": "what an attack that fails says of other attacks",
	}
}

// FindRule returns the audit rule with an id; an error names the ids that there are.
func FindRule(id string) (AuditRule, error) {
	all := AuditRules()
	for _, r := range all {
		if r.ID == id {
			return r, nil
		}
	}
	return AuditRule{}, fmt.Errorf("%q is not an audit rule, must be one of %s to %s", id, all[0].ID, all[len(all)-1].ID)
}

// AuditRules lists every audit rule, in the order of docs/audit.md.
func AuditRules() []AuditRule {
	all, eased, advice := auditRules(), easedRules(), advisedRules()
	for i := range all {
		all[i].Eased, all[i].Advice = eased[all[i].ID], advice[all[i].ID]
	}
	return all
}

func auditRules() []AuditRule {
	return []AuditRule{
		{"W01", "error", "numeric bounds or bins taken from private data without budget",
			"declare public bounds, or find them by a stage of kind dp_bounds, for a charge",
			"Annamalai et al. 2024, arXiv 2405.10994", HeldByCheck, nil, "", ""},
		{"W02", "error", "categories, one-hot width or label set read from private data",
			"declare them, or find them by a stage of kind dp_categories, for a charge",
			"Annamalai et al. 2024, arXiv 2405.10994", HeldByCheck, nil, "", ""},
		{"W03", "error", "imputation, scaling or any fit across private rows before a mechanism that needs rows(c)",
			"inside shards; from a public reference table; from released statistics; or a missing category / indicator",
			"Annamalai et al. 2024, arXiv 2405.10994; docs/design.md section 3", HeldByCheck, nil, "", ""},
		{"W04", "error", "rows removed by a model fitted on private data without budget",
			"a released detector, with a fixed threshold or a top-N on released scores",
			"docs/accounting.md section 5 (GANAD)", HeldByCheck, []string{"TestSpendsAreRefused", "TestWrongStabilityIsFound",
				"TestOneRowMovesOne"}, "", ""},
		{"W05", "error", "output size, class ratio or conditioning taken from exact private counts",
			"public rows, or a noisy count by a stage of kind dp_count, for a charge",
			"Ganev et al. 2024, arXiv 2406.13985", HeldByCheck, nil, "", ""},
		{"W06", "error", "delta derived from a private row count",
			"a literal delta, or rows_public",
			"docs/accounting.md section 4", HeldByDesign, []string{"TestBadCorpus", "TestPrivateCountsDoNotShow"}, "", ""},
		{"W07", "warning", "delta above 1/rows_public, or above 0.001 where the rows are not public",
			"smaller delta",
			"Dwork and Roth 2014, section 2.3, doi 10.1561/0400000042", HeldByCheck, nil, "", ""},
		{"W08", "error", "sampler and accountant disagree (Poisson accounting with shuffled or fixed batches)",
			"one object is both sampler and event",
			"arXiv 2403.17673; arXiv 2411.10614", HeldByCheck, []string{"TestEventIsTheConfig", "TestRunSpendsThePlan"}, "", ""},
		{"W09", "error", "weighted, stratified or conditional sampling inside DP-SGD",
			"per-stratum events, or none",
			"Ponomareva et al. 2023, How to DP-fy ML, arXiv 2303.00654", HeldByDesign, []string{"TestEventIsTheConfig"}, "", ""},
		{"W10", "error", "micro-batches or replaced records whose sensitivity is counted as 1",
			"the accountant applies the factor",
			"Ponomareva et al. 2023, How to DP-fy ML, arXiv 2303.00654", HeldByCheck, nil, "", ""},
		{"W11", "error", "division by the realised batch size",
			"expected_batch_size",
			"Ponomareva et al. 2023, How to DP-fy ML, arXiv 2303.00654; arXiv 2411.10614", HeldByDesign,
			[]string{"TestEmptySampleStillSteps"}, "", ""},
		{"W12", "error", "a layer that mixes examples in a net clipped per example",
			"group or layer norm, or move it to the generator",
			"Ponomareva et al. 2023, How to DP-fy ML, arXiv 2303.00654", HeldByDesign, []string{"TestFitRefuses"}, "", ""},
		{"W13", "error", "private rows reach a released model by a path without noise (an encoder or decoder trained " +
			"without noise, a penalty on real rows)",
			"clip and noise everything that is fitted on private rows",
			"docs/accounting.md section 2.1", HeldByCheck, nil, "", ""},
		{"W14", "error", "more noisy steps than the accountant counts",
			"derived from one config",
			"arXiv 2602.17454", HeldByCheck, []string{"TestLiesFail"}, "", ""},
		{"W15", "error", "train until the budget is spent",
			"calibrate, then run a fixed number of steps",
			"docs/accounting.md section 7", HeldByCheck, []string{"TestLiesFail", "TestUsesBeyondThePlan",
				"TestProgramIsNotProven"}, "", ""},
		{"W16", "error", "early stopping, schedule, checkpoint or the size of a model chosen on private rows",
			"fixed steps; settings tried on public or made-up rows; a number of rows by dp_count, bounds by dp_bounds",
			"Ponomareva et al. 2023, How to DP-fy ML, arXiv 2303.00654", HeldByCheck, []string{"TestEveryKindConforms",
				"TestProbeFreezesOutputs", "TestChosenMixturesAreUnproven"}, "", ""},
		{"W17", "warning", "a sweep or repeats over private data, not charged",
			"the grid multiplies the bill; plan --total shows it",
			"Ponomareva et al. 2023, How to DP-fy ML, arXiv 2303.00654", HeldByCheck, nil, "", ""},
		{"W18", "error", "best of several seeds reported or released",
			"release a pre-declared run; what a run found for a charge (dp_bounds, dp_categories, dp_count) may choose the " +
				"next one",
			"Ponomareva et al. 2023, How to DP-fy ML, arXiv 2303.00654", HeldByCheck, nil, "", ""},
		{"W19", "error", "shares sum to more than 1, or the same share is spent twice",
			"shares sum to 1",
			"arXiv 2602.17454", HeldByCheck, nil, "", ""},
		{"W20", "error", "units mixed (rho, epsilon, sigma, mu)",
			"typed quantities",
			"arXiv 2602.17454", HeldByDesign, []string{"TestEventJSONRoundTrip", "TestParseEventRejects"}, "", ""},
		{"W21", "error", "claims about data-dependent epsilon (PATE votes) as if public",
			"data-independent bound, or a smooth-sensitivity release",
			"Papernot et al. 2017, arXiv 1610.05755; docs/accounting.md section 7", HeldByDesign,
			[]string{"TestNothingPublishedIsProven", "TestPublishedWithoutProven"}, "", ""},
		{"W22", "error", "teachers or discriminators that share rows",
			"disjoint shards",
			"Ganev et al. 2024, arXiv 2406.13985", HeldByCheck, nil, "", ""},
		{"W23", "error", "NaN or Inf passes the clip; an empty batch behaves differently",
			"non-finite contributions become zero, before clipping",
			"arXiv 2602.17454", HeldByDesign, []string{"TestNonFiniteRowsCountAsZero", "TestEmptySampleStillSteps"}, "", ""},
		{"W24", "error", "adjacency not stated, or changed between stages",
			"one adjacency",
			"docs/accounting.md section 8", HeldByDesign, []string{"TestBadCorpus"}, "", ""},
		{"W25", "warning", "several rows of a person, unit said to be a row",
			"privacy_unit: {column, max_rows}",
			"Ponomareva et al. 2023, How to DP-fy ML, arXiv 2303.00654", HeldByCheck, nil, "", ""},
		{"W26", "error", "noise from a fixed, default or published seed",
			"the key of the run",
			"arXiv 2602.17454", HeldByDesign, []string{"TestNoiseIsOpenedByPayersOnly", "TestSeedMarksEverything"}, "", ""},
		{"W27", "error", "floating-point noise whose low bits carry the value",
			"lattice or integer mechanisms",
			"Mironov 2012, doi 10.1145/2382196.2382264; Casacuberta et al. 2022, arXiv 2207.10635", HeldByDesign,
			[]string{"TestLatticeAttack", "TestLatticeGaussianStaysOnLattice"}, "", ""},
		{"W28", "error", "losses, gradient norms, exact counts or timings in released files or logs",
			"private class",
			"arXiv 2312.05114", HeldByDesign, []string{"TestNothingPrivateLeaves", "TestErrorOfARunStaysInternal"}, "", ""},
		{"W29", "error", "metrics against real rows released with the table; \"too close\" rows filtered with private " +
			"distances",
			"internal, or paid",
			"arXiv 2312.05114", HeldByDesign, []string{"TestNothingPrivateLeaves"}, "", ""},
		{"W30", "error", "error text or control flow that quotes private values",
			"say the column and the rule, not the value",
			"Annamalai et al. 2024, arXiv 2405.10994", HeldByCheck,
			[]string{"TestNoRowEndsAFilter", "TestErrorsArePublic"}, "", ""},
		{"W31", "error", "a released model that carries private state (vocabularies, optimiser, encoders fitted on data)",
			"classes on artifacts",
			"Annamalai et al. 2024, arXiv 2405.10994", HeldByCheck, []string{"TestModelHoldsNothingPrivate"}, "", ""},
		{"W32", "warning", "the same dataset used by another spec without composing",
			"one ledger for both datasets, so that charges add up: the warning names the command (weir ledger continue); " +
				"or, where the people are others, who they are in privacy.acknowledge",
			"docs/design.md section 5", HeldByRun, []string{"TestSharedRowsAreSaid"}, "", ""},
		{"W33", "warning", "epsilon out of reach of the accountant, or above 10 without privacy.acknowledge",
			"a budget that the stages can meet under the accountant, or the reason for this one in privacy.acknowledge",
			"Ponomareva et al. 2023, How to DP-fy ML, arXiv 2303.00654", HeldByCheck, nil, "", ""},
		{"W34", "note", "weak attacks offered as evidence of privacy",
			"state power and confidence",
			"Annamalai et al. 2024, arXiv 2405.10994", HeldByCheck, nil, "", ""},
		{"W35", "error", "rows of one person or recording spread over shards or splits",
			"shard and split by the privacy unit",
			"docs/design.md section 3", HeldByCheck, nil, "", ""},
		{"W36", "error", "releases that share one sampling coin (a whole batch through one drawn critic, several weight " +
			"tensors of one batch) amplified as if each had its own",
			"join first, amplify once; or draw independently",
			"docs/accounting.md sections 3 and 4", HeldByCheck, []string{"TestRunSpendsThePlan"}, "", ""},
		{"W37", "error", "amplification by a secret choice of shard while other shards' states depend on earlier secret " +
			"choices",
			"a public training schedule, or no amplification",
			"docs/accounting.md section 3", HeldByCheck, []string{"TestScheduleIsPublic"}, "", ""},
		{"W38", "error", "a factor-1 sensitivity for an un-summed release (a critic's gradient can move anywhere in the " +
			"clip ball: 2C under either adjacency)",
			"sensitivity 2C",
			"docs/accounting.md section 3", HeldByDesign, []string{"TestMeanEventCostsTheSameEitherWay",
				"TestRunSpendsThePlan"}, "", ""},
		{"W39", "warning", "so few rows, for the columns and the budget, that noise drowns what pairs of columns say (n mu " +
			"below 8 for each column); a note where the number of rows is not public",
			"fewer columns, a larger budget, or no conclusion about relations from these rows",
			"docs/marginals.md, what auto decides", HeldByCheck, nil, "", ""},
		{"W40", "warning", "expected_batch_size above the public row count: every row is in every batch, and the sum is " +
			"divided by more rows than there are",
			"a small part of the rows",
			"Ponomareva et al. 2023, How to DP-fy ML, arXiv 2303.00654", HeldByCheck, nil, "", ""},
		{"W41", "note", "rules of the domain (constraints), and a model that does not hold them: synthetic rows may break " +
			"them, and the domain.yaml of the release leaves them out",
			"a model of marginals, which holds every rule in every row; a stage of kind constraints counts the rows that " +
				"break one",
			"docs/spec.md, rules of the domain", HeldByCheck, nil, "", ""},
		{"W42", "note", "a setting of a tailored answer that is taken as publicly known (most_expected, prior_deviation), " +
			"other than its default: tuned on the rows it is a leak",
			"the default; a number from other studies",
			"docs/design/tailored.md", HeldByCheck, nil, "", ""},
		{"W43", "warning", "a paid stage none of whose inputs is private: its charge protects nobody",
			"the private table as its input",
			"docs/design.md section 3", HeldByCheck, nil, "", ""},
		{"W44", "note", "privacy units that go one way in a split together: their column is clipped to bounds, or rows may " +
			"have no unit",
			"every unit has a value of its own, inside the bounds",
			"docs/spec.md, class and stability", HeldByCheck, nil, "", ""},
		{"W45", "warning", "so few rows, for the columns and the budget, that noise drowns a category of one in fifty rows",
			"fewer columns, a larger budget, categories joined by public knowledge, or no conclusion from one rare category",
			"docs/marginals.md, section 3", HeldByCheck, nil, "", ""},
		{"W46", "note", "an acknowledgement (privacy.acknowledge) of a warning that does not occur, so that nobody reads a " +
			"later one",
			"take the acknowledgement out",
			"docs/spec.md, accepted warnings", HeldByCheck, nil, "", ""},
	}
}
