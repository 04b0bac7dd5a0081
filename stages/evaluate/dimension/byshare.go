package dimension

import (
	"fmt"
	"math"

	"weir/pipeline"
	"weir/stages/internal/columns"
	"weir/stages/internal/metric"
)

// Names of the figures of byShare.
const (
	noDiversity     = "no_diversity"
	columnsAbove    = "columns_above"
	realAbove       = "real_above"
	syntheticAbove  = "synthetic_above"
	differenceAbove = "difference_above"
)

// byShare are the points of a plot of scores (Tantipongpipat et al. 2021, figure 4 and its counterpart for a binary table): how many columns
// real rows teach and synthetic rows, which hold one category of them, do not; and, of the columns that have at least a share of
// rows outside their commonest category, how many real rows teach, and the means of the scores of those that both do.
func (s *settings) byShare(train *columns.Frame, all []scores) []pipeline.Metric {
	var list metric.List
	gone := 0.
	for i, one := range all {
		if train.Columns[i].Coded() && one.taught("real_train") && !one.taught("synthetic") {
			gone++
		}
	}
	list.Add(noDiversity, "", metric.Of(gone))
	for _, share := range s.Shares {
		s.above(&list, train, all, share)
	}
	return list.Metrics
}

// taught reports whether a score came out of the rows of a port.
func (s scores) taught(port string) bool { return !math.IsNaN(s[port].Value) }

func (s *settings) above(list *metric.List, train *columns.Frame, all []scores, share float64) {
	var real, synthetic, size []metric.Noted
	n := 0.
	for i, one := range all {
		if c := &train.Columns[i]; !c.Coded() || outside(c) < share || !one.taught("real_train") {
			continue
		}
		if n++; one.taught("synthetic") {
			a, b := one["real_train"].Noted, one["synthetic"].Noted
			real, synthetic, size = append(real, a), append(synthetic, b), append(size, metric.Of(math.Abs(a.Value-b.Value)))
		}
	}
	name := fmt.Sprint(share)
	list.Add(columnsAbove, name, metric.Of(n))
	list.Add(realAbove, name, meanOf(real))
	list.Add(syntheticAbove, name, meanOf(synthetic))
	list.Add(differenceAbove, name, meanOf(size))
}

func meanOf(values []metric.Noted) metric.Noted {
	if len(values) == 0 {
		return metric.None("there is no such column that both tables teach")
	}
	return metric.Of(metric.Mean(values).Value, fmt.Sprintf("%d columns that both tables teach", len(values)))
}

// outside is the share of the rows with a value that lie outside the commonest category; 0 where no row has one.
func outside(c *columns.Column) float64 {
	rows := len(c.Codes) - c.Missing()
	if rows == 0 {
		return 0
	}
	return 1 - float64(commonest(c))/float64(rows)
}
