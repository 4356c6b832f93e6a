package inject

import (
	"io"
	"os"
)

// A FileError says why a file cannot be read as a transcript.
type FileError struct{ File, Why string }

func (e *FileError) Error() string { return e.File + ": " + e.Why }

// OpenFile opens a transcript that is a file and returns its length.
func OpenFile(file string) (*os.File, int64, error) {
	f, err := OpenRegular(file)
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err == nil && info.Size() == 0 {
		err = &FileError{file, "is empty"}
	}
	if err != nil {
		_ = f.Close()
		return nil, 0, err
	}
	return f, info.Size(), nil
}

// OpenRegular opens a regular file for reading. Anything else, such as a pipe, is an
// error. It never waits for a writer.
func OpenRegular(file string) (*os.File, error) {
	if _, err := StatFile(file); err != nil {
		return nil, err // some devices have side effects when opened
	}
	f, err := os.OpenFile(file, os.O_RDONLY|nonBlocking, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil {
		err = regular(file, info)
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// ReadRegular reads a regular file of at most limit bytes.
func ReadRegular(file string, limit int64) ([]byte, error) {
	f, err := OpenRegular(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(b)) > limit {
		err = &FileError{file, "is too large"}
	}
	return b, err
}

// StatFile returns the length of a transcript that is a file.
func StatFile(file string) (int64, error) {
	info, err := os.Stat(file)
	if err != nil {
		return 0, err
	}
	return info.Size(), regular(file, info)
}

// regular returns an error unless info describes a regular file.
func regular(file string, info os.FileInfo) error {
	switch {
	case info.IsDir():
		return &FileError{file, "is a folder: name the transcripts in it"}
	case !info.Mode().IsRegular():
		return &FileError{file, "is not a regular file"}
	}
	return nil
}
