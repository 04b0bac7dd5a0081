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
	answers map[string]func() (float64, error) // each computes once, and who asks meanwhile waits
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
	question := fmt.Sprintf("%s %s %v %#v", r.name, adjacency, delta, events) // events are plain values
	return r.memory.answer(question, func() (float64, error) { return r.Accountant.Epsilon(events, adjacency, delta) })()
}

// Questions returns how many questions were computed.
func (m *Memory) Questions() int {
	m.lock.Lock()
	defer m.lock.Unlock()
	return len(m.answers)
}

// answer returns what answers a question: compute, where nobody has put it before. A panic answers each time alike.
func (m *Memory) answer(question string, compute func() (float64, error)) func() (float64, error) {
	m.lock.Lock()
	defer m.lock.Unlock()
	if m.answers == nil {
		m.answers = map[string]func() (float64, error){}
	}
	if m.answers[question] == nil {
		m.answers[question] = sync.OnceValues(compute)
	}
	return m.answers[question]
}
