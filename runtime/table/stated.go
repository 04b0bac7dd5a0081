package table

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
)

// Keys of a footer under which writers state the types that Parquet does not have: Arrow as a schema of its own, pandas
// as JSON (pandas, "Developer: storing pandas DataFrame objects in Apache Parquet format").
const (
	arrowKey  = "ARROW:schema"
	pandasKey = "pandas"
)

// stated returns the schema of a file with the lengths of time that its writer says it has: they are stored as integers of
// a unit, or as times of day, and nothing else tells them from those.
func (s *parquetSource) stated() *arrow.Schema {
	lengths := arrowLengths(s.Stated(arrowKey))
	for name, kind := range pandasLengths(s.Stated(pandasKey)) {
		if lengths[name] == nil {
			lengths[name] = kind
		}
	}
	fields := s.Schema.Fields()
	for i, f := range fields {
		id := f.Type.ID()
		if kind := lengths[f.Name]; kind != nil && (arrow.IsInteger(id) || id == arrow.TIME64 || id == arrow.TIME32) {
			fields[i].Type = kind
		}
	}
	return arrow.NewSchema(fields, nil)
}

// arrowLengths reads the entry of Arrow; one that is damaged says nothing.
func arrowLengths(stated string) map[string]arrow.DataType {
	lengths := map[string]arrow.DataType{}
	stream, err := base64.StdEncoding.DecodeString(stated)
	if err != nil || stated == "" {
		return lengths
	}
	r, err := (&frames{next: streamed(&supply{bytes.NewReader(stream), int64(len(stream))})}).reader()
	if err != nil {
		return lengths
	}
	defer r.Release()
	for _, f := range r.Schema().Fields() {
		if f.Type.ID() == arrow.DURATION {
			lengths[f.Name] = f.Type
		}
	}
	return lengths
}

// pandasLengths reads the entry of pandas; one that is damaged says nothing.
func pandasLengths(stated string) map[string]arrow.DataType {
	var entry struct {
		Columns []struct {
			Name  string `json:"field_name"`
			Kind  string `json:"pandas_type"`
			Numpy string `json:"numpy_type"`
		} `json:"columns"`
	}
	lengths := map[string]arrow.DataType{}
	if json.Unmarshal([]byte(stated), &entry) != nil {
		return lengths
	}
	for _, c := range entry.Columns {
		if c.Kind == "timedelta" || strings.HasPrefix(c.Numpy, "timedelta64") {
			lengths[c.Name] = arrow.FixedWidthTypes.Duration_us
		}
	}
	return lengths
}
