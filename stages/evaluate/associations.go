package evaluate

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"

	"weir/pipeline"
	"weir/stages/internal/columns"
	"weir/stages/metric"
)

// associationSettings says which associations between columns are compared.
type associationSettings struct {
	Measures []string `yaml:"measures" json:"measures" minItems:"1" unique:"true" enum:"mixed|pearson|spearman|kendall|cramers_v|cramers_v_corrected|mutual_information|normalised_mutual_information|theils_u|correlation_ratio|covariance" doc:"The measures to compute."`
	Bins     int      `yaml:"bins" json:"bins" min:"2" max:"10000" doc:"Number of equal-width bins, between the real extremes, that numbers are cut into for mutual information."`
	MaxPairs int      `yaml:"max_pairs" json:"max_pairs" min:"1" doc:"If a measure has more pairs of columns, as it may with more than 200 columns, this many are drawn at random; the covariance then is that of as many columns as have this many pairs."`
	Listed   int      `yaml:"listed" json:"listed" min:"0" doc:"At most this many pairs of columns are listed by name, those that differ most."`
}

// associationsKind declares the kind that asks whether relations between columns survive.
func associationsKind() pipeline.Kind {
	return pipeline.Kind{
		Name: "associations", Version: 7, Late: true,
		In:  Ports("how far they are from `real` is what real rows reach"),
		Out: Metrics(), Figures: associationFigures(),
		Doc: "Compares the associations between pairs of columns in synthetic and real rows. Measures are Pearson, " +
			"Spearman and " +
			"Kendall's tau-b with p-values, " +
			"Cramer's V with and without bias correction (no Yates), mutual information in nats and normalised, Theil's U (of " +
			"the first column given " +
			"the second), correlation ratio, the mixed matrix (Pearson, Cramer's V, correlation ratio, by type) and the " +
			"covariance of the encoded " +
			"tables. Each measure gives mean, root mean square and greatest difference over pairs and the Frobenius norm of " +
			"the matrix of differences. " +
			"Rows where one of two columns is missing are left out of the pair; a pair with a constant column is undefined. " +
			"Use it to see whether " +
			"relations between columns survive. Pearson and Spearman are also judged, all pairs together, against real rows " +
			"dealt " +
			"to two tables at random (pearson_loss, spearman_loss). Above `max_pairs` pairs of columns a measure is of pairs " +
			"drawn at random, and says so.",
		New: func() pipeline.Stage {
			return &associationSettings{Measures: []string{"mixed", "pearson", "spearman", "cramers_v", "mutual_information",
				"correlation_ratio", "covariance"},
				Bins: 10, MaxPairs: 20_000, Listed: 500}
		},
	}
}

// Plan implements pipeline.Stage.
func (s *associationSettings) Plan(in pipeline.Headers) (pipeline.Work, error) {
	return Work(in["real"], s.measure), nil
}

func (s *associationSettings) measure(ctx context.Context, env *pipeline.Env, frames Frames) ([]pipeline.Metric,
	error) {
	r := &associationRun{associationSettings: s, env: env, note: Dropped(frames["real"])}
	for _, port := range []string{"real", "synthetic", "real_train", "baseline"} {
		if f := frames[port]; f != nil {
			r.sides, r.ports = append(r.sides, newAssociationSide(f, frames["real"], s, env.Workers)), append(r.ports, port)
		}
	}
	for _, name := range s.Measures {
		if m, ok := associationMeasures()[name]; ok {
			passes := 1
			if _, judged := correlations()[name]; judged {
				passes = len(r.sides)
			}
			r.total += int64(passes * min(len(m.pairs(frames["real"])), s.MaxPairs))
		}
	}
	for _, name := range s.Measures {
		part := r.measure
		if name == covariance {
			part = r.covariance
		}
		if err := part(ctx, name); err != nil {
			return nil, err
		}
	}
	return r.Metrics, nil
}

// associationRun is one run of Associations; sides are real, synthetic and what stands
// beside them.
type associationRun struct {
	*associationSettings
	metric.List
	env   *pipeline.Env
	sides []*associationSide
	ports []string // of the sides
	note  string
	// done of total pairs of columns are measured.
	done, total int64
}

// measuredPair is a pair of columns of every side.
type measuredPair struct {
	names  [2]string
	values []float64 // by side
	p      []float64
}

