package pipelinetest

import (
	"context"
	"fmt"

	"github.com/apache/arrow/go/v15/arrow"

	"weir/pipeline"
)

// crowded is how many rows a small table is repeated to: cases have some 40, and what
// happens above a number of rows only (an error, another loop) would never be seen.
const crowded = 1500

// checkMany: what a paid stage shows and releases follows from its mechanisms' outputs
// alone, so with these frozen a table of many rows gives what one of few does. No
// sensitivity is compared: the tables are no neighbours.
func checkMany(t reporter, c Case) {
	many, ok := c.many()
	if _, plan, err := c.planned(); err != nil || len(plan) == 0 || !ok {
		return
	}
	few := c.recorded(1)
	replay := few.mechanisms.Neighbour()
	now := observe(context.Background(), many, manner{key: 1, probe: replay})
	faults := few.differences(t, now)
	if a, b := len(few.mechanisms.Uses()), len(replay.Uses()); a != b {
		faults = append(faults, fmt.Sprintf("%d uses become %d: the number of uses depends on the data", a, b))
	}
	for _, fault := range faults {
		t.Errorf("%d rows: %s", crowded, fault)
	}
}

// many is the case with its private tables repeated. Tables whose number of rows is
// public stay, since a plan may depend on it, and so do those with a privacy unit,
// which may have so many rows and no more.
func (c Case) many() (Case, bool) {
	any := false
	for _, port := range c.tablePorts() {
		in := c.In[port]
		n := int(in.Rows.NumRows())
		if h := in.Header; h.Class != pipeline.Private || h.Rows > 0 || n == 0 || h.Terms.Unit.Column != "" {
			continue
		}
		c, any = c.with(port, repeated(in, n)), true
	}
	return c, any
}

func repeated(in Input, n int) arrow.Record {
	lines := make([]line, crowded)
	for i := range lines {
		lines[i].row = i % n
	}
	return edited(in, lines)
}
