package privacy_test

import (
	"crypto/sha256"
	"strings"
	"testing"

	"weir/privacy"
)

// TestDigests: the digest of "abc" is in FIPS 180-4 (NIST, SHA-256 example, one block).
func TestDigests(t *testing.T) {
	const want = "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
	h := sha256.New()
	h.Write([]byte("abc"))
	read, n, err := privacy.DigestReader(strings.NewReader("abc"))
	if n != 3 || err != nil {
		t.Errorf("read %d bytes, %v", n, err)
	}
	for how, got := range map[string]string{"Digest": privacy.Digest([]byte("abc")), "DigestHash": privacy.DigestHash(h),
		"DigestReader": read} {
		if got != want {
			t.Errorf("%s gives %s, must give %s", how, got, want)
		}
	}
}
