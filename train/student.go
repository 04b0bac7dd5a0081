package train

import (
	"weir/privacy/mechanism"
	"weir/train/net"
)

// Label is what a student learns of a row from the noisy count of votes for it.
type Label string

const (
	LearnsShare    Label = "share"    // the count over the number of teachers: noise on it has mean 0 and averages out over rows
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
		asked: net.NewMatrix(v.Rows, n.In()), labels: net.NewMatrix(v.Rows, 1), grad: make([]float32, n.Params()), loss: make([]float64, v.Rows)}
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

// meanLoss is that of the last learn.
func (s *student) meanLoss() (sum float64) {
	for _, v := range s.loss {
		sum += v
	}
	return sum / float64(len(s.loss))
}

// gradient is that of the generator's loss, minus the student's score, at generated rows.
func (s *student) gradient(x net.Matrix) net.Matrix {
	dx, _ := score(s.pass, s.w, x, net.Mode{})
	return dx
}
