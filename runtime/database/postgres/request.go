package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// refusal returns what may be told of an error of a request: what was asked for, and the SQLSTATE.
func refusal(ctx context.Context, what string, err error) error {
	var refused *pgconn.PgError
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &refused):
		return fmt.Errorf("the database refused %s (%s); its own log has the text", what, describeCode(refused.Code))
	}
	return fmt.Errorf("the connection to the database was lost at %s; run it again", what)
}

// describeCode names a SQLSTATE: the code and the name of its class, where the code is one that PostgreSQL itself gives
// to a request of ours (appendix A of the manual of PostgreSQL 15). A function that a view calls may raise any other
// code, even one that it makes of a cell.
func describeCode(code string) string {
	if code == "57014" {
		return code + ", cancelled, such as by the timeout"
	}
	classes := map[string]string{"08": "connection exception", "22": "data exception", "25": "invalid transaction state",
		"28": "invalid authorization", "3D": "no such database", "40": "transaction rollback", "42": "access rule or syntax",
		"53": "insufficient resources", "55": "object not in the state that is needed", "57": "operator intervention",
		"58": "system error", "XX": "internal error"}
	if slices.Contains(strings.Fields(states), code) {
		return code + ", " + classes[code[:2]]
	}
	return "with a SQLSTATE that is not repeated here"
}

// Session says who is connected, and to what.
type Session struct {
	Server   string // identifier of the server, which its copies share
	Database string
	Role     string
}

// Session returns the session of a snapshot.
func (s *Snapshot) Session(ctx context.Context) (Session, error) { return sessionOf(ctx, s.holder) }

func sessionOf(ctx context.Context, c *pgconn.PgConn) (Session, error) {
	row, err := one(ctx, c, "the session", 3, `
SELECT s.system_identifier, pg_catalog.current_database(), session_user FROM pg_catalog.pg_control_system() s`)
	if err != nil {
		return Session{}, err
	}
	return Session{Server: row[0], Database: row[1], Role: row[2]}, nil
}

// states are the codes that are told.
const states = "08000 08001 08003 08004 08006 08P01 22000 22001 22003 22004 22007 22008 2200G 22011 22012 22021 " +
	"22023 2202E 22P01 22P02 22P03 22P05 " +
	"25000 25001 25006 25P02 25P03 28000 28P01 3D000 40000 40001 40003 40P01 42501 42601 42702 42703 42704 42725 42804 " +
	"42809 42846 42883 42P01 42P17 42P21 42P22 " +
	"53000 53100 53200 53300 53400 55000 55006 55P03 57000 57P01 57P02 57P03 57P05 58000 58030 XX000 XX001 XX002"

// run sends statements without values.
func run(ctx context.Context, c *pgconn.PgConn, what, sql string) error {
	_, err := c.Exec(ctx, sql).ReadAll()
	return refusal(ctx, what, err)
}

// one returns the row of a query that has one, of the given number of cells, as text; null is "".
func one(ctx context.Context, c *pgconn.PgConn, what string, cells int, sql string, values ...string) ([]string,
	error) {
	rows, err := texts(ctx, c, what, cells, sql, values...)
	if err == nil && len(rows) != 1 {
		err = misshapen(what)
	}
	if err != nil {
		return nil, err
	}
	return rows[0], nil
}

// misshapen returns an answer of a server that none of PostgreSQL's gives.
func misshapen(what string) error {
	return fmt.Errorf("the database's answer for %s: has another number of rows or cells than was asked for", what)
}

// texts returns the rows of a query, of the given number of cells, as text; null is "".
func texts(ctx context.Context, c *pgconn.PgConn, what string, cells int, sql string, values ...string) ([][]string,
	error) {
	parameters := make([][]byte, len(values))
	for i, v := range values {
		parameters[i] = []byte(v)
	}
	result := c.ExecParams(ctx, sql, parameters, nil, nil, nil).Read()
	if result.Err != nil {
		return nil, refusal(ctx, what, result.Err)
	}
	rows := make([][]string, len(result.Rows))
	for i, row := range result.Rows {
		if len(row) != cells {
			return nil, misshapen(what)
		}
		for _, cell := range row {
			rows[i] = append(rows[i], string(cell))
		}
	}
	return rows, nil
}
