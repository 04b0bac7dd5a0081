package nearest

import "math"

// Neighbour is a row and its distance.
type Neighbour struct {
	Distance float64
	Row      int32
}

func (n Neighbour) before(distance float64, row int32) bool {
	return n.Distance < distance || n.Distance == distance && n.Row < row
}

// Best holds the K nearest rows of those offered, nearest first, the lower row
// first among equals.
type Best struct {
	K    int
	List []Neighbour
}

func (b *Best) full() bool { return len(b.List) == b.K }

// Limit is the greatest distance at which a row can still enter.
func (b *Best) Limit() float64 {
	if !b.full() {
		return math.Inf(1)
	}
	return b.List[b.K-1].Distance
}

// beyond reports whether nothing at this distance, from this row on, can enter.
func (b *Best) beyond(distance float64, row int32) bool {
	return b.full() && b.List[b.K-1].before(distance, row)
}

// Offer lets a row enter where it belongs.
func (b *Best) Offer(distance float64, row int32) {
	if b.beyond(distance, row) {
		return
	}
	if !b.full() {
		b.List = append(b.List, Neighbour{})
	}
	i := len(b.List) - 1
	for ; i > 0 && !b.List[i-1].before(distance, row); i-- {
		b.List[i] = b.List[i-1]
	}
	b.List[i] = Neighbour{distance, row}
}
