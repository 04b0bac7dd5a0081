package evaluate

import (
	"context"
	"fmt"

	"weir/pipeline"
	"weir/stages/internal/columns"
	"weir/stages/internal/learn"
	"weir/stages/internal/prediction"
	"weir/stages/metric"
)

// projectionSettings says how the tables are projected on the principal components of the real one.
type projectionSettings struct {
	Components int    `yaml:"components" json:"components" min:"1" max:"100" doc:"Number of principal components of the real rows."`
	Scaling    string `yaml:"scaling" json:"scaling" enum:"standard|bounds|raw" doc:"Numbers are standardised by the real rows, scaled to the declared bounds, or left alone."`
	Points     int    `yaml:"points" json:"points" min:"1" max:"2000" doc:"Number of rows of each table, drawn at random, between which the transport distance is computed; its time grows with the cube of this number." unit:"rows"`
}

// projectionKind declares the kind that asks where the tables lie along the principal components of the real one.
func projectionKind() pipeline.Kind {
	return pipeline.Kind{
		Name: "projection", Version: 4, Late: true,
		In:  Ports("how far they are from `real` is what real rows reach"),
		Out: Metrics(), Figures: projectionFigures(),
		Doc: "Compares both tables along the principal components of the real rows. Principal components of the encoded " +
			"real rows (categories as indicators), and where both tables lie along " +
			"them: explained variance " +
			"(n-1) of the real rows and the share that the same directions hold in the synthetic ones, means and standard " +
			"deviations, and the exact " +
			"Wasserstein-1 distance between as many points of each table in the plane. In every " +
			"component the loading of largest absolute value is positive. Use it for a picture of what is missing or invented.",
		New: func() pipeline.Stage {
			return &projectionSettings{Components: 2, Scaling: string(prediction.ScaleBounds), Points: 100}
		},
	}
}

// Plan implements pipeline.Stage.
func (s *projectionSettings) Plan(in pipeline.Headers) (pipeline.Work, error) {
	return Work(in["real"], s.measure), nil
}

func (s *projectionSettings) measure(ctx context.Context, env *pipeline.Env, frames Frames) ([]pipeline.Metric, error) {
	r := &projectionRun{projectionSettings: s, env: env, frames: frames, note: Dropped(frames["real"])}
	if err := r.run(ctx); err != nil {
		return nil, err
	}
	return r.Metrics, nil
}

// projectionRun is one run of Projection.
type projectionRun struct {
	*projectionSettings
	metric.List
	env      *pipeline.Env
	frames   map[string]*columns.Frame
	note     string
	encoder  *prediction.Encoder
	scatters map[string]*metric.Scatter
}

func (r *projectionRun) run(ctx context.Context) error {
	ports := []string{"real", "synthetic"}
	others := []*columns.Frame{r.frames["synthetic"]}
	for _, port := range []string{"real_train", "baseline"} {
		if f := r.frames[port]; f != nil {
			ports, others = append(ports, port), append(others, f)
		}
	}
	r.encoder = prediction.NewEncoder(prediction.EncoderOptions{Scaling: prediction.Scaling(r.Scaling)}, nil,
		r.frames["real"], others...)
	r.scatters = map[string]*metric.Scatter{}
	for i, port := range ports {
		s := metric.NewScatter(len(r.encoder.Names()))
		if err := r.encoder.Blocks(ctx, r.frames[port], func(_ int, x learn.Matrix) { s.Add(x) }); err != nil {
			return err
		}
		r.scatters[port] = s
		r.env.Progress(int64(i+1), int64(len(ports)+1))
	}
	if r.scatters["real"].Rows() < 2 || len(r.encoder.Names()) == 0 {
		r.Add("explained_variance_ratio", "", metric.None("needs two real rows and a column in common", r.note))
		return nil
	}
	c := r.scatters["real"].Covariance()
	pca, err := metric.NewPCA(r.scatters["real"].Mean(), c, r.Components)
	if err != nil {
		r.Add("explained_variance_ratio", "", metric.None(err.Error(), r.note))
		return nil
	}
	r.variances(pca)
	for _, port := range ports {
		r.spread(pca, port)
	}
	r.transport(pca, ports)
	return ctx.Err()
}

