package pipeline

import "weir/pipeline/domain"

// CSV says how a text file is written. The zero value is RFC 4180 with a header.
type CSV struct {
	Encoding    string           `yaml:"encoding,omitempty" json:"encoding,omitempty" enum:"utf-8|latin-1|windows-1252|utf-16" doc:"Encoding of the file; utf-8 by default. UTF-16 is read in the order of bytes that its mark says, little-endian without one. What is written is UTF-8."`
	Sheet       string           `yaml:"sheet,omitempty" json:"sheet,omitempty" doc:"Sheet of an Excel workbook; needed where there are several."`
	Range       string           `yaml:"range,omitempty" json:"range,omitempty" doc:"First and last cell of the table in a sheet, such as B3:F40, or B3:F for all rows from the third on; the whole sheet by default."`
	Delimiter   string           `yaml:"delimiter" json:"delimiter,omitempty" doc:"One character; a comma by default, a tab for .tsv."`
	Header      *bool            `yaml:"header,omitempty" json:"header,omitempty" doc:"The first line names the columns; true by default."`
	Quote       string           `yaml:"quote,omitempty" json:"quote,omitempty" doc:"One character; the double quote by default."`
	Comment     string           `yaml:"comment,omitempty" json:"comment,omitempty" doc:"Lines that start with this are skipped."`
	Trim        bool             `yaml:"trim,omitempty" json:"trim,omitempty" doc:"Blanks around values are dropped, as in the original UCI files."`
	Missing     domain.Spellings `yaml:"missing,omitempty" json:"missing,omitempty" doc:"Spellings of a missing value in every column, beside the empty cell."`
	StripSuffix string           `yaml:"strip_suffix,omitempty" json:"strip_suffix,omitempty" doc:"Text dropped from the end of the last column, such as the full stop of adult.test."`
	Unknown     string           `yaml:"unknown,omitempty" json:"unknown,omitempty" enum:"error|missing" doc:"What becomes of a value outside the declared categories; error by default. Where they become missing, the column needs nullable: true."`
	Extra       string           `yaml:"extra,omitempty" json:"extra,omitempty" enum:"error|ignore" doc:"What becomes of a column of the file that the domain does not name; error by default."`
}
