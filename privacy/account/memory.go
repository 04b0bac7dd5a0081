package account

import (
	"fmt"
	"sync"

	"weir/privacy"
)

// Memory keeps the epsilons that accountants gave, so that equal questions are computed once: plans of one experiment
// ask for most of theirs several times. What is kept is what was computed, to the bit. Its zero value is ready, and it
// is safe for concurrent use.
type Memory struct {
	lock    sync.Mutex
	answers map[string]*answer
}

// answer is what an accountant said; who asks while it computes waits.
type answer struct {
	once    sync.Once
	epsilon float64
	err     error
}

// Remembering returns an accountant that says what acc says, and asks it once for equal events, adjacency and delta.
func (m *Memory) Remembering(acc privacy.Accountant) privacy.Accountant {
	return &remembering{Accountant: acc, memory: m, name: fmt.Sprintf("%#v", acc)}
}

// Beside returns other, remembering in the memory of acc where acc has one.
func Beside(acc, other privacy.Accountant) privacy.Accountant {
	if r, ok := acc.(*remembering); ok {
		return r.memory.Remembering(other)
	}
	return other
}

// remembering is an accountant with a memory.
type remembering struct {
	privacy.Accountant
	memory *Memory
	name   string // of the accountant, with what it is set to
}

// Epsilon returns what the accountant returns.
func (r *remembering) Epsilon(events []privacy.Event, adjacency privacy.Adjacency, delta float64) (float64, error) {
	a := r.memory.answer(fmt.Sprintf("%s %s %v %#v", r.name, adjacency, delta, events))
	a.once.Do(func() { a.epsilon, a.err = r.Accountant.Epsilon(events, adjacency, delta) })
	return a.epsilon, a.err
}

// Questions returns how many questions were computed.
func (m *Memory) Questions() int {
	m.lock.Lock()
	defer m.lock.Unlock()
	return len(m.answers)
}

// answer returns the place of the answer to a question.
func (m *Memory) answer(question string) *answer {
	m.lock.Lock()
	defer m.lock.Unlock()
	if m.answers == nil {
		m.answers = map[string]*answer{}
	}
	a := m.answers[question]
	if a == nil {
		a = &answer{}
		m.answers[question] = a
	}
	return a
}
