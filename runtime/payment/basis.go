package payment

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"weir/internal/disk"
	"weir/pipeline"
	"weir/pipeline/compile"
	"weir/privacy/noise"
	"weir/runtime/store"
)

// basis returns whose noise a step stands on: the recipe of each paid step before it, with the commitment of the
// key that its noise is from. Those steps must be decided. It is "" where there are none. Noise, charges and
// secrets hold it in their names, so that one name meets the same rows in every run (docs/design/reuse.md).
func (p *Purse) basis(step *compile.Step) string {
	before := reads(p.task.Plan, step)
	var lines []string
	for i := range p.task.Plan.Steps {
		if paid := &p.task.Plan.Steps[i]; before[paid.ID] && draws(paid) {
			lines = append(lines, "\n"+p.task.Recipes[paid.ID]+" "+p.commitment(paid))
		}
	}
	slices.Sort(lines) // specs may name equal steps in any order
	return strings.Join(lines, "")
}

// commitment returns the commitment of the key that the noise of a paid step is from.
func (p *Purse) commitment(paid *compile.Step) string {
	if earlier := p.Earlier(paid); earlier != nil {
		return earlier.Commitment
	}
	return p.attempt.Key.Commitment()
}

// reads lists the steps whose outputs reach a step, by whatever way.
func reads(plan *compile.Plan, step *compile.Step) map[string]bool {
	before := map[string]bool{}
	var follow func(*compile.Step)
	follow = func(s *compile.Step) {
		for _, refs := range s.Inputs {
			for _, ref := range refs {
				if ref.Stage != pipeline.DatasetID && !before[ref.Stage] {
					before[ref.Stage] = true
					follow(plan.Step(ref.Stage))
				}
			}
		}
	}
	follow(step)
	return before
}

// noiseName returns what the noise of a step follows from, beside the key: another recipe, or the same one on other
// noise than before, has other noise.
func (p *Purse) noiseName(s *compile.Step) string { return p.task.Recipes[s.ID] + p.basis(s) }

// secretName returns the name of a step's secret draws under the secret of the dataset's content.
//
// A draw for each row in turn is private as long as the rows it falls to are one table: the proof of
// the stage couples one opening of that table, everyone but the changed unit keeping their draw. Over
// several runs it holds only if runs that share a draw meet equal rows in either of two neighbouring
// worlds. What a step reads is a function of the content of the dataset, of recipes, and of the noise
// that was drawn on the way. The first two are the secret's own and the recipe's; so the name adds the
// basis. A run that draws that noise anew meets other rows, and has draws of its own (docs/design/secrets.md).
func (p *Purse) secretName(step *compile.Step) string { return "secret " + p.noiseName(step) }

// Secrets returns the secret draws of a step.
func (p *Purse) Secrets(step *compile.Step) *Secrets {
	return NewSecrets(p.task.Rows.Secret, p.secretName(step), step.Work.Secret)
}

// noiseBasis records which run's key and which inputs the noise of a paid stage was drawn for. A run that is continued
// keeps to it, or is refused: on the output of another run it would pay for the stage once more.
type noiseBasis struct {
	Run     string `json:"run"`     // whose noise it is
	Address string `json:"address"` // of what it makes; it holds what the rows are, so it stays on the owner's side
}

// maxBasisBytes is far above what a run and an address take.
const maxBasisBytes = 1 << 12

func basisFile(stage string) string { return "noise-" + stage + ".json" }

// keepBasis writes what the noise of a step stands on to the folder of the run.
func (p *Purse) keepBasis(step *compile.Step) error {
	if p.free(step) {
		return nil
	}
	basis := noiseBasis{Run: p.attempt.ID, Address: p.Address(step.ID)}
	if earlier := p.Earlier(step); earlier != nil {
		basis.Run = earlier.Run
	}
	if readBasis(p.attempt.Dir, step.ID) == basis {
		return nil
	}
	return p.attempt.Dir.KeepJSON(basisFile(step.ID), basis)
}

// readBasis reads what the noise of a stage of a run stands on. What cannot be read is unlike
// anything, so that noise on it is not drawn again.
func readBasis(dir store.RunDir, stage string) (b noiseBasis) {
	data, err := disk.ReadFile(filepath.Join(dir.Internal(), basisFile(stage)), maxBasisBytes)
	if err != nil || dir.Path == "" || json.Unmarshal(data, &b) != nil {
		return noiseBasis{}
	}
	return b
}

// checkBasis refuses to draw noise for a stage that the run has paid for on other inputs. The address of what the stage
// makes is "" where nobody has opened the data.
func (p *Purse) checkBasis(step *compile.Step, address string) error {
	if p.Earlier(step) != nil || p.free(step) || address == "" {
		return nil
	}
	begun, err := p.hasBegun(step)
	if begun && readBasis(p.attempt.Dir, step.ID) != (noiseBasis{p.attempt.ID, address}) {
		return fmt.Errorf("%w. --fresh draws new noise", ErrNewCharge)
	}
	return err
}

const keyFile = "noise.key"

// LoadKey reads the key that an earlier attempt of the same run kept.
func LoadKey(internal string) (noise.Key, error) {
	data, err := disk.ReadFile(filepath.Join(internal, keyFile), 0)
	if err != nil {
		return noise.Key{}, err
	}
	return noise.ParseKey(strings.TrimSpace(string(data)))
}

// NewKey draws a key from the operating system, or, for tests, from a seed.
func NewKey(random io.Reader, insecure *uint64) (noise.Key, error) {
	if insecure != nil {
		return InsecureKey(*insecure), nil
	}
	return noise.NewKey(random)
}

// InsecureKey returns a key that anyone who knows the seed can compute.
func InsecureKey(seed uint64) noise.Key {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], seed)
	return noise.Key(sha256.Sum256(append([]byte("weir insecure noise seed "), b[:]...)))
}

// keepKey stores the key where only the owner reads it.
func keepKey(dir store.RunDir, key noise.Key) error {
	return dir.Keep(keyFile, func(w io.Writer) error {
		_, err := fmt.Fprintln(w, key.Hex())
		return err
	})
}

// DropKey removes a kept key.
func DropKey(dir store.RunDir) error { return dir.Disk.Remove(filepath.Join(dir.Internal(), keyFile)) }
