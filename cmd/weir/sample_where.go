package main

import (
	"encoding/csv"
	"fmt"
	"strings"

	"weir/pipeline/domain"
)

// conditions reads COLUMN=VALUE,... as it stands on a command line. A value with a comma is
// quoted as in a CSV file.
func conditions(list []string) (map[string]domain.Choice, error) {
	where := map[string]domain.Choice{}
	for _, text := range list {
		name, values, ok := strings.Cut(text, "=")
		if !ok || name == "" || values == "" {
			return nil, fmt.Errorf("--where: is %q, must be COLUMN=VALUE,... such as region=north,south or age=18..30", text)
		}
		if _, twice := where[name]; twice {
			return nil, fmt.Errorf("--where: is given twice for the column %s, must be given once with all its values", name)
		}
		fields, err := csv.NewReader(strings.NewReader(values)).Read()
		if err != nil {
			return nil, fmt.Errorf("--where: is %q, must have a quote before and after a value with a comma, as in a CSV file", text)
		}
		where[name] = fields
	}
	return where, nil
}
