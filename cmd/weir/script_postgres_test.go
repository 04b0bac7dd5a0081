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

// TestPostgresScripts runs testdata/postgres/*.txtar against the server that WEIR_POSTGRES names. Each script has a
// schema $SCHEMA, a role that can read it, to which CLINIC connects, a role that can make tables in a schema
// ${SCHEMA}_lab, to which RELEASE connects, and two commands of the server's owner: sql
// sends files of statements, export FILE TABLE writes a CSV file. untilItAnswers runs weir while the server dies.
func TestPostgresScripts(t *testing.T) {
	words := os.Getenv("WEIR_POSTGRES")
	if words == "" {
		t.Skip("needs a PostgreSQL server: run .ci/postgres, which starts one and these tests")
	}
	owner, err := pgconn.Connect(context.Background(), words)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = owner.Close(context.Background()) }) // scripts run when this function has returned
	scripts, err := filepath.Abs("testdata/postgres")
	if err != nil {
		t.Fatal(err)
	}
	var turn sync.Mutex // scripts run side by side, and the owner has one connection
	send := func(sql string) error {
		turn.Lock()
		defer turn.Unlock()
		_, err := owner.Exec(context.Background(), sql).ReadAll()
		return err
	}
	var own inProcess
	testscript.Run(t, testscript.Params{
		Dir:                scripts,
		RequireUniqueNames: true,
		Setup: func(env *testscript.Env) error {
			if err := scriptEnv(env); err != nil {
				return err
			}
			schema := fmt.Sprintf("weir_%d", time.Now().UnixNano())
			env.Setenv("SCHEMA", schema)
			lab, writer := schema+"_lab", schema+"_writer"
			env.Setenv("CLINIC", words+" user="+schema+"_reader")
			env.Setenv("RELEASE", words+" user="+writer)
			env.Defer(func() {
				_ = send("DROP SCHEMA " + schema + " CASCADE; DROP SCHEMA " + lab + " CASCADE; DROP OWNED BY " + schema + "_reader, " + writer + "; DROP ROLE " + schema + "_reader, " + writer) // of a server that ends with the tests
			})
			return send("CREATE SCHEMA " + schema + "; CREATE ROLE " + schema + "_reader LOGIN; GRANT USAGE ON SCHEMA " + schema + " TO " + schema + "_reader; " +
				"CREATE SCHEMA " + lab + "; CREATE ROLE " + writer + " LOGIN; GRANT USAGE, CREATE ON SCHEMA " + lab + " TO " + writer + "; " +
				"ALTER DEFAULT PRIVILEGES IN SCHEMA " + schema + " GRANT SELECT ON TABLES TO " + schema + "_reader")
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"weir": own.command, "exits": own.exits, "edit": edit, "take": take, "untilItAnswers": own.untilItAnswers(words),
			"sql": func(ts *testscript.TestScript, _ bool, args []string) {
				for _, file := range args {
					ts.Check(send("SET search_path = " + ts.Getenv("SCHEMA") + "; " + ts.ReadFile(file)))
				}
			},
			"export": func(ts *testscript.TestScript, _ bool, args []string) {
				f, err := os.Create(ts.MkAbs(args[0]))
				ts.Check(err)
				turn.Lock()
				defer turn.Unlock()
				_, err = owner.CopyTo(context.Background(), f, "COPY "+ts.Getenv("SCHEMA")+"."+args[1]+" TO STDOUT (FORMAT csv, HEADER)")
				ts.Check(errors.Join(err, f.Close()))
			},
		},
	})
}
