// Command cortext keeps conversations with AI coding agents as plain files in the work
// tree and resumes them.
package main

import "cortext/cmd/internal/process"

func main() { process.Main(nil) }
