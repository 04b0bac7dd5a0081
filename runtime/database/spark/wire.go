package spark

import (
	"context"
	"errors"

	"github.com/apache/thrift/lib/go/thrift"
)

// message is a struct of the protocol that is sent, field by field.
type message []field

// field is a field of a message, by its number in the interface.
type field struct {
	id    int16
	value any // bool, int16, int32, int64, string, []byte, message or map[string]string
}

// write sends a struct.
func (m message) write(ctx context.Context, p thrift.TProtocol) error {
	for _, f := range m {
		if err := f.write(ctx, p); err != nil {
			return err
		}
	}
	return p.WriteFieldStop(ctx)
}

// kind returns the type of what is sent, as the protocol numbers them.
func (f field) kind() thrift.TType {
	switch f.value.(type) {
	case bool:
		return thrift.BOOL
	case int16:
		return thrift.I16
	case int32:
		return thrift.I32
	case int64:
		return thrift.I64
	case message:
		return thrift.STRUCT
	case map[string]string:
		return thrift.MAP
	}
	return thrift.STRING
}

func (f field) write(ctx context.Context, p thrift.TProtocol) error {
	if err := p.WriteFieldBegin(ctx, "", f.kind(), f.id); err != nil {
		return err
	}
	switch v := f.value.(type) {
	case bool:
		return p.WriteBool(ctx, v)
	case int16:
		return p.WriteI16(ctx, v)
	case int32:
		return p.WriteI32(ctx, v)
	case int64:
		return p.WriteI64(ctx, v)
	case []byte:
		return p.WriteBinary(ctx, v)
	case string:
		return p.WriteString(ctx, v)
	case message:
		return v.write(ctx, p)
	case map[string]string:
		return writeMap(ctx, p, v)
	}
	return errAnswer
}

func writeMap(ctx context.Context, p thrift.TProtocol, m map[string]string) error {
	err := p.WriteMapBegin(ctx, thrift.STRING, thrift.STRING, len(m))
	for key, value := range m {
		err = errors.Join(err, p.WriteString(ctx, key), p.WriteString(ctx, value))
	}
	return err
}

// record is a struct that came: bool, int64 of all whole numbers, []byte, record, []int64, [][]byte or []record by the
// number of the field. Real numbers, maps and lists of anything else are dropped: nothing that weir asks for has them.
type record map[int16]any

// lookup returns the struct behind these fields, or an empty one.
func (r record) lookup(path ...int16) record {
	for _, id := range path {
		r, _ = r[id].(record)
	}
	return r
}

// number returns a whole number, or 0.
func (r record) number(id int16) int64 {
	n, _ := r[id].(int64)
	return n
}

// deepest and widest bound the structs of an answer: within each other, and in a list.
const (
	deepest = 8
	widest  = 4096
)

var errAnswer = errors.New("the server's answer: is not of HiveServer2's protocol, must be")

// readRecord reads a struct.
func readRecord(ctx context.Context, p thrift.TProtocol, depth int) (record, error) {
	r := record{}
	for depth < deepest {
		_, kind, id, err := p.ReadFieldBegin(ctx)
		if err != nil {
			return nil, errAnswer
		}
		if kind == thrift.STOP {
			return r, nil
		}
		value, err := readValue(ctx, p, kind, depth)
		if err != nil {
			return nil, err
		}
		if value != nil {
			r[id] = value
		}
	}
	return nil, errAnswer
}

// readValue reads a value. Whatever its kind is, it takes bytes of the answer, so a claimed length is none to wait for.
func readValue(ctx context.Context, p thrift.TProtocol, kind thrift.TType, depth int) (any, error) {
	switch kind {
	case thrift.BOOL:
		v, err := p.ReadBool(ctx)
		return v, err
	case thrift.BYTE, thrift.I16, thrift.I32, thrift.I64:
		return readWhole(ctx, p, kind)
	case thrift.STRING:
		return p.ReadBinary(ctx)
	case thrift.STRUCT:
		return readRecord(ctx, p, depth+1)
	case thrift.LIST:
		return readList(ctx, p, depth)
	}
	return nil, p.Skip(ctx, kind)
}

func readWhole(ctx context.Context, p thrift.TProtocol, kind thrift.TType) (int64, error) {
	switch kind {
	case thrift.BYTE:
		v, err := p.ReadByte(ctx)
		return int64(v), err
	case thrift.I16:
		v, err := p.ReadI16(ctx)
		return int64(v), err
	case thrift.I32:
		v, err := p.ReadI32(ctx)
		return int64(v), err
	}
	return p.ReadI64(ctx)
}

// readList reads a list. It grows with what is there, whatever length the list claims.
func readList(ctx context.Context, p thrift.TProtocol, depth int) (any, error) {
	kind, size, err := p.ReadListBegin(ctx)
	if err != nil {
		return nil, errAnswer
	}
	switch kind {
	case thrift.BYTE, thrift.I16, thrift.I32, thrift.I64:
		return readEach(size, func() (int64, error) { return readWhole(ctx, p, kind) })
	case thrift.STRING:
		return readEach(size, func() ([]byte, error) { return p.ReadBinary(ctx) })
	case thrift.STRUCT:
		if size > widest {
			return nil, errAnswer
		}
		return readEach(size, func() (record, error) { return readRecord(ctx, p, depth+1) })
	}
	for range size {
		if p.Skip(ctx, kind) != nil {
			return nil, errAnswer
		}
	}
	return nil, nil
}

func readEach[T any](size int, read func() (T, error)) (list []T, err error) {
	for range size {
		v, err := read()
		if err != nil {
			return nil, errAnswer
		}
		list = append(list, v)
	}
	return list, nil
}
