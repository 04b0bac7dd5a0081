package train

import (
	"errors"
	"fmt"
	"slices"

	"weir/privacy/mechanism"
	"weir/train/internal/kernel"
	"weir/train/net"
	"weir/train/parallel"
)

// TeacherConfig is how teachers learn and vote.
type TeacherConfig struct {
	// Products are pairs of columns whose product is a feature beside the columns.
	Products [][2]int32 `json:"products"`
	Votes    Ballot     `json:"votes"`
	Logistic *Logistic  `json:"logistic"` // nil: linear discriminants
}

// Ballot says which of the rows that it is asked about a teacher votes for.
type Ballot string

const (
	VotesReal Ballot = "real" // those that it takes for real: of a score above 0
	// VotesHalf are those above its median score: who finds all of them unlike its rows
	// still says which are less so.
	VotesHalf Ballot = "half"
)

// Validate names every field that is out of range.
func (c TeacherConfig) Validate() error {
	var errs []error
	if c.Votes != VotesReal && c.Votes != VotesHalf {
		errs = append(errs, fmt.Errorf("teachers.votes: is %q, must be real or half", c.Votes))
	}
	if c.Logistic != nil {
		errs = append(errs, c.Logistic.validate())
	}
	return errors.Join(errs...)
}

// fits refuses products of columns that rows do not have, and a median of one score.
func (c TeacherConfig) fits(width, batch int) error {
	for i, p := range c.Products {
		if min(p[0], p[1]) < 0 || int(max(p[0], p[1])) >= width {
			return fmt.Errorf("teachers.products[%d]: is %v, must be two of %d columns", i, p, width)
		}
	}
	if c.Votes == VotesHalf && batch < 2 {
		return fmt.Errorf("rows: are %d a step, must be at least 2 for a vote of half of them", batch)
	}
	return nil
}

// teachers tell the rows of their shards from generated ones, one teacher a shard, each by
// the sign of a linear score of a row's features. The weights of a teacher, its offset last,
// are a function of its own shard, the seed and the generators before; one without rows
// keeps weights of zero and votes for no row.
type teachers struct {
	c      TeacherConfig
	rows   *Rows
	shards [][]int32
	width  int        // of features: columns, products, 1
	center []float32  // what features count columns from
	w      []float32  // the weights of all, a teacher a row
	room   net.Matrix // for features of generated rows
	seen   net.Matrix // those at hand
	lesson lesson
	lanes  []*teacherLane
	counts []int64
}

// lesson is how teachers learn.
type lesson interface {
	// learn sets the weights of all teachers by their shards and generated rows.
	learn(t *teachers, fake net.Matrix)
}

// teacherLane is the buffers of one worker.
type teacherLane struct {
	x, features, scores net.Matrix // of rows of a shard; scores of generated rows by teachers
	counts              []int64
	column              []float32
}

// Teachers and rows that are handled at once. Neither shows in a result.
const (
	teacherChunk = 16
	shardChunk   = 64
)

func newTeachers(c TeacherConfig, rows *Rows, shards [][]int32, batch int) *teachers {
	t := &teachers{c: c, rows: rows, shards: shards, width: rows.Width() + len(c.Products) + 1,
		center: make([]float32, rows.Width()), counts: make([]int64, batch)}
	t.w = make([]float32, len(shards)*t.width)
	t.room = net.NewMatrix(batch, t.width)
	for range parallel.Workers(t.pieces()) {
		t.lanes = append(t.lanes, &teacherLane{x: net.NewMatrix(shardChunk, rows.Width()), features: net.NewMatrix(shardChunk,
			t.width),
			scores: net.NewMatrix(batch, teacherChunk), counts: make([]int64, batch), column: make([]float32, batch)})
	}
	if c.Logistic != nil {
		t.lesson = newLogisticLesson(*c.Logistic, t)
	} else {
		t.lesson = newDiscriminantLesson(t)
	}
	return t
}

func (t *teachers) pieces() int { return (len(t.shards) + teacherChunk - 1) / teacherChunk }

// each does a piece of teachers, from lo to hi, after another, side by side.
func (t *teachers) each(do func(l *teacherLane, lo, hi int)) {
	parallel.Do(len(t.lanes), t.pieces(), func(worker, piece int) {
		do(t.lanes[worker], piece*teacherChunk, min((piece+1)*teacherChunk, len(t.shards)))
	})
}

// eachChunk gives the features of the rows of a shard, some at a time.
func (t *teachers) eachChunk(l *teacherLane, shard []int32, do func(x, features net.Matrix)) {
	for part := range slices.Chunk(shard, shardChunk) {
		x, f := l.x.Slice(0, len(part)), l.features.Slice(0, len(part))
		t.rows.Gather(x, part)
		t.describe(f, x)
		do(x, f)
	}
}

// see describes generated rows, as many as a batch or fewer.
func (t *teachers) see(x net.Matrix) {
	t.seen = t.room.Slice(0, x.Rows)
	t.describe(t.seen, x)
}

// describe writes the features of rows.
func (t *teachers) describe(to, x net.Matrix) {
	for i := range x.Rows {
		src, f := x.Row(i), to.Row(i)
		for j, v := range src {
			f[j] = v - t.center[j]
		}
		products := f[len(src):]
		for n, p := range t.c.Products {
			products[n] = f[p[0]] * f[p[1]]
		}
		f[t.width-1] = 1
	}
}

