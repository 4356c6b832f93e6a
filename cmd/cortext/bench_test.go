//go:build unix

package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// build compiles a command of this module, and cortext-opencode beside it. They are copies:
// Linux keeps what a linker wrote in small pieces of memory until it is read from the disk
// again, and large programs then start up to 0.7 ms slower.
func build(tb testing.TB, pkg string) string {
	tb.Helper()
	linked, dir := tb.TempDir(), tb.TempDir()
	if out, err := exec.Command("go", "build", "-o", linked, pkg, "cortext/cmd/cortext-opencode").CombinedOutput(); err != nil {
		tb.Fatalf("%v\n%s", err, out)
	}
	for _, name := range []string{"cortext-opencode", filepath.Base(pkg)} {
		b, err := os.ReadFile(filepath.Join(linked, name))
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), b, 0o700)
		}
		if err != nil {
			tb.Fatal(err)
		}
	}
	return filepath.Join(dir, filepath.Base(pkg))
}

// median runs the commands in turn, so that noise affects all of them alike, and returns
// the median time of each.
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

// BenchmarkStartup compares the start of both programs with an empty cobra program:
// tokenizer tables and rules must not load until they are used.
func BenchmarkStartup(b *testing.B) {
	cortext, hook, empty := build(b, "cortext/cmd/cortext"), build(b, "cortext/cmd/cortext-hook"), build(b, "cortext/cmd/cortext/testdata/emptycobra")
	for b.Loop() {
		m := median(b, 60, []string{cortext, "version"}, []string{hook}, []string{empty, "version"})
		b.ReportMetric(float64(m[0])/float64(m[2]), "x-empty-cobra")
		b.ReportMetric(float64(m[1])/float64(m[2]), "x-empty-cobra-hook")
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
		forgetMemory()
		cmd := exec.Command(cortext, "-C", dir, "import", transcript)
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("%v\n%s", err, out)
		}
		b.ReportMetric(resident(cmd), "MiB-resident")
	}
}

// forgetMemory makes this process smaller than those that it starts: Linux counts the largest
// resident set of the process that starts one for that, too.
func forgetMemory() {
	debug.FreeOSMemory()
	_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0)
}

// resident returns the largest resident set of a command that has ended, in MiB.
func resident(cmd *exec.Cmd) float64 {
	return float64(cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss) / 1024
}

// BenchmarkResume compares an 8,000-token payload of a 50 MB conversation, or of 1 GB if
// CORTEXT_BENCH_BIG is set, with that of a 1 MB conversation with the same end.
func BenchmarkResume(b *testing.B) {
	cortext := build(b, "cortext/cmd/cortext")
	sizes := []int64{1 << 20, 50 << 20}
	if os.Getenv("CORTEXT_BENCH_BIG") != "" {
		sizes[1] = 1 << 30
	}
	var commands [][]string
	for _, size := range sizes {
		dir := b.TempDir()
		transcript := filepath.Join(dir, "long.jsonl")
		longTranscript(b, transcript, size)
		for _, args := range [][]string{{"init"}, {"import", transcript, "--title", "long"}, {"resume", "long", "--print"}} {
			if out, err := exec.Command(cortext, append([]string{"-C", dir}, args...)...).CombinedOutput(); err != nil {
				b.Fatalf("%v\n%s", err, out)
			}
		}
		commands = append(commands, []string{cortext, "-C", dir, "resume", "long", "--print", "--budget", "8000"})
	}
	for b.Loop() {
		m := median(b, 15, commands...)
		b.ReportMetric(float64(m[1])/float64(m[0]), "x-1-MB")
		b.ReportMetric(float64(m[0].Milliseconds()), "ms-1-MB")
	}
}

