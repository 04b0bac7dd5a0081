package bundle

import (
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"
)

// payloadType is the type of an in-toto statement in an envelope.
const payloadType = "application/vnd.in-toto+json"

// envelope is a Dead Simple Signing Envelope (DSSE v1.0.2, github.com/secure-systems-lab/dsse, envelope.md). Its lines
// are few, and the library for it would link golang.org/x/crypto/ssh and ten packages more.
type envelope struct {
	PayloadType string      `json:"payloadType"`
	Payload     string      `json:"payload"` // base64
	Signatures  []signature `json:"signatures"`
}

type signature struct {
	KeyID string `json:"keyid"` // SHA-256 of the public key's SubjectPublicKeyInfo: a hint, which proves nothing
	Sig   string `json:"sig"`   // base64
}

// plain reports whether a signature is one of ed25519 beside the digest of a key, so that nobody can say anything in
// it.
func (s signature) plain() bool {
	sig, err := base64.StdEncoding.Strict().DecodeString(s.Sig)
	id, errID := hex.DecodeString(s.KeyID)
	return err == nil && errID == nil && len(sig) == ed25519.SignatureSize && len(id) == sha256.Size &&
		s.KeyID == strings.ToLower(s.KeyID)
}

// encoded returns what is signed, PAE of the specification (protocol.md): type and body with their lengths, so that no
// bytes can be read as another type and body.
func encoded(kind string, payload []byte) []byte {
	return fmt.Appendf(nil, "DSSEv1 %d %s %d %s", len(kind), kind, len(payload), payload)
}

// Sign puts the statement into an envelope that is signed by the key.
func (b *Bundle) Sign(key ed25519.PrivateKey) error {
	id, err := keyID(key.Public().(ed25519.PublicKey))
	if err != nil {
		return err
	}
	sig := ed25519.Sign(key, encoded(payloadType, b.statement))
	b.envelope, err = written(envelope{payloadType, base64.StdEncoding.EncodeToString(b.statement),
		[]signature{{id, base64.StdEncoding.EncodeToString(sig)}}})
	b.Signed = err == nil
	return err
}

// verify reports whether the holder of a key has signed the statement.
func (b *Bundle) verify(key ed25519.PublicKey) error {
	var e envelope
	if err := reread(b.envelope, &e); err != nil {
		return err
	}
	id, err := keyID(key)
	if err != nil {
		return err
	}
	for _, s := range e.Signatures {
		sig, err := base64.StdEncoding.Strict().DecodeString(s.Sig)
		if err == nil && s.KeyID == id && ed25519.Verify(key, encoded(payloadType, b.statement), sig) {
			return nil
		}
	}
	return errors.New("no signature of the statement is by the key that was given")
}

// checkEnvelope reports whether an envelope is one around the statement, whoever signed it.
func (b *Bundle) checkEnvelope() error {
	var e envelope
	if err := reread(b.envelope, &e); err != nil {
		return fmt.Errorf("%s: %w", envelopeName, err)
	}
	if len(e.Signatures) != 1 || !e.Signatures[0].plain() {
		return fmt.Errorf("%s: must hold one signature of ed25519 with the digest of its key, and nothing else", envelopeName)
	}
	payload, err := base64.StdEncoding.Strict().DecodeString(e.Payload)
	if err != nil || e.PayloadType != payloadType || string(payload) != string(b.statement) {
		return fmt.Errorf("%s: is around something else, must be around %s", envelopeName, statementName)
	}
	return nil
}

func keyID(key ed25519.PublicKey) (string, error) {
	der, err := x509.MarshalPKIXPublicKey(key)
	sum := sha256.Sum256(der)
	return hex.EncodeToString(sum[:]), err
}

// PrivateKey reads an ed25519 key in PKCS #8 (RFC 8410), PEM, as "openssl genpkey -algorithm ed25519" writes it. No
// error quotes what was read.
func PrivateKey(text []byte) (ed25519.PrivateKey, error) {
	const must = "must be an ed25519 key in PKCS #8, as openssl genpkey -algorithm ed25519 writes it"
	block, _ := pem.Decode(text)
	if block == nil || block.Type != "PRIVATE KEY" {
		return nil, errors.New("is not a PEM of a private key without a password, " + must)
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if signer, is := key.(ed25519.PrivateKey); err == nil && is {
		return signer, nil
	}
	return nil, errors.New("is a key of another kind, " + must)
}

// PublicKey reads an ed25519 public key (RFC 8410), PEM, as "openssl pkey -pubout" writes it.
func PublicKey(text []byte) (ed25519.PublicKey, error) {
	const must = "must be an ed25519 public key, as openssl pkey -pubout writes it"
	block, _ := pem.Decode(text)
	if block == nil || block.Type != "PUBLIC KEY" {
		return nil, errors.New("is not a PEM of a public key, " + must)
	}
	key, err := x509.ParsePKIXPublicKey(block.Bytes)
	if verifier, is := key.(ed25519.PublicKey); err == nil && is {
		return verifier, nil
	}
	return nil, errors.New("is a key of another kind, " + must)
}
