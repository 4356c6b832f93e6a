package inject

// nonBlocking is nothing on Windows: its named pipes are not in folders.
const nonBlocking = 0
