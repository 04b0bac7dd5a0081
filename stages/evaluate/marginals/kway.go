package marginals

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"weir/stages/internal/metric"
	"weir/stages/internal/metric/distance"
	"weir/stages/internal/metric/marginal"
)

// divergenceNames are the distances of a discrete distribution, in order.
var divergenceNames = [...]string{"total_variation", "l1", "l2", "jensen_shannon", "jensen_shannon_distance", "jensen_shannon_as_printed",
	"kl_real_synthetic", "kl_synthetic_real", "mu_smoothed_kl", "hellinger"}

func divergenceValues(d distance.Discrete) [len(divergenceNames)]float64 {
	return [...]float64{d.TotalVariation, d.L1, d.L2, d.JSD, d.JensenShannonDistance(), d.JSDAsPrinted,
		d.KLRealSynth, d.KLSynthReal, d.MuSmoothedKL, d.Hellinger}
}

// worstMarginals is the number of 3-way marginals that are listed by name.
const worstMarginals = 10

// kWay compares the marginals of two and three columns.
func (r *marginalRun) kWay(ctx context.Context) error {
	for _, k := range []int{2, 3} {
		if !slices.Contains(r.Ways, k) {
			continue
		}
		list, err := r.compare(ctx, r.table, r.queries[k].list)
		if err != nil {
			return err
		}
		suffix := suffix(k)
		r.means(k, suffix, list)
		r.named(k, suffix, list)
		if err := r.references(ctx, k, suffix); err != nil {
			return err
		}
	}
	return nil
}

// suffix ends the names of figures of marginals of k columns.
func suffix(k int) string { return fmt.Sprintf("_%dway", k) }

func (r *marginalRun) workloadNote(k int) string {
	if !r.queries[k].drawn {
		return ""
	}
	return fmt.Sprintf("over %d %d-way marginals drawn at random", len(r.queries[k].list), k)
}

func (r *marginalRun) noMarginal(k int) string {
	if e := r.empty(); e != "" {
		return e
	}
	return fmt.Sprintf("the tables have fewer than %d columns in common", k)
}

// means records the mean of each distance and the greatest errors.
func (r *marginalRun) means(k int, suffix string, list []marginal.Comparison) {
	note := metric.Notes(r.workloadNote(k), r.notes)
	for i, name := range divergenceNames {
		sum := 0.0
		for _, c := range list {
			sum += divergenceValues(c.Discrete)[i]
		}
		f := metric.Or(sum/float64(len(list)), r.noMarginal(k))
		if math.IsInf(f.Value, 0) {
			f.Note = ""
		}
		f = f.With(note)
		r.Add(name+suffix, "", f)
	}
	s := marginal.Summarise(list)
	r.Add("max_total_variation"+suffix, "", metric.Or(s.MaxL1/2, r.noMarginal(k)))
	r.Add("max_cell_error"+suffix, "", metric.Or(s.MaxCell, r.noMarginal(k)))
}

// named records the total variation of every pair, and of the worst triples.
func (r *marginalRun) named(k int, suffix string, list []marginal.Comparison) {
	order := make([]int, len(list))
	for i := range order {
		order[i] = i
	}
	if k > 2 {
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(list[b].L1, list[a].L1) })
		order = order[:min(len(order), worstMarginals)]
	}
	for _, i := range order {
		r.Add("total_variation"+suffix, r.label(r.queries[k].list[i]), metric.Or(list[i].TotalVariation, r.empty()))
	}
}

// label names a marginal by its columns.
func (r *marginalRun) label(query []int) string {
	names := make([]string, len(query))
	for i, q := range query {
		names[i] = r.table.Columns[q].Name
	}
	return strings.Join(names, ":")
}

// nist scores 3-way marginals as the 2018 NIST challenge did: 100 bins between
// the real extremes, values outside in the end bins (NIST TN 2151). The
// k-marginal score is the same on the scale of SDNist, 0 to 1000.
func (r *marginalRun) nist(ctx context.Context) error {
	if !slices.Contains(r.Ways, 3) {
		return nil
	}
	t, queries := r.table, r.queries[3].list
	if r.Bins != 100 || r.Edges != "real" || r.Outside != "clip" {
		t = marginal.Binning{Bins: 100}.CodeAll(r.frames["real"], r.frames["synthetic"], r.env.Workers)
	}
	list, err := r.compare(ctx, t, queries)
	if err != nil {
		return err
	}
	score := metric.Or(marginal.Summarise(list).Score(), r.noMarginal(3))
	score = score.With(r.workloadNote(3))
	r.Add("nist_2018_score", "", metric.Of(score.Value*1e6, score.Note))
	r.Add("k_marginal_score", "", metric.Of(score.Value*1e3, score.Note))
	return nil
}
