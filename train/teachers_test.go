package train

import (
	"math"
	"math/rand/v2"
	"testing"

	"weir/train/net"
)

// school returns three teachers, of 30, 1 and no rows, and generated rows of another mean.
func school(c TeacherConfig) (t *teachers, real, fake [][]float64) {
	r := rand.New(rand.NewPCG(3, 3))
	columns := make([][]float32, 3)
	for range 31 {
		row := []float64{1 + 0.3*r.NormFloat64(), r.NormFloat64(), 0.5}
		row[2] += 0.4 * row[1]
		for j := range row {
			columns[j] = append(columns[j], float32(row[j]))
			row[j] = float64(float32(row[j]))
		}
		real = append(real, row)
	}
	var first []int32
	for i := range 30 {
		first = append(first, int32(i))
	}
	t = newTeachers(c, numeric(columns...), [][]int32{first, {30}, nil}, 30)
	x := net.NewMatrix(30, 3)
	for i := range 30 {
		for j := range 3 {
			x.Row(i)[j] = float32(r.NormFloat64()) * float32(j+1) / 3
		}
	}
	for range 4000 { // a discriminant is done at once
		t.lesson.learn(t, x)
		if c.Logistic == nil {
			break
		}
	}
	for i := range 30 {
		var row []float64
		for _, v := range x.Row(i) {
			row = append(row, float64(v))
		}
		fake = append(fake, row)
	}
	t.count(x)
	return t, real, fake
}

// TestLogisticTeachers: the weights end where the gradient of scikit-learn's objective,
// |w|²/2 + C sum of losses over 30 rows and 30 generated ones, is zero (written out here in
// float64); a teacher without rows keeps zero.
func TestLogisticTeachers(t *testing.T) {
	const penalty = 2.0
	s, real, fake := school(TeacherConfig{Votes: VotesReal, Logistic: &Logistic{Steps: 1, Rate: 3e-3, Penalty: penalty}})
	w := s.weights(0, 1)
	gradient := []float64{penalty * float64(w[0]), penalty * float64(w[1]), penalty * float64(w[2]), 0}
	add := func(x []float64, y float64) {
		score := float64(w[3])
		for j, v := range x {
			score += v * float64(w[j])
		}
		d := 1/(1+math.Exp(-score)) - y
		for j, v := range x {
			gradient[j] += d * v
		}
		gradient[3] += d
	}
	for _, x := range real[:30] {
		add(x, 1)
	}
	for _, x := range fake {
		add(x, 0)
	}
	for j, g := range gradient {
		if math.Abs(g) > 0.02 { // of sums that are about 10 at the start
			t.Errorf("weight %d: gradient %g at the end, must be 0", j, g)
		}
	}
	if w[0] < 0.5 {
		t.Errorf("weights %v: rows of mean 1 in the first column are told from those of mean 0", w)
	}
	checkEmpty(t, s)
}

// checkEmpty: the teacher without rows knows nothing and votes for nothing.
func checkEmpty(t *testing.T, s *teachers) {
	t.Helper()
	for j, v := range s.weights(2, 3) {
		if v != 0 {
			t.Errorf("weight %d of a teacher without rows is %g", j, v)
		}
	}
	for i, n := range s.counts {
		if n > 2 {
			t.Errorf("row %d has %d votes of two teachers with rows", i, n)
		}
	}
}

// TestDiscriminantTeachers: weights are differences of means over mean variances, by the
// definition, of deviations from the mean generated row.
func TestDiscriminantTeachers(t *testing.T) {
	products := [][2]int32{{0, 0}, {2, 1}}
	s, real, fake := school(TeacherConfig{Votes: VotesHalf, Products: products})
	var center [3]float64
	for _, x := range fake {
		for j, v := range x {
			center[j] += v / 30
		}
	}
	features := func(rows [][]float64) (mean [5]float64, square [3]float64) {
		for _, x := range rows {
			n := float64(len(rows))
			for j, v := range x {
				mean[j] += (v - center[j]) / n
				square[j] += (v - center[j]) * (v - center[j]) / n
			}
			for k, p := range products {
				mean[3+k] += (x[p[0]] - center[p[0]]) * (x[p[1]] - center[p[1]]) / n
			}
		}
		return mean, square
	}
	mf, sf := features(fake)
	for k, rows := range [][][]float64{real[:30], real[30:]} {
		mr, sr := features(rows)
		var inverse [5]float64
		for j := range 3 {
			inverse[j] = 1 / ((sr[j]+sf[j])/2 + leastSpread)
		}
		offset := 0.0
		for n, p := range products {
			inverse[3+n] = inverse[p[0]] * inverse[p[1]]
		}
		for j := range 5 {
			want := (mr[j] - mf[j]) * inverse[j]
			offset -= want * (mr[j] + mf[j]) / 2
			if got := float64(s.weights(k, k+1)[j]); math.Abs(got-want) > 1e-4*(1+math.Abs(want)) {
				t.Errorf("teacher %d, feature %d: weight %g, want %g", k, j, got, want)
			}
		}
		if got := float64(s.weights(k, k+1)[5]); math.Abs(got-offset) > 1e-4*(1+math.Abs(offset)) {
			t.Errorf("teacher %d: offset %g, want %g", k, got, offset)
		}
	}
	checkEmpty(t, s)
}

// TestHalfVotes: a teacher votes for the half of the batch of the higher scores, wherever
// they lie; one that takes votes of what is real votes by sign.
func TestHalfVotes(t *testing.T) {
	for votes, want := range map[Ballot][]int64{VotesHalf: {0, 1, 0, 1, 1, 0}, VotesReal: {0, 0, 0, 1, 0, 0}} {
		l := &teacherLane{column: []float32{-9, -1, -8, 0.5, -2, -7}, counts: make([]int64, 6)}
		(&teachers{c: TeacherConfig{Votes: votes}}).vote(l)
		for i, n := range l.counts {
			if n != want[i] {
				t.Errorf("%s: row %d has %d votes, want %d", votes, i, n, want[i])
			}
		}
	}
}
