package train

import "fmt"

// checking adds to errs, for each check that fails, which field is out of range.
func checking(errs *[]error) func(ok bool, name string, value any, need string) {
	return func(ok bool, name string, value any, need string) {
		if !ok {
			*errs = append(*errs, fmt.Errorf("%s: is %v, must be %s", name, value, need))
		}
	}
}
