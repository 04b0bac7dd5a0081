package source

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/apache/arrow/go/v15/arrow"

	"weir/pipeline"
	"weir/runtime/database/spark"
	"weir/runtime/database/sql"
	"weir/runtime/table"
	"weir/schema"
)

// cluster is a table or view of a Spark cluster, whose rows stay there.
type cluster struct {
	name string
	*DatabaseTable
}

// staysThere is what rows of Spark must be set to.
const staysThere = "stay: rows of Spark are counted where they are; have Spark write the table to Parquet files to " +
	"read it from them"

func (s cluster) declare(ps *schema.Problems, under pipeline.Declaring) pipeline.Declared {
	checkServer(ps, s.name, under.CSV)
	if err := spark.CheckConnection(s.Connection); err != nil {
		ps.Add("database.connection", "not repeated here", "env:NAME; what it refers to stays outside of the spec")
	}
	if _, err := spark.Split(s.Table); err != nil {
		ps.Add("database.table", fmt.Sprintf("%q", s.Table), "SCHEMA.TABLE or CATALOG.SCHEMA.TABLE")
	}
	if s.Scratch == "" {
		ps.Add("database.scratch", "left out", "a schema in which weir may keep the codes of the rows during a run")
	}
	if s.Rows != stay {
		ps.Add("database.rows", s.Rows, staysThere)
	}
	place := s.Engine + " " + s.Table
	return pipeline.Declared{Name: s.name, Full: "database: " + place, Place: place, Home: pipeline.Elsewhere(s.name),
		Where: place + " of " + s.Connection, Program: "Spark", Stays: true, Sample: s.Sample}
}

// place returns where the table lies.
func (s cluster) place() spark.Place {
	p := spark.Place{Connection: s.Connection, Table: s.Table, Scratch: s.Scratch, Timeout: time.Duration(s.Timeout) *
		time.Second, Env: os.Getenv}
	if s.VersionAsOf != nil {
		p.Version = strconv.FormatInt(*s.VersionAsOf, 10)
	}
	return p
}

// open looks the table up and holds it against the domain, as a file's columns are.
func (s cluster) open(ctx context.Context, o pipeline.Opening) (pipeline.Opened, error) {
	session, err := spark.Open(ctx, s.place())
	if err == nil && session.Table.View && s.View == "" {
		err = errView
	}
	var c *spark.Counting
	if err == nil {
		c, err = s.counting(session, o)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.Table, err)
	}
	test := counterOf(c, session.Table.View)
	if !session.Table.View && s.VersionAsOf == nil {
		test = &unpinned{viewed{counter: c}}
	}
	return &countedByCluster{staying{s.Table, o.Columns, test, s.Sample}}, nil
}

// counting prepares to count the columns of the domain.
func (s cluster) counting(session *spark.Session, o pipeline.Opening) (*spark.Counting, error) {
	var fields []arrow.Field
	var stored []sql.Stored
	for _, c := range session.Table.Columns {
		if o.Columns.Index(c.Name) >= 0 {
			fields, stored = append(fields, arrow.Field{Name: c.Name, Type: c.Arrow(), Nullable: true}),
				append(stored, c.StoredColumn())
		}
	}
	if _, _, err := table.OpenStored(table.Stored{Name: s.Table, Schema: arrow.NewSchema(fields, nil)}, cells(o.CSV),
		o.Columns, o.Unit); err != nil {
		return nil, err
	}
	columns, err := storedColumns(o.Columns, cells(o.CSV), stored)
	if err != nil {
		return nil, err
	}
	return session.Counting(columns, o.Columns.Index(o.Unit), o.MaxRows)
}

// browse refuses: no draft and no spec is begun from a cluster.
func (s cluster) browse(context.Context, pipeline.Opening) (*Browsed, error) {
	return nil, errors.New("database.engine: is spark, of whose tables weir drafts nothing; write domain and spec by " +
		"hand (docs/databases.md)")
}

// unpinned is the counter of a table without a version, which has no snapshot: its content is asked for before and
// behind all that is kept of it. No function draws its rows, so once before is enough.
type unpinned struct{ viewed }

// Content implements counter.
func (u *unpinned) Content(ctx context.Context) (content string, faults []sql.Fault, err error) {
	u.content, faults, err = u.counter.Content(ctx)
	return u.content, faults, err
}

// countedByCluster is an opened table of a cluster.
type countedByCluster struct{ staying }

// Unchanged implements pipeline.Opened: what was counted are codes that were kept of the rows of Content.
func (t *countedByCluster) Unchanged(context.Context) error { return nil }
