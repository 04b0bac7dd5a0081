// Package spark counts the rows of a table of a Spark cluster, through its Thrift server, which speaks the protocol of
// HiveServer2 (interface TCLIService of Apache Hive). Rows stay where they are: what crosses is what the catalogue says
// of the table, and whole numbers.
//
// An error of this package says which request the server refused and its SQLSTATE, never a word of the server: its
// messages quote cells and whole statements.
package spark

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Place is where a table lies.
type Place struct {
	Connection string                   // env:NAME; never the words of a connection
	Table      string                   // SCHEMA.TABLE or CATALOG.SCHEMA.TABLE, without quotes
	Version    string                   // of a table that keeps versions, in digits; "": as it is when it is read
	Scratch    string                   // schema in which codes are kept for a run
	Timeout    time.Duration            // of one statement; 0: none
	Env        func(name string) string // an environment variable
}

// Split returns the parts of a name. They are quoted one by one, and never parsed by the server.
func Split(name string) ([]string, error) {
	parts := strings.Split(name, ".")
	for _, part := range parts {
		if part == "" || strings.ContainsRune(part, 0) || len(parts) < 2 || len(parts) > 3 {
			return nil, fmt.Errorf("is %q, must be SCHEMA.TABLE or CATALOG.SCHEMA.TABLE", name)
		}
	}
	return parts, nil
}

// quoted returns a name in Spark's quotes, part by part.
func quoted(parts ...string) string {
	parts = slices.Clone(parts)
	for i, part := range parts {
		parts[i] = "`" + strings.ReplaceAll(part, "`", "``") + "`"
	}
	return strings.Join(parts, ".")
}
