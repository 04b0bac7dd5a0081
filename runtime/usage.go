package runtime

// UsageError is a mistake of who asked: what was named cannot be read as what it was named for, or does not fit the
// rest of what was asked.
type UsageError struct{ err error }

func (e *UsageError) Error() string { return e.err.Error() }
func (e *UsageError) Unwrap() error { return e.err }

// Misused returns err as a UsageError; nil stays nil.
func Misused(err error) error {
	if err == nil {
		return nil
	}
	return &UsageError{err}
}
