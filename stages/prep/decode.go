package prep

import (
	"context"
	"math/rand/v2"

	"weir/pipeline"
	"weir/schema"
)

// Decode brings an encoded table back to values.
type Decode struct {
	To string `yaml:"to" json:"to" enum:"source|encoded" doc:"source undoes every invertible step; encoded undoes only the last one, usually encode."`
}

func decodeKind() pipeline.Kind {
	return pipeline.Kind{
		Name: "decode", Version: 3, In: tableIn(), Out: tableOut("the table in terms of the source, or before its last step"),
		Doc: "Undoes the invertible steps encode, discretize, not_available and missing_indicator. Use it to look at encoded rows in plain " +
			"values; the stage sample does the same for generated rows. Works row by row, so stability stays as it is.",
		New: func() pipeline.Stage { return &Decode{To: "source"} },
	}
}

// Plan implements pipeline.Stage.
//
// Why stability is kept where values are drawn inside their bins: couple the draws
// of all rows but those that change. Public draws, which are fixed, do so where each
// row keeps its place. Elsewhere one row more would give all rows after it other
// values, so there they are secret: a sequence whose law is the same with and
// without the row.
func (s *Decode) Plan(in pipeline.Headers) (pipeline.Work, error) {
	h := in["in"]
	steps := len(h.Domain.History)
	if steps == 0 {
		var ps schema.Problems
		ps.Add("", "given a table without an invertible step", "given a table after encode, discretize, not_available or missing_indicator")
		return pipeline.Work{}, ps
	}
	if s.To != "source" {
		steps = 1
	}
	back, err := planInverse(h, steps)
	secret := back.draws && h.Class == pipeline.Private && !publicPositions(h)
	return pipeline.Work{Out: pipeline.Headers{"out": back.out}, Lazy: true, Secret: secret,
		Elsewhere: needsRows("undoes steps that brought rows into a model"),
		Run: func(_ context.Context, env *pipeline.Env, in pipeline.Tables) (pipeline.Tables, error) {
			draws := publicDraws(func() *rand.Rand { return env.Rand("decode") })
			if secret {
				draws = secretDraws(keyFrom(env.Secret("decode")))
			}
			return pipeline.Tables{"out": back.apply(in["in"], draws)}, nil
		}}, err
}