func componentName(k int) string { return fmt.Sprintf("component_%d", k+1) }

// variances records how much the components explain.
func (r *projectionRun) variances(pca *metric.PCA) {
	total := 0.0
	for k, v := range pca.Variance {
		r.Add("explained_variance", componentName(k), metric.Of(v))
		r.Add("explained_variance_ratio", componentName(k), metric.Or(pca.Ratio[k], "every real column is constant"))
		total += pca.Ratio[k]
	}
	r.Add("explained_variance_ratio", "", metric.Or(total, "every real column is constant").With(r.note))
}

// spread records where a table lies along the components, and how much of its
// own variance they hold.
func (r *projectionRun) spread(pca *metric.PCA, port string) {
	s := r.scatters[port]
	if s.Rows() < 2 {
		r.Add("mean_"+port, "", metric.None("needs two rows"))
		return
	}
	c := s.Covariance()
	mean, sd := pca.Spread(s.Mean(), c)
	total, retained := 0.0, 0.0
	for j := range c.SymmetricDim() {
		total += c.At(j, j)
	}
	for k := range mean {
		r.Add("mean_"+port, componentName(k), metric.Of(mean[k]))
		r.Add("sd_"+port, componentName(k), metric.Of(sd[k]))
		retained += float64(sd[k] * sd[k])
	}
	if port != "real" {
		r.Add("explained_variance_ratio_"+port, "", metric.Over(retained, total))
	}
}

// transport records the distance between as many points of each table.
func (r *projectionRun) transport(pca *metric.PCA, ports []string) {
	points := map[string][][]float64{}
	for _, port := range ports {
		points[port] = r.points(pca, port)
	}
	for _, port := range ports[1:] {
		name := "wasserstein"
		if port != "synthetic" {
			name += "_" + port
		}
		n := min(len(points["real"]), len(points[port]))
		r.Add(name, "", metric.Or(metric.Transport(points["real"][:n], points[port][:n]), port+" has no rows").With(
			fmt.Sprintf("between %d points of each table", n)))
	}
}

// points projects up to Points rows of a table, drawn at random.
func (r *projectionRun) points(pca *metric.PCA, port string) [][]float64 {
	f := r.frames[port]
	places := r.env.Rand("points of " + port).Perm(f.Rows)
	m := r.encoder.Encode(f.Take(places[:min(r.Points, f.Rows)]))
	return pca.Project(m)
}

// projectionFigures declares where the tables lie along the components.
func projectionFigures() pipeline.Figures {
	const component = "component"
	others := []pipeline.Role{pipeline.RealTrain, pipeline.Baseline}
	list := pipeline.Figures{
		{Name: "explained_variance", Parts: component, Better: pipeline.BetterPlain,
			Doc: "variance of the real rows along the component"},
		{Name: "explained_variance_ratio", Parts: component, Better: pipeline.BetterPlain, Beside: others,
			Doc: "share of a table's variance along the components"},
		{Name: "explained_variance_ratio_synthetic", Better: pipeline.BetterPlain,
			Doc: "share of the synthetic rows' variance along the components; that of the real rows is best"},
		{Name: "wasserstein", Better: pipeline.BetterLow, Beside: others,
			Doc: "mean distance that points have to move in the plane of the components, 0 is best"},
	}
	for _, entry := range []struct{ name, doc string }{{"mean", "mean"}, {"sd", "standard deviation"}} {
		for _, table := range []struct{ port, rows string }{{"real", "real rows"}, {"synthetic", "synthetic rows"},
			{"real_train", "rows that the model learnt from"}, {"baseline", "rows of independent columns"}} {
			f := pipeline.Figure{Name: entry.name + "_" + table.port, Parts: component, Better: pipeline.BetterPlain,
				Doc: entry.doc + " of the " + table.rows + " along the component"}
			if table.port == "synthetic" {
				f.Real, f.Pair = entry.name+"_real", entry.name
			}
			list = append(list, f)
		}
	}
	for i := range list {
		list[i].Few = true
	}
	return append(list, RowsFigure())
}
