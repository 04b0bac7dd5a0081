package spark

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/binary"
	"io"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/apache/thrift/lib/go/thrift"
)

// list is a list of a message that a fake server sends: []int32, []int64, []string or []message.
type list struct{ of any }

// encode writes a struct with lists, which the client never sends.
func encode(t testing.TB, p thrift.TProtocol, m message) {
	t.Helper()
	ctx := context.Background()
	for _, f := range m {
		switch v := f.value.(type) {
		case message:
			_ = p.WriteFieldBegin(ctx, "", thrift.STRUCT, f.id) // into memory, as all below
			encode(t, p, v)
		case float64:
			_ = p.WriteFieldBegin(ctx, "", thrift.DOUBLE, f.id)
			_ = p.WriteDouble(ctx, v)
		case list:
			_ = p.WriteFieldBegin(ctx, "", thrift.LIST, f.id)
			encodeList(t, p, v)
		default:
			if err := f.write(ctx, p); err != nil {
				t.Fatal(err)
			}
		}
	}
	_ = p.WriteFieldStop(ctx)
}

func encodeList(t testing.TB, p thrift.TProtocol, l list) {
	ctx := context.Background()
	switch c := l.of.(type) {
	case []int32:
		_ = p.WriteListBegin(ctx, thrift.I32, len(c))
		for _, n := range c {
			_ = p.WriteI32(ctx, n)
		}
	case []int64:
		_ = p.WriteListBegin(ctx, thrift.I64, len(c))
		for _, n := range c {
			_ = p.WriteI64(ctx, n)
		}
	case []float64:
		_ = p.WriteListBegin(ctx, thrift.DOUBLE, len(c))
		for _, x := range c {
			_ = p.WriteDouble(ctx, x)
		}
	case []string:
		_ = p.WriteListBegin(ctx, thrift.STRING, len(c))
		for _, s := range c {
			_ = p.WriteString(ctx, s)
		}
	case []message:
		_ = p.WriteListBegin(ctx, thrift.STRUCT, len(c))
		for _, m := range c {
			encode(t, p, m)
		}
	}
}

// reply returns the frame of an answer.
func reply(t testing.TB, method string, number int32, kind thrift.TMessageType, answer message) []byte {
	out := thrift.NewTMemoryBuffer()
	p := thrift.NewTBinaryProtocolConf(out, nil)
	_ = p.WriteMessageBegin(context.Background(), method, kind, number)
	encode(t, p, message{{0, answer}})
	return out.Bytes()
}

// fake is a server in this process.
type fake struct {
	t        testing.TB
	answer   func(method string, request record) message // nil: what wellBehaved answers
	raw      func(method string, frame []byte) []byte    // what becomes of a frame before it is sent; nil hangs up
	greeting []byte                                      // after the introduction
	listen   net.Listener
	secure   *tls.Config // nil: without TLS

	start      sync.Once
	introduced atomic.Bool // a client said who it is

	mu      sync.Mutex
	methods []string
}

// newFake returns a server that answers every statement with these columns.
func newFake(t testing.TB, columns ...message) *fake {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f := &fake{t: t, listen: l, greeting: framed(saslComplete, nil), answer: wellBehaved(columns...)}
	t.Cleanup(func() { _ = l.Close() })
	return f
}

// address starts the server, once it is what it should be, and returns where it listens.
func (f *fake) address() string {
	f.start.Do(func() {
		go func() {
			for {
				c, err := f.listen.Accept()
				if err != nil {
					return
				}
				go f.serve(c)
			}
		}()
	})
	return f.listen.Addr().String()
}

// calls returns the methods that were called so far.
func (f *fake) calls() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]string(nil), f.methods...)
}

