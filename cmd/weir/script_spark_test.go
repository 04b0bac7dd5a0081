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
// $SCHEMA and ${SCHEMA}_scratch, the connection CLUSTER, and two commands: sql sends files of statements by Spark's own
// client, endworker kills a worker of the cluster once a table lies in the scratch schema.
func TestSparkScripts(t *testing.T) {
	spark := clusterOf(t)
	if spark == nil {
		t.Skip("needs a Spark cluster: run .ci/spark, which starts one and these tests")
	}
	scripts, err := filepath.Abs("testdata/spark")
	if err != nil {
		t.Fatal(err)
	}
	var program inProcess
	t.Run("scripts", func(t *testing.T) { // ends when the scripts have ended, which the client outlives
		testscript.Run(t, testscript.Params{
			Dir:                scripts,
			RequireUniqueNames: true,
			Setup: func(env *testscript.Env) error {
				env.Setenv("SCHEMA", fmt.Sprintf("weir_%d", time.Now().UnixNano()))
				if err := scriptEnv(env); err != nil {
					return err
				}
				return spark.setup(env)
			},
			Cmds: map[string]func(*testscript.TestScript, bool, []string){
				"weir": program.command, "exits": program.exits, "edit": edit, "take": take, "sql": spark.sql,
				"endworker": spark.endWorker,
			},
		})
	})
}

// cluster is a Spark cluster, by its own client.
type cluster struct {
	engine enginetest.Engine
	turn   sync.Mutex // scripts run side by side
}

// clusterOf returns the cluster that WEIR_SPARK names; nil where it names none.
func clusterOf(t *testing.T) *cluster {
	t.Helper()
	engine, is := enginetest.Spark(t)
	if !is {
		return nil
	}
	return &cluster{engine: engine}
}

func (c *cluster) send(sql string) ([][]string, error) {
	c.turn.Lock()
	defer c.turn.Unlock()
	return c.engine.Rows(strings.TrimRight(sql, "; "))
}

// setup gives a script that has a $SCHEMA this schema in Spark, another one for codes, and the connection CLUSTER.
func (c *cluster) setup(env *testscript.Env) error {
	schema := env.Getenv("SCHEMA")
	env.Setenv("CLUSTER", os.Getenv("WEIR_SPARK"))
	_, err := c.send("CREATE SCHEMA " + schema + "; CREATE SCHEMA " + schema + "_scratch")
	return err
}

// sql carries out the command `sql FILE...`.
func (c *cluster) sql(ts *testscript.TestScript, _ bool, args []string) {
	for _, file := range args {
		known := strings.NewReplacer("\n", " ", "SCHEMA", ts.Getenv("SCHEMA"), "WORKFOLDER", ts.Getenv("WORK"))
		_, err := c.send(known.Replace(ts.ReadFile(file)))
		ts.Check(err)
	}
}

// endWorker carries out the command `endworker`.
func (c *cluster) endWorker(ts *testscript.TestScript, _ bool, _ []string) {
	for {
		tables, err := c.send("SHOW TABLES IN " + ts.Getenv("SCHEMA") + "_scratch")
		ts.Check(err)
		if len(tables) > 0 {
			break
		}
	}
	pid, err := strconv.Atoi(strings.Fields(os.Getenv("WEIR_SPARK_WORKERS"))[0])
	ts.Check(err)
	ts.Check(syscall.Kill(pid, syscall.SIGKILL))
}
