package plaintext

import (
	"slices"
	"testing"

	"gopkg.in/yaml.v3"
)

// TestText: what is hidden is spelled; all else, emoji and Arabic among it, stays.
func TestText(t *testing.T) {
	for s, want := range map[string]string{
		"as it is\n\tü 🙂 عربي \ufffd": "as it is\n\tü 🙂 عربي \ufffd",
		"\x1b[2J":                     `\x1b[2J`,
		"a\x00b\rc\x7f":               `a\x00b\x0dc\x7f`,
		"\u0085\u202eevil\u2066":      `\u0085\u202eevil\u2066`,
		"bad \xff\xc3 bytes":          `bad \xff\xc3 bytes`,
		"\u2028\uffff":                `\u2028\uffff`,
	} {
		if got := Text(s); got != want {
			t.Errorf("%q is shown as %q, must be %q", s, got, want)
		}
		if Printable(s) != (s == want && s != "as it is\n\tü 🙂 عربي \ufffd") {
			t.Errorf("%q: printable is %v", s, Printable(s))
		}
	}
	if !Printable("größe (cm)") || Printable("a\nb") {
		t.Error("a name holds any letter and no line break")
	}
}

// TestFormula: the signs are from OWASP's page on CSV injection.
func TestFormula(t *testing.T) {
	for cell, want := range map[string]bool{
		`=HYPERLINK("http://x")`: true, "+1+1": true, "-2+3": true, "@SUM(A1)": true, "\t=1": true, "\r=1": true,
		"-3": false, "+1.5e3": false, "-": false, "": false, "a=b": false, "<=50K": false, "'=1": false,
	} {
		if Formula(cell) != want {
			t.Errorf("%q is a formula: %v, must be %v", cell, !want, want)
		}
	}
}

// TestYAML: what YAML would read as something else comes back as the same text.
func TestYAML(t *testing.T) {
	want := []string{"", "no", "1e3", "a: b", "<=50K", "it's \"so\"\n# not a comment", "\u2028"}
	var got []string
	if err := yaml.Unmarshal([]byte("["+YAMLList(want)+"]"), &got); err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v, must be %q", got, err, want)
	}
}