func (f *fake) serve(c net.Conn) {
	defer func() { _ = c.Close() }()
	if f.secure != nil {
		c = tls.Server(c, f.secure)
	}
	for range 2 { // PLAIN, and who it is
		var head [5]byte
		if _, err := io.ReadFull(c, head[:]); err != nil {
			return
		}
		_, _ = io.CopyN(io.Discard, c, int64(binary.BigEndian.Uint32(head[1:])))
	}
	f.introduced.Store(true)
	_, _ = c.Write(f.greeting)
	for {
		var head [4]byte
		if _, err := io.ReadFull(c, head[:]); err != nil {
			return
		}
		in := thrift.NewTMemoryBuffer()
		_, _ = io.CopyN(in, c, int64(binary.BigEndian.Uint32(head[:])))
		p := thrift.NewTBinaryProtocolConf(in, nil)
		method, _, number, _ := p.ReadMessageBegin(context.Background())
		request, _ := readRecord(context.Background(), p, 0)
		f.mu.Lock()
		f.methods = append(f.methods, method)
		f.mu.Unlock()
		frame := reply(f.t, method, number, thrift.REPLY, f.answer(method, request.lookup(1)))
		if f.raw != nil {
			frame = f.raw(method, frame)
		}
		if frame == nil {
			return
		}
		if _, err := c.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(frame))), frame...)); err != nil {
			return
		}
	}
}

var succeededStatus = field{1, message{{1, int32(statusSuccess)}}}

// handleOf returns a handle with so many bytes in its name.
func handleOf(bytes int) message {
	return message{{1, message{{1, make([]byte, bytes)}, {2, make([]byte, 16)}}}}
}

// wellBehaved returns a server that answers every statement at once, with these columns.
func wellBehaved(columns ...message) func(string, record) message {
	var mu sync.Mutex
	fetched := false
	return func(method string, _ record) message {
		mu.Lock()
		defer mu.Unlock()
		switch method {
		case "OpenSession":
			return message{succeededStatus, {2, int32(protocolV6)}, {3, handleOf(16)}}
		case "ExecuteStatement":
			fetched = false
			return message{succeededStatus, {2, append(handleOf(16), field{2, int32(0)}, field{3, true})}}
		case "GetOperationStatus":
			return message{succeededStatus, {2, int32(stateFinished)}}
		case "FetchResults":
			if fetched {
				none := make([]message, len(columns))
				for i := range none {
					none[i] = longs()
				}
				return message{succeededStatus, {3, message{{3, list{none}}}}}
			}
			fetched = true
			return message{succeededStatus, {3, message{{3, list{columns}}}}}
		}
		return message{succeededStatus}
	}
}

// longs, and its neighbours, are columns as a server sends them.
func longs(values ...int64) message  { return message{{5, message{{1, list{values}}, {2, []byte{}}}}} }
func ints(values ...int32) message   { return message{{4, message{{1, list{values}}, {2, []byte{}}}}} }
func words(values ...string) message { return message{{7, message{{1, list{values}}, {2, []byte{}}}}} }
func doubles(values ...float64) message {
	return message{{6, message{{1, list{values}}, {2, []byte{}}}}}
}
func withNull(c message, row int) message {
	nulls := make([]byte, row/8+1)
	nulls[row/8] = 1 << (row % 8)
	return message{{c[0].id, append(message{c[0].value.(message)[0]}, field{2, nulls})}}
}

// dial opens a link to the fake server.
func (f *fake) dial(ctx context.Context) (*link, error) {
	c, err := newClient(ctx, address{host: f.address(), user: "u"}, "env:X")
	if err != nil {
		return nil, err
	}
	l := &link{client: c}
	return l, l.begin(ctx, "u")
}

// rows sends one statement and returns the rows of its answer, all of whole numbers.
func (f *fake) rows(ctx context.Context, columns int, timeout time.Duration) (rows [][]int64, err error) {
	l, err := f.dial(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = l.close() }()
	l.timeout = timeout
	err = l.numbers(ctx, "counts", "SELECT", columns, func(row []int64) error {
		rows = append(rows, slices.Clone(row))
		return nil
	})
	return rows, err
}

// cut returns a frame without its last n bytes.
func cut(frame []byte, n int) []byte { return bytes.Clone(frame[:max(0, len(frame)-n)]) }
