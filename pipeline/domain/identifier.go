package domain

import (
	"regexp"
	"slices"
	"strings"
)

// Identifier is what the name of a column says of whose its values are.
type Identifier int

const (
	NoIdentifier Identifier = iota
	IDNumber                // of a person, a household, a case or a sample: PatientID, seqn, visit_mrn
	PersonName              // surname, fake_first_name, ship_name
	Contact                 // email, phone, street
)

// IdentifierOf reads the name of a column, in any spelling: PatientID, patient_id, patient-id and "patient id" are
// alike. A name proves nothing: whoever asks has a person confirm it.
func IdentifierOf(name string) Identifier {
	words := wordsOf(name)
	if len(words) == 0 {
		return NoIdentifier
	}
	last := words[len(words)-1]
	switch whole := strings.Join(words, "_"); {
	case slices.Contains(numberWords(), last), strings.HasSuffix(whole, "nhs_number"), personNumber(words):
		return IDNumber
	case slices.Contains(nameWords(), last):
		return PersonName
	case slices.Contains(contactWords(), last):
		return Contact
	}
	return NoIdentifier
}

// wordsOf are the words of a name in small letters: a capital behind a small letter begins one.
func wordsOf(name string) []string {
	apart := regexp.MustCompile(`(\p{Ll})(\p{Lu})`).ReplaceAllString(name, "${1}_$2")
	return regexp.MustCompile(`[\p{L}\p{N}]+`).FindAllString(strings.ToLower(apart), -1)
}

// numberWords end names of columns of identifying numbers; seqn is the word of NHANES, usubjid of CDISC.
func numberWords() []string {
	list := []string{"id", "pid", "uid", "uuid", "guid", "mrn", "ssn", "seqn", "subjid", "usubjid", "hhid"}
	for _, of := range persons() {
		list = append(list, of+"id")
	}
	return append(list, "caseid", "recordid", "rowid", "sampleid", "userid", "customerid", "memberid", "householdid")
}

func persons() []string {
	return []string{"patient", "person", "subject", "respondent", "participant"}
}

// personNumber is patient, or patient_no and patient_number.
func personNumber(words []string) bool {
	return slices.Contains(persons(), words[0]) && (len(words) == 1 || strings.HasPrefix(words[1], "n"))
}

func nameWords() []string {
	return []string{"name", "surname", "lastname", "firstname", "forename", "fullname", "familyname", "givenname",
		"nachname", "vorname"}
}

func contactWords() []string {
	return []string{"email", "mail", "phone", "telephone", "mobile", "fax", "address", "street"}
}
