package infer

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"weir/pipeline"
	"weir/pipeline/spec"
	"weir/runtime/table"
)

// found drafts a table of so many rows.
func found(t *testing.T, head string, rows int, row func(i int) string) *Drafted {
	t.Helper()
	var b strings.Builder
	b.WriteString(head + "\n")
	for i := range rows {
		b.WriteString(row(i) + "\n")
	}
	out, err := Draft(t.Context(), Files(fstest.MapFS{"f.csv": {Data: []byte(b.String())}}, table.One("f.csv")),
		&pipeline.CSV{Delimiter: string(head[strings.IndexAny(head, ",;")])})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := spec.ParseDomain("d.yaml", []byte(strings.ReplaceAll(string(out.Domain), "UNDECIDED", "public"))); err !=
		nil {
		t.Errorf("what was signed is no domain: %v\n%s", err, out.Domain)
	}
	if _, err := spec.ParseDomain("d.yaml", out.Domain); err == nil || !strings.Contains(err.Error(), "UNDECIDED") {
		t.Errorf("what was not signed is a domain: %v", err)
	}
	return out
}

// about returns what the draft says of a column.
func about(t *testing.T, out *Drafted, column string) string {
	t.Helper()
	_, text, ok := strings.Cut(string(out.Domain), fmt.Sprintf("  - name: %q\n", column))
	if !ok {
		t.Fatalf("no column %s in\n%s", column, out.Domain)
	}
	text, _, _ = strings.Cut(text, "\n  - ")
	return text
}

// TestFewIdsDoNotRepeat: of ids that all differ, in fewer rows than tell anything, no draft says that they repeat;
// where one does it says so, and names the column as a shell takes it.
func TestFewIdsDoNotRepeat(t *testing.T) {
	few := found(t, "PatientID,x", 12, func(i int) string { return fmt.Sprintf("P%d,%d", i, i%3) })
	if text, want := about(t, few, "PatientID"), fmt.Sprintf(whyFew, "PatientID"); !strings.Contains(text, want) {
		t.Errorf("%q, must have %q", text, want)
	}
	for name, word := range map[string]string{"Patient ID": "'Patient ID'", "patient's id": `'patient'\''s id'`} {
		repeated := found(t, name+",x", 12, func(i int) string { return fmt.Sprintf("P%d,%d", i/2, i%3) })
		if text, want := about(t, repeated, name), fmt.Sprintf(whyUnits, word); !strings.Contains(text, want) {
			t.Errorf("%q, must have %q", text, want)
		}
	}
	if word := shellWord("a\nid"); word != "COLUMN" {
		t.Errorf("a name of two lines is %q", word)
	}
}

// TestIdentifiersAreLeftOut: by any spelling of their name, and by values of which none comes twice; the draft has
// neither bounds nor categories of them, gives the reason and is undecided. Amounts that are all different, codes that
// many rows share and dates are none.
func TestIdentifiersAreLeftOut(t *testing.T) {
	out := found(t, "PatientID,seqn,last_name,email,row,amount,region_id,note,born,visit_name", 400, func(i int) string {
		return fmt.Sprintf("P%d,%d,%s,m%d@x.org,%d,%d,%d,n%d,19%02d-01-01,v%d", i/4, 71000+i,
			[]string{"Meyer", "Schulz"}[i%2], i%30, i+1, 1000+7919*i%1000003, i%5, i, i%90, i%2)
	})
	for column, why := range map[string]string{"PatientID": whyNumber + fmt.Sprintf(whyUnits, "PatientID"),
		"seqn": whyNumber, "last_name": whyName, "email": whyContact,
		"row": whyOwn, "note": whyOwn, "visit_name": whyName} {
		if text := about(t, out, column); text != "    type: text # "+why+"\n    source: UNDECIDED" &&
			text != "    type: text # "+why+"\n    source: UNDECIDED\n" {
			t.Errorf("%s: %q", column, text)
		}
	}
	for column, want := range map[string]string{"amount": "type: integer\n    bounds:", "region_id": "type: categorical",
		"born": "type: date"} {
		if text := about(t, out, column); !strings.Contains(text, want) {
			t.Errorf("%s: %q, must have %q", column, text, want)
		}
	}
	for _, value := range []string{"Meyer", "Schulz", "m7@", "P17"} {
		if strings.Contains(string(out.Domain), value) {
			t.Errorf("the draft quotes %s", value)
		}
	}
	if !strings.Contains(string(out.Page), "100 values; 99 % of them have at most 4 rows, one has 4: as privacy unit, "+
		"max_rows 4 keeps nearly all") {
		t.Errorf("the page does not say how many rows a patient has:\n%s", out.Page)
	}
}

