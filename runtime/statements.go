package runtime

import (
	"errors"
	"fmt"
	"strings"

	"weir/pipeline/compile"
	"weir/pipeline/relation"
	"weir/runtime/database/sql"
)

// storedRows and keptRows stand in statements for what a run names by what it finds: the rows of the table as its stored
// types are read, and those that a stage keeps.
const (
	storedRows = "stored_rows"
	keptRows   = "kept_rows"
)

// Statement is what a run sends to a database that keeps the rows of its dataset.
type Statement struct {
	Stage string `json:"stage"`
	Does  string `json:"does"`
	SQL   string `json:"sql"`
}

// Statements returns what a plan asks for before anything is paid for, of each stage that counts rows where they stay.
// The stored rows are stored_rows, with the columns s0, s1, ... of the domain in its order, since how they are stored is
// found by opening them. What is asked for behind a charge follows from what the run releases, and is left out. An
// error says that rows do not stay.
func Statements(plan *compile.Plan) ([]Statement, error) {
	declared := plan.Dataset.Source
	if !declared.Stays {
		return nil, errors.New("rows of the dataset come to weir, which counts them; must stay in a database (dataset.database.rows: stay)")
	}
	dialect, err := dialectOf(declared.Program)
	if err != nil {
		return nil, err
	}
	var list []Statement
	for i := range plan.Steps {
		s := &plan.Steps[i]
		if len(s.Keys) == 0 {
			continue
		}
		some, err := asks(dialect, s.ID, s.Kept, s.Keys)
		if err != nil {
			return nil, fmt.Errorf("stages.%s: %w", s.ID, err)
		}
		list = append(list, some...)
	}
	return list, nil
}

// dialectOf returns the SQL of a program that counts.
func dialectOf(program string) (sql.Dialect, error) {
	for name, d := range map[string]sql.Dialect{"PostgreSQL": sql.Postgres(), "DuckDB": sql.DuckDB(), "Spark": sql.Spark()} {
		if name == program {
			return d, nil
		}
	}
	return sql.Dialect{}, fmt.Errorf("nothing counts in %s", program)
}

// asks prints what a stage asks for before it pays.
func asks(d sql.Dialect, stage string, kept relation.Relation, keys []relation.Key) ([]Statement, error) {
	keep, err := d.Select("SELECT * FROM "+storedRows, kept)
	if err != nil {
		return nil, err
	}
	counts, err := d.Count(keptRows, keys)
	if err != nil {
		return nil, err
	}
	list := []Statement{{stage, "keeps of each row", keep}}
	for _, one := range counts {
		list = append(list, Statement{stage, "counts", one})
	}
	return list, nil
}

// StatementsText words statements as a script with comments.
func StatementsText(plan *compile.Plan, list []Statement) string {
	var b strings.Builder
	fmt.Fprintf(&b, "-- What a run asks of %s before it pays.\n-- %s is the table as weir reads it:\n",
		plan.Dataset.Source.Program, storedRows)
	for i, c := range plan.Spec.Dataset.Columns().Columns {
		fmt.Fprintf(&b, "--   s%d  %q\n", i, c.Name)
	}
	fmt.Fprintf(&b, "-- %s is what the statement above it gives, kept for the run.\n", keptRows)
	for _, s := range list {
		fmt.Fprintf(&b, "\n-- stage %s %s\n%s;\n", s.Stage, s.Does, s.SQL)
	}
	b.WriteString("\n-- What it asks for behind a charge follows from what the run releases: codes of the kept cells, by lists,\n" +
		"-- and the rows in each combination of codes of sets of columns.\n")
	return b.String()
}
