package cli

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"cortext/cmd/internal/export"
	"cortext/cmd/internal/export/bundle"
	"cortext/cmd/internal/export/portable"
	"cortext/inject"
)

// standardInput is the name that stands for standard input.
const standardInput = "-"

// standardInputName is what messages call it.
const standardInputName = "standard input"

// maxDocument is the size, in bytes, of the largest export that is read.
const maxDocument = 1 << 30

// named imports the files that an argument names. An error ends the command.
func (r *importRun) named(ctx context.Context, name string) error {
	if name == standardInput {
		return r.standardInput(ctx)
	}
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		r.alone = false
		tried, foreign := r.tried, r.foreign
		err := r.folder(ctx, name)
		switch {
		case err != nil || r.tried > tried:
			return err
		case r.foreign > foreign:
			return r.fail(fmt.Errorf("%s: no file in it is a transcript or an export", name))
		}
		return r.fail(fmt.Errorf("%s: no file in it ends in %s", name, orList(inFolders())))
	}
	return r.oneFile(ctx, name)
}

// inFolders are the suffixes of the files to import from a folder.
func inFolders() []string { return []string{".json", ".jsonl", ".md", ".html", ".zst"} }

// folder imports the files in a folder, then those in its subfolders: the transcripts of
// sub-agents are in folders beside those of their sessions. It does not follow links.
func (r *importRun) folder(ctx context.Context, dir string) error {
	after, file := r.next, ""
	take := func(next string) (err error) { // one file later, when the one after it is known
		if r.next = next; file != "" {
			r.im.Next(next)
			r.inFolder = true
			err = r.oneFile(ctx, file)
			r.inFolder = false
		}
		file = next
		return err
	}
	if err := r.eachIn(dir, take); err != nil {
		return err
	}
	return take(after)
}

// eachIn calls take for each file to import from a folder and its subfolders, in that order.
func (r *importRun) eachIn(dir string, take func(file string) error) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return r.fail(err)
	}
	for _, e := range entries {
		if e.Type().IsRegular() && slices.Contains(inFolders(), strings.ToLower(filepath.Ext(e.Name()))) {
			if err := take(filepath.Join(dir, e.Name())); err != nil {
				return err
			}
		}
	}
	for _, e := range entries {
		if e.IsDir() && !strings.HasPrefix(e.Name(), ".") {
			if err := r.eachIn(filepath.Join(dir, e.Name()), take); err != nil {
				return err
			}
		}
	}
	return nil
}

// fail counts a file that was not imported. It returns err if the user named only that
// file.
func (r *importRun) fail(err error) error {
	r.tried, r.failed = r.tried+1, r.failed+1
	r.progress.clear()
	if r.alone {
		return err
	}
	r.app.screen.report(r.shown(err))
	return nil
}

// standardInput imports an export, a bundle or a transcript from standard input.
func (r *importRun) standardInput(ctx context.Context) error {
	text, err := io.ReadAll(io.LimitReader(r.app.In, maxDocument+1))
	switch {
	case err != nil:
		return fmt.Errorf("standard input: %w", err)
	case len(text) > maxDocument:
		return r.fail(&inject.FileError{File: standardInputName, Why: "is too long: import it from a file"})
	}
	r.budget.Add(int64(len(text)))
	done, err := r.content(ctx, standardInputName, text)
	if err == nil && !done {
		err = r.transcript(ctx, text)
	}
	return err
}

// transcript imports a transcript from standard input. Agents' transcripts are files, so it
// makes one, with a name that depends on the content: some transcripts have no other id.
func (r *importRun) transcript(ctx context.Context, text []byte) (err error) {
	dir, err := os.MkdirTemp("", "cortext-import-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	sum := sha256.Sum256(text)
	file := filepath.Join(dir, "input-"+hex.EncodeToString(sum[:8]))
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return err
	}
	r.copied = file
	defer func() { r.copied = "" }()
	return r.shown(r.oneFile(ctx, file))
}

// shown returns an error that names standard input, not the copy of it.
func (r *importRun) shown(err error) error {
	if err == nil || r.copied == "" || !strings.Contains(err.Error(), r.copied) {
		return err
	}
	return &renamedError{err, strings.ReplaceAll(err.Error(), r.copied, standardInputName)}
}

// A renamedError is an error with another text.
type renamedError struct {
	error
	text string
}

func (e *renamedError) Error() string { return e.text }

func (e *renamedError) Unwrap() error { return e.error }

// beginsAsText reports whether a file begins as a page or as Markdown, which no transcript
// does.
func beginsAsText(file string) bool {
	f, _, err := inject.OpenFile(file)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, 512)
	n, _ := io.ReadFull(f, head)
	return export.IsText(head[:n])
}

