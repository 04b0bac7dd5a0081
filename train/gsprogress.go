package train

import "math"

// What a warm start costs beside a step of the generator, by passes of a batch through a
// net. They are for progress alone: nothing that is released depends on them.
const (
	trainPasses = 4 // of a critic: real, generated and mixed rows, and the gradient of the penalty
	movePasses  = 3 // of a generator: its rows, their scores, and its own gradient
)

// starts is the work of all warm starts, counted in steps of the generator, from public
// settings: those of a critic whose shard is empty count too.
func (c GSWGANConfig) starts(q CriticQuery) int {
	if c.WarmSteps == 0 {
		return 0
	}
	trained, asked := min(c.Scheduled, q.Critics), 1
	switch {
	case q.Query == QueryMean:
		asked = q.Critics
	case q.Schedule == ScheduleDrawn && q.Query == QuerySample:
		trained = min(q.BatchSize, q.Critics)
	case q.Schedule == ScheduleDrawn:
		trained = 1
	}
	step := float64(trainPasses*float64(trained)*float64(c.CriticSteps)) + float64(asked) + movePasses
	start := float64(trainPasses*float64(c.WarmSteps)) + float64(movePasses*float64(c.WarmSteps/c.CriticSteps))
	return int(min(math.Ceil(float64(q.Critics)*start/step), 1<<50))
}

// progress is where the loop stands, of all warm starts and steps together.
func (l *gsLoop) progress(loss float64) Progress {
	p := Progress{Phase: "generator", Step: l.starts + l.generator.t, Steps: l.starts + l.q.Steps, Loss: loss}
	if l.warm < len(l.critics) || l.generator.t == 0 && l.c.WarmSteps > 0 {
		p.Phase, p.Step = "warm_start", int(float64(l.starts)*float64(l.warm)/float64(len(l.critics)))
	}
	return p
}
