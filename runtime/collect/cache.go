package collect

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"weir/internal/disk"
)

// cache looks through a cache: that of all runs, or that of one spec, as earlier versions
// made them. What a run that is at work may read stays.
func (f *Found) cache(dir, name, working string) error {
	if !folder(dir) {
		return nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return gone(err)
	}
	paid := indexOf(filepath.Join(dir, "paid"))
	for _, e := range entries {
		if !e.IsDir() || !isAddress(e.Name()) {
			continue
		}
		i := Item{Path: filepath.Join(dir, e.Name()), What: Cached, name: name, index: paid[e.Name()]}
		if i.index != nil {
			i.What, i.Costs = Paid, true
		}
		if working != "" {
			i.Kept = "a process works on " + working + ", which may read it"
		}
		i.Used = lastUsed(i.Path)
		f.add(i)
	}
	return nil
}

// isAddress reports whether a name is that of a cached output.
func isAddress(name string) bool {
	return len(name) == 64 && strings.Trim(name, "0123456789abcdef") == ""
}

// mostOfIndex is far above what an entry of the index of paid outputs takes.
const mostOfIndex = 1 << 20

// indexOf lists, by address, the files below the index of paid outputs that name it, in
// their own name or in what they say. Whatever else they say, the output that an index
// names has been paid for.
func indexOf(dir string) map[string][]string {
	of := map[string][]string{}
	if !folder(dir) {
		return of
	}
	filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return nil
		}
		data, _ := disk.ReadFile(path, mostOfIndex)
		for _, address := range regexp.MustCompile(`[0-9a-f]{64}`).FindAllString(e.Name()+"\n"+string(data), -1) {
			of[address] = append(of[address], path)
		}
		return nil
	})
	return of
}
