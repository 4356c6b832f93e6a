package git

import (
	"bytes"
	"context"
	"os"
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
	var comments []string
	if given && unedited() {
		comments = []string{"-c", "core.commentChar=\x01"} // no line begins with it
	}
	_, err := read(ctx, root, append(comments, "interpret-trailers", "--in-place", "--no-divider", "--where=end", "--if-exists=addIfDifferent", "--if-missing=add", "--trailer", trailer, file)...)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(file)
	if rest := bytes.TrimLeft(text, "\n"); err == nil && bytes.HasPrefix(rest, []byte(trailer)) {
		err = os.WriteFile(file, append([]byte("\n\n"), rest...), 0o644)
	}
	return err
}

// scissors ends the line below which git cuts off a message.
const scissors = " ------------------------ >8 ------------------------\n"

// DropLoneTrailer empties the file of a commit message that has trailers of one name and
// no other line, except for comments.
func DropLoneTrailer(ctx context.Context, root, file, name string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var message []byte
	for line := range bytes.Lines(text) {
		if bytes.HasSuffix(line, []byte(scissors)) {
			break
		}
		message = append(message, line...)
	}
	if unedited() && !bytes.HasPrefix(bytes.TrimSpace(message), []byte(name+": ")) {
		return nil
	}
	out, err := output(withInput(reader(ctx, root, []string{"stripspace", "--strip-comments"}), message))
	if err != nil {
		return err
	}
	for line := range strings.Lines(out) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, name+": ") {
			return nil
		}
	}
	if strings.TrimSpace(out) == "" {
		return nil
	}
	return os.WriteFile(file, nil, 0o644)
}
