// Package duckdb reads tables through a DuckDB program that the user has installed: Parquet files, CSV files,
// DuckDB databases and SQLite databases. Each reading is a process of its own, which lives as long as the reading. The
// process gets the opened files of the run instead of their names, and can reach no other file and no network; it loads
// no extension but the one that reads SQLite, reads no configuration of the user and writes nothing to disk. Rows come
// through a pipe. What the process writes to its error stream quotes cells, so none of it is passed on but the class of
// the error.
package duckdb

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"weir/internal/disk"
)

// Variable names the environment variable that holds the path of the program; by default it is `duckdb` of PATH. No
// spec can name a program, so that reading a stranger's spec starts none of theirs.
const Variable = "WEIR_DUCKDB"

// Find returns the path of the program.
func Find() (string, error) {
	name := os.Getenv(Variable)
	if name == "" {
		name = "duckdb"
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("needs DuckDB, and %s is not there; install it (pip install duckdb-cli, or "+
			"https://duckdb.org/docs/installation), or name the program in the environment variable %s", name, Variable)
	}
	if runtime.GOOS == "windows" {
		return "", errors.New("reads through DuckDB by /dev/fd, which Windows does not have")
	}
	return path, nil
}

// isScript reports whether a program is a script, such as the one that pip installs in front of DuckDB.
func isScript(path string) bool {
	f, err := disk.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, 2)
	_, err = io.ReadFull(f, head)
	return err == nil && string(head) == "#!"
}

// Session runs statements over one table. It is safe for concurrent use: each call starts a process.
type Session struct {
	name    string // of the table, for messages
	program string
	table   Table
	files   []*os.File
}

// Open prepares to read the table that lies in files, which the caller keeps open; name stands for it in messages.
func Open(name string, table Table, files []*os.File) (*Session, error) {
	program, err := Find()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	s := &Session{name: name, program: program, table: table, files: files}
	return s, s.closed()
}

// closed refuses a database with a write-ahead log: its last changes are in a file that is not part of the dataset.
func (s *Session) closed() error {
	switch s.table.Format {
	case SQLite:
		return s.settled(s.files[0])
	case Parquet, CSV:
		return nil
	}
	for _, f := range s.files {
		real, err := filepath.EvalSymlinks(f.Name()) // the log lies beside the file, not beside a link to it
		if err != nil {
			return fmt.Errorf("%s: is no longer there: %w", s.name, errors.Unwrap(err))
		}
		for _, log := range []string{".wal", ".wal.checkpoint", ".wal.recovery"} { // the latter of a crash in a checkpoint
			if _, err := os.Stat(real + log); err == nil {
				return fmt.Errorf("%s: has a write-ahead log (%s) beside it, so not all of its rows are in the file; "+
					"close it in DuckDB, or CHECKPOINT it", s.name, log)
			}
		}
	}
	return nil
}

// process is a running DuckDB.
type process struct {
	name   string
	script bool // what was started is a script, which may start the program without its files
	cmd    *exec.Cmd
	in     io.WriteCloser // nil where it was started with all of its statements
	out    io.ReadCloser
	stderr *head
	ctx    context.Context
	ended  bool
}

// patience is how long a process may take to end after it was interrupted.
const patience = 5 * time.Second

// start runs statements behind the settings that hold the process to its files, and ends.
func (s *Session) start(ctx context.Context, statements ...string) (*process, error) {
	return s.launch(ctx, strings.NewReader(strings.Join(append(s.settings(), statements...), ";\n")+";\n"))
}

// launch starts a process that reads statements, from a pipe of its own where none are given.
func (s *Session) launch(ctx context.Context, statements io.Reader) (*process, error) {
	cmd := exec.CommandContext(ctx, s.program, "-no-init", "-batch", "-bail", "-csv")
	cmd.Env, cmd.Dir = []string{}, "/"
	cmd.ExtraFiles = s.files
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGINT) }
	cmd.WaitDelay = patience
	p := &process{name: s.name, script: isScript(s.program), cmd: cmd, stderr: &head{}, ctx: ctx}
	cmd.Stderr = p.stderr
	var err error
	if cmd.Stdin = statements; statements == nil {
		p.in, err = cmd.StdinPipe()
	}
	if err == nil {
		p.out, err = cmd.StdoutPipe()
	}
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, fmt.Errorf("%s: DuckDB does not start: %w", s.name, err)
	}
	return p, nil
}

