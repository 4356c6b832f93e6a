package store

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"cortext/schema/jsonl"
	"cortext/store/internal/lines"
)

// The kinds of damage in addition to those of package jsonl.
const (
	Missing    jsonl.Kind = "missing"            // a required file
	Unreadable jsonl.Kind = "unreadable"         // session.json, or a file that the system does not let us read
	Newer      jsonl.Kind = "newer format"       // written by a later cortext: no damage to repair
	NotRecord  jsonl.Kind = "not a record"       // JSON, but neither a message nor a tool call
	NotRegular jsonl.Kind = "not a regular file" // a symlink, a pipe, a folder in place of a file, or a file in place of a folder
)

// Damage describes a damaged place in the workspace. It is an error so that it can be
// returned beside records.
type Damage struct {
	File string // relative to the workspace, with slashes
	jsonl.Damage
}

func (d *Damage) Error() string { return d.File + ": " + d.Damage.Error() }

// Unwrap returns the place within the file.
func (d *Damage) Unwrap() error { return &d.Damage }

// damaged describes a file that is damaged as a whole.
func damaged(file string, kind jsonl.Kind, detail string) Damage {
	return Damage{file, jsonl.Damage{Kind: kind, Detail: detail}}
}

// conflictIn describes a conflict marker at an offset of a file.
func conflictIn(file string, content []byte, at int64) Damage {
	return Damage{file, jsonl.Damage{Kind: jsonl.Conflict, Offset: at, Line: 1 + bytes.Count(content[:at], []byte("\n"))}}
}

// damageIn adds a file name to damage that a reader found in the file. It returns other
// errors unchanged.
func damageIn(file string, err error) error {
	var in *jsonl.Damage
	if errors.As(err, &in) {
		return &Damage{file, *in}
	}
	return err
}

func isDamage(err error) bool { return errors.As(err, new(*jsonl.Damage)) }

// explain adds advice to a file system error.
func explain(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return fmt.Errorf("%w: make room on the disk and run it again", err)
	case errors.Is(err, syscall.EFBIG):
		return fmt.Errorf("%w: raise the limit for file sizes (ulimit -f) and run it again", err)
	case errors.Is(err, syscall.EROFS):
		return fmt.Errorf("%w: the workspace is mounted read-only", err)
	case errors.Is(err, syscall.EXDEV): // overlayfs does not rename folders of a lower layer
		return fmt.Errorf("%w: replace the folder with a copy of it (cp -a, rm -r, mv) and run it again", err)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%w: give yourself permission to read and write there", err)
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		return fmt.Errorf("%w: raise the limit for open files (ulimit -n) and run it again", err)
	case errors.Is(err, lines.ErrNotRegular):
		return fmt.Errorf("%w: move it away", err)
	}
	return err
}
