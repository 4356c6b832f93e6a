// Package children ends a program together with the programs that it started.
package children
