package runtime

import (
	"errors"
	"fmt"
	"strings"

	"weir/pipeline"
	"weir/pipeline/compile"
	"weir/pipeline/relation"
	"weir/runtime/database/sql"
	"weir/runtime/dataset"
)

// storedRows and keptRows stand in statements for what a run names by what it finds: the rows of the table as its
// stored types are read, and those that a stage keeps.
const (
	storedRows = "stored_rows"
	keptRows   = "kept_rows"
)

// Statement is what a run sends to a database that keeps the rows of its dataset.
type Statement struct {
	Stage string `json:"stage,omitempty"` // "" of what tells which dataset it is
	Does  string `json:"does"`
	SQL   string `json:"sql"`
}

// Statements returns what a plan asks for before anything is paid for: hashes of the rows, and of each stage that
// counts rows where they stay its codes and their counts. The stored rows are stored_rows, with the columns s0, s1, ...
// of the domain in its order, since how they are stored is found by opening them. For that reason the statement of the
// content is left out, as are tests by public numbers, which no row enters, and what is asked for behind a charge,
// which follows from what the run releases. An error says that rows do not stay.
func Statements(plan *compile.Plan) ([]Statement, error) {
	declared := plan.Dataset.Source
	if !declared.Stays {
		return nil, errors.New("rows of the dataset come to weir, which counts them; must stay in a database " +
			"(dataset.database.rows: stay)")
	}
	dialect, err := dialectOf(declared.Program)
	if err != nil {
		return nil, err
	}
	list := []Statement{{"", "hashes rows", dialect.Hashes("SELECT * FROM "+storedRows, meant(plan), dataset.MostHashes)}}
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

// meant returns the columns of the dataset of a plan, as they are hashed.
func meant(plan *compile.Plan) (list []sql.Meant) {
	columns := plan.Spec.Dataset.Columns().Columns
	for i := range columns {
		c := &columns[i]
		list = append(list, sql.Meant{Name: c.Name, Of: pipeline.RelationType(c), Names: c.Categories})
	}
	return list
}

// dialectOf returns the SQL of a program that counts.
func dialectOf(program string) (sql.Dialect, error) {
	for name, d := range map[string]sql.Dialect{"PostgreSQL": sql.Postgres(), "DuckDB": sql.DuckDB(),
		"Spark": sql.Spark()} {
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

// StatementsText words statements as a script with comments, and says what is asked for besides.
func StatementsText(plan *compile.Plan, list []Statement) string {
	var b strings.Builder
	fmt.Fprintf(&b, "-- What a run asks of %s before it pays.\n-- %s is the table as weir reads it:\n",
		plan.Dataset.Source.Program, storedRows)
	for i, c := range plan.Spec.Dataset.Columns().Columns {
		fmt.Fprintf(&b, "--   s%d  %q\n", i, c.Name)
	}
	fmt.Fprintf(&b, "-- %s is what the statement above it gives, kept for the run.\n"+
		"-- Not printed, since they follow from how the columns are stored: the settings of the session, the look at the\n"+
		"-- catalogue, and one SELECT of the content: count(*), a bit for each rule that cells of a column break, and four "+
		"sums\n"+
		"-- over pieces of the SHA-256 of each row.\n"+
		"-- Nor is the test of each column that is cut into cells: a SELECT of the cells of public numbers, from no table.\n",
		keptRows)
	for _, s := range list {
		owner := "stage " + s.Stage
		if s.Stage == "" {
			owner = "the dataset: weir"
		}
		fmt.Fprintf(&b, "\n-- %s %s\n%s;\n", owner, s.Does, s.SQL)
	}
	b.WriteString(later)
	return b.String()
}

// later is the form of the statements behind a charge.
const later = `
-- Behind a charge a stage asks, over and over, for what follows from what the run releases, marked <...>:
--   SELECT <list of codes by cell>[c0] AS c0, <list>[c1] AS c1, ... FROM kept_rows; kept for the run as codes
--   SELECT <number of a set>, c0 * <codes of c1> + c1, count(*) FROM codes GROUP BY 2; for each set of columns that it measures
-- and, where a cell has too many rows, for the rows at each point in it:
--   SELECT <number>, <place of the cell> + c1, count(*) FROM kept_rows GROUP BY 2
-- Where sample_may_leave is set and a stage computes figures, one more SELECT gives the cells of so many rows.
`
