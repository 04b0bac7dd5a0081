package anomaly

import (
	"testing"

	"weir/pipeline"
	"weir/pipeline/pipelinetest"
)

func TestConformance(t *testing.T) {
	pipelinetest.CheckKinds(t, Kinds(), map[string][]pipelinetest.Case{
		anomalyDetector: detectorCases(), anomalyForest: forestCases(), "remove_anomalies": removeCases(t)})
}

func detectorCases() (cases []pipelinetest.Case) {
	for name, in := range map[string]pipelinetest.Input{"replace_one": visitors(40), "add_remove": changed(visitors(40),
		addRemove), "group": changed(visitors(40), group)} {
		for optimiser, average := range map[string]float64{"adam": 0.9, "sgd": 0} {
			cases = append(cases, pipelinetest.Case{Name: name + " " + optimiser, In: map[string]pipelinetest.Input{"in": in},
				Stage: func() pipeline.Stage {
					s := small()
					s.Optimiser, s.Average = optimiser, average
					return s
				}})
		}
	}
	for name, epsilon := range map[string]float64{"program": 0.1 / 1.5, "program without noise": 0} {
		cases = append(cases, pipelinetest.Case{Name: name, In: map[string]pipelinetest.Input{"in": changed(visitors(40),
			published)},
			Stage: func() pipeline.Stage {
				s := thesis(epsilon)
				s.Program.Rows = 40
				return s
			}})
	}
	return cases
}

func forestCases() (cases []pipelinetest.Case) {
	for name, change := range map[string]func(*pipeline.Header){"replace_one": func(*pipeline.Header) {},
		"add_remove": addRemove, "group": group} {
		cases = append(cases, pipelinetest.Case{Name: name, In: map[string]pipelinetest.Input{"in": changed(visitors(40),
			change)},
			Stage: func() pipeline.Stage { return &Forest{Trees: 3, Depth: 4, NoiseMultiplier: 2} }})
	}
	return cases
}

// removeCases returns removals by a detector that nobody trained: the promise is one of any.
func removeCases(t *testing.T) (cases []pipelinetest.Case) {
	add := func(name string, in pipelinetest.Input, s Remove) {
		detector := detectorInput(t, untrained(t, visitors(1).Header))
		cases = append(cases, pipelinetest.Case{Name: name, In: map[string]pipelinetest.Input{"in": in, "detector": detector},
			Stage: func() pipeline.Stage { copied := s; return &copied }})
	}
	private := changed(visitors(40), func(h *pipeline.Header) { h.Rows = 0 })
	for name, change := range map[string]func(*pipeline.Header){"replace_one": func(*pipeline.Header) {},
		"add_remove": addRemove, "group": group,
		"group add_remove": func(h *pipeline.Header) { addRemove(h); group(h) }} {
		add("the highest "+name, changed(private, change), Remove{Placement: "pre", Rows: number(5)})
		add("above "+name, changed(visitors(40), change), Remove{Placement: "pre", Above: score(0.15)})
	}
	add("more than there are", private, Remove{Placement: "pre", Rows: number(1000)})
	add("post", changed(visitors(40), func(h *pipeline.Header) { released(h); h.Rows = 0 }), Remove{Placement: "post",
		Rows: number(5)})
	add("above, post", changed(visitors(40), released), Remove{Placement: "post", Above: score(0.15)})
	return cases
}
