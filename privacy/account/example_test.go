package account_test

import (
	"fmt"

	"weir/privacy"
	"weir/privacy/account"
)

// ExampleByName: a Gaussian release with as much noise as its sensitivity, at delta 1e-5. Case
// F08 of testdata/golden/accounting.json: 4.3772 exactly (Balle and Wang 2018), and
// rho 0.5, of which alpha/2 + ln(1-1/alpha) - ln(delta alpha)/(alpha-1) is least, 4.728,
// at alpha 5.43 (Canonne, Kamath, Steinke 2020, proposition 12).
func ExampleByName() {
	release := []privacy.Event{privacy.Gaussian{NoiseMultiplier: 1}}
	for _, name := range []string{"pld", "zcdp"} {
		accountant, err := account.ByName(name)
		if err != nil {
			panic(err)
		}
		epsilon, err := accountant.Epsilon(release, privacy.AddRemove, 1e-5)
		if err != nil {
			panic(err)
		}
		fmt.Printf("%s: %.3f\n", accountant.Name(), epsilon)
	}
	// Output:
	// pld: 4.377
	// zcdp: 4.728
}