// TestSentinelsAreMissing: numbers that stand apart are drafted as missing, with bounds and categories without them;
// those that go on where the others end are values.
func TestSentinelsAreMissing(t *testing.T) {
	cells := map[string][]string{
		"score": {"1", "2", "3", "4", "9"}, "likert": {"5", "6", "7", "8", "9"}, "age": {"18", "44", "71", "-9", "999"},
		"old":  {"88", "92", "95", "98", "99"},
		"loss": {"-9", "-3", "2", "5", "8"}, "flag": {"0", "1", "0", "1", "9"}, "dose": {"1.25", "2.5", "99.0", "3.75", "99"},
	}
	names := []string{"score", "likert", "age", "old", "loss", "flag", "dose"}
	out := found(t, strings.Join(names, ","), 300, func(i int) string {
		var row []string
		for _, name := range names {
			row = append(row, cells[name][i%5])
		}
		return strings.Join(row, ",")
	})
	for column, want := range map[string][]string{
		"score": {`categories: ["1", "2", "3", "4"]`, `missing: ["9"] # 9: apart from all other numbers`, "nullable: true"},
		"age":   {`categories: ["18", "44", "71"]`, `missing: ["-9", "999"] #`}, "flag": {"type: boolean", `missing: ["9"]`},
		"dose": {"bounds: [1.25, 3.75]", `missing: ["99", "99.0"]`}, "likert": {`"9"]`}, "old": {`"99"]`}, "loss": {`"-9"`},
	} {
		text := about(t, out, column)
		for _, part := range want {
			if !strings.Contains(text, part) {
				t.Errorf("%s: %q lacks %q", column, text, part)
			}
		}
		if strings.Contains(text, "missing:") == slices.Contains([]string{"likert", "old", "loss"}, column) {
			t.Errorf("%s: %q", column, text)
		}
	}
	if !strings.Contains(string(out.Page), "apart from all other numbers: -9 (60 rows), 999 (60 rows)") {
		t.Errorf("the page does not count them:\n%s", out.Page)
	}
}

// TestSentinelLike: what code books use for missing.
func TestSentinelLike(t *testing.T) {
	for cell, want := range map[string]bool{"-1": true, "-9": true, "-3": false, "9": true, "99": true, "998": true,
		"-999": true, "88": true, "777": true, "99.0": true, "9999999": true,
		"": false, "-": false, "1": false, "-10": false, "899": false, "989": false, "99.5": false, "99999999": false,
		"0": false, "a9": false, "9.": true} {
		if got := sentinelLike([]byte(cell)); got != want {
			t.Errorf("%q: %v", cell, got)
		}
	}
}

// TestStepsOfNearlyAll: one cell in 200 with more digits leaves the step of the others, and the draft says so; where
// all have more than six, it says that there is none. True and False make a boolean.
func TestStepsOfNearlyAll(t *testing.T) {
	out := found(t, "weight,ratio,smokes,lower", 400, func(i int) string {
		weight := fmt.Sprintf("%d.%d", 50+i%40, i%10)
		if i%200 == 7 {
			weight = "61.30000000000000426"
		}
		return fmt.Sprintf("%s,0.%09d,%s,%s", weight, 1+i*2345677, []string{"True", "False"}[i%2],
			[]string{"true", "false"}[i/2%2])
	})
	if text := about(t, out, "weight"); !strings.Contains(text, "step: 0.1 # a few numbers have more digits") {
		t.Error(text)
	}
	if text := about(t, out, "ratio"); strings.Contains(text, "step:") || !strings.Contains(text, "declare a step") {
		t.Error(text)
	}
	for column, want := range map[string]string{"smokes": `type: boolean`, "lower": `categories: ["false", "true"]`} {
		if text := about(t, out, column); !strings.Contains(text, want) {
			t.Error(text)
		}
	}
}