// document imports a file if it is an export or a bundle; done reports that it is.
func (r *importRun) document(ctx context.Context, file string) (done bool, err error) {
	f, size, err := inject.OpenFile(file)
	if err != nil {
		return false, nil // the caller reports why
	}
	defer f.Close()
	head := make([]byte, 512)
	n, err := io.ReadFull(f, head)
	if err != nil && err != io.ErrUnexpectedEOF {
		return true, r.fail(unread(file, err))
	}
	head = head[:n]
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return true, r.fail(unread(file, err))
	}
	r.budget.Add(size)
	switch {
	case bundle.Is(head):
		return true, r.bundle(ctx, file, f)
	case portable.IsLines(head):
		return true, r.conversation(ctx, file, func() (*portable.Conversation, error) { return portable.ReadLines(f) })
	case !export.MayBe(file, head):
		return false, nil
	case size > maxDocument:
		return true, r.fail(&inject.FileError{File: file, Why: fmt.Sprintf("has %d bytes, more than the limit of %d for one export", size, maxDocument)})
	}
	text := make([]byte, size)
	if _, err := io.ReadFull(f, text); err != nil {
		return true, r.fail(unread(file, err))
	}
	return r.content(ctx, file, text)
}

// unread returns the error of reading a file, which names it.
func unread(file string, err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return &inject.FileError{File: file, Why: "became shorter while it was read: import it again"}
	}
	if named := (*fs.PathError)(nil); errors.As(err, &named) {
		return err
	}
	return fmt.Errorf("%s: %w", file, err)
}

// content imports the content of a file.
func (r *importRun) content(ctx context.Context, name string, text []byte) (done bool, err error) {
	if bundle.Is(text) {
		return true, r.bundle(ctx, name, bytes.NewReader(text))
	}
	c, ok, err := export.Read(name, text, &r.budget.Left)
	if format := (*portable.FormatError)(nil); !ok || r.inFolder && errors.As(err, &format) && format.Foreign {
		return false, nil
	}
	return true, r.conversation(ctx, name, func() (*portable.Conversation, error) { return c, err })
}

// bundle imports every conversation in a bundle, or none if the bundle is refused.
func (r *importRun) bundle(ctx context.Context, name string, from io.ReadSeeker) error {
	zstd := zstd(ctx)
	checked, err := zstd.Check(from, r.budget)
	if err == nil {
		_, err = from.Seek(0, io.SeekStart)
	}
	if err != nil {
		return r.fail(fmt.Errorf("%s: %w", name, err))
	}
	alone := r.alone
	r.alone = false
	defer func() { r.alone = alone }()
	return zstd.Read(from, checked, func(entry string, content io.Reader) error {
		text, err := io.ReadAll(content)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		entry = name + ": " + entry
		done, err := r.content(ctx, entry, text)
		if err == nil && !done {
			err = r.fail(&inject.FileError{File: entry, Why: "is not an export"})
		}
		return err
	})
}

// conversation imports one conversation. An error ends the command.
func (r *importRun) conversation(ctx context.Context, name string, read func() (*portable.Conversation, error)) error {
	if ctx.Err() != nil {
		return errors.New("stopped: what was imported so far is kept")
	}
	if r.documents == nil {
		var err error
		if r.documents, err = export.NewImporter(r.w.Workspace, export.ImportOptions{KeepIDs: r.keepIDs, Type: r.Type, Title: r.Title}); err != nil {
			return err
		}
	}
	c, err := read()
	var got *export.Imported
	if err == nil {
		got, err = r.documents.Import(ctx, c)
	}
	if err != nil {
		if format := (*portable.FormatError)(nil); errors.As(err, &format) {
			err = &inject.FileError{File: name, Why: format.Why}
		} else {
			err = fmt.Errorf("%s: %w", name, err)
		}
		return r.fail(err)
	}
	r.tried++
	r.progress.clear()
	return printDocument(r.app.screen, name, got)
}

// printDocument prints the result of importing an export.
func printDocument(on screen, name string, got *export.Imported) error {
	s := got.Entry.Session
	if on.asJSON {
		return on.json(imported{
			ID: s.ID, Path: got.Entry.Path, Agent: s.AgentConfig.Agent, Messages: s.MessageCount, Tools: got.Tools, Appended: got.Appended,
			Skipped: max(got.Messages-got.Appended, 0), Subagents: got.Subagents, Warnings: emptyNotNull(got.Warnings), File: name, Lacks: got.Lacks,
		})
	}
	did := "imported as"
	switch {
	case got.Existed && got.Appended == 0 && !got.Edited:
		did = "nothing new for"
	case got.Existed:
		did = "added to"
	}
	fmt.Fprintf(on.out, "%s: %s %s: %s (%d new), %s", visible(name), did, visible(got.Entry.Path), count(got.Messages, "message"), got.Appended, count(got.Tools, "tool call"))
	if got.Subagents > 0 {
		fmt.Fprintf(on.out, ", %s", count(got.Subagents, "sub-agent"))
	}
	if got.Lacks != "" {
		fmt.Fprintf(on.out, "; %s", got.Lacks)
	}
	fmt.Fprintln(on.out)
	for _, w := range got.Warnings {
		on.warn(visible(name) + ": " + w)
	}
	return nil
}
