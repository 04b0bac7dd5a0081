package review

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"weir/internal/disk"
	"weir/pipeline"
	"weir/pipeline/spec"
	"weir/privacy/ledger"
	"weir/runtime"
	"weir/runtime/dataset"
	"weir/schema"
)

// Commit is a commit of a git repository, read by the git program: objects alone, never
// the working tree, so that a spec meets the domain that it was committed with.
type Commit struct {
	ctx  context.Context
	Top  string // folder of the repository
	Name string // as the user named it
	ID   string
}

// ErrRevision marks a revision or a file in one that cannot be read.
var ErrRevision = errors.New("revision")

// OpenCommit finds the commit, branch or tag called name in the repository that holds path.
func OpenCommit(ctx context.Context, path, name string) (*Commit, error) {
	switch {
	case name == "" || strings.HasPrefix(name, "-") || strings.ContainsAny(name, "\x00\n"):
		return nil, runtime.Misused(fmt.Errorf("%w: is %q, must be a commit, branch or tag of git", ErrRevision, name))
	}
	r := &Commit{ctx: ctx, Top: existing(path), Name: name}
	top, err := r.git("rev-parse", "--show-toplevel")
	if err != nil {
		return nil, runtime.Misused(fmt.Errorf("%s: must lie in a git repository: %w", path, err))
	}
	r.Top = strings.TrimSuffix(string(top), "\n")
	id, err := r.git("rev-parse", "--verify", "--quiet", name+"^{commit}")
	if err != nil {
		return nil, runtime.Misused(fmt.Errorf("%w: is %q, must be a commit, branch or tag of %s (in a shallow clone, "+
			"fetch it first)", ErrRevision, name, r.Top))
	}
	r.ID = strings.TrimSpace(string(id))
	return r, nil
}

// CommittedAt returns the commit that a repository is at, where the file at path is as that commit has it and
// gives, with the domain that the commit has, the spec of this digest; "" where it does not, where it lies in no
// repository, and where there is no git.
func CommittedAt(ctx context.Context, path, digest string, reg *pipeline.Registry) string {
	head, err := OpenCommit(ctx, path, "HEAD")
	if err != nil {
		return ""
	}
	name, err := head.Inside(path)
	if err != nil {
		return ""
	}
	committed, err := head.Read(name, schema.MaxBytes)
	now, errNow := disk.ReadFile(path, schema.MaxBytes)
	if err != nil || errNow != nil || !bytes.Equal(committed, now) {
		return ""
	}
	if sp, err := head.Spec(name, reg); err != nil || sp.Digest != digest {
		return ""
	}
	return head.ID
}

// MergeBase returns where two revisions of a repository parted.
func (r *Commit) MergeBase(other *Commit) (*Commit, error) {
	id, err := r.git("merge-base", r.ID, other.ID)
	if err != nil {
		return nil, runtime.Misused(fmt.Errorf("%w: %s and %s have no commit in common: %w", ErrRevision, r.Name, other.Name,
			err))
	}
	base := *r
	base.ID, base.Name = strings.TrimSpace(string(id)), fmt.Sprintf("merge-base(%s, %s)", r.Name, other.Name)
	return &base, nil
}

// LastChanging returns the last commit, up to this one, that changed a file of the repository.
func (r *Commit) LastChanging(name string) (*Commit, error) {
	id, err := r.git("log", "-1", "--format=%H", r.ID, "--", name)
	if err == nil && len(id) == 0 {
		err = fmt.Errorf("%w: no commit up to %s has %s", ErrRevision, r.Name, name)
	}
	if err != nil {
		return nil, err
	}
	last := *r
	last.ID = strings.TrimSpace(string(id))
	last.Name = last.ID[:12]
	return &last, nil
}

// existing returns the nearest folder at or above a path: a spec may be gone today.
func existing(path string) string {
	for {
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			return path
		}
		parent := filepath.Dir(path)
		if parent == path {
			return "."
		}
		path = parent
	}
}

// git runs git without a shell. Nothing of what the repository configures to be run is:
// these commands read objects and lists, call no hook, filter or pager and ask nobody.
func (r *Commit) git(args ...string) ([]byte, error) {
	c := exec.CommandContext(r.ctx, "git", append([]string{"-C", r.Top, "--no-pager", "--no-replace-objects",
		"--literal-pathspecs", "-c", "core.fsmonitor=false", "-c", "core.quotePath=false"}, args...)...)
	c.Env = append(os.Environ(), "GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0", "LC_ALL=C")
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	err := c.Run()
	if errors.Is(err, exec.ErrNotFound) {
		return nil, errors.New("the program git is not on the path")
	}
	if err != nil {
		return nil, fmt.Errorf("git %s: %w: %s", args[0], err, strings.TrimSpace(errs.String()))
	}
	return out.Bytes(), nil
}

// Inside returns a path of this machine as the repository names it.
func (r *Commit) Inside(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	resolved := abs // the repository may be named through a link
	if folder, err := filepath.EvalSymlinks(existing(filepath.Dir(abs))); err == nil {
		if rest, err := filepath.Rel(existing(filepath.Dir(abs)), abs); err == nil {
			resolved = filepath.Join(folder, rest)
		}
	}
	for _, one := range []string{abs, resolved} {
		if rel, err := filepath.Rel(filepath.FromSlash(r.Top), one); err == nil && filepath.IsLocal(rel) {
			return filepath.ToSlash(rel), nil
		}
	}
	return "", runtime.Misused(fmt.Errorf("%s: lies outside of the repository %s", path, r.Top))
}

