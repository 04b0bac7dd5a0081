package train

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"

	"weir/privacy"
	"weir/privacy/mechanism"
	"weir/train/net"
)

// PATEGANConfig is how PATEGAN uses the paid votes.
type PATEGANConfig struct {
	Teachers  TeacherConfig `json:"teachers"`
	Learns    Label         `json:"learns"`
	Objective Criticism     `json:"objective"`
	// WeightClip bounds the weights of the student; 0 is none.
	WeightClip   float64   `json:"weight_clip"`
	StudentSteps int       `json:"student_steps"` // on the votes of a step
	Student      Optimiser `json:"student"`
	Generator    Optimiser `json:"generator"`
	Average      float64   `json:"average"` // decay of the average of the generator's iterates; 0 is none
	Seed         uint64    `json:"seed"`    // public: first weights, latents
	Worst        *Worst    `json:"-"`       // rows that a teacher's shard and generated batches leave out
	// NormalStart begins the generator with normal weights of variance two over a unit's inputs and
	// offsets of zero, as the program of the paper does.
	NormalStart bool `json:"normal_start"`
	// Take is how many steps this loop takes where several share what was paid for; 0 takes all.
	Take int `json:"take"`
	// Stop sees the exact votes of each step and says whether the loop ends after it. nil never does.
	// How many steps there are then tells of private votes: nothing is proven of such a loop (W15, W21).
	Stop func(votes []int64) bool `json:"-"`
}

// Validate names every field that is out of range.
func (c PATEGANConfig) Validate() error {
	errs := []error{c.Teachers.Validate(), c.Student.Validate(), c.Generator.Validate()}
	check := checking(&errs)
	check(c.Learns == LearnsShare || c.Learns == LearnsMajority, "learns", c.Learns, "share or majority")
	check(c.Objective == CrossEntropy || c.Objective == WassersteinVotes, "objective", c.Objective,
		"cross_entropy or wasserstein")
	check(c.WeightClip >= 0, "weight_clip", c.WeightClip, "at least 0")
	check(c.StudentSteps >= 1, "student_steps", c.StudentSteps, "at least 1")
	check(c.Average >= 0 && c.Average < 1, "average", c.Average, "at least 0 and below 1")
	check(c.Take >= 0, "take", c.Take, "at least 0")
	return errors.Join(errs...)
}

// PATEGAN trains a generator against a student that knows the rows by noisy votes of
// teachers alone (Jordon, Yoon, van der Schaar 2019), one teacher for each shard, a list of
// positions in rows; it returns the generator's weights, averaged where Average says so.
//
// Input: rows with stability shards(k). At each step every teacher learns to tell the rows
// of its own shard from generated ones, and says of each of other generated rows which it
// takes it for: a function of its shard, of public latents and of the votes released before.
// Mechanism: the counts of those who say real, noised. Guarantee: the guarantee of the paid Votes;
// student, generator and the average of its iterates are functions of the noisy counts and
// of public randomness, so that nothing of them is charged, and any number of steps may be
// taken on the votes of a step. The teachers are private and are not returned.
//
// Worst takes its rows from each shard once, all of one that has no more, and from the generated
// rows that teachers and student learn by. A teacher is any function of its shard, so that the
// guarantee does not know of it; one without rows votes for none, as it would in an empty shard.
//
// With Stop none of this is proven. What was paid for beyond the last step is drawn on counts of
// zero, which nobody sees, so that a handle is still used as planned.
func PATEGAN(ctx context.Context, c PATEGANConfig, student, gen *net.Net, rows *Rows, shards [][]int32,
	paid *privacy.Handle, h Hooks) ([]float32, error) {
	l, err := newPATELoop(c, student, gen, rows, shards, paid)
	if err == nil {
		err = l.state.resume(h, paid, &l.generator.t)
	}
	if err != nil {
		return nil, fmt.Errorf("pate_gan: %w", err)
	}
	steps := cmp.Or(c.Take, int(l.votes.Steps))
	h.resumed(Progress{Phase: "votes", Step: l.generator.t, Steps: steps})
	for ended := false; l.generator.t < steps && !ended; {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if ended, err = l.step(l.generator.t); err != nil {
			return nil, fmt.Errorf("pate_gan: %w", err)
		}
		if h.reports(l.generator.t, steps) {
			h.Progress(Progress{Phase: "votes", Step: l.generator.t, Steps: steps, Loss: l.student.meanLoss()})
		}
		if err := h.save(l.generator.t, &l.state); err != nil {
			return nil, err
		}
	}
	if err := l.skip(steps - l.generator.t); err != nil {
		return nil, fmt.Errorf("pate_gan: %w", err)
	}
	return l.average.average(l.generator), nil
}

