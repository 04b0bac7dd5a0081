package runtime

import (
	"os"

	"weir/privacy/digest"
)

// digestFile is the sha256 and size of a file's bytes.
func digestFile(path string) (string, int64, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", 0, err
	}
	defer f.Close()
	return digest.Read(f)
}

// FileDigest is the sha256 of a file's bytes, as records write it.
func FileDigest(path string) (string, error) {
	digest, _, err := digestFile(path)
	return digest, err
}