// end waits for the process behind its last output, and says what class of error ended it.
func (p *process) end() error {
	if p.ended {
		return nil
	}
	p.ended = true
	err := p.cmd.Wait()
	switch {
	case p.ctx.Err() != nil:
		return p.ctx.Err()
	case p.script && (err != nil || p.stderr.seen):
		return fmt.Errorf("%s: DuckDB ended with %s, and %s is a script, which may not hand on the opened files of a run; "+
			"name the program itself in the environment variable %s (docs/databases.md has the line for duckdb-cli of pip)",
			p.name, p.stderr.class(), p.cmd.Path, Variable)
	case err != nil || p.stderr.seen:
		return fmt.Errorf("%s: DuckDB ended with %s; what it writes may quote cells and is not shown here: "+
			"run it on the table to see it", p.name, p.stderr.class())
	}
	return nil
}

// stop ends a process whose output nobody reads on.
func (p *process) stop() {
	if p.ended {
		return
	}
	p.ended = true
	p.out.Close()
	_ = p.cmd.Process.Kill() // an error says that it has ended
	_ = p.cmd.Wait()
}

// head keeps the first bytes of an error stream, and drops the rest.
type head struct {
	seen bool
	text []byte
}

// Write implements io.Writer.
func (h *head) Write(b []byte) (int, error) {
	h.seen = h.seen || len(b) > 0
	h.text = append(h.text, b[:min(len(b), 64-len(h.text))]...)
	return len(b), nil
}

// class returns the sort of an error by the words of DuckDB that are the same for every cell.
func (h *head) class() string {
	for _, class := range []string{"Binder Error", "Catalog Error", "Conversion Error", "Invalid Error",
		"Invalid Input Error", "Invalid unicode", "IO Error", "Mismatch Type Error", "Not implemented Error",
		"Out of Memory Error",
		"Out of Range Error", "Parser Error", "Permission Error"} {
		if strings.HasPrefix(string(h.text), class) {
			return "the error class " + class
		}
	}
	return "an error"
}

// ExtensionsVariable names the environment variable that holds the folder of DuckDB's extensions; by default it is the
// one into which INSTALL puts them. An extension is for one version of DuckDB, which signs it, and weir downloads none.
const ExtensionsVariable = "WEIR_DUCKDB_EXTENSIONS"

// extensions returns the folder of extensions; "" where the user has no home.
func extensions() string {
	if dir := os.Getenv(ExtensionsVariable); dir != "" {
		return dir
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return filepath.Join(home, ".duckdb", "extensions")
}

// extended returns the setting by which DuckDB looks for extensions there.
func extended() string { return "SET extension_directory=" + text(extensions()) }

// sqliteSettings returns the statements that attach a SQLite file. SQLite opens it by its name, which it finds by the
// descriptor; so its rows are held to their content again behind all that is kept of them.
func sqliteSettings() []string {
	return []string{extended(), "LOAD sqlite_scanner",
		"ATTACH " + text(descriptor(0)) + " AS weir_source (TYPE sqlite, READ_ONLY)"}
}

// installed refuses a DuckDB that has no extension for SQLite.
func (s *Session) installed(ctx context.Context) error {
	asked := copied("SELECT installed, version() FROM duckdb_extensions() WHERE extension_name = 'sqlite_scanner'")
	p, err := s.launch(ctx, strings.NewReader(extended()+";\n"+asked+";\n"))
	if err != nil {
		return err
	}
	defer p.stop()
	row, err := newCells(p.out).row(nil, 2)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if len(row) == 2 && string(row[0].text) == "true" {
		return nil
	}
	version := "it"
	if len(row) == 2 {
		version = string(row[1].text)
	}
	return fmt.Errorf("%s: needs DuckDB's extension for SQLite, and %s has none installed; INSTALL sqlite in DuckDB, "+
		"or name the folder of its extensions in the environment variable %s", s.name, version, ExtensionsVariable)
}

// walMode is the version of SQLite's file format by which rows may lie in a log (bytes 18 and 19; "Database File
// Format", sqlite.org, 1.3.3).
const walMode = 2

// settled refuses a SQLite file with a journal or a log, in which rows may lie that are not in the file, or which
// reading would write.
func (s *Session) settled(f *os.File) error {
	head := make([]byte, 20)
	if _, err := f.ReadAt(head, 0); err != nil || string(head[:16]) != "SQLite format 3\x00" {
		return fmt.Errorf("%s: is not an SQLite file, must be one", s.name)
	}
	if head[18] == walMode || head[19] == walMode {
		return fmt.Errorf("%s: is a SQLite file with a write-ahead log; PRAGMA journal_mode=DELETE in SQLite ends that, "+
			"in the file or in a copy of it", s.name)
	}
	real, err := filepath.EvalSymlinks(f.Name())
	if err != nil {
		return fmt.Errorf("%s: is no longer there: %w", s.name, errors.Unwrap(err))
	}
	for _, log := range []string{"-journal", "-wal"} {
		if _, err := os.Stat(real + log); !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s: has a journal (%s) beside it, so it is being changed or was left in the middle of it; "+
				"open and close it in SQLite", s.name, log)
		}
	}
	return nil
}
