package git

import (
	"bytes"
	"context"
	"os"
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
	var comment []byte
	if kept := given && unedited() || cleanup(ctx, root, text, below) == "scissors"; !kept {
		if comment, err = commentMark(ctx, root); err != nil {
			return err
		}
	}
	end := endOf(text, comment)
	message, rest := bytes.TrimRight(text[:end], "\n"), slices.Concat(text[end:], below)
	// It changes nothing, because git would also spell other trailers as it does its own.
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

// commentMark returns what begins a comment in a message that the user edits.
func commentMark(ctx context.Context, root string) ([]byte, error) {
	out, err := output(withInput(reader(ctx, root, []string{"stripspace", "--comment-lines"}), []byte("x\n")))
	return []byte(strings.TrimSuffix(out, " x\n")), err
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

// cutOff returns a message without what git cuts off, and that.
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
	how, _ := read(ctx, root, "config", "--get", "commit.cleanup")
	return strings.TrimSpace(how)
}

// DropLoneTrailer empties the file of a commit message that has trailers of one name and
// no other line, except for comments and those of the user's template.
func DropLoneTrailer(ctx context.Context, root, file, name string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	message, below := cutOff(text)
	if unedited() && !bytes.HasPrefix(bytes.TrimSpace(message), []byte(name+": ")) {
		return nil
	}
	args := []string{"stripspace", "--strip-comments"}
	if slices.Contains([]string{"scissors", "whitespace", "verbatim"}, cleanup(ctx, root, message, below)) {
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
	if len(rest) > 0 {
		template, err := os.ReadFile(setting(ctx, root, "--type=path", "--get", "commit.template"))
		if err != nil { // there is none
			return nil
		}
		if lines, err = linesOf(ctx, root, args, template); err != nil || !slices.Equal(lines, rest) {
			return err
		}
	}
	return os.WriteFile(file, nil, 0o644)
}

// linesOf returns the lines that a command of git's leaves of a text, without blank ones.
func linesOf(ctx context.Context, root string, args []string, text []byte) (lines []string, err error) {
	out, err := output(withInput(reader(ctx, root, args), text))
	for line := range strings.Lines(out) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return lines, err
}
