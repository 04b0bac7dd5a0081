package prep

import (
	"context"
	"fmt"

	"github.com/apache/arrow/go/v15/arrow"

	"weir/pipeline"
	"weir/privacy"
)

const replaceOne = privacy.ReplaceOne

// Shard splits the rows into disjoint shards.
type Shard struct {
	Shards int    `yaml:"shards" json:"shards" required:"true" min:"2" max:"1000000" doc:"Number of shards."`
	By     string `yaml:"by" json:"by" enum:"random|position" doc:"random: a secret independent draw for each privacy unit. position: row i goes to shard i mod shards, under replace_one with a public row count only."`
}

func shardKind() pipeline.Kind {
	return pipeline.Kind{
		Name: "shard", Version: 1, In: tableIn(), Out: tableOut("the table with a column that numbers the row's shard"),
		Doc: "Puts each privacy unit, with all its rows, into one of k disjoint shards. Use it before computations that mix rows (impute_knn " +
			"with scope: shard, anomaly removal) and for models that train one part on each shard. Stability goes from rows to shards(k): " +
			"whatever happens inside a shard, one unit changes that shard only.",
		New: func() pipeline.Stage { return &Shard{By: "random"} },
	}
}

// Plan implements pipeline.Stage.
//
// Why rows becomes shards(k). random: shards are independent uniform draws, one
// for each unit, that nobody learns. Add or remove a unit and keep the draws of
// all others (a coupling: their law is the same with and without the unit, drawn
// in sequence or hashed under a secret key); then only the shard of that unit
// differs. Replace a unit and give the new one the draw of the old. position:
// row i goes to shard i mod k; replacing a row leaves all positions, removing
// one would shift those after it.
func (s *Shard) Plan(in pipeline.Headers) (pipeline.Outline, error) {
	var ps pipeline.Problems
	h := in["in"]
	unitColumn(&ps, h)
	if s.Shards < 2 {
		ps.Add("shards", fmt.Sprint(s.Shards), "at least 2")
	}
	if h.Schema.HasField(pipeline.ShardColumn) {
		ps.Add("", "given a table that has shards already", "given a table without shards")
	}
	out := h.WithShardColumn()
	var findings []pipeline.Finding
	if h.Class == pipeline.Private {
		out.Stability, findings = s.stability(h)
	}
	return pipeline.Outline{Out: pipeline.Headers{"out": out}, Lazy: true, Secret: s.By == "random", Findings: findings}, ps.Err()
}

func (s *Shard) stability(h pipeline.Header) (pipeline.Stability, []pipeline.Finding) {
	note := func(message, fix string) (pipeline.Stability, []pipeline.Finding) {
		return pipeline.Unbounded(), []pipeline.Finding{{Rule: "W22", Level: pipeline.LevelNote, Message: message, Fix: fix}}
	}
	switch {
	case h.Stability.Spread != pipeline.SpreadRows:
		return note("one unit changes the table without bound before it is split, so shards do not confine it", "shard before the stage that mixes rows")
	case s.By == "position" && !publicPositions(h):
		return note("shards by position need replace_one, one row a unit, and a public row count with no row dropped by its values: else rows move to other shards",
			"by: random")
	case !oneUnit(h):
		return note("one unit changes rows of other units, which lie in several shards", "shard before the stage that removes rows by rank")
	}
	return pipeline.Shards(s.Shards), nil
}

// Run implements pipeline.Stage.
func (s *Shard) Run(_ context.Context, env *pipeline.Env, in pipeline.Tables) (pipeline.Tables, error) {
	t := in["in"]
	var ps pipeline.Problems
	unit := unitColumn(&ps, t.Header)
	if err := ps.Err(); err != nil {
		return nil, err
	}
	var k key
	if s.By == "random" {
		k = keyFrom(env.Secret("shard"))
	}
	w := rewrite{out: t.Header.WithShardColumn(), makers: func() []maker {
		return append(keepAll(t.Domain), s.number(unit, k))
	}}
	w.out.Stability = t.Stability
	if t.Class == pipeline.Private {
		w.out.Stability, _ = s.stability(t.Header)
	}
	return pipeline.Tables{"out": w.apply(t)}, nil
}

// number makes the shard column.
func (s *Shard) number(unit int, k key) maker {
	rows, position := k.sequence(), int64(0)
	return func(r arrow.Record) (arrow.Array, error) {
		shards := make([]int32, r.NumRows())
		if s.By == "random" && unit >= 0 {
			draws, err := k.units(r.Column(unit))
			if err != nil {
				return nil, err
			}
			for i, u := range draws {
				shards[i] = int32(below(u, s.Shards))
			}
			return column(arrow.PrimitiveTypes.Int32, shards, nil), nil
		}
		for i := range shards {
			if s.By == "random" {
				shards[i] = int32(below(rows.Uint64(), s.Shards))
			} else {
				shards[i] = int32(position % int64(s.Shards))
			}
			position++
		}
		return column(arrow.PrimitiveTypes.Int32, shards, nil), nil
	}
}