// TestMissingIsHinted: a word among numbers that is no well-known spelling is hinted at by the column's name; the word
// itself stands on the page alone where it is not a category.
func TestMissingIsHinted(t *testing.T) {
	row := func(i int) string {
		if i%40 == 3 {
			return fmt.Sprintf("unbekannt,%d", i%4)
		}
		return fmt.Sprintf("%d,%d", 1000+i*37%5000, i%4)
	}
	out := found(t, "income,n", 400, row)
	if len(out.Hints) != 1 || !strings.HasPrefix(out.Hints[0], "income: ") || strings.Contains(out.Hints[0], "unbekannt") {
		t.Errorf("hints %q", out.Hints)
	}
	if strings.Contains(string(out.Domain), "unbekannt") || !strings.Contains(string(out.Page), "--missing 'unbekannt'") {
		t.Errorf("%s\n%s", out.Domain, out.Page)
	}
}

// TestNamesInOtherWords: names of persons are left out whatever language says that they are names, and a list that is
// written as full names are says so beside it. Clinics, places and breeds stay lists.
func TestNamesInOtherWords(t *testing.T) {
	out := found(t, `Nachname;apellidos;nom_patient;advised;city`, 300, func(i int) string {
		return fmt.Sprintf("Meyer%c;García%c;Le%c;%s;%s", 'a'+i%5, 'a'+i%7, 'a'+i%3, []string{"Macdonald, John A.",
			"O'Neil-Smith, Ann"}[i%2], []string{"Köln", "Bonn"}[i%2])
	})
	for _, column := range []string{"Nachname", "apellidos", "nom_patient"} {
		if text := about(t, out, column); !strings.Contains(text, "type: text # "+whyName) {
			t.Errorf("%s: %q", column, text)
		}
	}
	for _, value := range []string{"Meyera", "Garcíaa", "Lea"} {
		if strings.Contains(string(out.Domain), value) {
			t.Errorf("the draft quotes %s", value)
		}
	}
	if text := about(t, out, "advised"); !strings.Contains(text,
		"# written as names of persons are, which are never public categories") {
		t.Errorf("advised: %q", text)
	}
	if text := about(t, out, "city"); !strings.Contains(text, "type: categorical # ordinal") {
		t.Errorf("city: %q", text)
	}
}

// TestLimitsAmongNumbers: <0.5 among numbers is told like any spelling that is none, as a line to type, and with it
// named the column is one of numbers.
func TestLimitsAmongNumbers(t *testing.T) {
	row := func(i int) string {
		return []string{"4.5", "12.25", "7", "<0.5", "haem.", "9.5", "8.25", "3", "1.5", "2.5", "6", "5.5"}[i%12]
	}
	out := found(t, "value;n", 240, func(i int) string { return fmt.Sprintf("%s;%d", row(i), i%7) })
	if text := string(out.Page); !strings.Contains(text, "--missing '<0.5' --missing 'haem.'") && !strings.Contains(text,
		"--missing 'haem.' --missing '<0.5'") || !strings.Contains(text, "limits of what was measured") {
		t.Errorf("the page lacks the line to type:\n%s", out.Page)
	}
	if len(out.Hints) != 1 {
		t.Errorf("the hints are %q", out.Hints)
	}
}

// TestStepThatNearlyAllTimesKeep: one time of day among 299 days is read as its day.
func TestStepThatNearlyAllTimesKeep(t *testing.T) {
	row := func(i int) string {
		if i == 7 {
			return "2022-12-30 22:20:10;1"
		}
		return fmt.Sprintf("20%02d-%02d-%02d 00:00:00;1", 10+i%12, 1+i%11, 1+i%27)
	}
	text := about(t, found(t, "left;n", 300, row), "left")
	for _, part := range []string{"bounds: [2010-01-01T00:00, 2022-12-30T00:00]",
		"step: day # a few times are finer: each is read as the step before it"} {
		if !strings.Contains(text, part) {
			t.Errorf("lacks %q:\n%s", part, text)
		}
	}
}
