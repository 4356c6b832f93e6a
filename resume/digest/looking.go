package digest

import (
	"slices"
	"strings"
)

// looking reports whether a simple command only looks at something, or goes
// somewhere.
func looking(words []string) bool {
	name := strings.ToLower(words[0][strings.LastIndexAny(words[0], `/\`)+1:])
	name = strings.TrimSuffix(name, ".exe")
	args := words[1:]
	if len(args) == 1 && slices.Contains([]string{"--version", "--help", "-h", "-v", "-V", "version", "help"}, args[0]) {
		return true
	}
	switch name {
	case "", ":", "[", "[[", "ls", "ll", "dir", "cat", "bat", "head", "tail", "less", "more", "grep", "egrep", "fgrep", "rg", "ag", "fd", "wc", "nl", "pwd", "cd", "pushd", "popd", "echo", "printf", "which", "where", "whereis", "type",
		"tree", "stat", "file", "du", "df", "free", "env", "printenv", "whoami", "hostname", "id", "uname", "date", "uptime", "ps", "top", "lsof", "jq", "yq", "sort", "uniq", "cut", "tr", "awk", "gawk", "column", "rev", "tac",
		"diff", "cmp", "comm", "xxd", "od", "hexdump", "strings", "sleep", "wait", "true", "false", "test", "export", "set", "unset", "basename", "dirname", "realpath", "readlink", "md5sum", "sha1sum", "sha256sum", "shasum",
		"man", "history", "lsblk", "lscpu", "lspci", "lsusb", "dig", "nslookup", "ping", "journalctl", "dmesg", "logread", "netstat", "ss", "ifconfig", "getent", "for", "in", "done", "fi", "case", "esac", "exit", "return", "break", "continue":
		return true
	case "rm", "rmdir", "unlink", "mv", "cp", "mkdir", "touch", "ln", "tee", "chmod", "chown", "install", "rsync", "make", "sh", "bash", "zsh", "python", "python3", "node":
		return false // whatever a file is called
	case "find":
		return !slices.ContainsFunc(args, func(a string) bool {
			return a == "-delete" || strings.HasPrefix(a, "-exec") || strings.HasPrefix(a, "-ok")
		})
	case "sed":
		return !slices.ContainsFunc(args, inPlaceFlag)
	case "xargs":
		rest := slices.IndexFunc(args, func(a string) bool { return a != "" && a[0] != '-' && strings.Trim(a, "0123456789{}") != "" })
		return rest < 0 || looking(args[rest:])
	case "git":
		return gitLooks(args)
	case "gh", "glab":
		if len(args) > 0 && args[0] == "api" {
			return !slices.ContainsFunc(args, func(a string) bool {
				return slices.Contains([]string{"-X", "-f", "-F", "--method", "--field", "--raw-field", "--input"}, a)
			})
		}
		return len(args) > 1 && lookingVerb(args[1])
	case "curl":
		return !slices.ContainsFunc(args, func(a string) bool {
			return strings.HasPrefix(a, "--data") || strings.HasPrefix(a, "--request") || strings.HasPrefix(a, "--upload") || strings.HasPrefix(a, "--form") || strings.HasPrefix(a, "--output") || strings.HasPrefix(a, "--remote") ||
				len(a) > 1 && a[0] == '-' && a[1] != '-' && strings.ContainsAny(a, "XdoOFT")
		})
	case "pacman", "yay":
		return len(args) > 0 && (strings.HasPrefix(args[0], "-Q") || strings.HasPrefix(args[0], "-Ss") || strings.HasPrefix(args[0], "-Si"))
	case "ssh":
		// What it runs there is its last word.
		return len(args) > 1 && strings.ContainsAny(args[len(args)-1], " /") && parse(args[len(args)-1]).looks()
	}
	if i := slices.IndexFunc(args, func(a string) bool { return !strings.HasPrefix(a, "-") }); i >= 0 && lookingVerb(args[i]) {
		return true
	}
	return strings.HasPrefix(name, "get-") || strings.HasPrefix(name, "test-") || strings.HasPrefix(name, "select-")
}

// lookingVerb reports whether a program that is told w only tells of something.
func lookingVerb(w string) bool {
	return slices.Contains([]string{"list", "ls", "show", "view", "status", "info", "describe", "search", "log", "logs", "diff", "checks", "doc", "env", "why", "tree", "ps", "images", "inspect", "help", "version", "ready", "freeze", "metadata", "is-active", "is-enabled", "list-units", "list-unit-files", "list-installed"}, w)
}

// gitLooks reports whether git, called with args, changes nothing.
func gitLooks(args []string) bool {
	if args = gitVerb(args); len(args) == 0 {
		return true
	}
	rest := args[1:]
	named := slices.ContainsFunc(rest, func(a string) bool { return a != "" && a[0] != '-' })
	switch args[0] {
	case "status", "log", "diff", "show", "blame", "grep", "reflog", "shortlog", "describe", "ls-files", "ls-tree", "ls-remote", "rev-parse", "rev-list", "cat-file", "merge-base", "for-each-ref", "show-ref", "count-objects", "check-ignore", "name-rev", "diff-tree", "var", "version", "help":
		return true
	case "branch", "tag":
		return !named || slices.ContainsFunc(rest, func(a string) bool {
			return a == "--list" || a == "-l" || a == "-a" || a == "--contains" || a == "--merged"
		})
	case "remote", "stash", "worktree", "config", "submodule", "notes":
		return len(rest) == 0 && args[0] != "stash" || len(rest) > 0 && slices.Contains([]string{"-v", "show", "list", "get-url", "--get", "--list", "-l", "status", "get"}, rest[0])
	}
	return false
}

// gitVerb leaves out what stands before the verb of git: -C and a folder.
func gitVerb(args []string) []string {
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		if args[0] == "-C" || args[0] == "-c" {
			args = args[1:]
		}
		args = args[min(1, len(args)):]
	}
	return args
}
