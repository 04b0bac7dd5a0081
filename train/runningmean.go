package train

// runningMean follows the iterates of a descent: after update t it moves towards the
// weights by 1 - min(decay, (1+t)/(10+t)), so that the first iterates are soon
// forgotten (the rule of tf.train.ExponentialMovingAverage with num_updates). It
// is a function of the iterates alone: post-processing of what released them.
type runningMean struct {
	decay float64
	w     []float32
	t     int
}

// newRunningMean starts at w; with decay 0 there is no average.
func newRunningMean(decay float64, w []float32) *runningMean {
	a := &runningMean{decay: decay}
	if decay > 0 {
		a.w = append(a.w, w...)
	}
	return a
}

func (a *runningMean) update(w []float32) {
	if a.decay == 0 {
		return
	}
	a.t++
	t := float64(a.t)
	move := float32(1 - min(a.decay, (1+t)/(10+t)))
	for i, v := range w {
		a.w[i] += float32(move * (v - a.w[i]))
	}
}

// of returns the average, or the latest weights where there is none.
func (a *runningMean) of(d *descent) []float32 {
	if a.decay == 0 {
		return d.w
	}
	return a.w
}

// addAverage makes a part of the checkpoint.
func (s *state) addAverage(a *runningMean) {
	s.counters = append(s.counters, &a.t)
	s.vectors = append(s.vectors, a.w)
}
