package prep

import (
	"strings"
	"testing"

	"weir/pipeline/domain"
	"weir/pipeline/pipelinetest"
)

// TestElsewhereInTurn: stages one behind the other are their expressions one above the other, and whole numbers are
// reckoned with where a stage before holds them to bounds.
func TestElsewhereInTurn(t *testing.T) {
	derive := &Derive{Columns: []Derived{
		{Name: "sum", Formula: "age - visits * 2 + rank(grade)", Type: domain.Integer},
		{Name: "minus", Formula: "-sum", Type: domain.Numeric},
		{Name: "close", Formula: "sum == 40 or sum < visits and visits != age", Type: domain.Boolean},
		{Name: "stay", Formula: "days_between(admission, admission) - 1", Type: domain.Integer, Bounds: &[2]float64{-3, 30}},
		{Name: "less", Formula: "missing(age) ? 0.5 : float(visits)", Type: domain.Numeric},
	}}
	for _, outside := range []string{"missing", "clip"} {
		err := pipelinetest.CheckElsewhere(t, clinicTable().Header,
			&NotAvailable{Columns: map[string]float64{"visits": 99999}, Suffix: "_na"}, &Bounds{Outside: outside}, derive,
			&Filter{Keep: "sum > 10 and not missing(region)", Missing: "keep"}, &Drop{Columns: []string{"sum"}})
		if err != nil {
			t.Errorf("%s: %v", outside, err)
		}
	}
}

// TestElsewhereSaysWhy: what no expression is has its reason in words, and no expression at all.
func TestElsewhereSaysWhy(t *testing.T) {
	for formula, want := range map[string]string{
		"age ** 2":                          "** is not translated into SQL",
		"age % 2":                           "% is not translated into SQL",
		"round(pressure)":                   "round is not translated into SQL",
		"year(admission)":                   "year of admission is not translated into SQL",
		"age + visits":                      "computes + of whole numbers that no stage before it holds to bounds",
		"1 / (pressure / visits)":           "a quotient whose divisor may be 0",
		"float(patient_id)":                 "patient_id is text there",
		"pressure / visits > 1 ? 1.0 : 2.0": "a quotient whose divisor may be 0",
	} {
		derive := &Derive{Columns: []Derived{{Name: "new", Formula: formula, Type: domain.Numeric}}}
		err := pipelinetest.CheckElsewhere(t, clinicTable().Header, derive)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, must say: %s", formula, err, want)
		}
	}
}