// BenchmarkShuffled compares an 8,000-token payload of a 50 MB conversation, or of 1 GB
// if CORTEXT_BENCH_BIG is set, with that of the same log with its lines in random order,
// and reports the largest resident set of the latter.
func BenchmarkShuffled(b *testing.B) {
	cortext := build(b, "cortext/cmd/cortext")
	size := int64(50 << 20)
	if os.Getenv("CORTEXT_BENCH_BIG") != "" {
		size = 1 << 30
	}
	transcript := filepath.Join(b.TempDir(), "long.jsonl")
	longTranscript(b, transcript, size)
	var commands [][]string
	for _, shuffle := range []bool{false, true} {
		dir := b.TempDir()
		for _, args := range [][]string{{"init"}, {"import", transcript, "--title", "long"}} {
			if out, err := exec.Command(cortext, append([]string{"-C", dir}, args...)...).CombinedOutput(); err != nil {
				b.Fatalf("%v\n%s", err, out)
			}
		}
		commands = append(commands, []string{cortext, "-C", dir, "resume", "long", "--print", "--budget", "8000"})
		if !shuffle {
			continue
		}
		logs, err := filepath.Glob(filepath.Join(dir, "conversations", "*", "*", ".session", "messages.jsonl"))
		if err != nil || len(logs) != 1 {
			b.Fatal(logs, err)
		}
		shuffleLines(b, logs[0])
	}
	ordered, err := exec.Command(commands[0][0], commands[0][1:]...).Output()
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		forgetMemory()
		cmd := exec.Command(commands[1][0], commands[1][1:]...)
		if out, err := cmd.Output(); err != nil || !bytes.Equal(out, ordered) {
			b.Fatalf("%v: the payload is another", err)
		}
		b.ReportMetric(resident(cmd), "MiB-resident")
		m := median(b, 15, commands...)
		b.ReportMetric(float64(m[1])/float64(m[0]), "x-ordered")
		b.ReportMetric(float64(m[0].Milliseconds()), "ms-ordered")
	}
}

// shuffleLines shuffles the lines of a file. It keeps none of them in memory, because the
// test's own memory counts for the commands that it starts.
func shuffleLines(b *testing.B, path string) {
	b.Helper()
	from, err := os.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer from.Close()
	type line struct {
		at   int64
		size int
	}
	var lines []line
	in := bufio.NewReader(from)
	for at := int64(0); ; {
		text, err := in.ReadSlice('\n')
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			b.Fatal(err)
		}
		lines = append(lines, line{at, len(text)})
		at += int64(len(text))
	}
	r := rand.New(rand.NewPCG(1, 2))
	r.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
	to, err := os.Create(path + ".new")
	if err != nil {
		b.Fatal(err)
	}
	defer to.Close()
	out := bufio.NewWriter(to)
	for _, l := range lines {
		if _, err := io.Copy(out, io.NewSectionReader(from, l.at, int64(l.size))); err != nil {
			b.Fatal(err)
		}
	}
	if err := errors.Join(out.Flush(), os.Rename(path+".new", path)); err != nil {
		b.Fatal(err)
	}
}

// longTranscript writes a Claude Code session of about size bytes, in which each turn
// follows the previous one.
func longTranscript(b *testing.B, path string, size int64) {
	b.Helper()
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	out := bufio.NewWriter(f)
	at, parent := time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC), "null"
	said := strings.Repeat("The server answers with a body that the client reads in parseHeader. ", 20)
	written := 0
	for n := 0; int64(written) < size; n++ {
		for _, line := range []struct{ role, id, text string }{
			{"user", fmt.Sprintf("u-%d", n), fmt.Sprintf("turn %d: please change cmd/serve/file_%d.go", n, n%97)},
			{"assistant", fmt.Sprintf("a-%d", n), fmt.Sprintf("I changed handler_%d in cmd/serve/file_%d.go. %s", n%89, n%97, said)},
		} {
			at = at.Add(time.Second)
			k, _ := fmt.Fprintf(out, `{"type":%q,"uuid":%q,"parentUuid":%s,"sessionId":"long","timestamp":%q,"message":{"role":%[1]q,"id":"m-%[2]s","model":"m","content":%[5]q}}`+"\n",
				line.role, line.id, parent, at.Format(time.RFC3339), line.text)
			written += k
			parent = fmt.Sprintf("%q", line.id)
		}
	}
	if err := out.Flush(); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkHook compares the hook after each turn on a 70 MB transcript with one on 70
// KB, one new turn each, with cortext hook, and with an empty cobra program. With -short
// it is 7 MB.
func BenchmarkHook(b *testing.B) {
	for _, a := range []hookedAgent{
		{"claude", "UserPromptSubmit", "Stop", bigTranscript,
			`{"type":%q,"uuid":"%s-%d","parentUuid":%s,"sessionId":"session","timestamp":"2026-11-21T12:00:00.000Z","message":{"role":%[1]q,"id":"m-%[3]d","model":"m","content":"turn %[3]d of the conversation"}}` + "\n", "assistant"},
		{"gemini", "BeforeAgent", "AfterAgent", bigGeminiTranscript,
			`{"id":"%[2]s-%[3]d","timestamp":"2026-11-21T12:00:00.000Z","type":%[1]q,"content":"turn %[3]d of the conversation"}` + "\n", "gemini"},
	} {
		b.Run(a.name, func(b *testing.B) { benchmarkHook(b, a) })
	}
}

