package account

import "weir/privacy"

// Moments is the moments accountant (Abadi et al. 2016, theorem 2): the log
// moment at integer lambda is lambda times the Renyi divergence of order
// lambda+1, converted by the classic formula. The moments themselves are exact.
type Moments struct {
	MaxLambda int // 0 means 32, as published
}

// Name returns "moments".
func (Moments) Name() string { return "moments" }

func (m Moments) rdp() RDP {
	top := m.MaxLambda
	if top == 0 {
		top = 32
	}
	return RDP{Classic, IntegerOrders(2, top+1)}
}

// Epsilon returns the least epsilon over lambda.
func (m Moments) Epsilon(events []privacy.Event, adjacency privacy.Adjacency, delta float64) (float64, error) {
	best, err := m.rdp().epsilon(m.Name(), events, adjacency, delta)
	return best.epsilon, err
}

// Delta returns the least delta over lambda.
func (m Moments) Delta(events []privacy.Event, adjacency privacy.Adjacency, epsilon float64) (float64, error) {
	return m.rdp().delta(m.Name(), events, adjacency, epsilon)
}