// weights returns the weights of teachers lo to hi.
func (t *teachers) weights(lo, hi int) []float32 { return t.w[lo*t.width : hi*t.width] }

// score gives the scores of the rows that are seen by teachers lo to hi, a teacher a column.
func (t *teachers) score(l *teacherLane, lo, hi int) net.Matrix {
	kernel.GemmNT(t.seen.Rows, hi-lo, t.width, t.seen.Data, t.seen.LD, t.weights(lo, hi), t.width, l.scores.Data,
		l.scores.LD, false)
	return l.scores
}

// count gives the votes for each generated row. It lasts until the next call.
func (t *teachers) count(asked net.Matrix) []int64 {
	t.see(asked)
	for _, l := range t.lanes {
		clear(l.counts)
	}
	t.each(func(l *teacherLane, lo, hi int) {
		scores := t.score(l, lo, hi)
		for k := range hi - lo {
			for i := range l.column {
				l.column[i] = scores.Row(i)[k]
			}
			t.vote(l)
		}
	})
	clear(t.counts)
	for _, l := range t.lanes {
		for i, n := range l.counts {
			t.counts[i] += n
		}
	}
	return t.counts
}

// vote adds the votes of one teacher, whose scores stand in the lane: at most 1 a row.
func (t *teachers) vote(l *teacherLane) {
	upper := float32(0)
	if t.c.Votes == VotesHalf {
		sorted := slices.Sorted(slices.Values(l.column))
		upper = sorted[len(sorted)/2-1]
	}
	for i, s := range l.column {
		if s > upper {
			l.counts[i]++
		}
	}
}

// Label is what a student learns of a row from the noisy count of votes for it.
type Label string

const (
	// the count over the number of teachers: noise on it has mean 0 and averages out over rows
	LearnsShare    Label = "share"
	LearnsMajority Label = "majority" // 1 where the count is above half of the teachers, else 0
)

// Criticism is what a student minimises for its score s of a row of label y.
type Criticism string

const (
	CrossEntropy     Criticism = "cross_entropy" // softplus(s) - y s
	WassersteinVotes Criticism = "wasserstein"   // (1 - 2 y) s, as PATE-GAN's program has it
)

// student is a critic that has seen generated rows and noisy votes alone: all of it may
// be known.
type student struct {
	*descent
	c      PATEGANConfig
	votes  mechanism.Votes
	pass   *net.Pass
	asked  net.Matrix // the rows of this step
	labels net.Matrix
	grad   []float32
	loss   []float64
}

// newStudent scores all rows alike: where votes are noisy, a generator would follow its first
// weights for long.
func newStudent(c PATEGANConfig, n *net.Net, v mechanism.Votes) *student {
	w, tensors := n.Init(public(c.Seed, "student", 0)), n.Tensors()
	clear(w[tensors[len(tensors)-2].Offset:])
	return &student{descent: newDescent(c.Student, w), c: c, votes: v, pass: n.NewPass(v.Rows),
		asked: net.NewMatrix(v.Rows, n.In()), labels: net.NewMatrix(v.Rows, 1), grad: make([]float32, n.Params()),
		loss: make([]float64, v.Rows)}
}

// learn moves the student towards what the teachers said of the rows.
func (s *student) learn(asked net.Matrix, noisy []int64) {
	s.asked.CopyFrom(asked)
	for i, count := range noisy {
		s.labels.Row(i)[0] = s.label(count)
	}
	out := s.c.Worst.dropped(s.asked, noLabel)
	for range s.c.StudentSteps {
		s.score(s.asked)
		for _, i := range out {
			clear(s.pass.OutGrad().Row(i))
		}
		s.pass.Backward(s.w)
		clear(s.grad)
		s.pass.Accumulate(s.grad, nil)
		s.step(s.grad, 1/s.c.Worst.less(float64(s.asked.Rows)))
		s.clipWeights(s.c.WeightClip)
	}
}

func (s *student) label(count int64) float32 {
	if s.c.Learns == LearnsShare {
		return float32(float64(count) / float64(s.votes.Teachers))
	}
	if 2*count > int64(s.votes.Teachers) {
		return 1
	}
	return 0
}

// score runs the student on labelled rows and leaves the gradient of its loss at each.
func (s *student) score(x net.Matrix) {
	s.pass.Input(x.Rows).CopyFrom(x)
	y := s.pass.Forward(s.w, net.Mode{Train: true})
	dy := s.pass.OutGrad()
	if s.c.Objective == CrossEntropy {
		net.BCE(dy, y, s.labels, s.loss)
		return
	}
	for i := range y.Rows {
		sign := 1 - float32(2*s.labels.Row(i)[0])
		dy.Row(i)[0], s.loss[i] = sign, float64(sign*y.Row(i)[0])
	}
}

// meanLoss returns the mean loss of the last learn.
func (s *student) meanLoss() (sum float64) {
	for _, v := range s.loss {
		sum += v
	}
	return sum / float64(len(s.loss))
}

// gradient returns the gradient of the generator's loss, minus the student's score, at generated rows.
func (s *student) gradient(x net.Matrix) net.Matrix {
	dx, _ := score(s.pass, s.w, x, net.Mode{})
	return dx
}
