package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"weir/internal/enginetest"
)

// TestSparkScripts runs testdata/spark/*.txtar against the cluster that WEIR_SPARK names. Each script has the schemas
// $SCHEMA and ${SCHEMA}_scratch, the connection CLINIC, and two commands: sql sends files of statements by Spark's own
// client, endworker kills a worker of the cluster once a table lies in the scratch schema.
func TestSparkScripts(t *testing.T) {
	spark, is := enginetest.Spark(t)
	if !is {
		t.Skip("needs a Spark cluster: run .ci/spark, which starts one and these tests")
	}
	scripts, err := filepath.Abs("testdata/spark")
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex // scripts run side by side
	send := func(sql string) ([][]string, error) {
		mu.Lock()
		defer mu.Unlock()
		return spark.Rows(strings.TrimRight(sql, "; "))
	}
	var own inProcess
	t.Run("scripts", func(t *testing.T) { // ends when the scripts have ended, which the client outlives
		testscript.Run(t, testscript.Params{
			Dir:                scripts,
			RequireUniqueNames: true,
			Setup: func(env *testscript.Env) error {
				if err := scriptEnv(env); err != nil {
					return err
				}
				schema := fmt.Sprintf("weir_%d", time.Now().UnixNano())
				env.Setenv("SCHEMA", schema)
				env.Setenv("CLINIC", os.Getenv("WEIR_SPARK"))
				_, err := send("CREATE SCHEMA " + schema + "; CREATE SCHEMA " + schema + "_scratch")
				return err
			},
			Cmds: map[string]func(*testscript.TestScript, bool, []string){
				"weir": own.command, "exits": own.exits, "edit": edit, "take": take,
				"sql": func(ts *testscript.TestScript, _ bool, args []string) {
					for _, file := range args {
						text := strings.NewReplacer("\n", " ", "SCHEMA", ts.Getenv("SCHEMA"), "WORKFOLDER", ts.Getenv("WORK")).Replace(ts.ReadFile(file))
						_, err := send(text)
						ts.Check(err)
					}
				},
				"endworker": func(ts *testscript.TestScript, _ bool, _ []string) {
					for {
						tables, err := send("SHOW TABLES IN " + ts.Getenv("SCHEMA") + "_scratch")
						ts.Check(err)
						if len(tables) > 0 {
							break
						}
					}
					pid, err := strconv.Atoi(strings.Fields(os.Getenv("WEIR_SPARK_WORKERS"))[0])
					ts.Check(err)
					ts.Check(syscall.Kill(pid, syscall.SIGKILL))
				},
			},
		})
	})
}
