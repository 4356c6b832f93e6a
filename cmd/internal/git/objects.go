package git

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// objects reads objects of root's repository that are on this machine.
type objects struct {
	root    string
	partial bool // a remote promises the other objects
}

func objectsOf(root string) objects {
	return objects{root, partialClone(root)}
}

// partialClone reports whether a remote promises objects that are not here: each pack
// from it has a file beside it that says so.
func partialClone(root string) bool {
	dir := CommonDir(root)
	if dir == "" {
		return false
	}
	entries, err := os.ReadDir(filepath.Join(dir, "objects", "pack"))
	if err != nil {
		return false
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".promisor") {
			return true
		}
	}
	return false
}

// each calls use for each id whose object is here, in order, with its index, size and
// content; use need not read the content.
func (o objects) each(ctx context.Context, ids []string, use func(i int, size int64, content io.Reader) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	wanted, err := o.here(ctx, ids)
	if err != nil || len(wanted) == 0 {
		return err
	}
	var input strings.Builder
	for _, i := range wanted {
		input.WriteString(ids[i] + "\n")
	}
	cmd := reader(ctx, o.root, []string{"cat-file", "--batch", "--buffer"})
	cmd.Stdin = strings.NewReader(input.String())
	var stderr strings.Builder
	cmd.Stderr = &stderr
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	out := bufio.NewReaderSize(pipe, 1<<16)
	for _, i := range wanted {
		if err = one(out, func(size int64, content io.Reader) error { return use(i, size, content) }); err != nil {
			cancel()
			break
		}
	}
	waited := cmd.Wait()
	if err == nil || errors.Is(err, io.EOF) { // git ended early and explains on standard error
		err = errors.Join(context.Cause(ctx), said(waited, stderr.String()))
	}
	return err
}

// one reads one response of cat-file --batch: a line with name, type and size, the
// content and a newline; or a line that reports a missing object.
func one(out *bufio.Reader, use func(size int64, content io.Reader) error) error {
	line, err := out.ReadString('\n')
	if err != nil {
		return io.EOF
	}
	words := strings.Fields(line)
	if len(words) != 3 {
		return nil
	}
	size, err := strconv.ParseInt(words[2], 10, 64)
	if err != nil {
		return fmt.Errorf("git cat-file says %q", line)
	}
	content := io.LimitReader(out, size)
	if err := use(size, content); err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, content); err != nil {
		return err
	}
	_, err = out.Discard(1)
	return err
}

// here returns the indexes of the ids whose objects are on this machine. A git that does
// not know GIT_NO_LAZY_FETCH ends cat-file when asked for a missing object.
func (o objects) here(ctx context.Context, ids []string) ([]int, error) {
	held := map[string]bool{}
	if o.partial && len(ids) > 0 {
		cmd := reader(ctx, o.root, []string{"rev-list", "--objects", "--no-walk", "--no-object-names", "--ignore-missing", "--missing=allow-any", "--filter=tree:0", "--stdin"})
		cmd.Stdin = strings.NewReader(strings.Join(ids, "\n") + "\n")
		out, err := output(cmd)
		if err != nil {
			return nil, err
		}
		for id := range strings.Lines(out) {
			held[strings.TrimSpace(id)] = true
		}
	}
	list := make([]int, 0, len(ids))
	for i, id := range ids {
		if !o.partial || held[id] {
			list = append(list, i)
		}
	}
	return list, nil
}

// HeadSize returns the length of a file in the last commit without reading it. The path
// is relative to root, with slashes. An error means only that git cannot tell: the commit
// has no such file, or its content is not on this machine.
func HeadSize(ctx context.Context, root, path string) (int64, error) {
	if Dir(root) == "" {
		return 0, ErrNoRepository
	}
	out, err := read(ctx, root, "cat-file", "-s", "HEAD:./"+path)
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(strings.TrimSpace(out), 10, 64)
}
