package domain

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"weir/schema"
)

// functions returns a domain of small's columns with random functions, often one of another's
// column and back, and now and then a further rule.
func functions(rng *rand.Rand) *Domain {
	d := small()
	for i := range d.Columns {
		d.Columns[i].Nullable = d.Columns[i].Nullable && rng.IntN(2) == 0
	}
	for range 1 + rng.IntN(4) {
		at := rng.Perm(len(d.Columns))
		subject, dest := &d.Columns[at[0]], &d.Columns[at[1]]
		f := &Function{Of: subject.Name, Column: dest.Name, Map: map[string]schema.Text{}}
		images := valuesOf(dest)
		if rng.IntN(2) == 0 {
			images = images[:1] // so that rules are often implied
		}
		for _, v := range valuesOf(subject) {
			if !math.IsNaN(v) || rng.IntN(2) == 0 {
				f.Map[word(subject, v)] = schema.Text(word(dest, images[rng.IntN(len(images))]))
			}
		}
		d.Constraints = append(d.Constraints, Constraint{Function: f})
		if rng.IntN(2) == 0 {
			d.Constraints = append(d.Constraints, Constraint{Impossible: map[string]Choice{subject.Name: spelled(subject, rng),
				dest.Name: spelled(dest, rng)}})
		}
	}
	if rng.IntN(3) == 0 {
		d.Constraints = append(d.Constraints, randomDomain(rng).Constraints[0])
	}
	return d
}

// TestDerivationsAgainstEnumeration: of random functions, a row keeps all rules exactly
// where its derived columns have the values that follow and its others keep the rules
// that are left, which are about none of the derived. Chains, ways back, two functions of
// one column and columns that stay occur.
func TestDerivationsAgainstEnumeration(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 1))
	seen := map[string]int{}
	for range 1000 {
		d := functions(rng)
		rules, _ := ReadRules(d)
		list, rest := Derivations(d, rules, func(int) bool { return true })
		created := map[int]bool{}
		for _, x := range list {
			created[x.Column] = true
		}
		for _, r := range rest {
			if slices.ContainsFunc(r.Columns, func(at int) bool { return created[at] }) {
				t.Fatalf("%s is left, which is about a derived column", r.Label)
			}
		}
		note(seen, rules, list, rest)
		rows(d, nil, nil, func(row []float64) bool {
			follows := keepsAll(rest, row)
			for _, x := range list {
				v := x.Value(row[x.Of])
				follows = follows && (v == row[x.Column] || math.IsNaN(v) && math.IsNaN(row[x.Column]))
			}
			if follows != keepsAll(rules, row) {
				t.Fatalf("%v: %v keeps the rules %v, follows %v\n%+v", d.Constraints, row, !follows, follows, list)
			}
			return false
		})
	}
	for _, what := range []string{"derived", "chain", "two of one", "implied", "kept"} {
		if seen[what] < 20 {
			t.Errorf("%s: %d times, the test is blind", what, seen[what])
		}
	}
}

func note(seen map[string]int, rules []Rule, list []Derived, rest []Rule) {
	for i, x := range list {
		seen["derived"]++
		for _, y := range list[:i] {
			if x.Of == y.Column {
				seen["chain"]++
			}
			if x.Of == y.Of {
				seen["two of one"]++
			}
		}
	}
	seen["implied"] += len(rules) - len(rest) - len(list)
	for _, r := range rest {
		if _, is := r.form.(function); is {
			seen["kept"]++
		}
	}
}

// TestWhatIsDerived, by hand: each domain has columns a, b, c of categories x, y, z.
func TestWhatIsDerived(t *testing.T) {
	const same, one = "x>x y>y z>z", "x>x y>x z>x"
	for _, c := range []struct{ rules, nullable, want string }{
		{"b=a " + same, "", "b"},
		{"b=a " + same + " missing>x", "a", "b"},
		{"b=a " + same, "a", ""},                                  // a missing leaves b open
		{"b=a " + same, "b", ""},                                  // b may be missing beside any a
		{"b=a x>x y>y z>missing", "b", "b"},                       // the map says where b is missing
		{"b=a " + same + "; c=b " + one, "", "b c"},               // a chain
		{"c=b " + one + "; b=a " + same, "", "b c"},               // listed the other way round
		{"b=a " + same + "; c=a " + one, "", "b c"},               // two of one
		{"b=a " + same + "; a=b " + same, "", "b"},                // the way back is implied
		{"b=a " + one + "; a=b " + same, "", ""},                  // the way back says more
		{"b=a " + same + "; b=c " + one, "", ""},                  // of two columns
		{"b=a " + same + "; c=b " + one + "; no c:x a:y", "", ""}, // not every a keeps a rule about c, which ties b too
		{"b=a " + same + "; no b:x c:y", "", ""},                  // b is in another rule
		{"b=a " + same + "; no a:x b:y", "", "b"},                 // which b=a implies
	} {
		d := written(c.rules, c.nullable)
		rules, ps := ReadRules(d)
		if len(ps) > 0 {
			t.Fatal(c.rules, ps)
		}
		list, _ := Derivations(d, rules, func(int) bool { return true })
		got := ""
		for _, x := range list {
			got = fmt.Sprint(got, " ", d.Columns[x.Column].Name)
		}
		if got := strings.TrimSpace(got); got != c.want {
			t.Errorf("%s (%s may be missing): derived %q, must be %q", c.rules, c.nullable, got, c.want)
		}
		if list, rest := Derivations(d, rules, func(int) bool { return false }); len(list) > 0 || len(rest) != len(rules) {
			t.Errorf("%s: %d columns are derived that may not be", c.rules, len(list))
		}
	}
}

// TestOrderIsNotImplied by the values at which a function changes: between them a row may
// break it. By hand: b is 5, which a <= b does not leave to every a.
func TestOrderIsNotImplied(t *testing.T) {
	bounds := [2]float64{0, 9}
	d := &Domain{
		Columns: []Column{{Name: "a", Type: Integer, Bounds: &bounds}, {Name: "b", Type: Integer, Bounds: &bounds}},
		Constraints: []Constraint{{Function: &Function{Of: "a", Column: "b", Map: map[string]schema.Text{"0..9": "5"}}},
			{Order: []string{"a", "b"}}},
	}
	rules, _ := ReadRules(d)
	if list, _ := Derivations(d, rules, func(int) bool { return true }); len(list) > 0 {
		t.Errorf("derives %d columns, must derive none", len(list))
	}
}

// written returns a domain whose rules are "b=a x>y ..." or "no a:x b:y", between semicolons.
func written(rules, nullable string) *Domain {
	d := &Domain{}
	for _, name := range []string{"a", "b", "c"} {
		d.Columns = append(d.Columns, Column{Name: name, Type: Categorical, Categories: []string{"x", "y", "z"},
			Nullable: name == nullable})
	}
	for _, rule := range strings.Split(rules, "; ") {
		words, one := strings.Fields(rule), Constraint{}
		if words[0] == "no" {
			one.Impossible = map[string]Choice{}
			for _, w := range words[1:] {
				one.Impossible[w[:1]] = Choice{w[2:]}
			}
		} else {
			one.Function = &Function{Column: words[0][:1], Of: words[0][2:], Map: map[string]schema.Text{}}
			for _, w := range words[1:] {
				from, to, _ := strings.Cut(w, ">")
				one.Function.Map[from] = schema.Text(to)
			}
		}
		d.Constraints = append(d.Constraints, one)
	}
	return d
}
