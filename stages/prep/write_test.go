package prep

import (
	"strings"
	"testing"

	"weir/pipeline"
	"weir/pipeline/domain"
)

// TestWriteOfNULIsRefusedBeforehand: PostgreSQL stores no NUL in a text, which a domain may have in a category; files
// do.
func TestWriteOfNULIsRefusedBeforehand(t *testing.T) {
	for category, want := range map[string]string{
		"a\x00b": `postgres: is set for a table whose column "kind" has a category with a NUL`, "ab": ""} {
		d := &domain.Domain{Columns: []domain.Column{{Name: "kind", Type: domain.Categorical, Categories: []string{category,
			"c"}}}}
		in := pipeline.Headers{"in": pipeline.TableHeader(d, pipeline.Header{})}
		to := Write{Postgres: &ServerTable{Connection: "env:R", Table: "lab.kinds"}}
		if _, err := to.Plan(in); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, must be %q", category, err, want)
		}
		file := Write{Formats: pipeline.FormatsOf(pipeline.FileFormat{Name: "csv", Usual: true})}
		if _, err := file.Plan(in); err != nil {
			t.Error(err)
		}
	}
}
