package git

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// unedited reports whether git, which has called us as a hook, shows the user no editor. Lines
// that begin with # are then part of the message.
func unedited() bool { return os.Getenv("GIT_EDITOR") == ":" }

// AddTrailer adds a trailer to the file of a commit message, unless the message has it. If
// the user has yet to write the message, it leaves the first line and a blank one for it. given
// says that git has a message, for example from -m, even if the user may edit it.
func AddTrailer(ctx context.Context, root, file, trailer string, given bool) error {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var below []byte
	if !unedited() {
		text, below = cutOff(text)
	}
	if given {
		err = os.Remove(begunFile(file)) // of a commit that was given up
	} else {
		err = os.WriteFile(begunFile(file), text, 0o644)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	var comment []byte
	if kept := given && unedited() || cleanup(ctx, root, text, below) == "scissors"; !kept {
		if comment, err = commentMark(ctx, root, text, below); err != nil {
			return err
		}
	}
	end := endOf(text, comment)
	message, rest := bytes.TrimRight(text[:end], "\n"), slices.Concat(text[end:], below)
	// This only reads: if git added the trailer, it would also respell the others.
	others, err := output(withInput(reader(ctx, root, []string{"interpret-trailers", "--no-divider", "--only-trailers", "--only-input"}), message))
	last := bytes.Split(message[bytes.LastIndex(message, []byte("\n\n"))+1:], []byte("\n"))
	between := "\n\n"
	switch {
	case err != nil || slices.ContainsFunc(last, func(line []byte) bool { return string(line) == trailer }):
		return err
	case len(message) == 0:
		rest = bytes.TrimLeft(rest, "\n")
	case others != "":
		between = "\n"
	}
	return os.WriteFile(file, slices.Concat(message, []byte(between+trailer+"\n"), rest), 0o644)
}

// begunFile is the file that keeps what was in the file of a commit message before the user wrote
// one.
func begunFile(file string) string { return filepath.Join(filepath.Dir(file), "cortext-message") }

// commentMark returns what begins a comment in a message that the user edits. With
// core.commentChar=auto, git takes a character that no line of the message begins with. Then
// git's own comments, which end the message, show it.
func commentMark(ctx context.Context, root string, message, below []byte) ([]byte, error) {
	out, err := output(withInput(reader(ctx, root, []string{"stripspace", "--comment-lines"}), []byte("x\n")))
	mark := strings.TrimSuffix(out, " x\n")
	lines := bytes.Split(bytes.TrimSpace(slices.Concat(message, below[:min(len(below), 1)])), []byte("\n"))
	if last := lines[len(lines)-1]; mark == "#" && len(last) > 0 && strings.IndexByte(";@!$%^&|:", last[0]) >= 0 {
		if set := setting(ctx, root, "--get-regexp", `^core\.comment(char|string)$`); strings.HasSuffix(set, " auto") {
			mark = string(last[:1])
		}
	}
	return []byte(mark), err
}

// endOf returns where a message ends, before the blank lines and comments at the end of a text.
func endOf(text, comment []byte) (end int) {
	at := 0
	for line := range bytes.Lines(text) {
		at += len(line)
		if len(bytes.TrimSpace(line)) > 0 && (comment == nil || !bytes.HasPrefix(line, comment)) {
			end = at
		}
	}
	return end
}

// scissors ends the line below which git cuts off a message.
const scissors = " ------------------------ >8 ------------------------\n"

// cutOff splits a message into what git keeps and what it cuts off.
func cutOff(text []byte) (message, below []byte) {
	at := 0
	for line := range bytes.Lines(text) {
		if bytes.HasSuffix(line, []byte(scissors)) {
			break
		}
		at += len(line)
	}
	return text[:at:at], text[at:]
}

// cleanup returns how git cleans up a message that the user edits: "scissors", "whitespace" or
// "verbatim" if it keeps lines that begin with #. Git does not pass on its option --cleanup. But
// only with scissors no comment is above what it cuts off.
func cleanup(ctx context.Context, root string, message, below []byte) string {
	lines := bytes.Split(bytes.TrimSpace(message), []byte("\n"))
	if mark, _, found := bytes.Cut(below, []byte(" ")); found && !bytes.HasPrefix(lines[len(lines)-1], mark) {
		return "scissors"
	}
	return setting(ctx, root, "--get", "commit.cleanup")
}

// DropLoneTrailer removes trailers of one name from the file of a commit message in which the
// user has written nothing, except for comments. Git then refuses to commit, as it would without the
// trailers: the message is empty, or still the template.
func DropLoneTrailer(ctx context.Context, root, file, name string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	begun, err := os.ReadFile(begunFile(file))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	_ = os.Remove(begunFile(file)) // AddTrailer replaces or removes it, too
	message, below := cutOff(text)
	if begun == nil && unedited() && !bytes.HasPrefix(bytes.TrimSpace(message), []byte(name+": ")) {
		return nil // as after git commit -m, without asking git
	}
	args := []string{"stripspace", "--strip-comments"}
	if unedited() || slices.Contains([]string{"scissors", "whitespace", "verbatim"}, cleanup(ctx, root, message, below)) {
		args = args[:1]
	}
	lines, err := linesOf(ctx, root, args, message)
	if err != nil {
		return err
	}
	isOurs := func(line string) bool { return strings.HasPrefix(line, name+": ") }
	rest := slices.DeleteFunc(slices.Clone(lines), isOurs)
	if len(rest) == len(lines) {
		return nil
	}
	if before, err := linesOf(ctx, root, args, begun); err != nil || !slices.Equal(before, rest) {
		return err
	}
	var kept []byte
	for line := range bytes.Lines(message) {
		if !isOurs(string(line)) {
			kept = append(kept, line...)
		}
	}
	if len(bytes.TrimSpace(kept)) == 0 {
		kept = nil
	}
	return os.WriteFile(file, append(kept, below...), 0o644)
}

// linesOf returns the lines that a git command prints for a text on its standard input,
// without blank ones.
func linesOf(ctx context.Context, root string, args []string, text []byte) (lines []string, err error) {
	out, err := output(withInput(reader(ctx, root, args), text))
	for line := range strings.Lines(out) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return lines, err
}
