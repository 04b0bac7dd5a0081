package codebook

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// object reads a JSON object key by key, in its order; a key that comes twice is an error.
func object(d *json.Decoder, each func(key string) error) error {
	if t, err := d.Token(); broken(err) {
		return err
	} else if t != json.Delim('{') {
		return errors.New("is no JSON object, must be one")
	}
	seen := map[string]bool{}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return err
		}
		key := t.(string) // a key of an object is nothing else
		if seen[key] {
			return fmt.Errorf("%.60q: is listed a second time, must be listed once", key)
		}
		seen[key] = true
		if err := each(key); err != nil {
			return err
		}
	}
	_, err := d.Token()
	return err
}

// whole reads a file that is one JSON object, and says of damage where it is.
func whole(data []byte, each func(d *json.Decoder, key string) error) error {
	d := json.NewDecoder(bytes.NewReader(data))
	if err := object(d, func(key string) error { return each(d, key) }); broken(err) {
		return fmt.Errorf("is damaged at byte %d: %w", d.InputOffset(), err)
	} else if err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("has text behind its object, must be one JSON object")
	}
	return nil
}

// broken tells JSON that ends or breaks from JSON that says something else.
func broken(err error) bool {
	var syntax *json.SyntaxError
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &syntax)
}
