package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/rogpeppe/go-internal/testscript"
)

// TestPostgresScripts runs testdata/postgres/*.txtar against the server that WEIR_POSTGRES names. Each script has what
// clinic.setup makes, and two commands of the server's owner: sql sends files of statements, export FILE TABLE writes a
// CSV file. untilItAnswers runs weir while the server dies, whileItLies while its counts do not add up.
func TestPostgresScripts(t *testing.T) {
	server := clinicOf(t)
	if server == nil {
		t.Skip("needs a PostgreSQL server: run .ci/postgres, which starts one and these tests")
	}
	scripts, err := filepath.Abs("testdata/postgres")
	if err != nil {
		t.Fatal(err)
	}
	var program inProcess
	testscript.Run(t, testscript.Params{
		Dir:                scripts,
		RequireUniqueNames: true,
		Setup:              server.setup,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"weir": program.command, "exits": program.exits, "edit": edit, "take": take, "sql": server.sql,
			"export":         server.export,
			"untilItAnswers": program.untilItAnswers(server.words), "whileItLies": program.whileItLies(server.words),
		},
	})
}

// clinic is a PostgreSQL server, over a connection of its owner.
type clinic struct {
	words string // connect to it
	owner *pgconn.PgConn
	turn  sync.Mutex // scripts run side by side, and the owner has one connection
}

// clinicOf returns the server that WEIR_POSTGRES names; nil where it names none.
func clinicOf(t *testing.T) *clinic {
	t.Helper()
	words := os.Getenv("WEIR_POSTGRES")
	if words == "" {
		return nil
	}
	owner, err := pgconn.Connect(context.Background(), words)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = owner.Close(context.Background()) }) // scripts run when the test's function has returned
	return &clinic{words: words, owner: owner}
}

func (c *clinic) send(sql string) error {
	c.turn.Lock()
	defer c.turn.Unlock()
	_, err := c.owner.Exec(context.Background(), sql).ReadAll()
	return err
}

// setup gives a script a schema $SCHEMA, a role that can read it, to which CLINIC connects, and a role that can make
// tables in a schema ${SCHEMA}_lab, to which RELEASE connects.
func (c *clinic) setup(env *testscript.Env) error {
	if err := scriptEnv(env); err != nil {
		return err
	}
	schema := fmt.Sprintf("weir_%d", time.Now().UnixNano())
	env.Setenv("SCHEMA", schema)
	lab, reader, writer := schema+"_lab", schema+"_reader", schema+"_writer"
	env.Setenv("CLINIC", c.words+" user="+reader)
	env.Setenv("RELEASE", c.words+" user="+writer)
	env.Defer(func() {
		_ = c.send("DROP SCHEMA " + schema + " CASCADE; DROP SCHEMA " + lab + " CASCADE; DROP OWNED BY " + reader + ", " +
			writer + "; DROP ROLE " + reader + ", " + writer) // of a server that ends with the tests
	})
	return c.send("CREATE SCHEMA " + schema + "; CREATE ROLE " + reader + " LOGIN; GRANT USAGE ON SCHEMA " + schema +
		" TO " + reader + "; " +
		"CREATE SCHEMA " + lab + "; CREATE ROLE " + writer + " LOGIN; GRANT USAGE, CREATE ON SCHEMA " + lab + " TO " +
		writer + "; " +
		"ALTER DEFAULT PRIVILEGES IN SCHEMA " + schema + " GRANT SELECT ON TABLES TO " + reader)
}

// sql carries out the command `sql FILE...`.
func (c *clinic) sql(ts *testscript.TestScript, _ bool, args []string) {
	for _, file := range args {
		ts.Check(c.send("SET search_path = " + ts.Getenv("SCHEMA") + "; " + ts.ReadFile(file)))
	}
}

// export carries out the command `export FILE TABLE`.
func (c *clinic) export(ts *testscript.TestScript, _ bool, args []string) {
	f, err := os.Create(ts.MkAbs(args[0]))
	ts.Check(err)
	c.turn.Lock()
	defer c.turn.Unlock()
	_, err = c.owner.CopyTo(context.Background(), f, "COPY "+ts.Getenv("SCHEMA")+"."+args[1]+
		" TO STDOUT (FORMAT csv, HEADER)")
	ts.Check(errors.Join(err, f.Close()))
}

// load carries out the command `load TABLE FILE`, which adds the rows of a CSV file with a line of names.
func (c *clinic) load(ts *testscript.TestScript, _ bool, args []string) {
	f, err := os.Open(ts.MkAbs(args[1]))
	ts.Check(err)
	defer f.Close()
	c.turn.Lock()
	defer c.turn.Unlock()
	_, err = c.owner.CopyFrom(context.Background(), f, "COPY "+ts.Getenv("SCHEMA")+"."+args[0]+
		" FROM STDIN (FORMAT csv, HEADER)")
	ts.Check(err)
}