// Holding lists the files of the revision that hold a text.
func (r *Commit) Holding(text string) (names []string, err error) {
	out, err := r.git("grep", "-l", "-z", "-F", "--no-color", "--no-recurse-submodules", "--full-name", "-e", text, r.ID)
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 1 {
		return nil, nil // none
	}
	for _, line := range strings.Split(string(out), "\x00") {
		if name, is := strings.CutPrefix(line, r.ID+":"); is {
			names = append(names, name)
		}
	}
	return names, err
}

// Unread returns the error of reading a spec as one of usage, unless it says what is wrong within the spec.
func Unread(err error) error {
	if _, within := err.(spec.Diagnostics); err == nil || within {
		return err
	}
	return runtime.Misused(err)
}

// Tracked lists the files of the repository that git knows now, in its working tree.
func (r *Commit) Tracked() ([]string, error) {
	out, err := r.git("ls-files", "-z", "--cached", "--full-name")
	return strings.Split(string(out), "\x00"), err
}

// ErrAbsent marks a file that a revision does not have.
var ErrAbsent = errors.New("no such file")

// Read returns a file of the revision, named from the top of the repository. A link is not
// followed: it could lead out, and what it leads to is not part of the revision.
func (r *Commit) Read(name string, most int64) ([]byte, error) {
	fault := func(err error) error { return fmt.Errorf("%s:%s: %w", r.Name, name, err) }
	if !filepath.IsLocal(filepath.FromSlash(name)) || name == "." {
		return nil, fault(errors.New("leaves the repository, must be a file in it"))
	}
	entry, err := r.git("ls-tree", "-z", "-l", "--full-tree", r.ID, "--", name)
	if err != nil {
		return nil, fault(err)
	}
	head, found, _ := strings.Cut(strings.TrimSuffix(string(entry), "\x00"), "\t")
	parts := strings.Fields(head) // mode, type, id, size
	if len(parts) != 4 || found != name {
		return nil, fault(ErrAbsent)
	}
	size, err := strconv.ParseInt(parts[3], 10, 64)
	switch {
	case parts[0] == "120000":
		return nil, fault(errors.New("is a symbolic link, must be a file"))
	case parts[1] != "blob" || err != nil:
		return nil, fault(errors.New("is not a file, must be one"))
	case size > most:
		return nil, fault(fmt.Errorf("is %d bytes long, must be at most %d", size, most))
	}
	data, err := r.git("cat-file", "blob", parts[2])
	if err != nil {
		return nil, fault(err)
	}
	return data, nil
}

// Spec reads and validates a spec as it was, named from the top of the repository; files that it names are read from
// the revision too.
func (r *Commit) Spec(name string, reg *pipeline.Registry) (*spec.Spec, error) {
	data, err := r.Read(name, schema.MaxBytes)
	if err != nil {
		return nil, runtime.Misused(err)
	}
	sp, err := runtime.ParseSpecFrom(r.Name+":"+name, data, nil, func(file string) ([]byte, error) {
		if path.IsAbs(filepath.ToSlash(file)) {
			return nil, fmt.Errorf("%s: is an absolute path, which no revision has", file)
		}
		return r.Read(path.Join(path.Dir(name), filepath.ToSlash(file)), schema.MaxBytes)
	}, reg)
	return sp, Unread(err)
}

// Ledger reads a ledger as it was; a dataset without charges has none.
func (r *Commit) Ledger(name string) ([]ledger.Entry, error) {
	data, err := r.Read(name, dataset.MostOfLedger)
	if errors.Is(err, ErrAbsent) {
		return nil, nil
	}
	if err != nil {
		return nil, runtime.Misused(err)
	}
	entries, err := ledger.Parse(data)
	return entries, dataset.LedgerFault(r.Name+":"+name, err)
}

// TrackedSpecs lists the files *.yaml and *.yml that git tracks in a folder and below it and that are specs, by their
// paths from the folder. Sound or not: one that is no YAML but names the keys of a spec is listed, so that whoever
// checks the list hears of it.
func TrackedSpecs(ctx context.Context, folder string) (specs []string, err error) {
	r := &Commit{ctx: ctx, Top: folder}
	out, err := r.git("ls-files", "-z", "--cached")
	if err != nil {
		return nil, runtime.Misused(err)
	}
	for _, name := range strings.Split(string(out), "\x00") {
		if ext := path.Ext(name); ext != ".yaml" && ext != ".yml" {
			continue
		}
		file := filepath.Join(folder, filepath.FromSlash(name))
		if data, err := disk.ReadFile(file, schema.MaxBytes); err == nil && mayBeSpec(data) {
			specs = append(specs, file)
		}
	}
	return specs, nil
}

// mayBeSpec tells a spec from other YAML, or text that was meant to be one.
func mayBeSpec(data []byte) bool {
	if doc, problems := schema.Parse("", data); len(problems) == 0 {
		return doc.Has("weir") && doc.Has("stages")
	}
	return isSpec(data) || bytes.Contains(data, []byte("weir")) && bytes.Contains(data, []byte("stages"))
}
