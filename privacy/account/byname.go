package account

import (
	"fmt"
	"strings"

	"weir/privacy"
	"weir/privacy/pld"
)

// Names lists the accountants, tightest first.
func Names() []string { return []string{"pld", "rdp"} }

// ByName returns the accountant that a spec or a command line names.
func ByName(name string) (privacy.Accountant, error) {
	switch name {
	case "pld":
		return pld.New(), nil
	case "rdp":
		return RDP{}, nil
	}
	return nil, fmt.Errorf("accountant: is %q, must be one of %s", name, strings.Join(Names(), ", "))
}
