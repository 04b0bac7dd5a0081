package domain

import (
	"math"
	"strings"
	"testing"
)

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
	of := func(source string) *Domain {
		d := &Domain{Columns: []Column{{Name: "a", Type: Integer, Nullable: true}, {Name: "b", Type: Integer}}}
		d.Constraints = []Constraint{{Order: []string{"a", "b"}, Source: source}, {Impossible: map[string]Choice{"a": {".."},
			"b": {"3"}}, Source: source}}
		d.Complete()
		return d
	}
	want := "constraints[0].source: is UNDECIDED in 2 of 2 rules: they were found in the data and nobody confirmed " +
		"them, must be "
	if ps := Check(of(Undecided), Declared); len(ps) != 1 || !strings.HasPrefix(ps[0].Error(), want) {
		t.Errorf("%v, must begin with %q", ps, want)
	}
	if ps := Check(of(Undecided), Drafted); len(ps) > 0 {
		t.Error(ps)
	}
	for _, source := range []string{"", "public"} {
		if ps := Check(of(source), Declared); len(ps) > 0 {
			t.Error(source, ps)
		}
	}
	rules, _ := ReadRules(of(""))
	for a, keeps := range map[float64]bool{5: false, math.NaN(): true} {
		if rules[1].Keeps([]float64{a, 3}) != keeps {
			t.Errorf("a %g beside the one value where it is missing: keeps %v", a, !keeps)
		}
	}
}
