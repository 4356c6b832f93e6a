package lines

import "os"

// nonBlocking is nothing on Windows: its named pipes are not in folders.
const nonBlocking = 0

func Datasync(f *os.File) error { return f.Sync() }
