package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A Driver is a merge driver of one clone: a program that merges files of some patterns.
// It is not committed. git has no fallback for a driver that is not defined, so the
// committed .gitattributes must name another.
type Driver struct {
	Name     string   // merge.<name>.driver in the configuration
	Title    string   // what git calls it
	Program  string   // the absolute path of the program
	Command  string   // the program's command
	Patterns []string // of files, as in a .gitattributes in the workspace's folder
}

// line returns the command line that git passes to a shell. If the program is missing or
// fails, git keeps the lines of both sides, as merge=union does. Without that, a missing
// program would leave only ours in the file.
func (d Driver) line() string {
	program := "'" + strings.ReplaceAll(filepath.ToSlash(d.Program), "'", `'\''`) + "'"
	program = strings.ReplaceAll(program, "%", "%%")
	return fmt.Sprintf("{ test -x %s && %[1]s %s %%O %%A %%B %%P; } || git merge-file -q --union %%A %%O %%B", program, d.Command)
}

// attributesOf returns the file of attributes of a clone, which its work trees share and
// which overrides the committed ones.
func attributesOf(common string) string { return filepath.Join(common, "info", "attributes") }

// In reports whether the clone that root is in has the driver's configuration and
// attributes. It reads files only.
func (d Driver) In(root string) bool {
	common := CommonDir(root)
	if common == "" {
		return false
	}
	config, err := os.ReadFile(filepath.Join(common, "config"))
	if err != nil || !bytes.Contains(config, []byte(`[merge "`+d.Name+`"]`)) {
		return false
	}
	text, err := os.ReadFile(attributesOf(common))
	return err == nil && len(d.missing(text, root)) == 0
}

// missing lists the lines that a file of attributes lacks.
func (d Driver) missing(text []byte, root string) (lines []string) {
	have := strings.Split(string(text), "\n")
	for _, want := range d.attributes(root) {
		if !slices.Contains(have, want) {
			lines = append(lines, want)
		}
	}
	return lines
}

// attributes returns the lines for the files below root, relative to the top of the work
// tree.
func (d Driver) attributes(root string) (lines []string) {
	for _, p := range d.Patterns {
		lines = append(lines, quotePattern("/"+within(root)+p)+" merge="+d.Name)
	}
	return lines
}

// within returns the path of a folder below the folder that has .git, with a slash at its
// end unless it is empty, so that it matches as a pattern.
func within(root string) string {
	for dir := root; ; dir = filepath.Dir(dir) {
		if exists(filepath.Join(dir, ".git")) || dir == filepath.Dir(dir) {
			rel, err := filepath.Rel(dir, root)
			if err != nil || rel == "." {
				return ""
			}
			return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(filepath.ToSlash(rel)) + "/"
		}
	}
}

// quotePattern spells a pattern for a file of attributes, where white space ends it.
func quotePattern(pattern string) string {
	if !strings.ContainsAny(pattern, " \t\r\n\"") {
		return pattern
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\t", `\t`, "\r", `\r`, "\n", `\n`).Replace(pattern) + `"`
}

// Set makes the clone that root is in use the driver. It changes nothing in the work
// tree.
func (d Driver) Set(ctx context.Context, root string) error {
	common := CommonDir(root)
	if common == "" {
		return ErrNoRepository
	}
	// The configuration comes first: attributes that name no driver are a text merge.
	for _, v := range [][2]string{{"name", d.Title}, {"driver", d.line()}} {
		if _, err := run(ctx, root, "config", "--local", "merge."+d.Name+"."+v[0], v[1]); err != nil {
			return err
		}
	}
	file := attributesOf(common)
	text, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	missing := d.missing(text, root)
	if len(missing) == 0 {
		return nil
	}
	if len(text) > 0 && text[len(text)-1] != '\n' {
		text = append(text, '\n')
	}
	text = append(text, strings.Join(missing, "\n")+"\n"...)
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		return err
	}
	return replaceFile(file, text)
}

// Unset removes the driver from the clone that root is in: for the files below root, and
// its configuration once no other folder uses it.
func (d Driver) Unset(ctx context.Context, root string) error {
	common := CommonDir(root)
	if common == "" {
		return ErrNoRepository
	}
	file := attributesOf(common)
	text, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	ours := d.attributes(root)
	var rest []byte
	for line := range bytes.Lines(text) {
		if !slices.Contains(ours, strings.TrimRight(string(line), "\n")) {
			rest = append(rest, line...)
		}
	}
	if len(rest) < len(text) {
		if err := replaceFile(file, rest); err != nil {
			return err
		}
	}
	if bytes.Contains(rest, []byte(" merge="+d.Name+"\n")) {
		return nil
	}
	if config, err := os.ReadFile(filepath.Join(common, "config")); err != nil || !bytes.Contains(config, []byte(`[merge "`+d.Name+`"]`)) {
		return err
	}
	_, err = run(ctx, root, "config", "--local", "--remove-section", "merge."+d.Name)
	return err
}

// replaceFile replaces a file of the clone in one step, so that git reads all of
// it.
func replaceFile(name string, text []byte) error {
	f, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".*")
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Chmod(0o644), f.Close()); err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		err = errors.Join(err, os.Remove(f.Name()))
	}
	return err
}

// A Filter converts a file between its form in the work tree and its form in git, as the
// user's filters do, for example those of git-lfs. It is for programs that git runs: the
// current folder determines the repository.
type Filter struct{ Path string } // from the top of the work tree, with slashes

// Is reports whether a filter applies to the path.
func (f Filter) Is(ctx context.Context) bool { return filtered(ctx, ".", []string{f.Path}) }

// filtered reports whether a filter applies to any of some paths, relative to root.
func filtered(ctx context.Context, root string, paths []string) bool {
	out, err := output(withInput(reader(ctx, root, []string{"check-attr", "-z", "--stdin", "filter"}), []byte(strings.Join(paths, "\x00"))))
	words := strings.Split(out, "\x00") // of each: path, attribute, value
	for i := 2; err == nil && i < len(words); i += 3 {
		if words[i] != "unspecified" && words[i] != "unset" {
			return true
		}
	}
	return false
}

// Smudge converts a file's content from its form in git to its form in the work tree.
func (f Filter) Smudge(ctx context.Context, content []byte) ([]byte, error) {
	id, err := f.store(ctx, content, "--no-filters")
	if err != nil {
		return nil, err
	}
	out, err := run(ctx, ".", "cat-file", "--filters", "--path="+f.Path, id)
	return []byte(out), err
}

// Clean converts a file's content from its form in the work tree to its form in git.
func (f Filter) Clean(ctx context.Context, content []byte) ([]byte, error) {
	id, err := f.store(ctx, content, "--path="+f.Path)
	if err != nil {
		return nil, err
	}
	out, err := run(ctx, ".", "cat-file", "blob", id)
	return []byte(out), err
}

func (f Filter) store(ctx context.Context, content []byte, how string) (id string, err error) {
	out, err := output(withInput(command(ctx, ".", []string{"hash-object", "-w", how, "--stdin"}), content))
	return strings.TrimSpace(out), err
}
