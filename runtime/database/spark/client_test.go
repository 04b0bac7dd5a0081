package spark

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/thrift/lib/go/thrift"
)

// canary is a cell that no error may quote.
const canary = "Alice Smith"

// TestWholeNumbersCross: columns of 32 and 64 bits come as they were sent.
func TestWholeNumbersCross(t *testing.T) {
	f := newFake(t, longs(1, -2, 1<<62), ints(4, 5, 6))
	rows, err := f.rows(t.Context(), 2, 0)
	if want := [][]int64{{1, 4}, {-2, 5}, {1 << 62, 6}}; err != nil || !reflect.DeepEqual(rows, want) {
		t.Errorf("%v, %v; must be %v", rows, err, want)
	}
}

// TestHostileAnswers: whatever else a server sends is an error, never a panic, a number or a word of the server.
func TestHostileAnswers(t *testing.T) {
	failed := func(fields ...field) message { return message{{1, append(message{{1, int32(3)}}, fields...)}} }
	failure := failed(field{3, canary}, field{5, canary})
	for name, answers := range map[string]map[string]message{
		"no status":            {"GetOperationStatus": {{2, int32(stateFinished)}}},
		"no state":             {"GetOperationStatus": {succeededStatus}},
		"an unknown state":     {"GetOperationStatus": {succeededStatus, {2, int32(6)}, {3, canary}, {5, canary}}},
		"a failed statement":   {"GetOperationStatus": {succeededStatus, {2, int32(5)}, {3, "22018"}, {5, canary}}},
		"no session handle":    {"OpenSession": {succeededStatus, {2, int32(protocolV6)}}},
		"a handle of 15 bytes": {"OpenSession": {succeededStatus, {2, int32(protocolV6)}, {3, handleOf(15)}}},
		"an old protocol":      {"OpenSession": {succeededStatus, {2, int32(protocolV6 - 1)}, {3, handleOf(16)}}},
		"a refused session":    {"OpenSession": failure},
		"no operation":         {"ExecuteStatement": {succeededStatus}},
		"a refused statement":  {"ExecuteStatement": failure},
		"refused rows":         {"FetchResults": failure},
		"no rows":              {"FetchResults": {succeededStatus}},
		"one column":           {"FetchResults": {succeededStatus, {3, message{{3, list{[]message{longs(1)}}}}}}},
		"columns of unequal length": {"FetchResults": {succeededStatus,
			{3, message{{3, list{[]message{longs(1), longs(1, 2)}}}}}}},
		"text": {"FetchResults": {succeededStatus,
			{3, message{{3, list{[]message{words(canary), words("1")}}}}}}},
		"real numbers": {"FetchResults": {succeededStatus,
			{3, message{{3, list{[]message{doubles(1), doubles(1)}}}}}}},
		"null": {"FetchResults": {succeededStatus,
			{3, message{{3, list{[]message{longs(1), withNull(longs(1), 0)}}}}}}},
		"a column of two kinds": {"FetchResults": {succeededStatus,
			{3, message{{3, list{[]message{longs(1), append(longs(1), ints(1)...)}}}}}}},
		"a column of no kind of ours": {"FetchResults": {succeededStatus,
			{3, message{{3, list{[]message{longs(1), {{1, message{{1, list{[]int64{1}}}}}}}}}}}}},
	} {
		f := newFake(t)
		well := f.answer
		f.answer = func(method string, r record) message {
			if a, is := answers[method]; is {
				return a
			}
			return well(method, r)
		}
		rows, err := f.rows(t.Context(), 2, 0)
		if err == nil || len(rows) > 0 || strings.Contains(err.Error(), canary) {
			t.Errorf("%s: %v, %v", name, rows, err)
		}
		if name == "a failed statement" && !strings.Contains(err.Error(), "22018, data exception") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestHostileFrames: an answer that is cut, of another request or of no form at all is an error, and takes no memory
// that was not sent.
func TestHostileFrames(t *testing.T) {
	well := reply(t, "FetchResults", 4, thrift.REPLY, wellBehaved(longs(1), longs(2))("FetchResults", nil))
	huge := binary.BigEndian.AppendUint32([]byte{byte(thrift.LIST), 0, 1, byte(thrift.I64)}, 1<<31-1)
	deep := strings.Repeat(string([]byte{byte(thrift.STRUCT), 0, 1}), 100_000)
	head := well[:len("....")+len("....FetchResults")+4] // version, name and number
	for name, frame := range map[string][]byte{
		"another method":    reply(t, "Another", 4, thrift.REPLY, message{}),
		"another number":    reply(t, "FetchResults", 5, thrift.REPLY, message{}),
		"an exception":      reply(t, "FetchResults", 4, thrift.EXCEPTION, message{{1, canary}}),
		"nothing":           {},
		"a huge list":       append(slices.Clone(head), huge...),
		"a deep answer":     append(slices.Clone(head), deep...),
		"no thrift":         []byte("HTTP/1.1 400 Bad Request " + canary),
		"a list of lists":   append(slices.Clone(head), byte(thrift.LIST), 0, 0, byte(thrift.LIST), 0x7f, 0xff, 0xff, 0xff),
		"a list of nothing": append(slices.Clone(head), byte(thrift.LIST), 0, 0, byte(thrift.STOP), 0x7f, 0xff, 0xff, 0xff),
		"a map of nothing": append(slices.Clone(head), byte(thrift.MAP), 0, 0, byte(thrift.STOP), byte(thrift.STOP), 0x7f,
			0xff, 0xff, 0xff),
	} {
		if r, err := readAnswer(t.Context(), frame, "FetchResults", 4); err == nil && len(r) > 0 || err != nil &&
			strings.Contains(err.Error(), canary) {
			t.Errorf("%s: %v, %v", name, r, err)
		}
	}
	if r, err := readAnswer(t.Context(), well, "FetchResults", 4); err != nil || len(r) == 0 {
		t.Fatal(r, err)
	}
	for n := 1; n <= len(well); n++ {
		if _, err := readAnswer(t.Context(), cut(well, n), "FetchResults", 4); err == nil {
			t.Errorf("an answer without its last %d bytes is read", n)
		}
	}
}

// TestHangingUp: a server that ends the connection at any of its answers leaves an error, and never a part of the rows.
func TestHangingUp(t *testing.T) {
	for _, path := range []string{"OpenSession", "ExecuteStatement", "GetOperationStatus", "FetchResults"} {
		f := newFake(t, longs(1))
		f.raw = func(method string, frame []byte) []byte {
			if method == path {
				return nil
			}
			return frame
		}
		if rows, err := f.rows(t.Context(), 1, 0); !errors.Is(err, errLost) || len(rows) > 0 {
			t.Errorf("%s: %v, %v", path, rows, err)
		}
	}
	f := newFake(t)
	f.greeting = framed(3, []byte(canary))
	if _, err := f.dial(t.Context()); err == nil || strings.Contains(err.Error(), canary) {
		t.Error(err)
	}
}

// TestLateAnswers: an answer that comes after the run has stopped waiting for it is not taken for the one of a later
// request.
func TestLateAnswers(t *testing.T) {
	f := newFake(t, longs(1))
	f.raw = func(method string, frame []byte) []byte {
		if method == "GetOperationStatus" {
			time.Sleep(50 * time.Millisecond)
		}
		return frame
	}
	l, err := f.dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.close() }()
	o, err := l.execute(t.Context(), "counts", "SELECT")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	l.client.patience = time.Millisecond
	if err := o.await(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, must be cancelled", err)
	}
	time.Sleep(100 * time.Millisecond)
	if err := l.numbers(t.Context(), "counts", "SELECT", 1, func([]int64) error { return nil }); !errors.Is(err, errLost) {
		t.Errorf("%v, must be a lost connection", err)
	}
}

// TestStatementsAreCancelled: where the run ends, or a statement takes longer than its timeout, the server is told.
func TestStatementsAreCancelled(t *testing.T) {
	for _, timeout := range []time.Duration{0, 20 * time.Millisecond} {
		ctx, cancel := context.WithCancel(t.Context())
		f := newFake(t)
		well := f.answer
		f.answer = func(method string, r record) message {
			if method != "GetOperationStatus" {
				return well(method, r)
			}
			if timeout == 0 {
				cancel()
			}
			return message{succeededStatus, {2, int32(stateRunning)}}
		}
		_, err := f.rows(ctx, 1, timeout)
		want := context.Canceled
		if timeout > 0 {
			want = errCancelled
		}
		if !errors.Is(err, want) || !slices.Contains(f.calls(), "CancelOperation") {
			t.Errorf("%v, of %v", err, f.calls())
		}
		cancel()
	}
}

// TestConnections: a spec holds no password, no network is trusted without a proof, and no error repeats a connection.
func TestConnections(t *testing.T) {
	for _, bad := range []string{"", "env:", "service:x", "spark://u:secret@h:1"} {
		if err := CheckConnection(bad); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v", bad, err)
		}
	}
	for words, ok := range map[string]bool{
		"spark://u@127.0.0.1:10000":                                   true,
		"spark://u@localhost:10000":                                   true,
		"spark://u@[::1]:10000":                                       true,
		"spark://u:secret@db.example:10000?tls=verify-full":           true,
		"spark://u@db.example:10000?tls=verify-full":                  false, // whom does the server believe?
		"spark://u:secret@db.example:10000":                           false,
		"spark://u:secret@db.example:10000?tls=require":               false,
		"spark://u:secret@db.example:10000?tls=verify-full&ca=/no":    false,
		"spark://u:secret@127.0.0.1:10000?auth=kerberos":              false,
		"spark://u:secret@127.0.0.1:10000?transport=http":             false,
		"spark://u:secret@127.0.0.1":                                  false,
		"spark://127.0.0.1:10000":                                     false,
		"jdbc:hive2://db.example:10000/secret":                        false,
		"spark://u:secret@127.0.0.1:10000/database;principal=example": false,
		"": false,
	} {
		_, err := Place{Connection: "env:X", Env: func(string) string { return words }}.address()
		if (err == nil) != ok || err != nil && (strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(),
			"example")) {
			t.Errorf("%s: %v", words, err)
		}
	}
}