// skip uses up steps that are not taken.
func (l *pateLoop) skip(steps int) error {
	for range steps {
		if _, err := mechanism.ReleaseCounts(l.paid, make([]int64, l.votes.Rows)); err != nil {
			return err
		}
	}
	return nil
}

type pateLoop struct {
	c         PATEGANConfig
	votes     mechanism.Votes
	paid      *privacy.Handle
	teachers  *teachers
	student   *student
	gen       *generator
	generator *descent
	average   *runningMean
	state     state
}

// newPATELoop takes every parameter of the mechanism from what was paid for.
func newPATELoop(c PATEGANConfig, critic, gen *net.Net, rows *Rows, shards [][]int32, paid *privacy.Handle) (*pateLoop,
	error) {
	votes, err := paidVotes(paid)
	if err == nil {
		err = errors.Join(c.Validate(), checkShards(rows.Len(), shards), c.Teachers.fits(rows.Width(), votes.Rows),
			c.Worst.check(rows.Len(), math.Inf(1), votes.Rows))
	}
	if err != nil {
		return nil, err
	}
	if critic.In() != rows.Width() || gen.Out() != rows.Width() || critic.Out() != 1 || votes.Teachers != len(shards) {
		return nil, fmt.Errorf("widths are rows %d, generator's output %d, student %d to %d; shards are %d, teachers paid "+
			"for %d; the student must have 1 output and the others be equal",
			rows.Width(), gen.Out(), critic.In(), critic.Out(), len(shards), votes.Teachers)
	}
	l := &pateLoop{c: c, votes: votes, paid: paid, gen: newGenerator(gen, votes.Rows),
		teachers:  newTeachers(c.Teachers, rows, c.Worst.ofEach(shards), votes.Rows),
		student:   newStudent(c, critic, votes),
		generator: newDescent(c.Generator, c.start(gen))}
	l.average = newRunningMean(c.Average, l.generator.w)
	l.state.add(l.generator)
	l.state.add(l.student.descent)
	if lesson, ok := l.teachers.lesson.(*logisticLesson); ok {
		l.state.add(lesson.descent)
	}
	l.state.addAverage(l.average)
	return l, nil
}

// start gives the first weights of the generator.
func (c PATEGANConfig) start(gen *net.Net) []float32 {
	r := public(c.Seed, "generator", 0)
	if c.NormalStart {
		return gen.InitByInputs(r, 2)
	}
	return gen.Init(r)
}

func paidVotes(paid *privacy.Handle) (mechanism.Votes, error) {
	if paid == nil {
		return mechanism.Votes{}, errors.New("paid: is missing; open the planned mechanism first")
	}
	v, ok := paid.Mechanism().(mechanism.Votes)
	if !ok {
		return v, fmt.Errorf("paid: is %T, must be votes of teachers: %w", paid.Mechanism(), privacy.ErrUses)
	}
	return v, v.Check()
}

// step asks the teachers once, moves student and generator by what they say, and says whether it was
// the last.
func (l *pateLoop) step(t int) (last bool, err error) {
	l.teachers.lesson.learn(l.teachers, l.c.Worst.spared(l.generated("teachers", t)))
	output := l.generated("votes", t)
	votes := l.teachers.count(output)
	noisy, err := mechanism.ReleaseCounts(l.paid, votes)
	if err != nil {
		return false, err
	}
	last = l.c.Stop != nil && l.c.Stop(votes)
	l.student.learn(output, noisy)
	made := l.generated("generator", t)
	dx := l.student.gradient(made)
	l.c.Worst.silence(dx, made, noLabel)
	l.gen.descend(l.generator, dx, 1/l.c.Worst.less(float64(l.votes.Rows)))
	l.average.update(l.generator.w)
	return last, nil
}

// generated returns the rows of step t for a purpose; they last until the next call.
func (l *pateLoop) generated(purpose string, t int) net.Matrix {
	return l.gen.sample(l.generator.w, l.votes.Rows, public(l.c.Seed, purpose, uint64(t)+1))
}
