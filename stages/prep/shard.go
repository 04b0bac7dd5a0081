package prep

import (
	"context"
	"fmt"

	"github.com/apache/arrow/go/v15/arrow"

	"weir/pipeline"
	"weir/privacy"
	"weir/schema"
)

const replaceOne = privacy.ReplaceOne

// Shard splits the rows into disjoint shards.
type Shard struct {
	Shards int    `yaml:"shards" json:"shards" required:"true" min:"1" max:"1000000" doc:"Number of shards; 1 is the whole table as one, for a training without privacy to compare with."`
	By     string `yaml:"by" json:"by" enum:"random|position" doc:"random: a secret independent draw for each privacy unit. position: row i goes to shard i mod shards, under replace_one with a public row count only."`
}

func shardKind() pipeline.Kind {
	return pipeline.Kind{
		Name: "shard", Version: 2, Late: true, In: tableIn(), Out: tableOut("the table with a column that numbers the " +
			"row's shard"),
		Doc: "Puts each privacy unit, with all its rows, into one of k disjoint shards. Use it before computations that " +
			"mix rows (impute_knn " +
			"with scope: shard, anomaly removal) and for models that train one part on each shard. Stability goes from rows " +
			"to shards(k): " +
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
// one would shift those after it. Both need that the rows which change with a unit
// are its own: they have its draw, or its positions. Where the unit is a column,
// the draw is a function of that column's value, which must name the unit.
//
// Rows without a unit are units of their own, each (runtime/units.go keeps them
// all). Under replace_one each draws for itself, in sequence: if they shared a
// draw, a unit that is exchanged for one of them would change its shard and theirs.
// Under add_remove they share the draw of the missing value: one of them that comes
// or goes changes that shard only, and so does a unit whose value a stage before
// made missing, with all its rows.
func (s *Shard) Plan(in pipeline.Headers) (pipeline.Work, error) {
	var ps schema.Problems
	h := in["in"]
	p := sharding{shards: s.Shards, random: s.By == "random", singly: h.Terms.Adjacency == replaceOne,
		unit: unitColumn(&ps, h)}
	if s.Shards < 1 {
		ps.Add("shards", fmt.Sprint(s.Shards), "at least 1")
	}
	if h.Schema.HasField(pipeline.ShardColumn) {
		ps.Add("", "given a table that has shards already", "given a table without shards")
	}
	var findings []pipeline.Finding
	if p.out = h.WithShardColumn(s.Shards); h.Class == pipeline.Private {
		p.out.Stability, findings = s.stability(h)
	}
	return pipeline.Work{Out: pipeline.Headers{"out": p.out}, Lazy: true, Secret: p.random, Findings: findings,
		Elsewhere: keyedDraws(), Run: p.run}, ps.Err()
}

func (s *Shard) stability(h pipeline.Header) (pipeline.Stability, []pipeline.Finding) {
	note := func(message, fix string) (pipeline.Stability, []pipeline.Finding) {
		return pipeline.Unbounded(), []pipeline.Finding{{Rule: "W22", Level: pipeline.LevelNote, Message: message, Fix: fix}}
	}
	switch {
	case h.Stability.Spread != pipeline.SpreadRows:
		return note("one unit changes the table without bound before it is split, so shards do not confine it",
			"shard before the stage that mixes rows")
	case s.By == "position" && !publicPositions(h):
		return note("shards by position need replace_one, one row a unit, and a public row count with no row dropped by "+
			"its values: else rows move to other shards",
			"by: random")
	case !h.OwnRows:
		return note("one unit changes rows of other units, which lie in several shards", "shard before the stage that "+
			"imputes across rows or splits by stratum, and remove anomalies above a score, not by number")
	}
	return pipeline.Shards(s.Shards), nil
}

// sharding is the planned stage.
type sharding struct {
	out          pipeline.Header
	shards, unit int
	random       bool
	singly       bool // rows without a unit draw for themselves
}

func (p sharding) run(_ context.Context, env *pipeline.Env, in pipeline.Tables) (pipeline.Tables, error) {
	number := p.byPosition
	if p.random {
		secret := env.Secret("shard")
		rows, units := keyFrom(secret), keyFrom(secret)
		number = func() maker { return p.byRow(rows) }
		if p.unit >= 0 {
			number = func() maker { return p.byUnit(units, rows) }
		}
	}
	w := rewrite{out: p.out, makers: func(randomness) []maker {
		return append(keepAll(p.out.Domain), number())
	}}
	return pipeline.Tables{"out": w.apply(in["in"], nil)}, nil
}

// byUnit: the shard is a function of the unit alone.
func (p sharding) byUnit(units, rows key) maker {
	alone := rows.sequence()
	return func(r arrow.Record) (arrow.Array, error) {
		draws, err := units.units(r.Column(p.unit), "")
		shards, known := make([]int32, len(draws)), present(r.Column(p.unit))
		for i, u := range draws {
			if p.singly && !known.has(i) {
				u = alone.Uint64()
			}
			shards[i] = int32(uniformBelow(u, p.shards))
		}
		return column(arrow.PrimitiveTypes.Int32, shards, nil), err
	}
}

// byRow: each row draws for itself, in sequence.
func (p sharding) byRow(k key) maker {
	rows := k.sequence()
	return p.each(func() int { return uniformBelow(rows.Uint64(), p.shards) })
}

func (p sharding) byPosition() maker {
	position := -1
	return p.each(func() int { position++; return position % p.shards })
}

func (p sharding) each(next func() int) maker {
	return func(r arrow.Record) (arrow.Array, error) {
		shards := make([]int32, r.NumRows())
		for i := range shards {
			shards[i] = int32(next())
		}
		return column(arrow.PrimitiveTypes.Int32, shards, nil), nil
	}
}
