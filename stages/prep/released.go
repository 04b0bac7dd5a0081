package prep

import (
	"fmt"

	"weir/pipeline"
	"weir/pipeline/domain"
)

// What a stage says of a setting for a late column, which the released domain could
// contradict: that would be found when the charge is made.
const (
	lateSetting   = "set for a column whose bounds or categories are released when the run is under way"
	beforeRelease = "set in a stage before the one that releases them"
)

// domainFile is the name of a released domain, behind the id of the stage and a dot.
const domainFile = "domain.yaml"

// filesHeader returns the header of a released artifact of files beside a table.
func filesHeader(like pipeline.Header) pipeline.Header {
	return pipeline.Header{Form: pipeline.FormFiles, Class: pipeline.Released,
		Stability: pipeline.Unbounded(), Terms: like.Terms}
}

// released returns the outputs of a stage that has found the late columns of planned: the
// table, made row by row from what was released, and its domain as a file that dataset.domain
// of another spec can name.
func released(env *pipeline.Env, planned pipeline.Header, d *domain.Domain, makers []maker,
	t pipeline.Table) (pipeline.Tables, error) {
	public := &domain.Domain{}
	for i := range d.Columns {
		c := &d.Columns[i]
		if c.Late {
			c.Late, c.Source = false, domain.StageSource(env.Stage)
		}
		if c.Encoding == nil {
			public.Columns = append(public.Columns, forFile(*c))
		}
	}
	text, err := public.YAML()
	if err != nil {
		return nil, err
	}
	h := planned
	h.Domain = d
	file := pipeline.File{Name: env.Stage + "." + domainFile, Data: text}
	return pipeline.Tables{"out": rewrite{out: h, makers: fixed(makers)}.apply(t, nil),
		"domain": pipeline.WriteFiles(filesHeader(planned), []pipeline.File{file})}, nil
}

// forFile returns a column as dataset.domain of a later spec needs it: a file has values beside
// the released categories, which csv.unknown makes missing.
func forFile(c domain.Column) domain.Column {
	c.Nullable = c.Nullable || c.Type.Coded() && domain.IsStageSource(c.Source)
	return c
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// releases says why rows have to come to stages that find bounds or categories: what they hold rows to follows from
// noise that is drawn when they run.
func releases() pipeline.Statement {
	return needsRows("holds rows to what it releases while it runs")
}
