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
// Progress is called after every ProgressEvery steps and after the last, Resumed once where
// the loop goes on from a step that Resume holds, before its first step. Checkpoint is called
// after every CheckpointEvery steps with a state that, given back as Resume with
// the same configuration, data, seed and source, continues bit for bit. A checkpoint
// is private: it holds optimiser state, and critics that saw rows without noise.
type Hooks struct {
	Progress        func(Progress)
	ProgressEvery   int
	Resumed         func(Progress) // Loss is 0
	Checkpoint      func(state []byte) error
	CheckpointEvery int
	Resume          []byte
	Unusable        func() // Resume cannot be used: the loop starts at its beginning
}

// reports says whether step t (counted from 1) of n is reported.
func (h Hooks) reports(t, n int) bool {
	return h.Progress != nil && (t == n || h.ProgressEvery > 0 && t%h.ProgressEvery == 0)
}

// resumed says where the loop stands before its first step, if that is not its beginning.
func (h Hooks) resumed(at Progress) {
	if h.Resumed != nil && at.Step > 0 {
		h.Resumed(at)
	}
}

func (h Hooks) save(t int, s *state) error {
	if h.Checkpoint == nil || h.CheckpointEvery <= 0 || t%h.CheckpointEvery != 0 {
		return nil
	}
	return h.Checkpoint(s.encode())
}
