package compile

import "testing"

// TestMentions: a name counts where it stands for itself; one that is a part of a longer
// word before does not hide it.
func TestMentions(t *testing.T) {
	for text, want := range map[string]bool{
		"columns: is age, unknown": true, "is ageing": false, "wage": false, "stages.d.bounds.age": true,
		"age_group": false, "wage and age": true, "": false, "ägeage": false,
	} {
		if got := mentions(text, "age"); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}
