package shell

import (
	"os/exec"
	"runtime"
	"strings"
	"testing"
)

// TestQuote: a shell parses the same words, and runs nothing in them.
func TestQuote(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("NOT RUN: needs a POSIX shell:", err)
	}
	words := []string{"conversations/2025-11-22/1030-plan-hv37", "", "two words", "x'; echo run; '", "b';echo${IFS}run;'", "$(echo run)", "`echo run`",
		"~", "#", "a=b", "*", "[a]", "{a,b}", "!x", "^", "%1", `\n`, "a\nb", "a\tb", `"`, "größe", "|", "&", "<", ">", "-n"}
	if runtime.GOOS != "windows" { // whose command lines are UTF-16
		words = append(words, "\xff")
	}
	out, err := exec.Command(sh, "-c", "printf '<%s>' "+Quote(words...)).CombinedOutput()
	if want := "<" + strings.Join(words, "><") + ">"; err != nil || string(out) != want {
		t.Errorf("%q, %v; want %q", out, err, want)
	}
	if got := Quote("git", "-C", "/w/x", "ls-tree", "HEAD:./a@1,2", "a+b"); got != "git -C /w/x ls-tree HEAD:./a@1,2 a+b" {
		t.Errorf("%s", got)
	}
}
