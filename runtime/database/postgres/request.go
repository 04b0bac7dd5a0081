package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"
)

// refusal is what may be told of an error of a request: what was asked for, and the SQLSTATE.
func refusal(ctx context.Context, what string, err error) error {
	var refused *pgconn.PgError
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &refused):
		return fmt.Errorf("the database refused %s (%s); its own log has the text", what, told(refused.Code))
	}
	return fmt.Errorf("the connection to the database was lost at %s; run it again", what)
}

// told names a SQLSTATE: the code, and the name of its class where it is one that users meet (appendix A of the
// manual of PostgreSQL 15).
func told(code string) string {
	if len(code) != 5 {
		return "no SQLSTATE"
	}
	classes := map[string]string{"08": "connection exception", "22": "data exception", "25": "invalid transaction state",
		"28": "invalid authorization", "3D": "no such database", "40": "transaction rollback", "42": "access rule or syntax",
		"53": "insufficient resources", "55": "object not in the state that is needed", "57": "operator intervention", "58": "system error", "XX": "internal error"}
	if code == "57014" {
		return code + ", cancelled, such as by the timeout"
	}
	if name, is := classes[code[:2]]; is {
		return code + ", " + name
	}
	return code
}

// run sends statements without values.
func run(ctx context.Context, c *pgconn.PgConn, what, sql string) error {
	_, err := c.Exec(ctx, sql).ReadAll()
	return refusal(ctx, what, err)
}

// texts returns the rows of a query as text; null is "".
func texts(ctx context.Context, c *pgconn.PgConn, what, sql string, values ...string) ([][]string, error) {
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
		for _, cell := range row {
			rows[i] = append(rows[i], string(cell))
		}
	}
	return rows, nil
}
