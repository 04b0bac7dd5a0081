package table

import flatbuffers "github.com/google/flatbuffers/go"

// flat is a table of the flatbuffers that describe Arrow messages. Reading it
// panics where an offset leads out of it: call it guarded.
type flat struct{ flatbuffers.Table }

// slot is where a field's offset stands in the directory of its table, by the order
// of Arrow's Message.fbs, Schema.fbs and File.fbs.
type slot = flatbuffers.VOffsetT

const (
	messageKind   slot = 6
	messageHeader slot = 8
	messageBody   slot = 10

	schemaFields slot = 6
	schemaNotes  slot = 8

	fieldType       slot = 8
	fieldDictionary slot = 12
	fieldChildren   slot = 14
	fieldNotes      slot = 16

	dictionaryID slot = 4 // in a field

	dictionaryData slot = 6 // in a message

	batchNodes       slot = 6
	batchBuffers     slot = 8
	batchCompression slot = 10
	batchViews       slot = 12

	compressionCodec slot = 4

	footerSchema       slot = 6
	footerDictionaries slot = 8
	footerBatches      slot = 10
)

// Kinds of message, of compression, and of columns whose values are views.
const (
	kindSchema     = 1
	kindDictionary = 2
	kindBatch      = 3

	codecLZ4  = 0
	codecZstd = 1

	typeBinaryView = 23
	typeUtf8View   = 24

	metadataV5 = 4 // the version of Arrow 1.0 and later
)

func rootOf(b []byte) flat {
	return flat{flatbuffers.Table{Bytes: b, Pos: flatbuffers.GetUOffsetT(b)}}
}

func (f flat) int64(s slot) int64 {
	if o := f.Offset(s); o != 0 {
		return f.GetInt64(f.Pos + flatbuffers.UOffsetT(o))
	}
	return 0
}

func (f flat) byte(s slot) byte {
	if o := f.Offset(s); o != 0 {
		return f.GetByte(f.Pos + flatbuffers.UOffsetT(o))
	}
	return 0
}

// child is a table in a field; ok is false where the field is not there.
func (f flat) child(s slot) (_ flat, ok bool) {
	o := f.Offset(s)
	if o == 0 {
		return flat{}, false
	}
	return flat{flatbuffers.Table{Bytes: f.Bytes, Pos: f.Indirect(f.Pos + flatbuffers.UOffsetT(o))}}, true
}

// structs is where a list of structs of size bytes begins, and how many they are:
// no more than there are bytes for.
func (f flat) structs(s slot, size int) (from, n int, err error) {
	o := f.Offset(s)
	if o == 0 {
		return 0, 0, nil
	}
	from, n = int(f.Vector(flatbuffers.UOffsetT(o))), f.VectorLen(flatbuffers.UOffsetT(o))
	if from > len(f.Bytes) || n > (len(f.Bytes)-from)/size {
		return 0, 0, broken("its metadata claim a longer list than they hold")
	}
	return from, n, nil
}

// tables is a list of tables.
func (f flat) tables(s slot) ([]flat, error) {
	from, n, err := f.structs(s, 4)
	list := make([]flat, n)
	for i := range list {
		list[i] = flat{flatbuffers.Table{Bytes: f.Bytes, Pos: f.Indirect(flatbuffers.UOffsetT(from + 4*i))}}
	}
	return list, err
}
