package atomicfile

import (
	"os"
	"path/filepath"
	"testing"
)

// A busyFolder closes a file after the first rename.
type busyFolder struct {
	*os.Root
	reader *os.File
	failed error // of the first rename
}

func (b *busyFolder) Rename(from, to string) error {
	err := b.Root.Rename(from, to)
	if b.reader != nil {
		b.failed = err
		b.reader.Close()
		b.reader = nil
	}
	return err
}

// TestWriteWhileRead replaces a file that another program had open.
func TestWriteWhileRead(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "f")
	if err := os.WriteFile(name, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	b := &busyFolder{Root: root}
	if b.reader, err = os.Open(name); err != nil {
		t.Fatal(err)
	}
	err = Write(b, "f", []byte("new"), 0o600, ".")
	if got, readErr := os.ReadFile(name); err != nil || readErr != nil || string(got) != "new" {
		t.Errorf("%q, %v, %v", got, err, readErr)
	}
	if b.failed == nil {
		t.Error("the file could be replaced while it was open")
	}
}
