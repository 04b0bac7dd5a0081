package main

import (
	"io"

	"weir/internal/plaintext"
)

// plainly writes to w what can be shown as it is and spells the rest: what is printed
// of a ledger, a record or a plan may have been written by anyone. Whole lines or
// words are to be written at a time.
func plainly(w io.Writer) io.Writer { return plainWriter{w} }

type plainWriter struct{ w io.Writer }

func (p plainWriter) Write(b []byte) (int, error) {
	if _, err := io.WriteString(p.w, plaintext.Text(string(b))); err != nil {
		return 0, err
	}
	return len(b), nil
}
