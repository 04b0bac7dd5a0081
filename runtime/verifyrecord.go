package runtime

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"weir/record"
	"weir/runtime/store"
)

// differentFigures compares what a run measured, which follows from its seed and its
// noise like everything else: weir report shows it.
func differentFigures(old, again *record.Run) []string {
	if store.Compact([]any{old.Metrics, old.Notes}) != store.Compact([]any{again.Metrics, again.Notes}) {
		return []string{"internal/" + store.MetricsFile}
	}
	return nil
}

// unknownKeys reads the record again as strictly as it was written: what weir did not
// write it does not vouch for, and a reader may take it for weir's word.
func unknownKeys(dir string) (differ []string) {
	for name, into := range map[string]any{"run.json": &record.Run{}, "internal/" + store.MetricsFile: &store.Figures{}} {
		data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		if errors.Is(err, fs.ErrNotExist) {
			continue // whoever misses it says so
		}
		if err == nil {
			err = decodeStrictly(data, into)
		}
		if err != nil {
			differ = append(differ, name+": "+store.Reason(err).Error())
		}
	}
	return differ
}

// decodeStrictly reads one JSON value that has no key of another's and nothing behind.
func decodeStrictly(data []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("something follows its end")
	}
	return nil
}
