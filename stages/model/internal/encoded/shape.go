// Package encoded says what a net needs to know of an encoded table.
package encoded

import (
	"fmt"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/schema"
	"weir/train/net"
)

// Width is the number of float32 columns of an encoded row.
func Width(d *domain.Domain) int {
	n := 0
	for _, c := range d.Columns {
		n += c.Encoding.Width
	}
	return n
}

// Outputs are the activations of a generator's last layer: softmax over each
// one-hot group, or a sigmoid for each of its cells where they are separate, tanh or sigmoid for a
// number scaled to [-1,1] or [0,1], none for a standardised one.
func Outputs(d *domain.Domain) net.Layer {
	var blocks []net.Block
	for _, c := range d.Columns {
		blocks = append(blocks, net.Block{Activation: activation(c.Encoding), Width: c.Encoding.Width})
	}
	return net.Blocks(blocks...)
}

func activation(e *domain.Encoding) string {
	switch {
	case e.Separate():
		return "sigmoid"
	case e.Form == domain.OneHot:
		return "softmax"
	case e.Form == domain.MinMax && e.Range[0] < 0:
		return "tanh"
	case e.Form == domain.MinMax:
		return "sigmoid"
	}
	return "linear"
}

// Need is a problem of the columns that a model cannot take.
func Need(h pipeline.Header, ps *schema.Problems) {
	var raw []string
	for _, c := range h.Domain.Columns {
		if c.Encoding == nil {
			raw = append(raw, fmt.Sprintf("%s (%s)", c.Name, c.Type))
		}
	}
	if len(raw) > 0 {
		ps.Add("from", "a table whose "+pipeline.ColumnsAre(raw)+" not encoded", "the output of a stage of kind encode; drop columns that no model needs")
		return
	}
	if len(h.Domain.History) == 0 || h.Domain.History[len(h.Domain.History)-1].Kind != "encode" {
		ps.Add("from", "a table that is not the direct result of encode", "the output of a stage of kind encode")
	}
}

// ModelHeader is the header of what a stage releases: a model of the encoded
// domain of in.
func ModelHeader(in pipeline.Header) pipeline.Header {
	return pipeline.Header{Form: pipeline.FormModel, Schema: pipeline.FilesSchema(), Domain: in.Domain, Class: pipeline.Released, Terms: in.Terms}
}
