package redact

import (
	"context"
	"time"

	"cortext/cmd/internal/git"
	"cortext/store"
)

// InGit says where git has the text in files of a conversation. It searches for at most a
// given time. The error is [git.ErrNoRepository] outside of a repository.
func (r *Redactor) InGit(ctx context.Context, e store.Entry, most time.Duration) (git.Holders, error) {
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	return git.FindHolders(ctx, r.ws.Store.Root(), append([]string{e.Path}, e.Twins...), r.has)
}
