package store

import (
	"encoding/json"
	"testing"
)

// FuzzRecord reads any bytes as the record of a run, its figures and its list of files: a
// record that can be written again, or an error in fixed words, which quote nothing.
func FuzzRecord(f *testing.F) {
	f.Add([]byte(
		`{"id":"20260102-030405-00","status":"done","dataset":{"id":"ds-1","ledger_count":1,"ledger_head":"sha256:1"},"charges":[{"id":"a","event":{"pure":{"epsilon":1}}}],"plan":{}}`),
		[]byte(`{"metrics":{"a.b":1.5},"notes":{"a.c":"none"}}`),
		[]byte(`[{"path":"internal/report.html","sha256":"sha256:1","size":3}]`))
	f.Add([]byte(`{"charges":[{"event":{"pure":{"epsilon":-73313}}}]}`), []byte(`{"metrics":{"a.b":"73313"}}`),
		[]byte(`[73313]`))
	f.Add([]byte(`{"id":73313}`), []byte(`{"metrics":null}`), []byte(`null`))
	f.Add([]byte(`null`), []byte(`{"metrics":{"a":1e999}}`), []byte(`{}`))
	f.Fuzz(func(t *testing.T, run, figures, files []byte) {
		r, err := decodeRecord("DIR", run, map[string][]byte{MetricsFile: figures, FilesFile: files})
		if err != nil {
			if !fixed(err.Error()) {
				t.Fatalf("%q is not in fixed words", err)
			}
			return
		}
		if _, err := json.Marshal(r); err != nil || r.Metrics == nil || r.Notes == nil {
			t.Fatalf("the record cannot be used: %v", err)
		}
	})
}

func fixed(text string) bool {
	return text == "DIR/run.json: is not the record of a run, must be one" ||
		text == "DIR: internal/"+MetricsFile+" is damaged: it is not JSON as weir writes it" ||
		text == "DIR: internal/"+FilesFile+" is damaged: it is not JSON as weir writes it"
}
