//go:build ignore

// Command ratios runs BenchmarkStep, BenchmarkGrowth and BenchmarkScaling of
// package train, and BenchmarkStep of stages/model/mixture, and prints the ratios that docs/design quotes. Times are
// the best of many short runs, since other work on the machine can only slow a run down; the
// ratios of medians stand beside the ratios of the best.
//
//	go run .ci/ratios.go [-count 40] [-cpu 1]
package main

import (
	"flag"
	"fmt"
	"log"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
)

func main() {
	count := flag.Int("count", 40, "runs of each side of a step")
	cpu := flag.Int("cpu", 1, "cores that each side of a step may use")
	flag.Parse()
	t := times{}
	// Ten steps fit between two interruptions by other processes.
	t.run("weir/train", "^BenchmarkStep$", "10x", *count, *cpu)
	t.run("weir/stages/model/mixture", "^BenchmarkStep$", "10x", *count, *cpu)
	t.run("weir/train", "^BenchmarkGrowth$", "10x", *count, *cpu)
	t.run("weir/train", "^BenchmarkScaling$", "3x", min(*count, 5), 2)
	t.steps()
	t.growth("batch", "128", "256", "512", "1024")
	t.growth("hidden", "64", "128", "256", "512")
	fmt.Printf("scaling of 64 critics, 1 core / 2 cores: %.2f\n", t.best("Scaling/cores=1")/t.best("Scaling/cores=2"))
}

// times are the nanoseconds of each benchmark's runs.
type times map[string][]float64

var line = regexp.MustCompile(`(?m)^Benchmark(\S+?)(?:-\d+)?\s+\d+\s+([0-9.]+) ns/op(?:\s+([0-9.]+) ns/row/weight)?`)

func (t times) run(of, bench, length string, count, cpu int) {
	args := []string{"test", of, "-run", "^$", "-bench", bench, "-benchtime", length,
		"-count", strconv.Itoa(count), "-cpu", strconv.Itoa(cpu)}
	out, err := exec.Command("go", args...).CombinedOutput()
	if err != nil {
		log.Fatalf("go test: %v\n%s", err, out)
	}
	for _, m := range line.FindAllStringSubmatch(string(out), -1) {
		value := m[2]
		if m[3] != "" {
			value = m[3]
		}
		if v, err := strconv.ParseFloat(value, 64); err == nil {
			t[m[1]] = append(t[m[1]], v)
		}
	}
}

func (t times) best(name string) float64 { return slices.Min(t[name]) }

func (t times) median(name string) float64 {
	x := slices.Clone(t[name])
	slices.Sort(x)
	return x[len(x)/2]
}

func (t times) steps() {
	fmt.Printf("%-18s %12s %12s %12s %30s %26s\n", "step", "reference us", "plain us", "private us",
		"reference/private (medians)", "private/plain (medians)")
	for _, name := range []string{"critic", "critic_one_hot", "autoencoder", "wgan_gp", "critic_tensors", "vae",
		"binary_autoencoder", "binary_critic", "mixture"} {
		reference, plain, private := "Step/"+name+"/reference", "Step/"+name+"/plain", "Step/"+name+"/private"
		if t[reference] == nil {
			fmt.Printf("%-18s %12s %12.1f %12.1f %28s %19.2f (%.2f)\n", name, "", t.best(plain)/1e3, t.best(private)/1e3, "",
				t.best(private)/t.best(plain), t.median(private)/t.median(plain))
			continue
		}
		fmt.Printf("%-18s %12.1f %12.1f %12.1f %20.2f (%.2f) %19.2f (%.2f)\n", name, t.best(reference)/1e3, t.best(plain)/1e3,
			t.best(private)/1e3,
			t.best(reference)/t.best(private), t.median(reference)/t.median(private), t.best(private)/t.best(plain),
			t.median(private)/t.median(plain))
	}
}

// growth prints the time per row and weight, which linear growth keeps level, and
// its ratio to the time at half the size.
func (t times) growth(of string, sizes ...string) {
	fmt.Printf("ns a row and weight by %s:", of)
	for i, size := range sizes {
		v := t.best("Growth/" + of + "/" + size)
		fmt.Printf("  %s: %.4f", size, v)
		if i > 0 {
			fmt.Printf(" (x%.2f)", v/t.best("Growth/"+of+"/"+sizes[i-1]))
		}
	}
	fmt.Println()
}
