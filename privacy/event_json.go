package privacy

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"math"
	"strings"

	"weir/privacy/noise"
)

// JSON holds an event inside a JSON document.
type JSON struct{ Event }

// MarshalJSON writes the one-key form, or null where there is no event.
func (j JSON) MarshalJSON() ([]byte, error) {
	if j.Event == nil {
		return []byte("null"), nil
	}
	return MarshalEvent(j.Event)
}

// UnmarshalJSON reads the one-key form; null is not an event.
func (j *JSON) UnmarshalJSON(b []byte) error {
	if bytes.Equal(bytes.TrimSpace(b), []byte("null")) {
		j.Event = nil
		return nil
	}
	e, err := ParseEvent(b)
	if err == nil {
		j.Event = e
	}
	return err
}

// MarshalEvent writes a valid event as an object with one key, such as
// {"gaussian":{"noise_multiplier":1.1}}. Key order and number format are fixed,
// so that equal events have equal bytes. An infinite epsilon is the string "inf".
func MarshalEvent(e Event) ([]byte, error) {
	if err := Validate(e); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	writeEvent(&out, e)
	return out.Bytes(), nil
}

func writeEvent(out *bytes.Buffer, e Event) {
	fmt.Fprintf(out, `{"%s":{`, Name(e))
	switch e := e.(type) {
	case Gaussian:
		writeNumber(out, "noise_multiplier", e.NoiseMultiplier)
	case Laplace:
		writeNumber(out, "noise_multiplier", e.NoiseMultiplier)
	case DiscreteGaussian:
		writeNumber(out, "noise_multiplier", e.NoiseMultiplier)
	case DiscreteLaplace:
		writeNumber(out, "noise_multiplier", e.NoiseMultiplier)
	case Exponential:
		writeNumber(out, "epsilon", e.Epsilon)
	case RandomizedResponse:
		writeNumber(out, "epsilon", e.Epsilon)
	case ZCDP:
		writeNumber(out, "rho", e.Rho)
	case Pure:
		writeNumber(out, "epsilon", e.Epsilon)
	case Approximate:
		writeNumber(out, "epsilon", e.Epsilon)
		writeNumber(out, "delta", e.Delta)
	case PoissonSampled:
		writeNumber(out, "sampling_rate", e.SamplingRate)
		writeInner(out, e.Event)
	case SampledWithoutReplacement:
		fmt.Fprintf(out, `"sample_size":%d,"population":%d`, e.SampleSize, e.Population)
		writeInner(out, e.Event)
	case Repeated:
		fmt.Fprintf(out, `"count":%d`, e.Count)
		writeInner(out, e.Event)
	case Composed:
		writeEvents(out, e.Events)
	case Parallel:
		writeEvents(out, e.Events)
	}
	out.WriteString("}}")
}

func writeNumber(out *bytes.Buffer, key string, v float64) {
	if !bytes.HasSuffix(out.Bytes(), []byte("{")) {
		out.WriteByte(',')
	}
	if math.IsInf(v, 1) {
		fmt.Fprintf(out, `"%s":"inf"`, key)
		return
	}
	b, _ := json.Marshal(v) // finite: Validate has checked
	fmt.Fprintf(out, `"%s":%s`, key, b)
}

func writeInner(out *bytes.Buffer, e Event) {
	out.WriteString(`,"event":`)
	writeEvent(out, e)
}

func writeEvents(out *bytes.Buffer, events []Event) {
	out.WriteString(`"events":[`)
	for i, e := range events {
		if i > 0 {
			out.WriteByte(',')
		}
		writeEvent(out, e)
	}
	out.WriteByte(']')
}

// ParseEvent reads the one-key form that MarshalEvent writes. It is strict: an
// unknown, missing or doubled key, a wrong type, a value out of range and
// nesting deeper than maxDepth are errors, all of them reported at once, each
// with its path.
func ParseEvent(b []byte) (Event, error) {
	p := &parser{}
	if err := checkDepth(b); err != nil {
		return nil, err
	}
	e := p.event("event", b)
	if len(p.problems) > 0 {
		return nil, errors.Join(p.problems...)
	}
	if err := Validate(e); err != nil {
		return nil, err
	}
	return e, nil
}