func (m *measuredPair) gap(side int) float64 { return m.values[0] - m.values[side] }

// measure computes one measure for all its pairs of columns.
func (r *associationRun) measure(ctx context.Context, name string) error {
	m := associationMeasures()[name]
	pairs, purpose := r.draw(name, m.pairs(r.sides[0].frame))
	list := make([]measuredPair, len(pairs))
	err := r.eachPair(ctx, len(pairs), func(k int) {
		list[k] = r.pair(m, pairs[k])
	})
	if err != nil {
		return err
	}
	r.summary(name, "", purpose, m, list, 1)
	for k := 2; k < len(r.sides); k++ {
		r.summary(name, "_"+r.ports[k], purpose, m, list, k)
	}
	r.pairs(name, m, list)
	return r.losses(ctx, name, list)
}

func (r *associationRun) pair(m associationMeasure, places [2]int) measuredPair {
	columns := r.sides[0].frame.Columns
	out := measuredPair{names: [2]string{columns[places[0]].Name, columns[places[1]].Name}}
	for _, s := range r.sides {
		v, p := m.of(s, places[0], places[1])
		out.values, out.p = append(out.values, v), append(out.p, p)
	}
	return out
}

// associationDifferences are the summaries of a measure, in order.
var associationDifferences = [...]string{"_mean_absolute_difference", "_rms_difference", "_max_difference",
	"_frobenius_difference"}

// The measure of all pairs, and the measure of all columns at once.
const (
	mixed      = "mixed"
	covariance = "covariance"
)

// summary compares the real side with another one.
func (r *associationRun) summary(name, suffix, purpose string, m associationMeasure, list []measuredPair, side int) {
	real, other := make([]float64, len(list)), make([]float64, len(list))
	for i := range list {
		real[i], other[i] = list[i].values[0], list[i].values[side]
	}
	d := metric.CompareMatrices(real, other, m.mirrored)
	note, reason := metric.Notes(purpose, r.note), "no pair of columns has the measure in both tables"
	if d.Undefined > 0 && d.Undefined < len(list) {
		note = metric.Notes(fmt.Sprintf("%d of %d pairs are undefined (a column is constant or missing throughout)",
			d.Undefined, len(list)), note)
	}
	for i, v := range []float64{d.MeanAbsolute, d.RMS, d.MaxAbsolute, d.Frobenius} {
		f := metric.Or(v, reason)
		if i == 0 {
			f = f.With(note)
		}
		r.Add(name+associationDifferences[i]+suffix, "", f)
	}
}

// pairs lists the figures of pairs, as far as Listed allows.
func (r *associationRun) pairs(name string, m associationMeasure, list []measuredPair) {
	shown := list
	if len(list) > r.Listed {
		shown = slices.Clone(list)
		slices.SortStableFunc(shown, func(a, b measuredPair) int { return byGap(a.gap(1), b.gap(1)) })
		shown = shown[:r.Listed]
	}
	const reason = "a column is constant, missing throughout, or has too few rows or too many categories"
	for i := range shown {
		label := shown[i].names[0] + ":" + shown[i].names[1]
		for k, side := range []string{"_real", "_synthetic"} {
			r.Add(name+side, label, metric.Or(shown[i].values[k], reason))
			if m.tested {
				r.Add(name+"_p"+side, label, metric.Or(shown[i].p[k], reason))
			}
		}
	}
}

// byGap sorts large differences first and undefined ones last.
func byGap(a, b float64) int {
	size := func(v float64) float64 {
		if math.IsNaN(v) {
			return -1
		}
		return math.Abs(v)
	}
	return cmp.Compare(size(b), size(a))
}

// associationSide is one table, with what several measures need of a column.
type associationSide struct {
	frame   *columns.Frame
	ordered []*metric.Ordered // nil for codes
	codes   [][]int32         // numbers cut in bins
	sizes   []int
}

