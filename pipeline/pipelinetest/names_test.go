package pipelinetest

import (
	"strings"
	"testing"

	"weir/pipeline"
)

// TestFilesHaveDeclaredNames: a released file whose name its port does not declare is an error of the kind, since no
// bundle would take it; private files, and models, which leave as one file, are named by none.
func TestFilesHaveDeclaredNames(t *testing.T) {
	port := pipeline.Port{Name: "out", Files: []string{"rows.csv"}}
	for _, c := range []struct {
		file  string
		form  pipeline.Form
		class pipeline.Class
		wrong bool
	}{
		{"fit.rows.csv", pipeline.FormFiles, pipeline.Released, false},
		{"fit.rows.txt", pipeline.FormFiles, pipeline.Released, true},
		{"rows.csv", pipeline.FormAnswers, pipeline.Released, true},
		{"fit.rows.txt", pipeline.FormFiles, pipeline.Private, false},
		{"weights.bin", pipeline.FormModel, pipeline.Released, false},
	} {
		h := pipeline.Header{Form: c.form, Class: c.class}
		rec, err := Collect(t.Context(), pipeline.WriteFiles(h, []pipeline.File{{Name: c.file}}))
		if err != nil {
			t.Fatal(err)
		}
		r := &recorder{}
		r.run(func(t reporter) { checkNames(t, port, h, rec) })
		if said := strings.Contains(strings.Join(r.said, "\n"), "its port declares"); said != c.wrong {
			t.Errorf("%+v: said %v", c, r.said)
		}
	}
}
