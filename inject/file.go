package inject

import (
	"os"
)

// A FileError says why a file cannot be read as a transcript.
type FileError struct{ File, Why string }

func (e *FileError) Error() string { return e.File + ": " + e.Why }

// OpenFile opens a transcript that is a file and returns its length.
func OpenFile(file string) (*os.File, int64, error) {
	size, err := StatFile(file)
	if err != nil {
		return nil, 0, err
	}
	if size == 0 {
		return nil, 0, &FileError{file, "is empty"}
	}
	f, err := os.Open(file)
	return f, size, err
}

// StatFile returns the length of a transcript that is a file. A FIFO is none: to
// open it would wait for a writer.
func StatFile(file string) (int64, error) {
	info, err := os.Stat(file)
	switch {
	case err != nil:
		return 0, err
	case info.IsDir():
		return 0, &FileError{file, "is a folder: name the transcripts in it"}
	case !info.Mode().IsRegular():
		return 0, &FileError{file, "is not a regular file"}
	}
	return info.Size(), nil
}
