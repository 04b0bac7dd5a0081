package kernel

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestLevelFollowsGODEBUG: GODEBUG chooses the lower kernels: the test runs itself with each setting.
func TestLevelFollowsGODEBUG(t *testing.T) {
	if os.Getenv("KERNEL_PRINT_LEVEL") != "" {
		t.Log("level=" + best.name)
		return
	}
	all := tables()
	for setting, highest := range map[string]int{"": 2, "cpu.avx512f=off": 1, "cpu.avx2=off": 0} {
		cmd := exec.Command(os.Args[0], "-test.run=TestLevelFollowsGODEBUG", "-test.v")
		cmd.Env = append(os.Environ(), "KERNEL_PRINT_LEVEL=1", "GODEBUG="+setting)
		out, err := cmd.CombinedOutput()
		want := "level=" + all[min(highest, len(all)-1)].name
		if err != nil || !strings.Contains(string(out), want+"\n") {
			t.Errorf("GODEBUG=%q: want %s, got %v\n%s", setting, want, err, out)
		}
	}
}
