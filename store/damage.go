package store

import (
	"errors"

	"cortext/schema/jsonl"
)

// The kinds of damage beside those of package jsonl.
const (
	Missing    jsonl.Kind = "missing"            // a file that must be there
	Unreadable jsonl.Kind = "unreadable"         // session.json, or what the system does not let us read
	Newer      jsonl.Kind = "newer format"       // written by a later cortext: no damage to repair
	NotRecord  jsonl.Kind = "not a record"       // JSON, but no message or tool call
	NotRegular jsonl.Kind = "not a regular file" // a symlink, a pipe, a folder where a file is kept, or a file for a folder
)

// Damage is a place in the workspace that is not what it should be. It is an
// error so that it can travel beside records.
type Damage struct {
	File string // relative to the workspace, with slashes
	jsonl.Damage
}

func (d *Damage) Error() string { return d.File + ": " + d.Damage.Error() }

// Unwrap gives the place within the file.
func (d *Damage) Unwrap() error { return &d.Damage }

// damageIn puts a file's name to damage that a reader found in it; other errors
// stay.
func damageIn(file string, err error) error {
	var in *jsonl.Damage
	if errors.As(err, &in) {
		return &Damage{file, *in}
	}
	return err
}
