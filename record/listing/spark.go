package listing

import (
	"fmt"
	"html/template"
	"slices"
	"strings"
)

// spark is the course of one figure over the runs of a spec.
type spark struct {
	Name        string
	Last        float64
	Low, High   float64
	Count       int
	Description string
	SVG         template.HTML
}

// group is the runs of one spec, with the course of their figures.
type group struct {
	Name   string
	Runs   int
	Bytes  int64
	Sparks []spark
}

// mostSparks is how many figures of a spec are drawn.
const mostSparks = 6

// groups returns the specs of a list that is newest first, by name.
func groups(runs []Run) []group {
	groups := map[string][]Run{}
	var names []string
	for _, r := range runs {
		if groups[r.Name] == nil {
			names = append(names, r.Name)
		}
		groups[r.Name] = append(groups[r.Name], r)
	}
	slices.Sort(names)
	list := make([]group, len(names))
	for i, name := range names {
		list[i] = groupOf(name, groups[name])
	}
	return list
}

func groupOf(name string, runs []Run) group {
	g := group{Name: name, Runs: len(runs)}
	for _, r := range runs {
		g.Bytes += r.Bytes
	}
	for _, figure := range figures(runs) {
		if len(g.Sparks) == mostSparks {
			break
		}
		g.Sparks = append(g.Sparks, sparkOf(figure, runs))
	}
	return g
}

// sparkOf draws a figure from the oldest run to the newest.
func sparkOf(figure string, runs []Run) spark {
	var values []float64
	for _, r := range slices.Backward(runs) {
		if v, ok := r.Metrics[figure]; ok {
			values = append(values, v)
		}
	}
	s := spark{Name: figure, Last: values[len(values)-1], Low: slices.Min(values), High: slices.Max(values),
		Count: len(values)}
	s.Description = fmt.Sprintf("%d runs, oldest first, from %.4f to %.4f", s.Count, values[0], s.Last)
	s.SVG = line(values, s.Low, s.High)
	return s
}

// Size of a sparkline, in pixels.
const (
	sparkWidth  = 160
	sparkHeight = 32
	sparkMargin = 4
)

// line draws values as a line with a dot at its end. It holds numbers alone, so that
// nothing has to be escaped.
func line(values []float64, low, high float64) template.HTML {
	var points []string
	var x, y float64
	for i, v := range values {
		x, y = sparkWidth/2, sparkHeight/2
		if len(values) > 1 {
			x = sparkMargin + float64(i)*(sparkWidth-2*sparkMargin)/float64(len(values)-1)
		}
		if high > low {
			// halves: the range of two floats may be none
			y = sparkMargin + float64((sparkHeight-2*sparkMargin)*(1-(float64(v/2)-float64(low/2))/
				(float64(high/2)-float64(low/2))))
		}
		points = append(points, fmt.Sprintf("%.1f,%.1f", x, y))
	}
	return template.HTML(
		fmt.Sprintf(
			`<svg class="spark" viewBox="0 0 %d %d" aria-hidden="true"><polyline points="%s"/><circle cx="%.1f" cy="%.1f" r="2.6"/></svg>`,
			sparkWidth, sparkHeight, strings.Join(points, " "), x, y))
}
