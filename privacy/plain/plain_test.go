package plain

import "testing"

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
