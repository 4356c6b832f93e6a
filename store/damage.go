package store

import (
	"errors"

	"cortext/schema/jsonl"
)

// The kinds of damage in addition to those of package jsonl.
const (
	Missing    jsonl.Kind = "missing"            // a required file
	Unreadable jsonl.Kind = "unreadable"         // session.json, or a file that the system does not let us read
	Newer      jsonl.Kind = "newer format"       // written by a later cortext: no damage to repair
	NotRecord  jsonl.Kind = "not a record"       // JSON, but neither a message nor a tool call
	NotRegular jsonl.Kind = "not a regular file" // a symlink, a pipe, a folder in place of a file, or a file in place of a folder
)

// Damage is a place in the workspace that is not as it should be. It is an error so that
// it can be returned beside records.
type Damage struct {
	File string // relative to the workspace, with slashes
	jsonl.Damage
}

func (d *Damage) Error() string { return d.File + ": " + d.Damage.Error() }

// Unwrap returns the place within the file.
func (d *Damage) Unwrap() error { return &d.Damage }

// damageIn adds a file name to damage that a reader found in it. It returns other errors
// unchanged.
func damageIn(file string, err error) error {
	var in *jsonl.Damage
	if errors.As(err, &in) {
		return &Damage{file, *in}
	}
	return err
}
