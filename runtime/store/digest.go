package store

import (
	"encoding/json"
	"fmt"

	"weir/internal/disk"
	"weir/privacy"
)

// DigestFile is the digest and the size of a file.
func DigestFile(path string) (string, int64, error) {
	f, err := disk.Open(path)
	if err != nil {
		return "", 0, err
	}
	defer f.Close()
	return privacy.DigestReader(f)
}

// DigestJSON is the digest of plain data; what cannot be written is an error, never
// part of a name.
func DigestJSON(v any) (string, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return "", fmt.Errorf("digest: %w", err)
	}
	return privacy.Digest(data), nil
}

// Compact is v as compact JSON: run.json is indented, a plan in memory is not.
func Compact(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(data)
}