func benchmarkHook(b *testing.B, a hookedAgent) {
	cortext, hook, empty := build(b, "cortext/cmd/cortext"), build(b, "cortext/cmd/cortext-hook"), build(b, "cortext/cmd/cortext/testdata/emptycobra")
	size := 70_000_000
	if testing.Short() {
		size /= 10
	}
	runs := []*hooked{
		newHooked(b, cortext, a, 70_000), newHooked(b, cortext, a, 70_000), newHooked(b, cortext, a, size),
	}
	runs[1].hook, runs[2].hook = []string{hook}, []string{hook}
	for b.Loop() {
		times := make([][]time.Duration, len(runs)+1)
		for range 40 {
			for i, h := range runs {
				h.grow(b)
				begun := time.Now()
				h.turn(b)
				times[i] = append(times[i], time.Since(begun))
			}
			begun := time.Now()
			_ = exec.Command(empty).Run()
			times[len(runs)] = append(times[len(runs)], time.Since(begun))
		}
		for _, t := range times {
			slices.Sort(t)
		}
		m := func(i int) float64 { return float64(times[i][len(times[i])/2]) }
		b.ReportMetric(m(2)/m(1), "x-70-KB")
		b.ReportMetric(m(2)/m(3), "x-empty-cobra")
		b.ReportMetric(m(0)/m(3), "x-empty-cobra-by-cortext")
	}
	for _, h := range runs {
		h.captured(b)
	}
}

// A hookedAgent holds the differences between agents whose hooks capture.
type hookedAgent struct {
	name, prompted, answered string
	transcript               func(b *testing.B, size int) []byte
	line                     string // format of a message line: role, letter, number and parent
	model                    string // the model's role
}

// A hooked session is a session whose turns a hook captures.
type hooked struct {
	agent                    hookedAgent
	cortext, dir, transcript string
	hook                     []string // the command
	turns                    int
}

// newHooked starts a conversation in a session with a transcript of about size bytes and
// lets the hook catch up.
func newHooked(b *testing.B, cortext string, a hookedAgent, size int) *hooked {
	b.Helper()
	h := &hooked{agent: a, cortext: cortext, dir: b.TempDir(), hook: []string{cortext, "hook"}}
	h.transcript = filepath.Join(h.dir, "session.jsonl")
	if err := os.WriteFile(h.transcript, a.transcript(b, size), 0o600); err != nil {
		b.Fatal(err)
	}
	if out, err := exec.Command(cortext, "-C", h.dir, "init").CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	h.call(b, a.prompted)
	h.grow(b)
	h.turn(b)
	return h
}

func (h *hooked) call(b *testing.B, event string) {
	b.Helper()
	cmd := exec.Command(h.hook[0], append(h.hook[1:], h.agent.name, event)...)
	cmd.Stdin = strings.NewReader(fmt.Sprintf(`{"session_id":"session","transcript_path":%q,"cwd":%q,"prompt":"/workspace.chat big","prompt_id":"p"}`, h.transcript, h.dir))
	cmd.Env = append(os.Environ(), "CLAUDE_PROJECT_DIR=", "GEMINI_PROJECT_DIR=")
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
}

