package plots

import (
	"testing"

	"weir/internal/stattest"
)

func TestMain(m *testing.M) { stattest.Sparing(m, 800) }