// associationFigures declares the differences of each measure over all pairs of columns, and the measure of each.
func associationFigures() pipeline.Figures {
	var list pipeline.Figures
	for _, name := range slices.Sorted(maps.Keys(associationMeasures())) {
		for i, doc := range []string{"mean difference", "root mean square difference", "greatest difference",
			"Frobenius norm of the differences"} {
			list = append(list, pipeline.Figure{Name: name + associationDifferences[i], Better: pipeline.BetterLow,
				Beside: comparedRoles(), Doc: measureWords(name) + ": " + doc + " of pairs of columns, 0 is best"})
		}
		list = append(list, pairFigures(name, associationMeasures()[name].tested)...)
	}
	for i, doc := range []string{"Frobenius norm of the difference", "its share of the Frobenius norm of the real one",
		"spectral norm of the difference", "greatest difference of an entry"} {
		list = append(list, pipeline.Figure{Name: covariance + covarianceNames[i], Better: pipeline.BetterLow,
			Beside: comparedRoles(), Doc: "covariance of the encoded tables: " + doc + ", 0 is best"})
	}
	for i := range list {
		if f := &list[i]; f.Name == mixed+associationDifferences[0] {
			f.Headline, f.Doc = true, "mean difference of associations between columns, 0 is best"
			f.Verdict = &pipeline.Verdict{Label: "Associations of pairs: mean difference", Joint: true, Good: 0.03,
				Fair: 0.1}
		}
	}
	return append(append(list, lossFigures()...), RowsFigure())
}

func comparedRoles() []pipeline.Role { return []pipeline.Role{pipeline.RealTrain, pipeline.Baseline} }

// pairFigures declares a measure of each pair in both tables. Pairs are ranked by the mixed one.
func pairFigures(name string, tested bool) pipeline.Figures {
	pair := func(name, doc string) pipeline.Figure {
		return pipeline.Figure{Name: name, Parts: "pair", Better: pipeline.BetterPlain, Doc: doc}
	}
	synthetic := pair(name+"_synthetic", measureWords(name)+" of the pair in the synthetic rows")
	synthetic.Real, synthetic.Pair, synthetic.Worst = name+"_real", name, name == mixed
	list := pipeline.Figures{pair(name+"_real", measureWords(name)+" of the pair in the real rows"), synthetic}
	if tested {
		list = append(list, pair(name+"_p_real", measureWords(name)+": p-value of the pair in the real rows"),
			pair(name+"_p_synthetic", measureWords(name)+": p-value of the pair in the synthetic rows"))
	}
	return list
}

// measureWords names a measure.
func measureWords(name string) string {
	return map[string]string{mixed: "association, by the types of the columns", "pearson": "Pearson correlation",
		"spearman": "Spearman rank correlation",
		"kendall":  "Kendall's tau-b", "cramers_v": "Cramer's V", "cramers_v_corrected": "Cramer's V without its bias",
		"mutual_information":            "mutual information in nats",
		"normalised_mutual_information": "normalised mutual information", "theils_u": "Theil's U",
		"correlation_ratio": "correlation ratio"}[name]
}

// draw bounds the pairs of columns that a measure compares, and says how many there were:
// the time would grow with the square of the columns.
func (r *associationRun) draw(name string, pairs [][2]int) (some [][2]int, note string) {
	if len(pairs) <= r.MaxPairs {
		return pairs, ""
	}
	for i, at := range samplePairs(len(pairs), r.MaxPairs, r.env.Rand("pairs of "+name)) {
		pairs[i] = pairs[at] // at is never before i
	}
	return pairs[:r.MaxPairs], fmt.Sprintf("over %d of %d pairs of columns, drawn at random", r.MaxPairs, len(pairs))
}

// leftOut names the columns that the covariance goes without: it takes as many as have
// MaxPairs pairs.
func (r *associationRun) leftOut(f *columns.Frame) (names map[string]bool, note string) {
	n, most := len(f.Columns), 2
	for most*(most+1)/2 <= r.MaxPairs {
		most++
	}
	if n <= most {
		return nil, ""
	}
	names = map[string]bool{}
	for i := range f.Columns {
		names[f.Columns[i].Name] = true
	}
	for _, i := range samplePairs(n, most, r.env.Rand("columns of the covariance")) {
		delete(names, f.Columns[i].Name)
	}
	return names, fmt.Sprintf("over %d of %d columns, drawn at random", most, n)
}

// samplePairs returns k of the numbers below n, in order.
func samplePairs(n, k int, rng *rand.Rand) []int {
	some := rng.Perm(n)[:k]
	slices.Sort(some)
	return some
}
