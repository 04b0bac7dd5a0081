package ledger

// Store is the file of a ledger, as small as a ledger needs. OpenFile gives the
// one on disk; tests use others, to fail at every call.
type Store interface {
	Lock() (unlock func() error, err error) // waits for other processes
	ReadAll() ([]byte, error)               // nothing where there is no file yet
	Append(data []byte) error
	Truncate(size int64) error
	Aside(data []byte) (path string, err error) // keeps data elsewhere, on disk when it returns
	Sync() error                                // returns when data, size and name are on disk
}
