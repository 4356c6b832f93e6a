package inject

// nonBlocking is zero on Windows, where named pipes are not in folders.
const nonBlocking = 0