// TestServersProveThemselves: a server whose certificate is of an unknown authority or for another host gets neither
// name nor password.
func TestServersProveThemselves(t *testing.T) {
	web := httptest.NewTLSServer(nil) // for its certificate, which is for 127.0.0.1
	defer web.Close()
	file := filepath.Join(t.TempDir(), "ca.pem")
	block := &pem.Block{Type: "CERTIFICATE", Bytes: web.Certificate().Raw}
	if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, ok := range map[string]bool{"127.0.0.1?tls=verify-full&ca=" + file: true, "127.0.0.1?tls=verify-full": false,
		"localhost?tls=verify-full&ca=" + file: false} {
		f := newFake(t)
		f.secure = &tls.Config{Certificates: web.TLS.Certificates}
		_, port, err := net.SplitHostPort(f.address())
		if err != nil {
			t.Fatal(err)
		}
		words := "spark://u:secret@" + strings.Replace(name, "?", ":"+port+"?", 1)
		a, err := Place{Connection: "env:X", Env: func(string) string { return words }}.address()
		if err != nil {
			t.Fatal(err)
		}
		c, err := newClient(t.Context(), a, "env:X")
		if (err == nil) != ok || f.introduced.Load() != ok {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil {
			_ = c.Close()
		} else if !strings.Contains(err.Error(), "its certificate proves nothing") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestStatesAreNamed: of a server's error its SQLSTATE is told where it is one of Spark's own; a view's function may
// raise one of five letters of a cell.
func TestStatesAreNamed(t *testing.T) {
	for state, want := range map[string]string{"22018": "22018, data exception", "42P01": "42P01, access rule or syntax",
		"":      "with a SQLSTATE that is not repeated here",
		"ALICE": "with a SQLSTATE that is not repeated here", "P0001": "with a SQLSTATE that is not repeated here"} {
		if got := describeState(state); got != want {
			t.Errorf("%s is told as %q, must be %q", state, got, want)
		}
	}
	for _, state := range strings.Fields(states) {
		if strings.HasSuffix(describeState(state), ", ") {
			t.Errorf("%s has no class", state)
		}
	}
}

// TestNamesAreQuoted: a name is one identifier, whatever it holds, and a table has two or three.
func TestNamesAreQuoted(t *testing.T) {
	if got, want := quoted("s", "a`; DROP TABLE x --"), "`s`.`a``; DROP TABLE x --`"; got != want {
		t.Errorf("%s, must be %s", got, want)
	}
	for name, parts := range map[string]int{"a.b": 2, "c.a.b": 3, "a": 0, "a.": 0, ".b": 0, "a.b.c.d": 0, "a.b\x00": 0} {
		got, err := Split(name)
		if len(got) != parts || (err == nil) != (parts > 0) {
			t.Errorf("%q: %v, %v", name, got, err)
		}
	}
}

// TestDescriptions: tables of which not all rows are counted, or whose cells are what options make of them, are
// refused.
func TestDescriptions(t *testing.T) {
	for name, c := range map[string]struct {
		d       description
		version string
		want    string
	}{
		"parquet":      {d: description{Type: "MANAGED", Provider: "parquet"}},
		"a view":       {d: description{Type: "VIEW"}},
		"delta":        {d: description{Type: "EXTERNAL", Provider: "delta"}, version: "812"},
		"csv":          {d: description{Type: "MANAGED", Provider: "csv"}, want: "another format"},
		"a hive table": {d: description{Type: "MANAGED", Provider: "hive"}, want: "another format"},
		"no versions":  {d: description{Type: "MANAGED", Provider: "parquet"}, version: "812", want: "keeps no versions"},
		"versions":     {d: description{Type: "VIEW"}, version: "812", want: "keeps no versions"},
		"skipping": {d: description{Type: "MANAGED", Provider: "orc",
			Storage: map[string]string{"ignoreCorruptFiles": "true"}}, want: "ignorecorruptfiles"},
		"skipping option": {d: description{Type: "MANAGED", Provider: "orc",
			Table: map[string]string{"option.ignoreMissingFiles": canary}}, want: "ignoremissingfiles"},
		"a function": {d: description{Type: "OTHER"}, want: "neither a table nor a view"},
	} {
		err := c.d.check(Place{Table: "prod.t", Version: c.version})
		if (err == nil) != (c.want == "") || err != nil && (!strings.Contains(err.Error(), c.want) ||
			strings.Contains(err.Error(), canary)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestSettingsAreReadBack: a server that leaves a setting as it was is refused: it may skip files, or count in another
// time zone.
func TestSettingsAreReadBack(t *testing.T) {
	f := newFake(t, words("k"), words("true"))
	s := &Session{address: address{host: f.address(), user: "u"}}
	if _, err := s.connect(t.Context()); err == nil || !strings.Contains(err.Error(),
		"refuses the setting spark.sql.variable.substitute=false") {
		t.Error(err)
	}
}

func FuzzAnswers(f *testing.F) {
	for i, columns := range [][]message{{longs(1, 2), ints(3, 4)}, {words("a", "12345678901234567890123"),
		withNull(longs(1, 2), 1)}} {
		f.Add(reply(f, "FetchResults", 1, thrift.REPLY, wellBehaved(columns...)("FetchResults", nil)))
		f.Add(reply(f, "FetchResults", int32(i), thrift.EXCEPTION, message{{1, fmt.Sprint(i)}}))
	}
	f.Fuzz(func(t *testing.T, frame []byte) {
		r, err := readAnswer(context.Background(), frame, "FetchResults", 1)
		if err != nil {
			return
		}
		_ = succeeded("it", r)
		columns, rows, err := readColumns(r.lookup(fieldResults), 2)
		for row := range rows {
			if err == nil {
				_, _ = columns[0].whole(row)
				_ = columns[1].word(row)
			}
		}
	})
}
