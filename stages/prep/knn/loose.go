package knn

import "math"

// loose holds the donors whose pattern of missing values is rare: a tree for a
// handful of rows costs more than it saves. They are scanned, and a distance is
// given up as soon as its partial sum is beyond every column's worst neighbour
// (the factor p/|C| is at least 1, so the sum alone is a lower bound).
type loose struct {
	rows   []int32
	points []float64 // as gathered
}

// rare is the number of rows of a pattern from which a tree is planted.
const rare = 24

// stride is how many features are summed between two looks at the bound.
const stride = 8

// scanLoose offers every loose donor to the wanted columns that it observes.
func (s *searcher) scanLoose() {
	x := s.index
	for i, r := range x.loose.rows {
		d := s.partial(x.loose.points[i*x.width:(i+1)*x.width], s.worst())
		if math.IsInf(d, 1) {
			continue
		}
		for w := range s.wants {
			if want := &s.wants[w]; !math.IsNaN(x.data[want.column][r]) {
				want.best.Offer(d, r)
			}
		}
	}
}

// worst is the greatest distance at which a donor can still enter some column.
func (s *searcher) worst() float64 {
	worst := 0.0
	for i := range s.wants {
		worst = max(worst, s.wants[i].best.Limit())
	}
	return worst
}

// partial is the distance to a donor with missing features: +Inf where there is
// no common one, or where it is beyond worst.
func (s *searcher) partial(donor []float64, worst float64) float64 {
	sum, common := 0.0, 0
	for at := 0; at < len(s.observed); at += stride {
		for _, j := range s.observed[at:min(at+stride, len(s.observed))] {
			d := s.point[j] - donor[j]
			if d != d {
				continue
			}
			if common++; j < s.index.plain {
				sum += float64(d * d)
			} else if d != 0 {
				sum++
			}
		}
		if sum > worst {
			return math.Inf(1)
		}
	}
	if common == 0 {
		return math.Inf(1)
	}
	return sum * (float64(s.index.width) / float64(common))
}
