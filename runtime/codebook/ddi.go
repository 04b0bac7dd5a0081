package codebook

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"weir/pipeline/domain"
	"weir/schema"
)

// ddiVariable is what a DDI codebook (version 2.5, as IPUMS writes it) says of a column. Other elements describe
// the study and are not read.
type ddiVariable struct {
	Name     string `xml:"name,attr"`
	Interval string `xml:"intrvl,attr"` // discrete, contin, or not given
	Decimals string `xml:"dcml,attr"`
	Label    string `xml:"labl"`
	Format   struct {
		Type string `xml:"type,attr"`
	} `xml:"varFormat"`
	Ranges []struct {
		Least string `xml:"min,attr"`
		Most  string `xml:"max,attr"`
	} `xml:"valrng>range"`
	Gone []struct {
		Value string `xml:"VALUE,attr"`
	} `xml:"invalrng>item"`
	Codes []struct {
		Missing string `xml:"missing,attr"`
		Value   string `xml:"catValu"`
		Label   string `xml:"labl"`
	} `xml:"catgry"`
}

// importDDI reads the variables of a DDI codebook, each problem with its line.
func importDDI(file string, data []byte) (*Imported, error) {
	d, lines := xml.NewDecoder(bytes.NewReader(data)), &lineCounter{data: data}
	d.CharsetReader = func(name string, _ io.Reader) (io.Reader, error) {
		return nil, fmt.Errorf("is in the encoding %.20q, must be UTF-8", name)
	}
	created, root := &Imported{Domain: &domain.Domain{}}, true
	var problems schema.Problems
	for {
		t, err := d.Token()
		if errors.Is(err, io.EOF) && !root {
			break
		}
		line := lines.of(d.InputOffset())
		if err != nil {
			return nil, fmt.Errorf("%s:%d: is damaged: %w", file, line, err)
		}
		start, ok := t.(xml.StartElement)
		switch {
		case !ok:
		case root && start.Name.Local != "codeBook":
			return nil, fmt.Errorf("%s:%d: is an XML document of the element %.40q, must be a DDI codebook, of codeBook", file,
				line, start.Name.Local)
		case start.Name.Local == "var":
			var v ddiVariable
			if err := d.DecodeElement(&v, &start); err != nil {
				return nil, fmt.Errorf("%s:%d: is damaged: %w", file, line, err)
			}
			c, ps := v.column(file)
			for _, p := range ps {
				p.File, p.Line, p.Column = file, line, 1
				problems = append(problems, p)
			}
			created.Domain.Columns = append(created.Domain.Columns, c)
		}
		root = root && !ok
	}
	if len(problems) > 0 {
		return nil, problems
	}
	return created, nil
}

// lineCounter turns ascending places of a text into lines.
type lineCounter struct {
	data []byte
	at   int64
	line int
}

func (l *lineCounter) of(offset int64) int {
	l.line += bytes.Count(l.data[l.at:offset], []byte("\n"))
	l.at = offset
	return l.line + 1
}

// column declares a variable: a discrete one by its codes, any other by its range.
func (v *ddiVariable) column(file string) (c domain.Column, ps schema.Problems) {
	c = domain.Column{Name: v.Name, Source: "public"}
	if !slices.Contains([]string{"", "discrete", "contin"}, v.Interval) {
		ps.Unknown("var.intrvl", "kind of a variable", v.Interval, []string{"discrete", "contin"})
	}
	if !slices.Contains([]string{"", "numeric", "character"}, v.Format.Type) {
		ps.Unknown("var.varFormat.type", "type of a variable", v.Format.Type, []string{"numeric", "character"})
	}
	codes := v.codes(&c)
	label := strings.TrimSpace(v.Label)
	switch {
	case v.Interval != "contin" && len(codes) > 0:
		var values []string
		for _, code := range codes {
			values = append(values, code.Value)
		}
		listed(&c, values, false)
		c.Doc = sentence(short(label), labels(codes), "codes by "+file)
	case v.Format.Type == "character":
		c.Type = domain.Text
		undecided(&c, label, "no list of values given")
	default:
		ps = append(ps, v.number(&c, file, label, codes)...)
	}
	return c, ps
}

// codes returns the values with labels; those that the file says are missing go to the column.
func (v *ddiVariable) codes(c *domain.Column) (list []Code) {
	spelled := func(text string) string {
		if text = strings.TrimSpace(text); v.Format.Type == "character" || strings.Trim(text, "0123456789") != "" {
			return text
		}
		return plainCode(text) // rows have no leading zeros
	}
	for _, item := range v.Gone {
		c.Missing = append(c.Missing, spelled(item.Value))
	}
	for _, code := range v.Codes {
		if value := spelled(code.Value); strings.EqualFold(code.Missing, "Y") && !slices.Contains(c.Missing, value) {
			c.Missing = append(c.Missing, value)
		} else if !slices.Contains(c.Missing, value) {
			list = append(list, Code{value, strings.TrimSpace(code.Label)})
		}
	}
	c.Nullable = len(c.Missing) > 0
	return list
}

// number declares a number, whose codes are values or stand for missing: that the file does not say.
func (v *ddiVariable) number(c *domain.Column, file, label string, codes []Code) (ps schema.Problems) {
	c.Type = domain.Integer
	places := 0
	if v.Decimals != "" {
		var err error
		if places, err = strconv.Atoi(v.Decimals); err != nil || places < 0 || places > 15 {
			ps.Add("var.dcml", fmt.Sprintf("%.20q", v.Decimals), "a number of decimals from 0 to 15")
		}
	}
	if c.Step = 1; places > 0 {
		c.Type = domain.Numeric
		c.Step, _ = strconv.ParseFloat("1e-"+strconv.Itoa(places), 64)
	}
	lacks := "bounds are not given"
	if len(v.Ranges) == 1 && v.Ranges[0].Least != "" && v.Ranges[0].Most != "" {
		least, err1 := strconv.ParseFloat(v.Ranges[0].Least, 64)
		most, err2 := strconv.ParseFloat(v.Ranges[0].Most, 64)
		if err1 != nil || err2 != nil || least-least != 0 || most-most != 0 {
			ps.Add("var.valrng.range", fmt.Sprintf("%.20q to %.20q", v.Ranges[0].Least, v.Ranges[0].Most), "two numbers")
			return ps
		}
		c.Bounds, lacks = &[2]float64{least, most}, ""
		c.Doc = sentence(short(label), "range by "+file)
	}
	if len(codes) > 0 {
		lacks = sentence(lacks, labels(codes)+" are labelled: values, or codes for missing")
	}
	if lacks != "" {
		undecided(c, label, strings.TrimSuffix(lacks, "."))
	}
	return ps
}
