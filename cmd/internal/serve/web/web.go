// Package web holds the page of cortext serve and the files that it loads.
package web

import "embed"

// Files are index.html, and below assets what it loads from /assets/.
//
//go:embed index.html assets
var Files embed.FS

// TokenMark stands in index.html where the server puts the token with which the page changes
// something.
const TokenMark = "{{token}}"
