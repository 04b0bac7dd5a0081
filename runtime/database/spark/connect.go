package spark

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"strings"
	"syscall"

	"weir/internal/disk"
)

// CheckConnection refuses what is not a reference to a connection: a spec is committed to git, and must not hold a
// password, a host or a user.
func CheckConnection(reference string) error {
	if name, is := strings.CutPrefix(reference, "env:"); is && name != "" {
		return nil
	}
	return errors.New("is not a reference, must be env:NAME; what it refers to stays outside of the spec")
}

// address is a server, and how it is spoken to.
type address struct {
	host, user, password string
	tls                  *tls.Config // nil on the loopback alone
}

// form is what a connection looks like.
const form = "spark://USER:PASSWORD@HOST:PORT?tls=verify-full, with &ca=FILE where its certificate is of an " +
	"authority of your own; " +
	"on the loopback spark://USER@127.0.0.1:PORT will do"

// address reads what the reference of a place refers to. Its errors repeat nothing of it.
func (p Place) address() (address, error) {
	if err := CheckConnection(p.Connection); err != nil {
		return address{}, fmt.Errorf("connection: %w", err)
	}
	words := p.Env(strings.TrimPrefix(p.Connection, "env:"))
	if words == "" {
		return address{}, fmt.Errorf("connection: the environment variable that %s names is empty, must be %s", p.Connection,
			form)
	}
	u, err := url.Parse(words)
	if err != nil || u.Scheme != "spark" || u.Hostname() == "" || u.Port() == "" || u.User.Username() == "" ||
		strings.Trim(u.Path, "/") != "" {
		return address{}, fmt.Errorf("connection: %s names no connection that is understood, must be %s", p.Connection, form)
	}
	password, _ := u.User.Password()
	a := address{host: u.Host, user: u.User.Username(), password: password}
	return a, p.secure(&a, u)
}

// secure decides on TLS. Without it, or without a password, a server is spoken to on the loopback alone: whoever stands
// between could send other counts, and a server that asks nobody who he is would serve everybody on its network.
func (p Place) secure(a *address, u *url.URL) error {
	query := u.Query()
	for key := range query {
		if key != "tls" && key != "ca" && key != "auth" {
			return fmt.Errorf("connection: %s has a parameter that is not known, must be %s", p.Connection, form)
		}
	}
	if auth := query.Get("auth"); auth != "" && auth != "password" {
		return fmt.Errorf("connection: %s asks for another auth than password: Kerberos is not there yet", p.Connection)
	}
	if query.Get("tls") == "verify-full" {
		roots, err := authorities(query.Get("ca"))
		a.tls = &tls.Config{ServerName: u.Hostname(), RootCAs: roots, MinVersion: tls.VersionTLS12}
		if err != nil {
			return fmt.Errorf("connection: the ca of %s %w", p.Connection, err)
		}
	}
	ip := net.ParseIP(u.Hostname())
	loopback := u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
	if !loopback && (a.tls == nil || a.password == "") {
		return fmt.Errorf("connection: %s goes over a network without tls=verify-full or without a password, both of which "+
			"it must have unless the server is on this machine", p.Connection)
	}
	return nil
}

// authorities reads certificates of authorities; nil stands for the system's own.
func authorities(file string) (*x509.CertPool, error) {
	if file == "" {
		return nil, nil
	}
	pem, err := disk.ReadFile(file, 1<<22)
	if err != nil {
		return nil, errors.New("cannot be read, must be a file of certificates (PEM)")
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, errors.New("holds no certificate, must be a file of certificates (PEM)")
	}
	return pool, nil
}

// dial opens a connection, and proves who the server is.
func (a address) dial(ctx context.Context, reference string) (net.Conn, error) {
	conn, err := (&net.Dialer{Timeout: longestAnswer}).DialContext(ctx, "tcp", a.host)
	if err == nil && a.tls != nil {
		secured := tls.Client(conn, a.tls)
		if err = secured.HandshakeContext(ctx); err != nil {
			err = errors.Join(err, conn.Close())
		}
		conn = secured
	}
	if err == nil {
		return conn, nil
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return nil, fmt.Errorf("connection: the server that %s names cannot be reached: %s", reference, unreachable(err))
}

// unreachable says why a server cannot be reached, in words that hold nothing of the connection.
func unreachable(err error) string {
	for _, cause := range []error{syscall.ECONNREFUSED, syscall.ECONNRESET, syscall.ETIMEDOUT, os.ErrDeadlineExceeded,
		syscall.EHOSTUNREACH} {
		if errors.Is(err, cause) {
			return cause.Error()
		}
	}
	var unknown *net.DNSError
	var unproven *tls.CertificateVerificationError
	switch {
	case errors.As(err, &unknown):
		return "its host has no address"
	case errors.As(err, &unproven):
		return "its certificate proves nothing: name the authority by ca=FILE, or the host as the certificate does"
	}
	return "no answer, or none in TLS"
}
