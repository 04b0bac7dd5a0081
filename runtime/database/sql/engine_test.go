package sql

import (
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

// missing is how the tests see NULL.
const missing = "NULL"

// engine is a dialect and a program that understands it.
type engine struct {
	Dialect
	rows func(statement string) ([][]string, error)
}

// run returns the rows of the last statement that has some.
func (e engine) run(t *testing.T, statement string) [][]string {
	t.Helper()
	rows, err := e.rows(statement)
	if err != nil {
		t.Fatalf("%s: %v: %.2000s", e.Name(), err, statement)
	}
	return rows
}

// engines returns the engines that are there: PostgreSQL where WEIR_POSTGRES names a server, DuckDB where the program is.
func engines(t *testing.T) (list []engine) {
	t.Helper()
	if words := os.Getenv("WEIR_POSTGRES"); words != "" {
		c, err := pgconn.Connect(context.Background(), words)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close(context.Background()) })
		list = append(list, engine{Postgres(), func(statement string) ([][]string, error) {
			return asked(c, "SET TimeZone='UTC'; SET jit=off; "+statement)
		}})
	}
	if path, err := exec.LookPath(cmp.Or(os.Getenv("WEIR_DUCKDB"), "duckdb")); err == nil {
		list = append(list, engine{DuckDB(), func(statement string) ([][]string, error) { return started(path, "SET TimeZone='UTC'; "+statement) }})
	}
	if len(list) == 0 {
		t.Skip("needs DuckDB or a PostgreSQL server: run .ci/duckdb and .ci/postgres, which bring them")
	}
	return list
}

func asked(c *pgconn.PgConn, statement string) (rows [][]string, err error) {
	results, err := c.Exec(context.Background(), statement).ReadAll()
	for _, r := range results {
		for _, cells := range r.Rows {
			row := make([]string, len(cells))
			for i, cell := range cells {
				if row[i] = string(cell); cell == nil {
					row[i] = missing
				}
			}
			rows = append(rows, row)
		}
	}
	return rows, err
}

func started(path, statement string) ([][]string, error) {
	c := exec.Command(path, "-init", "/dev/null", "-bail", "-csv", "-noheader", "-nullvalue", missing)
	c.Stdin = strings.NewReader(statement + ";")
	out, err := c.Output()
	if err != nil {
		return nil, err
	}
	r := csv.NewReader(bytes.NewReader(out))
	return r.ReadAll()
}
