package store

import (
	"errors"
	"fmt"
	"io"
	"path"

	"cortext/store/internal/lines"
)

// A keeper keeps files below .workspace/local/kept. It never overwrites one.
type keeper struct{ *Files }

// copy durably copies r to a new file below .workspace/local/kept, so that its bytes may
// be removed from their original place. The file's name begins with prefix.
func (k keeper) copy(prefix string, r io.Reader) (kept string, err error) {
	if kept, err = k.freeName(prefix); err != nil {
		return "", err
	}
	f, created, err := lines.OpenAppend(k.root, kept, privateFileMode, k.logs)
	if err != nil {
		return "", err
	}
	if !created {
		return "", errors.Join(fmt.Errorf("%q: %w", kept, ErrExist), f.Close())
	}
	_, err = io.Copy(appender{f}, r)
	if err == nil {
		err = f.Sync()
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = k.files.SyncDir(k.root, path.Dir(kept))
	}
	if err != nil {
		return "", errors.Join(err, k.root.Remove(kept))
	}
	return kept, nil
}

// move moves the file at name to kept/damaged, under a name that begins with as.
func (k keeper) move(name, as string) error {
	to, err := k.freeName("damaged/" + as)
	if err != nil {
		return err
	}
	if err := k.files.RenameIn(k.root, name, to); err != nil {
		return err
	}
	return k.files.SyncDir(k.root, path.Dir(to)) // what replaces the file may be durable at once
}

// freeName returns the name of a new file below .workspace/local/kept, so that no file
// there is ever overwritten.
func (k keeper) freeName(prefix string) (string, error) {
	prefix = keptDir + "/" + prefix
	if err := k.makeLocal(path.Dir(prefix)); err != nil {
		return "", err
	}
	for n := 1; ; n++ {
		name := fmt.Sprintf("%s-%d", prefix, n)
		if free, err := k.missing(name); free || err != nil {
			return name, err
		}
	}
}

// An appender appends what is written to it.
type appender struct{ *lines.File }

func (a appender) Write(b []byte) (int, error) { return len(b), a.Append(b) }
