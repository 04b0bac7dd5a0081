package spark

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/apache/thrift/lib/go/thrift"
)

// longestAnswer is the most time that a server has for one answer. Statements take longer; they are asked about, again
// and again, until they have ended.
const longestAnswer = 5 * time.Minute

// largestAnswer is the most bytes of one answer.
const largestAnswer = 1 << 26

// client is a connection to a server. It is used by one goroutine at a time.
type client struct {
	conn     net.Conn
	patience time.Duration // for an answer that is under way when the run ends
	sent     int32         // requests
}

// newClient says who asks (SASL PLAIN, RFC 4616, in the frames of Thrift's own SASL transport).
func newClient(ctx context.Context, a address, reference string) (*client, error) {
	conn, err := a.dial(ctx, reference)
	if err != nil {
		return nil, err
	}
	c := &client{conn: conn, patience: 5 * time.Second}
	if err := c.introduce(ctx, a); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return c, nil
}

// Statuses of the frames in which a client introduces itself.
const (
	saslStart    = 1
	saslOK       = 2
	saslComplete = 5
)

// introduce sends name and password. A server that asks for none refuses an empty one.
func (c *client) introduce(ctx context.Context, a address) error {
	defer c.within(ctx)()
	if a.password == "" {
		a.password = "none"
	}
	greeting := append(framed(saslStart, []byte("PLAIN")), framed(saslOK, []byte("\x00"+a.user+"\x00"+a.password))...)
	if _, err := c.conn.Write(greeting); err != nil {
		return c.lost(ctx)
	}
	var head [5]byte
	if _, err := io.ReadFull(c.conn, head[:]); err != nil {
		return c.lost(ctx)
	}
	if n := binary.BigEndian.Uint32(head[1:]); head[0] != saslComplete || n > 1<<16 {
		return errors.New("connection: the server does not take this user and password, or wants another auth than PLAIN " +
			"(authentication NONE, LDAP or CUSTOM)")
	} else if _, err := io.CopyN(io.Discard, c.conn, int64(n)); err != nil {
		return c.lost(ctx)
	}
	return nil
}

func framed(status byte, body []byte) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{status}, uint32(len(body))), body...)
}

// within bounds the time of the next answer; once the context ends, what is under way has a little more, so that a
// statement can be cancelled. It is undone by what it returns.
func (c *client) within(ctx context.Context) (undo func()) {
	_ = c.conn.SetDeadline(time.Now().Add(longestAnswer)) // a closed connection tells by the next request
	stop := context.AfterFunc(ctx, func() { _ = c.conn.SetDeadline(time.Now().Add(c.patience)) })
	return func() { stop() }
}

// lost returns the error of a connection that ended.
func (c *client) lost(ctx context.Context) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return errLost
}

var errLost = errors.New("the connection to the server was lost; run it again")

// call sends a request and returns the answer: the struct that the method gives, whatever its status. An error closes
// the connection, behind which late answers would be taken for answers to later requests; the server then ends what it
// works on.
func (c *client) call(ctx context.Context, method string, request message) (record, error) {
	defer c.within(ctx)()
	answer, err := c.exchange(ctx, method, request)
	if err != nil {
		_ = c.conn.Close() // why is known
	}
	return answer, err
}

func (c *client) exchange(ctx context.Context, method string, request message) (record, error) {
	c.sent++
	out := thrift.NewTMemoryBuffer()
	p := thrift.NewTBinaryProtocolConf(out, nil)
	err := errors.Join(p.WriteMessageBegin(ctx, method, thrift.CALL, c.sent), message{{1, request}}.write(ctx, p))
	if err != nil {
		return nil, fmt.Errorf("the request %s cannot be written", method)
	}
	frame := append(binary.BigEndian.AppendUint32(nil, uint32(out.Len())), out.Bytes()...)
	if _, err := c.conn.Write(frame); err != nil {
		return nil, c.lost(ctx)
	}
	answer, err := c.frame()
	switch {
	case errors.Is(err, errAnswer):
		return nil, err
	case err != nil:
		return nil, c.lost(ctx)
	}
	return readAnswer(ctx, answer, method, c.sent)
}

// frame reads a frame. It grows with what comes, whatever length the frame claims.
func (c *client) frame() ([]byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(c.conn, head[:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(head[:])
	if n > largestAnswer {
		return nil, errAnswer
	}
	var body bytes.Buffer
	_, err := io.CopyN(&body, c.conn, int64(n))
	return body.Bytes(), err
}

// readAnswer reads a frame as the answer to a request.
func readAnswer(ctx context.Context, frame []byte, method string, sent int32) (record, error) {
	in := thrift.NewTMemoryBufferLen(len(frame))
	_, _ = in.Write(frame) // into memory
	p := thrift.NewTBinaryProtocolConf(in, &thrift.TConfiguration{MaxMessageSize: largestAnswer})
	name, kind, number, err := p.ReadMessageBegin(ctx)
	if err != nil || kind != thrift.REPLY || name != method || number != sent {
		return nil, errAnswer
	}
	answer, err := readRecord(ctx, p, 0)
	if err != nil {
		return nil, errAnswer
	}
	return answer.lookup(0), nil
}

// Close ends the connection.
func (c *client) Close() error { return c.conn.Close() }