// grow adds a turn to the transcript.
func (h *hooked) grow(b *testing.B) {
	b.Helper()
	h.turns++
	f, err := os.OpenFile(h.transcript, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	line := func(role, letter, parent string) string {
		if h.agent.name == "gemini" { // each line follows the previous one, without a parent id
			return fmt.Sprintf(h.agent.line, role, letter, h.turns)
		}
		return fmt.Sprintf(h.agent.line, role, letter, h.turns, parent)
	}
	if _, err := f.WriteString(line("user", "u", "null") + line(h.agent.model, "a", fmt.Sprintf(`"u-%d"`, h.turns))); err != nil {
		b.Fatal(err)
	}
}

func (h *hooked) turn(b *testing.B) {
	b.Helper()
	h.call(b, h.agent.answered)
}

// captured checks that every turn is in the conversation.
func (h *hooked) captured(b *testing.B) {
	b.Helper()
	out, err := exec.Command(h.cortext, "-C", h.dir, "show", "big", "--json").Output()
	if n := bytes.Count(out, []byte(`of the conversation"`)); err != nil || n != 2*h.turns {
		b.Fatalf("%d of %d messages captured, %v", n, 2*h.turns, err)
	}
}

// bigTranscript repeats the brainstorm fixture with new ids.
func bigTranscript(b *testing.B, size int) []byte {
	b.Helper()
	one, err := os.ReadFile("../../testdata/agents/claude/2.1.329/brainstorm/transcript.jsonl")
	if err != nil {
		b.Fatal(err)
	}
	var out bytes.Buffer
	one = bytes.ReplaceAll(one, []byte("/workspace.brainstorm"), []byte("/another.brainstorm")) // keep it one conversation
	for n := 0; out.Len() < size; n++ {
		copied := one
		for _, prefix := range []string{"msg_", "toolu_", `"uuid":"`, `"parentUuid":"`} {
			copied = bytes.ReplaceAll(copied, []byte(prefix), fmt.Appendf(nil, "%s%04d", prefix, n))
		}
		out.Write(copied)
	}
	return out.Bytes()
}

// bigGeminiTranscript returns a Gemini CLI session with turns of 2 KB.
func bigGeminiTranscript(_ *testing.B, size int) []byte {
	var out bytes.Buffer
	out.WriteString(`{"sessionId":"session","projectHash":"x","startTime":"2026-11-21T10:00:00.000Z","lastUpdated":"2026-11-21T10:00:00.000Z","kind":"main"}` + "\n")
	words := strings.Repeat("what was said once is not read again; ", 25)
	for n := 0; out.Len() < size; n++ {
		fmt.Fprintf(&out, `{"id":"before-%d-u","timestamp":"2026-11-21T10:00:00.000Z","type":"user","content":[{"text":"%s"}]}`+"\n", n, words)
		fmt.Fprintf(&out, `{"id":"before-%d-a","timestamp":"2026-11-21T10:00:01.000Z","type":"gemini","content":"%s","model":"m","tokens":{"input":1,"output":1,"cached":0,"thoughts":0,"tool":0,"total":2}}`+"\n", n, words)
	}
	return out.Bytes()
}

// BenchmarkExport compares the export of a conversation of about 1 MB as a bundle with
// copying its folder and compressing it, and the import of such an export with that of a
// transcript of its size: whole commands, less their starts.
func BenchmarkExport(b *testing.B) {
	if _, err := exec.LookPath("zstd"); err != nil {
		b.Skip("NOT RUN: zstd is not installed")
	}
	bin, err := built()
	if err != nil {
		b.Fatal(err)
	}
	cortext, dir, home := filepath.Join(bin, "cortext"), b.TempDir(), b.TempDir()
	b.Setenv("HOME", home)
	transcript, larger, export := filepath.Join(home, "big.jsonl"), filepath.Join(home, "larger.jsonl"), filepath.Join(home, "big.json")
	for file, size := range map[string]int{transcript: 1 << 20, larger: 9 << 18} { // whose conversation has 1 MB
		if err := os.WriteFile(file, bigTranscript(b, size), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	for _, args := range [][]string{{"init", "--yes"}, {"import", larger, "--title", "big"}, {"export", "big", "-o", export}} {
		if out, err := exec.Command(cortext, append([]string{"-C", dir}, args...)...).CombinedOutput(); err != nil {
			b.Fatalf("%v\n%s", err, out)
		}
	}
	imports := func(file string) []string {
		return []string{"sh", "-c", `rm -rf "$1" "$HOME/.local" && mkdir -p "$1/.workspace" && exec "$0" -C "$1" import "$2"`, cortext, filepath.Join(home, "fresh"), file}
	}
	compress := `cp -r "$0" "$1" && tar -cf - -C "$1" . | zstd -q -f -o "$1.zst" && rm -r "$1"`
	for b.Loop() {
		m := median(b, 15, []string{cortext, "version"}, []string{"zstd", "--version"},
			[]string{cortext, "-C", dir, "export", "big", "--bundle", "-o", filepath.Join(home, "big.tar.zst")},
			[]string{"sh", "-c", compress, filepath.Join(dir, "conversations"), filepath.Join(home, "copy")},
			imports(export), imports(transcript))
		start, copied := m[0], m[3]-m[1]
		b.ReportMetric(float64(m[2]-start)/float64(copied), "x-copy-zstd")
		b.ReportMetric(float64(m[4]-start)/float64(m[5]-start), "x-transcript")
	}
}
