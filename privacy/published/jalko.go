package published

import (
	"weir/privacy"
	"weir/privacy/account"
)

// Jalko is the epsilon that the programs of Jälkö et al. 2021 report under replace_one for
// phases of DP-SGD: twice that of Poisson batches under add_remove at half of delta, by
// Renyi divergences at integer orders below 500 and the classic conversion.
//
// It is no group privacy: of two moves, each (e, d), the second's delta is stretched by
// exp(e), so that what is proven of this epsilon has delta times (1+exp(epsilon/2))/2. Nor are
// the programs' batches Poisson: they are drawn without replacement.
func Jalko(delta float64, phases ...Phase) (float64, error) {
	accountant := account.RDP{Conversion: account.Classic, Orders: account.IntegerOrders(2, 499)}
	epsilon, err := accountant.Epsilon(Events(phases...), privacy.AddRemove, delta/2)
	return 2 * epsilon, err
}
