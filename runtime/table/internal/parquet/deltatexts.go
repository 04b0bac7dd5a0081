package parquet

import (
	"errors"

	"github.com/apache/arrow/go/v15/parquet"
)

// What the texts of a page may share with those before them is bounded: each of n
// bytes more can repeat all n before it. The first 4 KiB of a text count for nothing,
// so that the texts of people are read however alike they are.
const (
	freelyShared = 4 << 10
	sharedFloor  = 64 << 20
	sharedFactor = 256
)

var errShared = UnsupportedError{errors.New("has long texts that repeat each other beyond what is read (DELTA_BYTE_ARRAY: 64 MiB and 256 times the page, not counting the first 4 KiB of each text); write them in another encoding")}

// deltaTexts are texts of which the lengths come first.
type deltaTexts struct {
	lengths deltas
	text    []byte
}

// sharingTexts say before their lengths how much of the text before each begins with.
type sharingTexts struct {
	deltaTexts
	prefixes deltas
	last     []byte
	made     int64 // bytes of the next values, as upto found
	left     int64 // of what may be shared
}

func textsOf(e parquet.Encoding, body []byte, n int64) (decoder[parquet.ByteArray], error) {
	switch e {
	case parquet.Encodings.DeltaLengthByteArray:
		d := &deltaTexts{}
		return d, d.begin(body, n)
	case parquet.Encodings.DeltaByteArray:
		return sharing(body, n)
	}
	return nil, notRead(e)
}

func sharing(body []byte, n int64) (_ *sharingTexts, err error) {
	d := &sharingTexts{left: sharedFloor + sharedFactor*int64(len(body))}
	if d.prefixes, err = newDeltas(body, n); err != nil {
		return nil, err
	}
	if body, err = d.prefixes.behind(); err != nil {
		return nil, err
	}
	return d, d.begin(body, n)
}

func (d *deltaTexts) begin(body []byte, n int64) (err error) {
	if d.lengths, err = newDeltas(body, n); err != nil {
		return err
	}
	d.text, err = d.lengths.behind()
	return err
}

func (d *deltaTexts) next(to []parquet.ByteArray) error {
	for i := range to {
		n, err := d.lengths.next()
		if err != nil || n < 0 || n > int64(len(d.text)) {
			return errFew
		}
		to[i], d.text = d.text[:n:n], d.text[n:]
	}
	return nil
}

// upto implements maker. It looks ahead in copies; what cannot be true is left to next.
func (d *sharingTexts) upto(n, room int64) (values, bytes int64) {
	prefixes, lengths, last, rest := d.prefixes, d.lengths, int64(len(d.last)), int64(len(d.text))
	for d.made = 0; values < n; values++ {
		prefix, err := prefixes.next()
		length, wrong := lengths.next()
		if err != nil || wrong != nil || prefix < 0 || prefix > last || length < 0 || length > rest {
			return n, d.made // the page ends here
		}
		last, rest = prefix+length, rest-length
		if d.made+last > room && values > 0 {
			break
		}
		d.made += last
	}
	return values, d.made
}

func (d *sharingTexts) next(to []parquet.ByteArray) error {
	made := make([]byte, 0, d.made)
	for i := range to {
		prefix, err := d.prefixes.next()
		if err != nil || prefix < 0 || prefix > int64(len(d.last)) {
			return errFew
		}
		if d.left -= max(0, prefix-freelyShared); d.left < 0 {
			return errShared
		}
		if err := d.deltaTexts.next(to[i : i+1]); err != nil {
			return err
		}
		at := len(made)
		made = append(append(made, d.last[:prefix]...), to[i]...)
		to[i] = made[at:len(made):len(made)]
		d.last = to[i]
	}
	return nil
}
