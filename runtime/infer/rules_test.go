package infer

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// clinicRow returns row i of a table with every rule that is looked for.
func clinicRow(i int) string {
	rng := rand.New(rand.NewPCG(4, uint64(i)))
	sex, weeks := "m", ""
	if rng.IntN(2) == 0 {
		sex, weeks = "f", fmt.Sprint(4+rng.IntN(36))
	}
	admitted := fmt.Sprintf("%d-%02d-%02d", 2015+rng.IntN(9), 1+rng.IntN(12), 1+rng.IntN(28))
	paid, owed, low := rng.IntN(97), rng.IntN(89), 40+rng.IntN(60)
	blood := []string{"1,0,0", "0,1,0", "0,0,1"}[rng.IntN(3)]
	degree := []string{"none,0", "school,10", "college,14"}[rng.IntN(3)]
	return fmt.Sprintf("%s,%s,%s,%d,%d,%d,%s,%s,%d,%d,%d", admitted, sex, weeks, paid, owed, paid+owed, blood, degree, low,
		low+rng.IntN(80), rng.IntN(40))
}

const clinicHead = "admitted,sex,weeks,paid,owed,total,a,b,c,degree,years,diastolic,systolic,stay"

// TestRulesAreProposed: a column that is missing where another has a value, an order, a sum, one of several flags, and
// a column that follows from another are proposed, undecided; the sum, of which a domain has no rule, is a remark. What
// one row of 20,000 breaks beyond the sample is not proposed.
func TestRulesAreProposed(t *testing.T) {
	want := []string{
		`  - impossible: {"sex": ["m"], "weeks": [".."]}`, `  - order: ["diastolic", "systolic"]`,
		`  - impossible: {"a": ["1"], "b": ["1"]}`,
		`  - impossible: {"a": ["0"], "b": ["0"], "c": ["0"]}`,
		`  - function: {column: "years", of: "degree", map: {"college": "14", "none": "0", "school": "10"}}`,
	}
	unsampled := 40000
	for mixed(uint64(unsampled))%2 == 0 {
		unsampled++
	}
	sum := "# paid + owed wherever all are there: leave it out"
	for name, c := range map[string]struct {
		rows, broken int
		rules        bool
	}{"whole": {1000, -1, true}, "a row breaks each": {1000, 501, false}, "beyond the sample": {45000, unsampled, false},
		"long": {45000, -1, true}} {
		out := found(t, clinicHead, c.rows, func(i int) string {
			if i == c.broken {
				return "2019-01-01,m,7,1,1,5,1,1,0,none,14,90,60,3"
			}
			return clinicRow(i)
		})
		for _, rule := range append(want, sum) {
			if strings.Contains(string(out.Domain), rule) != c.rules && !(rule == want[3] && !c.rules) {
				t.Errorf("%s: %q is proposed: %v\n%s", name, rule, !c.rules, out.Domain)
			}
		}
		if strings.Count(string(out.Domain), "\n    source: UNDECIDED") < 14 {
			t.Errorf("%s: something is not undecided:\n%s", name, out.Domain)
		}
		for _, chance := range []string{`"paid", "owed"`, `"stay"`} {
			if _, rules, _ := strings.Cut(string(out.Domain), "constraints:"); strings.Contains(rules, chance) {
				t.Errorf("%s: a rule of %s by chance:\n%s", name, chance, rules)
			}
		}
	}
}

// TestPageSaysWhereRowsLie: fullness, values and where 99 of 100 rows lie are right by hand: of 1000 rows 990 have 0 to
// 2 and ten 500 to 509; every fourth cell of half is empty, and three rows have the rare category.
func TestPageSaysWhereRowsLie(t *testing.T) {
	out := found(t, "visits,half,kind,one", 1000, func(i int) string {
		visits, half, kind := fmt.Sprint(i%3), fmt.Sprint(i%50), "common"
		if i%100 == 9 {
			visits = fmt.Sprint(500 + i/100)
		}
		if i%4 == 0 {
			half = ""
		}
		if i%400 == 5 {
			kind = "rare"
		}
		return visits + "," + half + "," + kind + "|`,x"
	})
	for _, line := range []string{
		"1,000 rows, 4 columns. Spread is by all rows.",
		"- `visits`: 99 % of rows are at most 2, and the bounds of the draft are [0, 509]: narrower bounds are worth more " +
			"than epsilon.",
		"- `kind`: values with fewer than 10 rows: 1 of 2 ('rare\\|'').",
		"| visits | integer | 100 % | 13 | are at most 2 |", "| half | integer | 75 % | 50 | are from 0 to 49 |",
		"| kind | categorical | 100 % | 2 | have one of 1; 99.7 % of rows are \"common\\|'\" |",
	} {
		if !strings.Contains(string(out.Page), line) {
			t.Errorf("the page lacks %q:\n%s", line, out.Page)
		}
	}
	if !strings.HasPrefix(string(out.Page), PageHead) {
		t.Errorf("the page begins with %.40q", out.Page)
	}
}

// TestFlagsThatFollowFromACategory: flags that a category decides are proposed as functions of it alone, which say that
// each row has one of them; without the category the flags say so themselves.
func TestFlagsThatFollowFromACategory(t *testing.T) {
	flags := []string{"1,0,0", "0,1,0", "0,0,1"}
	including := string(found(t, "level,a,b,c", 600,
		func(i int) string { return fmt.Sprintf("%s,%s", []string{"low", "mid", "top"}[i*7%3], flags[i*7%3]) }).Domain)
	if n := strings.Count(including, "- function:"); n != 3 || strings.Contains(including, "- impossible:") {
		t.Errorf("%d functions, must be 3 and nothing else:\n%s", n, including)
	}
	excluded := string(found(t, "n,a,b,c", 600, func(i int) string {
		return fmt.Sprintf("%d,%s", i*31%59,
			flags[i*7%3])
	}).Domain)
	if n := strings.Count(excluded, "- impossible:"); n != 4 {
		t.Errorf("%d rules, must be 4:\n%s", n, excluded)
	}
}

// TestTwoWordsForOneThing: a column of two words and a flag that says the same are proposed as a function; two flags
// that say the opposite of each other as one function, and nothing twice.
func TestTwoWordsForOneThing(t *testing.T) {
	out := string(found(t, "state,married,single", 400, func(i int) string {
		return []string{"married,1,0",
			"alone,0,1"}[i*7%5%2]
	}).Domain)
	if n := strings.Count(out, "- function:"); n != 2 ||
		!strings.Contains(out, `function: {column: "married", of: "state", map: {"alone": "0", "married": "1"}}`) {
		t.Errorf("%d functions, must be 2:\n%s", n, out)
	}
	if strings.Contains(out, "- impossible:") {
		t.Errorf("the flags of a function are proposed again:\n%s", out)
	}
	out = string(found(t, "n,married,single", 400, func(i int) string {
		return fmt.Sprintf("%d,%s", i*31%59,
			[]string{"1,0", "0,1"}[i*7%5%2])
	}).Domain)
	if strings.Count(out, "- function:") != 1 || strings.Contains(out, "- impossible:") {
		t.Errorf("two opposite flags are not one function:\n%s", out)
	}
}
