// Package web holds the page of cortext serve and the files that it loads.
package web

import "embed"

// Files are index.html, and below assets what it loads from /assets/.
//
//go:embed index.html assets
var Files embed.FS

// TokenMark marks the place in index.html where the server puts the token that the page
// needs to change something.
const TokenMark = "{{token}}"
