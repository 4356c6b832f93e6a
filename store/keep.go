package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"

	"cortext/store/internal/lines"
)

// keep durably copies r to a new file below .workspace/local/kept, so that its bytes may
// be removed from their original place. The file's name begins with prefix. It never
// overwrites an earlier file.
func (s *Store) keep(prefix string, r io.Reader) (kept string, err error) {
	prefix = keptDir + "/" + prefix
	if err := s.makeLocal(path.Dir(prefix)); err != nil {
		return "", err
	}
	for n := 1; ; n++ {
		kept = fmt.Sprintf("%s-%d", prefix, n)
		if _, err := s.root.Lstat(kept); errors.Is(err, fs.ErrNotExist) {
			break
		} else if err != nil {
			return "", err
		}
	}
	f, created, err := lines.OpenAppend(s.root, kept, privateFileMode, s.logs)
	if err != nil {
		return "", err
	}
	if !created {
		return "", errors.Join(fmt.Errorf("%q: %w", kept, ErrExist), f.Close())
	}
	err = copyAll(f, r)
	if err == nil {
		err = f.Sync()
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = s.files.SyncDir(s.root, path.Dir(kept))
	}
	if err != nil {
		return "", errors.Join(err, s.root.Remove(kept))
	}
	return kept, nil
}

// writeNew creates a file, and makes its content durable unless the conversation is
// staged.
func (c *Conversation) writeNew(name string, data []byte, perm fs.FileMode) error {
	f, created, err := lines.OpenAppend(c.s.root, name, perm, c.logs())
	if err != nil {
		return err
	}
	if !created {
		err = fmt.Errorf("%q: %w", name, ErrExist)
	} else if len(data) > 0 {
		if err = f.Append(data); err == nil {
			err = f.Sync()
		}
	}
	return errors.Join(err, f.Close())
}

// setAside moves the file at name to kept/damaged, under the name as. It never replaces
// an earlier file.
func (s *Store) setAside(name, as string) error {
	prefix := keptDir + "/damaged/" + as
	if err := s.makeLocal(path.Dir(prefix)); err != nil {
		return err
	}
	for n := 1; ; n++ {
		to := fmt.Sprintf("%s-%d", prefix, n)
		if gone, err := s.missing(to); err != nil {
			return err
		} else if gone {
			if err := s.files.RenameIn(s.root, name, to); err != nil {
				return err
			}
			return s.files.SyncDir(s.root, path.Dir(to))
		}
	}
}

// copyAll writes r to f without holding all of it in memory.
func copyAll(f *lines.File, r io.Reader) error {
	buf := make([]byte, 1<<20)
	for {
		n, err := io.ReadFull(r, buf)
		if n > 0 {
			if err := f.Append(buf[:n]); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
