package table

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"testing/fstest"

	"weir/pipeline"
	"weir/pipeline/domain"
)

// german is a table as a German desktop exports it.
func german() (*domain.Domain, string) {
	return &domain.Domain{Columns: []domain.Column{
		{Name: "betrag", Type: domain.Numeric, Format: "1.234,5 €", Missing: []string{"k. A.", "99"}, Bounds: &[2]float64{-1e6, 90}, Nullable: true},
		{Name: "anteil", Type: domain.Numeric, Format: "1,5 %", Step: 0.1, Nullable: true},
		{Name: "anzahl", Type: domain.Integer, Format: "1.234"},
		{Name: "geboren", Type: domain.Date, Format: "DD.MM.YYYY", Nullable: true},
	}}, "betrag;anteil;anzahl;geboren\n-1.234.567,5 €;12,5 %;1.000;31.01.2020\nk. A.;-0,1 %;7;01.12.1899\n0,25 €;;-12.345;\n"
}

// TestFormsAreWrittenAsTheyCame: a file that is read by the formats of its domain is written as the same bytes.
func TestFormsAreWrittenAsTheyCame(t *testing.T) {
	d, text := german()
	csv := &pipeline.CSV{Delimiter: ";"}
	got, err := rewritten(text, csv, d)
	if err != nil || got != text {
		t.Errorf("written as\n%s\n(%v), must be\n%s", got, err, text)
	}
	loose := strings.NewReplacer("-1.234.567,5 €", "-1234567,5", "12,5 %", "12,5", "k. A.", "99,0").Replace(text)
	if got, err := rewritten(loose, csv, d); err != nil || got != text {
		t.Errorf("of cells without units and groups:\n%s\n(%v), must be\n%s", got, err, text)
	}
}

func rewritten(text string, csv *pipeline.CSV, d *domain.Domain) (string, error) {
	table, err := Open(fstest.MapFS{"f.csv": {Data: []byte(text)}}, "f.csv", csv, d)
	if err != nil {
		return "", err
	}
	var out bytes.Buffer
	err = textFormat{}.Write(context.Background(), &out, "f.csv", table, Style{CSV: csv})
	return out.String(), err
}

// TestCellsOfAnotherFormAreRefused by place, and never quoted.
func TestCellsOfAnotherFormAreRefused(t *testing.T) {
	d, text := german()
	for name, c := range map[string]struct{ old, new, want string }{
		"a point for a comma":  {"12,5 %", "7771.5", `line 2: column "anteil": is not a number in the column's format`},
		"half a group":         {"1.000", "7.77", `line 2: column "anzahl": is not a number in the column's format`},
		"another currency":     {"0,25 €", "777 $", `line 4: column "betrag": is not a number in the column's format`},
		"decimals of a count":  {"-12.345", "777,5", `line 4: column "anzahl": is not a number in the column's format`},
		"an ISO date":          {"31.01.2020", "2020-01-31", `line 2: column "geboren": is not a date in the column's format`},
		"month before the day": {"31.01.2020", "01.31.2020", `line 2: column "geboren": is not a date in the column's format`},
	} {
		_, err := rewritten(strings.Replace(text, c.old, c.new, 1), &pipeline.CSV{Delimiter: ";"}, d)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), c.new) {
			t.Errorf("%s: %v, must hold %q and not %q", name, err, c.want, c.new)
		}
	}
}

// TestAliasesAreRead: a cell is the category whose alias it has, also where a boolean would be read otherwise, and is
// written as that category.
func TestAliasesAreRead(t *testing.T) {
	d := &domain.Domain{Columns: []domain.Column{
		{Name: "a", Type: domain.Categorical, Categories: []string{"no", "yes"}, Aliases: domain.Aliases{"yes": {"Yes", "y"}}},
		{Name: "b", Type: domain.Boolean, Categories: []string{"0", "1"}, Aliases: domain.Aliases{"0": {"true"}, "1": {"2"}}},
	}}
	got, err := rewritten("a,b\nYes,true\ny,True\nno,2\nyes,1.0\n", nil, d)
	if want := "a,b\nyes,0\nyes,1\nno,1\nyes,1\n"; err != nil || got != want {
		t.Errorf("read as\n%s\n(%v), must be\n%s", got, err, want)
	}
	if _, err := rewritten("a,b\nYES,1\n", nil, d); err == nil || !strings.Contains(err.Error(), `line 2: column "a": is outside the declared categories`) {
		t.Errorf("a spelling that is no alias: %v", err)
	}
}
