package account

import (
	"fmt"
	"strings"

	"weir/privacy"
	"weir/privacy/pld"
)

// Default is the accountant of a spec or command that names none.
const Default = pld.Name

// accountants lists them all, the tightest first; each states its own name.
func accountants() []privacy.Accountant {
	return []privacy.Accountant{pld.New(), RDP{}, ZCDP{}, Moments{}, Advanced{}, Basic{}}
}

// Names returns the accountants that ByName knows, the tightest first.
func Names() []string {
	var names []string
	for _, a := range accountants() {
		names = append(names, a.Name())
	}
	return names
}

// ByName returns the accountant called name.
func ByName(name string) (privacy.Accountant, error) {
	for _, a := range accountants() {
		if a.Name() == name {
			return a, nil
		}
	}
	return nil, fmt.Errorf("accountant: is %q, must be one of %s", name, strings.Join(Names(), ", "))
}