// checkDepth refuses deep nesting before anything recurses. One level of events
// takes at most three brackets ({"composed":{"events":[).
func checkDepth(b []byte) error {
	depth, inString, escaped := 0, false, false
	for _, c := range b {
		switch {
		case escaped:
			escaped = false
		case inString:
			escaped, inString = c == '\\', c != '"'
		case c == '"':
			inString = true
		case c == '{' || c == '[':
			if depth++; depth > 3*maxDepth {
				return fmt.Errorf("event: is nested deeper than %d events", maxDepth)
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return nil
}

type parser struct{ problems []error }

func (p *parser) fail(path, format string, args ...any) {
	p.problems = append(p.problems, fmt.Errorf("%s: %s", path, fmt.Sprintf(format, args...)))
}

// event reads one one-key object; nil after a problem.
func (p *parser) event(path string, b []byte) Event {
	fields := p.object(path, b)
	if fields == nil {
		return nil
	}
	if len(fields) != 1 {
		p.fail(path, "has %d keys, must have exactly one of %s", len(fields), strings.Join(names(), ", "))
		return nil
	}
	name := fields[0].key
	inner := path + "." + name
	f := &fieldReader{p: p, path: inner}
	build, ok := f.builders()[name]
	if !ok {
		p.fail(path, "is %q, must be one of %s", name, strings.Join(names(), ", "))
		return nil
	}
	if f.fields = p.object(inner, fields[0].value); f.fields == nil {
		return nil
	}
	e := build()
	f.rest()
	return e
}

type field struct {
	key   string
	value json.RawMessage
}

// object returns the fields of b in order; nil after a problem.
func (p *parser) object(path string, b []byte) []field {
	dec := json.NewDecoder(bytes.NewReader(b))
	t, err := dec.Token()
	if err != nil {
		p.fail(path, "is not JSON: %v", err)
		return nil
	}
	if t != json.Delim('{') {
		p.fail(path, "is %s, must be an object", kindOf(b))
		return nil
	}
	fields, seen := []field{}, map[string]bool{}
	for dec.More() {
		key, err := dec.Token()
		var value json.RawMessage
		if err == nil {
			err = dec.Decode(&value)
		}
		if err != nil {
			p.fail(path, "is not JSON: %v", err)
			return nil
		}
		if k := key.(string); seen[k] {
			p.fail(path+"."+k, "is given twice")
		} else {
			seen[k] = true
			fields = append(fields, field{k, value})
		}
	}
	if _, err := dec.Token(); err != nil {
		p.fail(path, "is not JSON: %v", err)
		return nil
	}
	if len(bytes.TrimSpace(b[dec.InputOffset():])) > 0 {
		p.fail(path, "has text after the object")
		return nil
	}
	return fields
}

func kindOf(b []byte) string {
	switch b = bytes.TrimSpace(b); {
	case len(b) == 0:
		return "empty"
	case b[0] == '{':
		return "an object"
	case b[0] == '[':
		return "a list"
	case b[0] == '"':
		return "a string"
	case b[0] == 't' || b[0] == 'f':
		return "a boolean"
	case b[0] == 'n':
		return "null"
	}
	return "a number"
}

// Digest returns "sha256:" and the 64 hexadecimal digits of the SHA-256 of data, as records, ledgers and recipes name
// it.
func Digest(data []byte) string { return noise.WordSum(sha256.Sum256(data)) }

// DigestHash returns the digest of all that was written to h, a sha256.New().
func DigestHash(h hash.Hash) string { return noise.WordSum([sha256.Size]byte(h.Sum(nil))) }

// DigestReader returns the digest of all bytes of r, and their number.
func DigestReader(r io.Reader) (string, int64, error) {
	h := sha256.New()
	n, err := io.Copy(h, r)
	return DigestHash(h), n, err
}
