package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"weir/specs"
)

// specsHelp is part of the help of commands that read several specs as one experiment.
const specsHelp = `SPEC is a path, or specs:NAME for one that is built in; where no spec has that name,
all whose names begin with NAME and a hyphen. Several, of one folder, are one experiment.`

// several are the specs that arguments name: specs:NAME where no spec is called so stands for all built-in
// specs of that family, in alphabetical order.
func several(args []string) []string {
	var list []string
	for _, arg := range args {
		list = append(list, family(arg)...)
	}
	return list
}

func family(arg string) []string {
	name, builtIn := strings.CutPrefix(arg, "specs:")
	if _, known := specs.Read(name); !builtIn || known || name == "" {
		return []string{arg}
	}
	var list []string
	for _, other := range specs.Names() {
		if strings.HasPrefix(other, name+"-") {
			list = append(list, "specs:"+other)
		}
	}
	if len(list) == 0 {
		return []string{arg} // its error lists what there is
	}
	return list
}

// atLeastOne takes one spec or more.
func atLeastOne(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return usage(c, fmt.Errorf("given no SPEC, must be given one or more"))
	}
	return nil
}
