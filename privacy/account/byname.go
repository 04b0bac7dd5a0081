package account

import (
	"fmt"
	"strings"

	"weir/privacy"
	"weir/privacy/pld"
)

// Names returns the accountants that ByName knows, the tightest first.
func Names() []string { return []string{"pld", "rdp", "zcdp", "moments", "advanced", "basic"} }

// ByName returns the accountant called name.
func ByName(name string) (privacy.Accountant, error) {
	switch name {
	case "pld":
		return pld.New(), nil
	case "rdp":
		return RDP{}, nil
	case "zcdp":
		return ZCDP{}, nil
	case "moments":
		return Moments{}, nil
	case "advanced":
		return Advanced{}, nil
	case "basic":
		return Basic{}, nil
	}
	return nil, fmt.Errorf("accountant: is %q, must be one of %s", name, strings.Join(Names(), ", "))
}
