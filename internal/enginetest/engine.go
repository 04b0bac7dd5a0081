// Package enginetest runs statements for tests, on the database engines that are installed.
package enginetest

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"weir/pipeline/relation"
)

// Missing is how NULL stands among answers.
const Missing = "NULL"

// Engine runs statements.
type Engine struct {
	Name string // as dialects have it
	// Rows returns the rows of all statements of a text, as text.
	Rows func(statements string) ([][]string, error)
}

// List returns the engines that are there: PostgreSQL where WEIR_POSTGRES names a server, Spark where WEIR_SPARK does,
// DuckDB where its program is. Where there is none the test is skipped.
func List(t testing.TB) (list []Engine) {
	t.Helper()
	if words := os.Getenv("WEIR_POSTGRES"); words != "" {
		c, err := pgconn.Connect(context.Background(), words)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close(context.Background()) })
		list = append(list, Engine{"postgres", func(statements string) ([][]string, error) {
			return query(c, "SET TimeZone='UTC'; SET jit=off; "+statements)
		}})
	}
	if path, err := exec.LookPath(cmp.Or(os.Getenv("WEIR_DUCKDB"), "duckdb")); err == nil {
		list = append(list, Engine{"duckdb", func(statements string) ([][]string, error) {
			return started(path, "SET TimeZone='UTC'; "+statements)
		}})
	}
	if e, is := Spark(t); is {
		list = append(list, e)
	}
	if len(list) == 0 {
		t.Skip("needs DuckDB, PostgreSQL or Spark: run .ci/duckdb, .ci/postgres and .ci/spark, which bring them")
	}
	return list
}

func query(c *pgconn.PgConn, statements string) (rows [][]string, err error) {
	results, err := c.Exec(context.Background(), statements).ReadAll()
	for _, r := range results {
		for _, cells := range r.Rows {
			row := make([]string, len(cells))
			for i, cell := range cells {
				if row[i] = string(cell); cell == nil {
					row[i] = Missing
				}
			}
			rows = append(rows, row)
		}
	}
	return rows, err
}

func started(path, statements string) ([][]string, error) {
	c := exec.Command(path, "-init", "/dev/null", "-bail", "-csv", "-noheader", "-nullvalue", Missing)
	c.Stdin = strings.NewReader(statements + ";")
	var output bytes.Buffer
	c.Stderr = &output
	out, err := c.Output()
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, output.String())
	}
	return csv.NewReader(bytes.NewReader(out)).ReadAll()
}

// Printer is what prints a relation as a statement, such as a dialect.
type Printer interface {
	Real(x float64) string
	Whole(n int64) string
	Text(s string) string
	Select(base string, r relation.Relation) (string, error)
}

// Compute returns the rows of a relation in the order of the stored ones, computed by the engine. Values are nil where
// they are missing, and else int64 (whole numbers, codes and flags), float64 or string.
func (e Engine) Compute(p Printer, r relation.Relation, rows [][]any) ([][]any, error) {
	types := numbered(&r)
	statement, err := p.Select(Base(p, r, rows), r)
	if err != nil {
		return nil, err
	}
	answers, err := e.Rows(statement)
	if err != nil {
		return nil, err
	}
	out := make([][]any, len(answers))
	for i, answer := range answers {
		for j, of := range types {
			v, err := value(of, answer[j])
			if err != nil {
				return nil, err
			}
			out[i] = append(out[i], v)
		}
	}
	last := len(types) - 1
	slices.SortFunc(out, func(a, b []any) int { return cmp.Compare(a[last].(int64), b[last].(int64)) })
	for i := range out {
		out[i] = out[i][:last]
	}
	return out, nil
}

// numbered adds a column that numbers the stored rows, and returns the types of what comes out.
func numbered(r *relation.Relation) (types []relation.Type) {
	names, stored := []string{}, []relation.Type{}
	for _, c := range r.Stored {
		names, stored = append(names, c.Name), append(stored, c.Expr.Type())
	}
	out := relation.Stored(append(names, "number"), append(stored, relation.Whole))
	for _, l := range r.Layers {
		columns := out.Columns()
		l.Columns = append(slices.Clip(l.Columns), relation.Named{Name: "number", Expr: columns[len(columns)-1]})
		out = out.With(l)
	}
	*r = out
	for _, c := range out.Columns() {
		types = append(types, c.Type())
	}
	return types
}

