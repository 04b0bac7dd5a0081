package lock

import (
	"slices"
	"strings"
	"testing"
)

const digest1 = "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" // of "abc", FIPS 180-4

// study returns the lines of one spec.
func study(spec string, stages ...string) []Entry {
	list := []Entry{{Spec: spec, What: Weir, Is: []string{"v1.0.0"}}, {Spec: spec, What: Dataset,
		Is: []string{"ds-1", "1"}},
		{Spec: spec, What: Part, Names: []string{"privacy"}, Is: []string{digest1}},
		{Spec: spec, What: Public, Names: []string{"test", "a b.csv"}, Is: []string{digest1}}}
	for _, s := range stages {
		list = append(list, Entry{Spec: spec, What: Stage, Names: []string{s}, Is: []string{"drop", "1", digest1}})
	}
	return list
}

// TestFormatIsReadBack: whatever the order of the entries, with names that need quotes.
func TestFormatIsReadBack(t *testing.T) {
	all := append(study("b.yaml", "train", "clean"), study("näme \"1\"\n<<<<<<< x.yaml", "größe")...)
	text := Format(all)
	slices.Reverse(all)
	if Format(all) != text {
		t.Error("the text depends on the order of the entries")
	}
	back, problems := Parse(text)
	if len(problems) > 0 || Format(back) != text || len(back) != len(all) {
		t.Errorf("read back as %v, %v", back, problems)
	}
	if again, problems := Parse(strings.ReplaceAll(text, "\n", "\r\n")); len(problems) > 0 || Format(again) != text {
		t.Errorf("with the line ends of Windows: %v", problems)
	}
	if !strings.Contains(text, "\nb.yaml stage train drop 1 "+digest1+"\n") {
		t.Errorf("a stage is not a line of words: %s", text)
	}
}

// TestDamageIsTold with the line and what is wrong there, all at once.
func TestDamageIsTold(t *testing.T) {
	sorted := "b.yaml stage clean drop 1 " + digest1 + "\nb.yaml stage train drop 1 " + digest1 + "\n"
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"whole": {sorted, nil},
		"duplicate": {sorted + "b.yaml stage train drop 2 " + digest1,
			[]string{"weir.lock:3: says what stage train of b.yaml is, as line 2 does"}},
		"unsorted": {"b.yaml weir 1\n" + sorted, []string{"weir.lock:2: stands after line 1",
			"weir.lock:3: stands after line 1"}},
		"conflict": {"<<<<<<< HEAD\nb.yaml weir 1\n=======\nb.yaml weir 2\n>>>>>>> other",
			[]string{"weir.lock:1: is a mark", "weir.lock:3: is a mark", "weir.lock:4: says what weir",
				"weir.lock:5: is a mark"}},
		"cut":  {sorted[:30], []string{"weir.lock:1: ends in no digest"}},
		"word": {"b.yaml\nb.yaml colour red", []string{"weir.lock:1: is not", "weir.lock:2: is not"}},
		"quotes": {`"b.yaml" weir 1` + "\n" + `b.yaml weir "1` + "\n" + `b.yaml weir "1"2`,
			[]string{"weir.lock:1: is not spelled", "weir.lock:2: is not a line", "weir.lock:3: is not a line"}},
		"two spaces": {"b.yaml  weir 1\n b.yaml weir 1\nb.yaml weir 1 ", []string{":1: is not", ":2: is not",
			":3: is not"}},
		"control code": {"b.yaml weir \x1b[2J", []string{"weir.lock:1: is not spelled"}},
	} {
		_, problems := Parse(c.text)
		err := Damage(File, problems)
		if (err == nil) != (c.want == nil) || len(problems) != len(c.want) {
			t.Errorf("%s: %v, must be %q", name, err, c.want)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, must say %q", name, err, want)
			}
		}
	}
}

// TestRewritingMendsItsOwnLines and no others.
func TestRewritingMendsItsOwnLines(t *testing.T) {
	_, problems := Parse("<<<<<<< HEAD\nb.yaml weir 1\n=======\nb.yaml weir 2\n>>>>>>> other\n")
	if Damage(File, problems, "b.yaml") != nil || Damage(File, problems, "a.yaml") == nil ||
		Damage(File, problems) == nil {
		t.Error("the lines of b.yaml are mended by writing b.yaml again, and only so")
	}
	if _, problems := Parse("nonsense"); Damage(File, problems, "b.yaml") == nil {
		t.Error("a line of nobody is dropped")
	}
}

// TestCompareNamesAllThatDiffers: what changed, what came and what went, in order.
func TestCompareNamesAllThatDiffers(t *testing.T) {
	previous, now := study("b.yaml", "clean", "train"), study("b.yaml", "eval", "train")
	now[0].Is = []string{"v2.0.0"}
	got := Text(Compare(previous, now))
	want := "\n  stage clean: was drop 1 sha256:ba7816bf8f01…, is not there\n  stage eval: was not there, is drop 1 " +
		"sha256:ba7816bf8f01…\n  weir: was v1.0.0, is v2.0.0"
	if got != want {
		t.Errorf("%s, must be %s", got, want)
	}
	if Compare(previous, previous) != nil {
		t.Error("equal ones differ")
	}
}

// FuzzParse: any text is entries and problems, a line each, and what has no problem is
// written and read back as it is.
func FuzzParse(f *testing.F) {
	f.Add(Format(append(study("b.yaml", "train"), study("a b", "x")...)))
	f.Add("<<<<<<< HEAD\nb.yaml weir 1\n=======\n")
	f.Add(`"\xff" weir "` + "\n\"a\" \"b\" \"")
	f.Fuzz(func(t *testing.T, text string) {
		all, problems := Parse(text)
		if len(all)+len(problems) > strings.Count(text, "\n")+1 {
			t.Fatalf("%d entries and %d problems of fewer lines", len(all), len(problems))
		}
		again, more := Parse(Format(all))
		if len(more) > 0 || !slices.EqualFunc(all, again, func(a, b Entry) bool { return a.line() == b.line() }) {
			t.Fatalf("%v is read back as %v, %v", all, again, more)
		}
		if len(problems) > 0 && Damage(File, problems) == nil {
			t.Fatal("problems are not told")
		}
	})
}
