package prep

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow/array"

	"weir/internal/bitmath"
	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/pipeline/pipelinetest"
)

// TestFormulaProblems: the language of formulas: what is refused, before any data, and why.
func TestFormulaProblems(t *testing.T) {
	h := clinicTable().Header
	for formula, want := range map[string]string{
		`agee > 3`:                        "did you mean age?",
		`region == "nrth"`:                "did you mean north?",
		`grade > "low"`:                   "rank(grade)",
		`rank(age) > 1`:                   "the rank of age",
		`now() > 1`:                       "the unknown function",
		`all([1, 2], # > age)`:            "",
		`let x = age; x > 1`:              "",
		`age in 1..5`:                     "a range",
		`$env["age"] > 1`:                 "",
		`age > `:                          "not an expression",
		`age + 1`:                         "of type int",
		`region ** 2 > 1`:                 "to call **, must",
		`age > "a"`:                       "types fit",
		`age / 2 > 1`:                     "a division",
		`patient_id matches "^a" and col`: "",
		``:                                "characters",
		strings.Repeat("age + ", 2000):    "characters",
	} {
		_, err := (&Filter{Keep: formula, Missing: "drop"}).Plan(pipeline.Headers{"in": h})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: problem %v, want one with %q", formula, err, want)
		}
	}
	_, err := (&Derive{Columns: []Derived{{Name: "x", Formula: "age / 2", Type: domain.Integer}}}).Plan(pipeline.Headers{
		"in": h})
	if err == nil || !strings.Contains(err.Error(), "int(round(..))") {
		t.Errorf("a real number in an integer column: %v", err)
	}
}

// TestFormulas: formulas compute what they say; expected values by hand.
func TestFormulas(t *testing.T) {
	in := table([]domain.Column{
		{Name: "a", Type: domain.Numeric, Nullable: true},
		{Name: "n-b", Type: domain.Integer},
		{Name: "g", Type: domain.Ordinal, Categories: []string{"low", "mid", "high"}, Nullable: true},
		{Name: "yes", Type: domain.Boolean, Categories: []string{"n", "y"}},
	}, []any{1.5, nil, -4.0}, []any{2, 0, 7}, []any{"high", "low", nil}, []any{"y", "n", "y"})
	nan := (*float64)(nil)
	for formula, want := range map[string][]*float64{
		`a * 2 + col("n-b")`:              {pointer(5), nan, pointer(-1)},
		`a / col("n-b")`:                  {pointer(0.75), nan, pointer(-4.0 / 7)},
		`1 / col("n-b")`:                  {pointer(0.5), nan, pointer(1.0 / 7)}, // not finite is missing
		`rank(g)`:                         {pointer(2), pointer(0), nan},
		`missing(g) ? -1 : col("n-b")`:    {pointer(2), pointer(0), pointer(-1)},
		`yes ? abs(a) : 0.0`:              {pointer(1.5), nan, pointer(4)}, // every column named counts
		`max(col("n-b"), 3)`:              {pointer(3), pointer(3), pointer(7)},
		`g in ["high", "mid"] ? 1.0: 0.0`: {pointer(1), pointer(0), nan},
	} {
		out := pipelinetest.After(t, in, &Derive{Columns: []Derived{{Name: "x", Formula: formula, Type: domain.Numeric}}})
		t.Run(formula, func(t *testing.T) {
			compare(t, "x", tolerance{Rel: 1e-15}, listed(t, columnNamed(out, "x")), want)
		})
	}
	rest := pipelinetest.After(t, in,
		&Derive{Columns: []Derived{{Name: "x", Formula: `7 % col("n-b")`, Type: domain.Integer}}})
	compare(t, "a remainder by zero", tolerance{}, listed(t, columnNamed(rest, "x")), []*float64{pointer(1), nan,
		pointer(0)})
}

// TestPowersAreBitmaths: every power of a formula is bitmath's, to the bit. Powers of package math differ from
// processor to processor: with fused sums 37^1.7 is one unit in the last place above what it is without.
func TestPowersAreBitmaths(t *testing.T) {
	for y, formula := range map[float64]string{1.7: `a ** 1.7`, 0.3: `col("n") ^ 0.3`,
		-2.5: `(yes ? a : col("n")) ** -2.5`, 3: `a ** 3`} {
		var a, n, yes []any
		var want []*float64
		for x := range 300 {
			a, n, yes = append(a, float64(x+1)), append(n, x+1), append(yes, []any{"n", "y"}[x%2])
			want = append(want, pointer(bitmath.Pow(float64(x+1), y)))
		}
		in := table([]domain.Column{{Name: "a", Type: domain.Numeric}, {Name: "n", Type: domain.Integer},
			{Name: "yes", Type: domain.Boolean, Categories: []string{"n", "y"}}}, a, n, yes)
		out := pipelinetest.After(t, in, &Derive{Columns: []Derived{{Name: "x", Formula: formula, Type: domain.Numeric}}})
		compare(t, formula, tolerance{}, listed(t, columnNamed(out, "x")), want)
	}
}

// TestIntegersOfFormulasAreExact: integers keep their 64 bits in formulas, and int of what is beyond them is the
// nearest, on every processor: a conversion alone gives the least of them on amd64 and the nearest on arm64.
func TestIntegersOfFormulasAreExact(t *testing.T) {
	most, id := int64(math.MaxInt64), int64(1<<53+1)
	in := table([]domain.Column{{Name: "n", Type: domain.Integer}, {Name: "a", Type: domain.Numeric}},
		[]any{int(most), int(id), 5, -7}, []any{1e300, -1e300, 2.9, -2.9})
	for formula, want := range map[string][]int64{
		`n`:                            {most, id, 5, -7},
		`n > 0 ? 1 : 0`:                {1, 1, 1, 0},
		`n == 9007199254740993 ? 1: 0`: {0, 1, 0, 0},
		`int(a)`:                       {most, math.MinInt64, 2, -2},
		`int(a * 1e300 - a * 1e300)`:   {0, 0, 0, 0}, // NaN, NaN, 0, 0
	} {
		out := pipelinetest.After(t, in, &Derive{Columns: []Derived{{Name: "x", Formula: formula, Type: domain.Integer}}})
		if got := columnNamed(out, "x").(*array.Int64).Int64Values(); !slices.Equal(got, want) {
			t.Errorf("%s: %v, must be %v", formula, got, want)
		}
	}
}
