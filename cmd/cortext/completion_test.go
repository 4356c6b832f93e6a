//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestCompletion: bash, without its package bash-completion, completes commands, flags and
// what a workspace has; so do zsh and fish.
func TestCompletion(t *testing.T) {
	bin, err := built()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	must(t, "-C", dir, "init")
	must(t, "-C", dir, "new", "plan", "The release")
	short := strings.TrimSpace(must(t, "-C", dir, "list", "--format", "{{.ConversationID}}"))
	short = short[len(short)-4:]
	must(t, "-C", dir, "tag", "urgent", short)
	env := append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "HOME="+t.TempDir())
	shell := func(name string, args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), name, args...)
		cmd.Dir, cmd.Env = dir, env
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, out)
		}
		return string(out)
	}

	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("NOT RUN: needs bash:", err)
	}
	script := filepath.Join(t.TempDir(), "completion")
	if err := os.WriteFile(script, []byte(must(t, "completion", "bash")), 0o600); err != nil {
		t.Fatal(err)
	}
	const drive = `source "$0"
words=("$@")
COMP_WORDS=()
for w in "$@"; do # as bash splits them: at = and :
	while [[ $w == *=* ]]; do COMP_WORDS+=("${w%%=*}" "="); w=${w#*=}; done
	if [[ -n $w || $w == "${!#}" && $# -gt 0 ]]; then COMP_WORDS+=("$w"); fi
done
COMP_LINE="$*" COMP_POINT=${#COMP_LINE} COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) COMP_TYPE=9
compopt() { :; }
__start_cortext
printf '%s\n' "${COMPREPLY[@]}"`
	for _, c := range []struct{ line, want string }{
		{"cortext resu", "resume"},
		{"cortext list --lim", "--limit"},
		{"cortext list --status com", "completed"},
		{"cortext list --status=com", "completed"},
		{"cortext list --type pl", "plan"},
		{"cortext list --sort mess", "messages"},
		{"cortext search --in as", "assistant"},
		{"cortext export --format ht", "html"},
		{"cortext export --only us", "user"},
		{"cortext stats --by mo", "model"},
		{"cortext init --capture a", "all"},
		{"cortext resume --strategy min", "minimal-state"},
		{"cortext resume --agent gem", "gemini"},
		{"cortext resume " + short[:2], short},
		{"cortext -r " + short[:2], short},
		{"cortext status " + short + " pau", "paused"},
		{"cortext archive " + short + " " + short[:2], short},
		{"cortext tag urg", "urgent"},
		{"cortext untag urgent " + short[:2], short},
		{"cortext note " + short[:2], ""},
		{"cortext note words " + short[:2], short},
		{"cortext init --agent gem", "gemini"},
		{"cortext help sho", "show"},
		{"cortext show nosuch", ""},
	} {
		args := append([]string{"--norc", "-c", drive, script}, strings.Split(c.line, " ")...)
		if got, _, _ := strings.Cut(strings.TrimSpace(shell(bash, args...)), " "); got != c.want {
			t.Errorf("%q: %q, want %q", c.line, got, c.want)
		}
	}
	if all := shell(bash, "--norc", "-c", drive, script, "cortext", "show", ""); !strings.Contains(all, short) {
		t.Errorf("all conversations: %q", all)
	}

	// What a shell itself completes are files.
	for command, files := range map[string]bool{"why": true, "import": true, "clone": true, "log": false, "current": false} {
		if got := must(t, "__complete", "-C", dir, command, ""); strings.HasSuffix(got, ":0\n") != files {
			t.Errorf("%s: %q", command, got)
		}
	}

	// Errors are silent, and the shells accept their scripts.
	for _, where := range []string{dir, t.TempDir()} {
		cmd := exec.Command(filepath.Join(bin, "cortext"), "__complete", "-C", where, "resume", "")
		cmd.Env = env
		out, err := cmd.Output()
		if want := where == dir; err != nil || strings.Contains(string(out), short+"\tThe release, plan, active") != want {
			t.Errorf("in %s: %v\n%s", where, err, out)
		}
	}
	write := func(name string, of ...string) {
		t.Helper()
		if err := os.WriteFile(name, []byte(must(t, of...)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("fish", func(t *testing.T) {
		fish := installed(t, "fish")
		write(script, "completion", "fish")
		for _, c := range []struct{ line, want string }{
			{"cortext resume " + short[:2], short + "\tThe release, plan, active"},
			{"cortext list --status=com", "--status=completed"},
			{"cortext resume --strategy min", "minimal-state"},
			{"cortext list --lim", "--limit\tlist at most N conversations"},
		} {
			if got := strings.TrimSpace(shell(fish, "--no-config", "-c", "source $argv[1]; complete -C $argv[2]", script, c.line)); got != c.want {
				t.Errorf("fish: %q: %q, want %q", c.line, got, c.want)
			}
		}
	})
	t.Run("zsh", func(t *testing.T) {
		zsh := installed(t, "zsh")
		functions := t.TempDir()
		write(filepath.Join(functions, "_cortext"), "completion", "zsh")
		// The prompt says that the line editor reads keys: those typed before may be lost.
		const drive = `zmodload zsh/zpty
zpty z zsh -f -i
zpty -w z "fpath=($1 \$fpath); autoload -U compinit; compinit -u -D; PS1=REA''DY"
zpty -r z out '*READY*'
zpty -n -w z "cortext resume $2"$'\t'
zpty -r z out "*$3*"
zpty -n -w z $'\C-ucortext list --status com\t'
zpty -r z out "*completed*"
zpty -d z`
		shell(zsh, "-f", "-c", drive, "zsh", functions, short[:2], short)

		must(t, "-C", dir, "new", "plan", `Port C:\new`)
		const describe = `zmodload zsh/zpty
zpty z zsh -f -i
zpty -w z "fpath=($1 \$fpath); autoload -U compinit; compinit -u -D; PS1=REA''DY"
zpty -r z out '*READY*'
zpty -n -w z $'cortext resume \t'
zpty -r z out '*(paused*active|active*paused)*'
print -r -- $out
zpty -d z`
		if out := shell(zsh, "-f", "-c", describe, "zsh", functions); !strings.Contains(out, `Port C:\new`) {
			t.Errorf("a title with a colon and a backslash: %q", out)
		}
	})
}
