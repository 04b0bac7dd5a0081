// Command ratios runs BenchmarkStep and BenchmarkScaling of package train and
// prints the ratios that docs/design quotes. It takes the best of several runs,
// since other work on the machine can only slow a run down.
//
//	go run ./train/internal/ratios [-count 5] [-cpu 1]
package main

import (
	"flag"
	"fmt"
	"log"
	"os/exec"
	"regexp"
	"strconv"
)

func main() {
	count := flag.Int("count", 5, "runs of which the best counts")
	cpu := flag.Int("cpu", 1, "cores that each side of a step may use")
	flag.Parse()
	best := map[string]float64{}
	run(best, "^BenchmarkStep$", "500x", *count, *cpu)
	run(best, "^BenchmarkScaling$", "3x", *count, 2)
	report(best)
}

var line = regexp.MustCompile(`(?m)^Benchmark(\S+?)(?:-\d+)?\s+\d+\s+([0-9.]+) ns/op`)

// run keeps the least time of each benchmark in best, in nanoseconds.
func run(best map[string]float64, bench, times string, count, cpu int) {
	args := []string{"test", "weir/train", "-run", "^$", "-bench", bench, "-benchtime", times,
		"-count", strconv.Itoa(count), "-cpu", strconv.Itoa(cpu)}
	out, err := exec.Command("go", args...).CombinedOutput()
	if err != nil {
		log.Fatalf("go test: %v\n%s", err, out)
	}
	for _, m := range line.FindAllStringSubmatch(string(out), -1) {
		ns, err := strconv.ParseFloat(m[2], 64)
		if old, ok := best[m[1]]; err == nil && (!ok || ns < old) {
			best[m[1]] = ns
		}
	}
}

func report(best map[string]float64) {
	fmt.Printf("%-16s %12s %12s %12s %20s %16s\n", "step", "reference us", "plain us", "private us", "reference/private", "private/plain")
	for _, name := range []string{"critic", "critic_one_hot", "autoencoder", "wgan_gp"} {
		r, p, d := best["Step/"+name+"/reference"], best["Step/"+name+"/plain"], best["Step/"+name+"/private"]
		fmt.Printf("%-16s %12.1f %12.1f %12.1f %20.2f %16.2f\n", name, r/1e3, p/1e3, d/1e3, r/d, d/p)
	}
	fmt.Printf("scaling of 64 critics, 1 core / 2 cores: %.2f\n", best["Scaling/cores=1"]/best["Scaling/cores=2"])
}
