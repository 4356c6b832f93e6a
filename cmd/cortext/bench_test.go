package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"
)

// build compiles a command of this module.
func build(tb testing.TB, pkg string) string {
	tb.Helper()
	bin := filepath.Join(tb.TempDir(), filepath.Base(pkg))
	if out, err := exec.Command("go", "build", "-o", bin, pkg).CombinedOutput(); err != nil {
		tb.Fatalf("%v\n%s", err, out)
	}
	return bin
}

// median runs the commands in turns, so that all meet the same noise, and
// returns the median time of each.
func median(b *testing.B, rounds int, commands ...[]string) []time.Duration {
	b.Helper()
	times := make([][]time.Duration, len(commands))
	for range rounds {
		for i, c := range commands {
			begun := time.Now()
			if out, err := exec.Command(c[0], c[1:]...).CombinedOutput(); err != nil {
				b.Fatalf("%v: %v\n%s", c, err, out)
			}
			times[i] = append(times[i], time.Since(begun))
		}
	}
	medians := make([]time.Duration, len(commands))
	for i, t := range times {
		slices.Sort(t)
		medians[i] = t[len(t)/2]
	}
	return medians
}

// BenchmarkStartup compares the start of cortext with that of an empty cobra
// program: tokenizer tables and rules must not load until they are used.
func BenchmarkStartup(b *testing.B) {
	cortext, empty := build(b, "cortext/cmd/cortext"), build(b, "cortext/cmd/cortext/testdata/emptycobra")
	for b.Loop() {
		m := median(b, 60, []string{cortext, "version"}, []string{empty, "version"})
		b.ReportMetric(float64(m[0])/float64(m[1]), "x-empty-cobra")
		b.ReportMetric(float64(m[0].Microseconds()), "µs-start")
	}
}

// BenchmarkImportMemory imports a transcript of about 4 MB and reports the
// largest resident set.
func BenchmarkImportMemory(b *testing.B) {
	cortext := build(b, "cortext/cmd/cortext")
	transcript := filepath.Join(b.TempDir(), "big.jsonl")
	if err := os.WriteFile(transcript, bigTranscript(b, 4<<20), 0o600); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		dir := b.TempDir()
		if out, err := exec.Command(cortext, "-C", dir, "init").CombinedOutput(); err != nil {
			b.Fatalf("%v\n%s", err, out)
		}
		cmd := exec.Command(cortext, "-C", dir, "import", transcript)
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("%v\n%s", err, out)
		}
		usage := cmd.ProcessState.SysUsage().(*syscall.Rusage)
		b.ReportMetric(float64(usage.Maxrss)/1024, "MiB-resident")
	}
}

// bigTranscript repeats the brainstorm fixture under other ids.
func bigTranscript(b *testing.B, size int) []byte {
	b.Helper()
	one, err := os.ReadFile("../../testdata/agents/claude/2.1.329/brainstorm/transcript.jsonl")
	if err != nil {
		b.Fatal(err)
	}
	var out bytes.Buffer
	for n := 0; out.Len() < size; n++ {
		copied := one
		for _, prefix := range []string{"msg_", "toolu_", `"uuid":"`, `"parentUuid":"`} {
			copied = bytes.ReplaceAll(copied, []byte(prefix), fmt.Appendf(nil, "%s%04d", prefix, n))
		}
		out.Write(copied)
	}
	return out.Bytes()
}
