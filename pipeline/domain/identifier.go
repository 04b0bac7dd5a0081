package domain

import (
	"slices"
	"strings"
	"unicode"
)

// Identifier is what the name of a column says of whose its values are.
type Identifier int

const (
	NoIdentifier Identifier = iota
	IDNumber                // of a person, a household, a case or a sample: PatientID, seqn, visit_mrn
	PersonName              // surname, fake_first_name, ship_name, Nachname, apellidos, nom_patient
	Contact                 // email, phone, street, Telefon
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
	case slices.Contains(nameWords(), last), slices.Contains(nameWordsAbroad(), last), slices.Contains(nameWordsAbroad(),
		words[0]):
		return PersonName
	case slices.Contains(contactWords(), last):
		return Contact
	}
	return NoIdentifier
}

// wordsOf returns the words of a name in small letters: runs of letters and numbers, where a capital behind a small
// letter begins one.
func wordsOf(name string) []string {
	var spaced strings.Builder
	last := ' '
	for _, r := range name {
		if unicode.IsLower(last) && unicode.IsUpper(r) {
			spaced.WriteByte('_')
		}
		spaced.WriteRune(r)
		last = r
	}
	return strings.FieldsFunc(strings.ToLower(spaced.String()),
		func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) })
}

// numberWords end names of columns of identifying numbers; seqn is the word of NHANES, usubjid of CDISC.
func numberWords() []string {
	list := []string{"id", "pid", "uid", "uuid", "guid", "mrn", "ssn", "seqn", "subjid", "usubjid", "hhid"}
	for _, of := range persons() {
		list = append(list, of+"id")
	}
	list = append(list, "caseid", "recordid", "rowid", "sampleid", "userid", "customerid", "memberid", "householdid")
	return append(list, "fallnr", "fallnummer", "patientennr", "patientennummer", "kundennr", "kundennummer",
		"versichertennummer", "personnummer", "dni", "nif", "cpf", "bsn", "pesel")
}

func persons() []string {
	return []string{"patient", "person", "subject", "respondent", "participant"}
}

// personsAbroad returns those whose numbers are counted in German, French, Spanish, Portuguese, Italian and Dutch.
func personsAbroad() []string {
	return []string{"fall", "patienten", "kunden", "personen", "versicherten", "paciente", "cliente", "paziente",
		"dossier",
		"expediente", "patiënt"}
}

// personNumber reports whether a name is patient, or patient_no and patient_number, or Fall-Nr.
func personNumber(words []string) bool {
	numbered := len(words) > 1 && strings.HasPrefix(words[1], "n")
	return slices.Contains(persons(), words[0]) && (len(words) == 1 || numbered) || slices.Contains(personsAbroad(),
		words[0]) && numbered
}

// nameWords end names of columns of names.
func nameWords() []string {
	return []string{"name", "surname", "lastname", "firstname", "forename", "fullname", "familyname", "givenname"}
}

// nameWordsAbroad stand in front as often as behind: apellido_paterno, nom du patient.
func nameWordsAbroad() []string {
	return []string{
		"nachname", "vorname", "familienname", "geburtsname", "rufname", "zuname", // German
		"nom", "noms", "prenom", "prénom", "patronyme", // French
		"nombre", "nombres", "apellido", "apellidos", // Spanish
		"nome", "sobrenome", "apelido", "cognome", // Portuguese, Italian
		"naam", "voornaam", "achternaam", // Dutch
		"navn", "fornavn", "efternavn", "etternavn", "namn", "förnamn", "efternamn", // Danish, Norwegian, Swedish
		"nimi", "etunimi", "sukunimi", // Finnish
		// Polish, Czech, Romanian, Turkish
		"imie", "imię", "nazwisko", "jmeno", "jméno", "prijmeni", "příjmení", "nume", "prenume", "soyad", "soyadı",
	}
}

func contactWords() []string {
	return []string{"email", "mail", "phone", "telephone", "mobile", "fax", "address", "street", "telefon", "telefono",
		"teléfono", "téléphone", "handy", "adresse", "adres", "straße", "strasse", "correo", "courriel", "dirección",
		"direccion", "indirizzo", "endereço"}
}
