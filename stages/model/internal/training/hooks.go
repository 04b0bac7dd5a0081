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
		Checkpoint: func(state []byte) error { return saveCheckpoint(env, state) },
	}
	f, err := env.Restore("checkpoint")
	if errors.Is(err, fs.ErrNotExist) {
		return h, nil
	}
	if err != nil {
		return h, err
	}
	defer f.Close()
	h.Resume, err = io.ReadAll(f)
	return h, err
}

func saveCheckpoint(env *pipeline.Env, state []byte) error {
	f, err := env.Create("checkpoint")
	if err != nil {
		return err
	}
	if _, err := f.Write(state); err != nil {
		return errors.Join(err, f.Close())
	}
	return f.Close()
}
