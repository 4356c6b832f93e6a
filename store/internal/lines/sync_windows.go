package lines

import "os"

// nonBlocking is 0 on Windows, where named pipes are not in folders.
const nonBlocking = 0

func Datasync(f *os.File) error { return f.Sync() }
