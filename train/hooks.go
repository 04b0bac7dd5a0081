package train

// Progress is where a loop stands. Steps is the same throughout, over all phases. Loss
// is the mean loss of the latest reported step. It is computed from private rows: it is
// private, and goes to nobody but the callback.
type Progress struct {
	Phase       string // such as fit, warm_start, critic, generator
	Step, Steps int
	Loss        float64
}

// Hooks are a loop's ties to its caller; the zero value has none.
//
// Progress is called after every ProgressEvery steps and after the last. Checkpoint is called
// after every CheckpointEvery steps with a state that, given back as Resume with
// the same configuration, data, seed and source, continues bit for bit. A checkpoint
// is private: it holds optimiser state, and critics that saw rows without noise.
type Hooks struct {
	Progress        func(Progress)
	ProgressEvery   int
	Checkpoint      func(state []byte) error
	CheckpointEvery int
	Resume          []byte
	Unusable        func() // Resume cannot be used: the loop starts at its beginning
}

// reports says whether step t (counted from 1) of n is reported.
func (h Hooks) reports(t, n int) bool {
	return h.Progress != nil && (t == n || h.ProgressEvery > 0 && t%h.ProgressEvery == 0)
}

func (h Hooks) save(t int, s *state) error {
	if h.Checkpoint == nil || h.CheckpointEvery <= 0 || t%h.CheckpointEvery != 0 {
		return nil
	}
	return h.Checkpoint(s.encode())
}
