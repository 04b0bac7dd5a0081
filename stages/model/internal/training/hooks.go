package training

import (
	"errors"
	"io"
	"io/fs"

	"weir/pipeline"
	"weir/train"
)

// progressEvery is how many steps pass between two looks at the progress bar;
// a look costs a mean loss.
const progressEvery = 200

// hooks tie a loop to its stage: progress, private losses, and
// checkpoints from which an interrupted run continues bit for bit.
func hooks(env *pipeline.Env, every int) (train.Hooks, error) {
	h := train.Hooks{ProgressEvery: progressEvery, CheckpointEvery: every,
		Progress: func(p train.Progress) {
			env.Progress(int64(p.Step), int64(p.Steps))
			env.Metric("loss", p.Loss)
		},
		Resumed:    func(p train.Progress) { env.Resumed(int64(p.Step), int64(p.Steps)) },
		Checkpoint: func(state []byte) error { return saveCheckpoint(env, state) },
		Unusable: func() {
			env.Log.Warn("the checkpoint of an interrupted attempt cannot be used; training starts at its beginning and draws the same noise, which costs nothing")
		},
	}
	f, err := env.Restore("checkpoint")
	if errors.Is(err, fs.ErrNotExist) {
		return h, nil
	}
	if err != nil {
		return h, err
	}
	defer f.Close()
	if h.Resume, err = io.ReadAll(f); err != nil {
		h.Resume = []byte{} // cannot be used: a disk that fails to read it gives the same as one that damaged it
	}
	return h, nil
}

func saveCheckpoint(env *pipeline.Env, state []byte) error {
	f, err := env.Create("checkpoint")
	if err != nil {
		return err
	}
	_, err = f.Write(state)
	return errors.Join(err, f.Close()) // after a failed write Close leaves the checkpoint before
}
