package postgres

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5/pgconn"
)

// CheckConnection refuses what is not a reference to a connection: a spec is committed to git, and must not hold a
// password, a host or a role.
func CheckConnection(reference string) error {
	kind, name, _ := strings.Cut(reference, ":")
	if known := kind == "service" || kind == "env"; known && name != "" {
		return nil
	}
	return errors.New("is not a reference, must be service:NAME (of pg_service.conf) or env:NAME; what it refers to " +
		"stays outside of the spec")
}

// config reads what the reference of a place refers to.
func (p Place) config() (*pgconn.Config, error) {
	if err := CheckConnection(p.Connection); err != nil {
		return nil, fmt.Errorf("connection: %w", err)
	}
	words := p.words()
	if words == "" {
		return nil, fmt.Errorf("connection: the environment variable that %s names is empty, must hold a connection",
			p.Connection)
	}
	config, err := pgconn.ParseConfig(words)
	if err != nil { // its text holds what it parsed
		must := "must be a URL postgres://... or host=... user=... dbname=..."
		if strings.HasPrefix(p.Connection, "service:") {
			must = "must be a service of pg_service.conf (PGSERVICEFILE, or .pg_service.conf in the home folder)"
		}
		return nil, fmt.Errorf("connection: %s names no connection that is understood, %s", p.Connection, must)
	}
	if config.RuntimeParams == nil {
		config.RuntimeParams = map[string]string{}
	}
	for name, value := range map[string]string{"application_name": "weir", "client_encoding": "UTF8", "TimeZone": "UTC"} {
		config.RuntimeParams[name] = value
	}
	return config, p.checkTLS(config)
}

// words returns what the reference refers to, "" where that is nothing.
func (p Place) words() string {
	kind, name, _ := strings.Cut(p.Connection, ":")
	if kind == "env" {
		return p.Env(name)
	}
	return "service='" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(name) + "'"
}

// checkTLS refuses a connection over a network whose other end is not proven to be the server.
func (p Place) checkTLS(config *pgconn.Config) error {
	proven := func(host string, verified bool) bool {
		ip := net.ParseIP(host)
		return verified || strings.HasPrefix(host, "/") || host == "localhost" || ip != nil && ip.IsLoopback()
	}
	ok := proven(config.Host, config.TLSConfig != nil && !config.TLSConfig.InsecureSkipVerify)
	for _, f := range config.Fallbacks {
		ok = ok && proven(f.Host, f.TLSConfig != nil && !f.TLSConfig.InsecureSkipVerify)
	}
	if ok {
		return nil
	}
	return fmt.Errorf("connection: %s goes over a network without sslmode=verify-full, which it must have unless the "+
		"server is on this machine", p.Connection)
}

func connect(ctx context.Context, config *pgconn.Config, reference string) (*pgconn.PgConn, error) {
	c, err := pgconn.ConnectConfig(ctx, config.Copy())
	if err == nil {
		return c, nil
	}
	var refused *pgconn.PgError
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.As(err, &refused):
		return nil, fmt.Errorf("connection: the server that %s names refuses it (%s)", reference, describeCode(refused.Code))
	}
	why := "no answer"
	for _, cause := range []error{syscall.ECONNREFUSED, syscall.ENOENT, syscall.EACCES, syscall.ETIMEDOUT,
		os.ErrDeadlineExceeded, syscall.EHOSTUNREACH} {
		if errors.Is(err, cause) {
			why = cause.Error()
		}
	}
	var unknown *net.DNSError
	if errors.As(err, &unknown) {
		why = "its host has no address"
	}
	return nil, fmt.Errorf("connection: the server that %s names cannot be reached: %s", reference, why)
}
