package collect

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"weir/internal/disk"
	"weir/runtime/payment"
	"weir/runtime/store"
)

// cache looks through a cache: the cache of all runs, or the cache of one spec, as earlier versions
// made them. What a run that is at work may read stays.
func (f *Found) cache(dir, name, working string) error {
	if !folder(dir) {
		return nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return gone(err)
	}
	notes := notesIn(filepath.Join(dir, store.PaidDir))
	for _, e := range entries {
		if !e.IsDir() || !isAddress(e.Name()) {
			continue
		}
		i := Item{Path: filepath.Join(dir, e.Name()), What: Cached, name: name}
		if of := notes[e.Name()]; of != nil {
			i.What, i.Costs = Paid, !slices.ContainsFunc(of, f.keyed)
			if !f.rules.Paid {
				i.Kept = "runs of this dataset use it again at no charge; --paid removes it"
			}
		}
		if working != "" {
			i.Kept = "a process works on " + working + ", which may read it"
		}
		i.Used = lastUsed(i.Path)
		f.add(i)
	}
	return nil
}

// isAddress reports whether a name is the name of a cached output.
func isAddress(name string) bool {
	return len(name) == 64 && strings.Trim(name, "0123456789abcdef") == ""
}

// mostOfNote is far above what a note of the index of paid outputs takes.
const mostOfNote = 1 << 20

// notesIn lists, by address, what the index of paid outputs notes. A note that cannot be read
// may still name an output. The notes stay: with them and the key of its run an output is made
// again at no charge, and without it they lead nowhere.
func notesIn(dir string) map[string][]payment.Note {
	items := map[string][]payment.Note{}
	if !folder(dir) {
		return items
	}
	filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return nil
		}
		data, _ := disk.ReadFile(path, mostOfNote)
		var p payment.Note
		if json.Unmarshal(data, &p) != nil {
			p = payment.Note{}
		}
		if p.Insecure {
			return nil // a test: its charge is nobody's
		}
		for _, address := range regexp.MustCompile(`[0-9a-f]{64}`).FindAllString(string(data), -1) {
			items[address] = append(items[address], p)
		}
		return nil
	})
	return items
}

// keyed reports whether this build can make again what a run paid for, from the key in its
// folder.
func (f *Found) keyed(p payment.Note) bool {
	run := filepath.Join(p.Name, p.Run)
	if f.rules.Build == "" || p.Build != f.rules.Build || !filepath.IsLocal(run) {
		return false
	}
	return hasKey(filepath.Join(f.rules.Out, run))
}

func hasKey(run string) bool {
	info, err := os.Lstat(filepath.Join(run, "internal", "noise.key"))
	return err == nil && info.Mode().IsRegular()
}