// Base prints stored rows as a SELECT of constants, with the number of each row where the relation has a column more.
// A row of no missing values, which is left out, tells an engine the types.
func Base(p Printer, r relation.Relation, rows [][]any) string {
	names, columns := make([]string, len(r.Stored)), r.Stored
	first := make([]any, len(columns))
	for i, c := range columns {
		names[i] = "s" + strconv.Itoa(i)
		first[i] = map[relation.Type]any{relation.Real: 0., relation.Text: ""}[c.Expr.Type()]
		if first[i] == nil {
			first[i] = int64(0)
		}
	}
	list := []string{"(" + cells(p, first, "0") + ")"}
	for i, row := range rows {
		if len(row) < len(columns) {
			row = append(slices.Clip(row), int64(i))
		}
		list = append(list, "("+cells(p, row, "1")+")")
	}
	return "SELECT " + strings.Join(names, ", ") + " FROM (VALUES " + strings.Join(list, ", ") + ") AS v(" +
		strings.Join(names, ", ") + ", told) WHERE told = 1"
}

func cells(p Printer, row []any, message string) string {
	list := make([]string, len(row))
	for i, v := range row {
		switch v := v.(type) {
		case nil:
			list[i] = "NULL"
		case float64:
			list[i] = p.Real(v)
		case int64:
			list[i] = p.Whole(v)
		case string:
			list[i] = p.Text(v)
		}
	}
	return strings.Join(append(list, message), ", ")
}

func value(subject relation.Type, answer string) (any, error) {
	switch {
	case answer == Missing:
		return nil, nil
	case subject == relation.Real:
		return strconv.ParseFloat(answer, 64)
	case subject == relation.Text:
		return answer, nil
	case subject == relation.Flag:
		return map[bool]int64{true: 1}[answer == "t" || answer == "true"], nil
	}
	return strconv.ParseInt(answer, 10, 64)
}

// beeline is the client that comes with Spark, as a child that lives as long as a test. It shares nothing with weir's
// own client.
type beeline struct {
	in    io.WriteCloser
	lines chan string
	said  *bytes.Buffer // errors, once it has ended
	asked int
}

// Spark returns the cluster that WEIR_SPARK names, which .ci/spark starts; ok is false where it names none.
func Spark(t testing.TB) (e Engine, ok bool) {
	t.Helper()
	words := os.Getenv("WEIR_SPARK")
	if words == "" {
		return Engine{}, false
	}
	url := "jdbc:hive2://" + words[strings.Index(words, "@")+1:]
	c := exec.Command(os.Getenv("SPARK_HOME")+"/bin/beeline", "-u", url, "-n", "weir", "--silent=true",
		"--showHeader=false", "--outputformat=csv2", "-f", "/dev/stdin")
	var output bytes.Buffer
	c.Stderr = &output
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	b := &beeline{in: in, lines: make(chan string), said: &output}
	go b.read(out)
	t.Cleanup(func() { _ = errors.Join(in.Close(), c.Wait()) }) // of a child that ends with the test
	for _, setting := range []string{"spark.sql.ansi.enabled=true", "spark.sql.session.timeZone=UTC",
		"spark.sql.variable.substitute=false"} {
		if _, err := b.rows("SET " + setting); err != nil {
			t.Fatal(err)
		}
	}
	return Engine{"spark", b.rows}, true
}

func (b *beeline) read(out io.Reader) {
	defer close(b.lines)
	for r := bufio.NewReader(out); ; {
		line, err := r.ReadString('\n')
		if err != nil {
			return
		}
		b.lines <- line
	}
}

// rows sends statements and reads up to the answer of one more. A statement that fails ends the child.
func (b *beeline) rows(statements string) ([][]string, error) {
	b.asked++
	last := fmt.Sprintf("end of %d", b.asked)
	go io.WriteString(b.in, strings.ReplaceAll(statements, "; ", ";\n")+";\nSELECT '"+last+"';\n")
	var text strings.Builder
	for after := time.After(5 * time.Minute); ; {
		select {
		case line, ok := <-b.lines:
			if !ok {
				return nil, fmt.Errorf("beeline has ended: %s", b.said)
			}
			if strings.TrimSpace(line) == last {
				return csv.NewReader(strings.NewReader(text.String())).ReadAll()
			}
			text.WriteString(line)
		case <-after:
			return nil, errors.New("no answer within five minutes")
		}
	}
}
