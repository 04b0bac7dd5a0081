package codebook

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// isDictionary: a JSON object is a dictionary of NIST's data excerpts, any other text a
// codebook of lines.
func isDictionary(data []byte) bool {
	return bytes.HasPrefix(bytes.TrimSpace(data), []byte("{"))
}

// dictionary reads {NAME: {"description": ..., "values": {CODE: label, "min": ..., "max":
// ...}}}: codes, and a range of numbers where min and max are given. Columns without such
// values (a text that describes them) have a doc alone.
func (b *Book) dictionary(file string, data []byte) error {
	return whole(data, func(d *json.Decoder, name string) error {
		var topic struct {
			Description any             `json:"description"`
			Values      json.RawMessage `json:"values"`
		}
		if err := d.Decode(&topic); broken(err) {
			return err
		} else if err != nil {
			return fmt.Errorf("%.60q: is of another form, must be an object with a description and values", name)
		}
		e := b.entry(name)
		if text, ok := topic.Description.(string); ok && e.Doc == "" {
			e.Doc = strings.TrimSpace(text)
		}
		if b.sources[name] != "" || !bytes.HasPrefix(bytes.TrimSpace(topic.Values), []byte("{")) {
			return nil
		}
		if err := e.values(topic.Values); err != nil {
			return fmt.Errorf("%.60q: values: %w", name, err)
		}
		if len(e.Codes) > 0 || e.Range != nil {
			b.sources[name] = file
		}
		return nil
	})
}

func (e *Entry) values(data []byte) error {
	ends := map[string]float64{}
	err := whole(data, func(d *json.Decoder, key string) error {
		var v scalar
		if err := d.Decode(&v); err != nil {
			return fmt.Errorf("%.60q: is of another type, must be text or a number", key)
		}
		if key != "min" && key != "max" {
			e.Codes = append(e.Codes, Code{key, string(v)})
			return nil
		}
		x, err := strconv.ParseFloat(string(v), 64)
		if err != nil || x-x != 0 {
			return fmt.Errorf("%s: is %.60q, must be a number", key, v)
		}
		ends[key] = x
		return nil
	})
	least, one := ends["min"]
	most, two := ends["max"]
	switch {
	case err != nil || !one && !two:
		return err
	case !one || !two || !(least < most):
		return fmt.Errorf("has min and max that give no range, must have both, min below max")
	}
	e.Range = &[2]float64{least, most}
	return nil
}
