package domain

import (
	"math"
	"slices"
	"strings"
	"testing"
)

// TestApart: a spelling of missing that a value may have is none in what is written, and nor is a limit of numbers,
// which a reader takes for a low value.
func TestApart(t *testing.T) {
	bounds, all := &[2]float64{0, 10}, []string{"NA", "0", "10.0", "-9", "1e1", "1970-01-05", "", "<0.5", "<NA>"}
	for _, c := range []struct {
		column Column
		want   []string
	}{
		{Column{Type: Integer, Bounds: bounds}, []string{"NA", "-9", "1970-01-05", "", "<NA>"}},
		{Column{Type: Numeric}, []string{"NA", "1970-01-05", "", "<NA>"}},
		{Column{Type: Date, Bounds: bounds}, []string{"NA", "0", "10.0", "-9", "1e1", "", "<NA>"}},
		{Column{Type: Date, Bounds: bounds, Encoding: &Encoding{Form: MinMax}}, []string{"NA", "1970-01-05", "", "<NA>"}},
		{Column{Type: Ordinal, Categories: []string{"1"}}, all},
		{Column{Type: Text}, all},
	} {
		if got := c.column.Unambiguous(all); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, must be %q", c.column.Type, got, c.want)
		}
	}
}

// TestAliasesMeanOneCategory: an alias of no category, one that means two things, and one of numbers are problems.
func TestAliasesMeanOneCategory(t *testing.T) {
	for want, c := range map[string]Column{
		"": {Name: "a", Type: Categorical, Categories: []string{"no", "yes"},
			Aliases: Aliases{"yes": {"Yes", "y"}}},
		"which is not a category": {Name: "a", Type: Categorical, Categories: []string{"no", "yes"},
			Aliases: Aliases{"maybe": {"Yes"}}},
		"one category alone": {Name: "a", Type: Categorical, Categories: []string{"no", "yes"},
			Aliases: Aliases{"yes": {"no"}}},
		"listed twice": {Name: "a", Type: Categorical, Categories: []string{"no", "yes"},
			Aliases: Aliases{"yes": {"y"}, "no": {"y"}}},
		"a spelling of missing": {Name: "a", Type: Categorical, Categories: []string{"no", "yes"}, Missing: []string{"?"},
			Aliases: Aliases{"yes": {"?"}}},
		"given for type numeric": {Name: "a", Type: Numeric, Aliases: Aliases{"1": {"one"}}},
	} {
		ps := Check(&Domain{Columns: []Column{c}}, Declared)
		if want == "" && len(ps) > 0 || want != "" && (len(ps) != 1 || !strings.Contains(ps.Error(), want)) {
			t.Errorf("%+v: %v, must hold %q", c, ps, want)
		}
	}
}

// TestIdentifierOf: every spelling of a name is alike, and a word inside another one is none.
func TestIdentifierOf(t *testing.T) {
	for want, names := range map[Identifier][]string{
		IDNumber: {"id", "ID", "PatientID", "patientId", "patient_id", "patient-id", "Patient ID", "PATIENTID", "seqn",
			"SEQN", "usubjid", "visit_mrn", "person", "patient_no", "nhs_number", "Fall-Nr.", "Patienten_Nummer", "DNI"},
		PersonName: {"name", "Name", "fake_last_name", "LastName", "surname", "animal's name", "Vorname",
			"Familienname", "apellidos", "apellido_paterno", "Nom du patient", "PRÉNOM", "cognome", "Voornaam"},
		Contact: {"email", "HomePhone", "street", "Telefon"},
		NoIdentifier: {"", "_", "width", "impatient", "grid", "valid", "named", "names", "patients", "age", "RAPID",
			"person_years_x", "Fall", "Falldauer", "denominator", "clientes", "numero_hijos"},
	} {
		for _, name := range names {
			if got := IdentifierOf(name); got != want {
				t.Errorf("%q: %d, must be %d", name, got, want)
			}
		}
	}
}

// TestUndecidedRulesAreRefused: a rule that a program proposes is one problem of a declared domain, and none of a
// draft; one that a person has signed is a rule.
func TestUndecidedRulesAreRefused(t *testing.T) {
	lookup := func(source string) *Domain {
		d := &Domain{Columns: []Column{{Name: "a", Type: Integer, Nullable: true}, {Name: "b", Type: Integer}}}
		d.Constraints = []Constraint{{Order: []string{"a", "b"}, Source: source}, {Impossible: map[string]Choice{"a": {".."},
			"b": {"3"}}, Source: source}}
		d.Complete()
		return d
	}
	want := "constraints[0].source: is UNDECIDED in 2 of 2 rules: they were found in the data and nobody confirmed " +
		"them, must be "
	if ps := Check(lookup(Undecided), Declared); len(ps) != 1 || !strings.HasPrefix(ps[0].Error(), want) {
		t.Errorf("%v, must begin with %q", ps, want)
	}
	if ps := Check(lookup(Undecided), Drafted); len(ps) > 0 {
		t.Error(ps)
	}
	for _, source := range []string{"", "public"} {
		if ps := Check(lookup(source), Declared); len(ps) > 0 {
			t.Error(source, ps)
		}
	}
	rules, _ := ReadRules(lookup(""))
	for a, keeps := range map[float64]bool{5: false, math.NaN(): true} {
		if rules[1].Keeps([]float64{a, 3}) != keeps {
			t.Errorf("a %g beside the one value where it is missing: keeps %v", a, !keeps)
		}
	}
}

// TestConditionsAreWorded as a spec has them: lists with commas, in which a value with one is quoted.
func TestConditionsAreWorded(t *testing.T) {
	where := map[string]Choice{"ward": {"north", "Paris, TX"}, "age": {"30"}}
	if got, want := SayWhere(where), `age: [30], ward: [north, "Paris, TX"]`; got != want {
		t.Errorf("%s, must be %s", got, want)
	}
}
