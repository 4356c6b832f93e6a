package workspace

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"cortext/cmd/internal/git"
	"cortext/cmd/internal/shell"
)

// localDir is the folder for files that belong to this machine only.
const localDir = ".workspace/local"

// noteTracked reports files of .workspace/local that git tracks, for example after a
// version that did not ignore them: the next commit would publish them. Tracking the file
// that makes git ignore the folder does no harm.
func (t *Tree) noteTracked(ctx context.Context, note func(string)) {
	if git.Dir(t.store.Root()) == "" {
		return
	}
	var names []string
	add := func(name string) {
		if name != localDir+"/.gitignore" {
			names = append(names, name)
		}
	}
	err := git.IndexFiles(ctx, t.store.Root(), localDir, maxCheck, func(f git.File) error {
		add(f.Path)
		return nil
	})
	if missing := (*git.NotFetchedError)(nil); errors.As(err, &missing) {
		for _, name := range missing.Paths {
			add(name)
		}
	} else if err != nil && !errors.Is(err, git.ErrUnborn) {
		note("whether git tracks files of " + localDir + " is not known: " + err.Error())
	}
	if len(names) == 0 {
		return
	}
	const most = 3
	named := strings.Join(names[:min(len(names), most)], ", ")
	if len(names) > most {
		named += ", …"
	}
	note(fmt.Sprintf("git tracks %d files of %s, which belong to this machine alone (%s): git rm -r --cached %[2]s ends that, "+
		"but what was committed stays in the history", len(names), localDir, named))
}

// OneSided describes the conflicts that git leaves to the user: conversations that one side
// of a merge removed and the other continued, or that both renamed, and logs that one side
// continued while the other moved the workspace. A path limits it to the conversation in that
// folder.
func (t *Tree) OneSided(ctx context.Context, path string) (texts []string, err error) {
	op := t.Operation()
	switch {
	case op == "bisect", op == "" && !git.Squashed(t.store.Root()):
		return nil, nil
	case op == "":
		op = "merge"
	}
	found, err := git.ConflictsIn(ctx, t.store.Root(), conversationsDir)
	if err != nil {
		return nil, fmt.Errorf("could not look for conflicts in conversations: %w", err)
	}
	for _, f := range found.OneSided {
		if path == "" || f.Path == path {
			texts = append(texts, f.Path+" was removed on one side of a git "+op+" and continued on the other: cortext pull keeps it")
		}
	}
	for _, r := range found.Renamed {
		if path == "" || r.Ours == path || r.Theirs == path {
			texts = append(texts, r.Ours+" has another name on the other side of a git "+op+", "+r.Theirs+": cortext pull keeps both")
		}
	}
	for _, f := range found.Strays {
		if strings.HasSuffix(f.Path, ".jsonl") && (path == "" || strings.HasPrefix(f.Home, path+"/")) {
			texts = append(texts, fmt.Sprintf("%s was continued on one side of a git %s and moved on the other: cat %s >>%s adds what git left in the old place, then git rm %[3]s",
				f.Home, op, shell.Quote(f.Path), shell.Quote(f.Home)))
		}
	}
	return texts, nil
}
