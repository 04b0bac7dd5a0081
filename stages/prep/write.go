package prep

import (
	"context"

	"weir/pipeline"
)

// Write keeps a table as a file of the run.
type Write struct {
	Formats pipeline.Formats `yaml:"formats" json:"formats" doc:"File formats."`
}

func writeKind() pipeline.Kind {
	return pipeline.Kind{
		Name: "write", Version: 1, Late: true, In: tableIn(), Out: tableOut("the same table"),
		Doc: "Keeps a table as files of the run: a private one in internal/, a released one in release/. Use it to look at an intermediate table; " +
			"synthetic rows of sample are written without it. Stability stays as it is.",
		New: func() pipeline.Stage { return &Write{} },
	}
}

// KnowFormats implements pipeline.FormatChooser.
func (s *Write) KnowFormats(known []pipeline.FileFormat) { s.Formats = pipeline.FormatsOf(known...) }

// Plan implements pipeline.Stage.
func (s *Write) Plan(in pipeline.Headers) (pipeline.Work, error) {
	return pipeline.Work{Out: pipeline.Headers{"out": in["in"]}, Lazy: true, Write: s.Formats.Names, Elsewhere: needsRows("writes rows into files"),
		Run: func(_ context.Context, _ *pipeline.Env, in pipeline.Tables) (pipeline.Tables, error) {
			return pipeline.Tables{"out": in["in"]}, nil
		}}, nil
}
