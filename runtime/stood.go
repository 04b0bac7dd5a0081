package runtime

import (
	"encoding/json"
	"fmt"
	"path/filepath"

	"weir/internal/disk"
	"weir/pipeline/compile"
	"weir/runtime/book"
	"weir/runtime/store"
)

// stood is what the noise of a paid stage of a run stands on. A run that is continued keeps
// to it, or is refused: on the output of another run it would pay for the stage once more.
type stood struct {
	Run     string `json:"run"`     // whose noise it is
	Address string `json:"address"` // of what it makes; it holds what the rows are, so it stays on the owner's side
}

// mostOfStood is far above what a run and an address take.
const mostOfStood = 1 << 12

func stoodFile(stage string) string { return "noise-" + stage + ".json" }

// stand keeps what the noise of a step stands on, before any of it is paid for.
func (r *run) stand(step *compile.Step) error {
	if r.free(step) {
		return nil
	}
	now := stood{Run: r.record.ID, Address: r.addressOf(step)}
	if from := r.from(step); from != nil {
		now.Run = from.Run
	}
	if stoodIn(r.dir, step.ID) == now {
		return nil
	}
	return r.dir.KeepJSON(stoodFile(step.ID), now)
}

// free reports whether a step charges nothing, whichever run carries it out.
func (r *run) free(step *compile.Step) bool {
	return !draws(step) || r.plan.Budget.Infinite() || r.opts.Replay != nil
}

// stoodIn reads what the noise of a stage of a run stands on. What cannot be read is unlike
// anything, so that noise on it is not drawn again.
func stoodIn(dir store.RunDir, stage string) (s stood) {
	data, err := disk.ReadFile(filepath.Join(dir.Internal(), stoodFile(stage)), mostOfStood)
	if err != nil || dir.Path == "" || json.Unmarshal(data, &s) != nil {
		return stood{}
	}
	return s
}

// stands refuses to draw noise for a stage that the run has paid for on other inputs.
func (r *run) stands(step *compile.Step, where string) error {
	if r.from(step) != nil || r.free(step) || r.blind {
		return nil
	}
	begun, err := r.purse.Begun(step)
	if begun && stoodIn(r.dir, step.ID) != (stood{r.record.ID, where}) {
		return fmt.Errorf("%w. --fresh draws new noise", book.ErrNewCharge)
	}
	return err
}
