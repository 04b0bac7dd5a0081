package runtime

import (
	"encoding/json"
	"io"
	"sync"

	"weir/runtime/store"
)

// trace collects the private figures of running stages (losses, norms) as JSON
// lines; it is written to internal/.
type trace struct {
	mu    sync.Mutex
	lines []traceLine
}

type traceLine struct {
	Stage  string  `json:"stage"`
	Metric string  `json:"metric"`
	Value  float64 `json:"value"`
}

func (t *trace) add(stage, metric string, value float64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lines = append(t.lines, traceLine{stage, metric, value})
}

func (t *trace) write(dir store.RunDir) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.lines) == 0 {
		return nil
	}
	return dir.Keep("trace.jsonl", func(w io.Writer) error {
		e := json.NewEncoder(w)
		for _, l := range t.lines {
			if err := e.Encode(l); err != nil {
				return err
			}
		}
		return nil
	})
}
