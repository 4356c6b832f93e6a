package listing

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cortext/schema"
	"cortext/store"
)

// TestCaptureSeesAll: whatever happens to the files and to the caches, capture gets the
// conversations and their sources as the store lists them, in small workspaces, too.
func TestCaptureSeesAll(t *testing.T) {
	for _, n := range []int{3, 60} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			w := populated(t, uint64(n), n)
			for i := range steps() {
				done := w.change()
				w.checkCapture(fmt.Sprintf("step %d: %d", i, done), AllFiles)
			}
		})
	}
}

// TestCaptureSeesFolders: without a look at all files, capture gets what cortext changed,
// and folders that came or went on any day. It looks at all files after a change by git.
func TestCaptureSeesFolders(t *testing.T) {
	for _, n := range []int{3, 60} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			w := populated(t, uint64(n), n)
			for i := range steps() {
				checks := pickOne(w, []Checks{ForCapture, OnlyFolders})
				switch k := w.r.IntN(10); {
				case k < 5:
					w.byCortext()
				case k < 9:
					w.folderByHand()
				default:
					w.byHand()
					w.git += "x"
					checks = ForCapture
				}
				w.checkCapture(fmt.Sprintf("step %d, checks %d", i, checks), checks)
			}
		})
	}
}

// folderByHand copies, moves or removes a folder, or what is in it.
func (w *world) folderByHand() {
	all := w.folders()
	if len(all) == 0 {
		return
	}
	folder := pickOne(w, all)
	switch w.r.IntN(4) {
	case 0:
		os.RemoveAll(folder)
	case 1:
		os.Rename(folder, folder+"x")
	case 2:
		os.CopyFS(filepath.Join(filepath.Dir(folder), fmt.Sprint("001-twin-", w.r.IntN(100))), os.DirFS(folder))
	case 3: // as git takes it away and brings it back
		kept := filepath.Join(w.t.TempDir(), "kept")
		session := filepath.Join(folder, ".session")
		os.Rename(session, kept)
		w.git += "x"
		w.checkCapture("bare", ForCapture)
		os.Rename(kept, session)
	}
}

// checkCapture compares what capture gets with what the store lists.
func (w *world) checkCapture(what string, checks Checks) {
	w.t.Helper()
	st := w.store()
	defer st.Close()
	opts := w.options()
	opts.Checks = checks
	l, err := Open(st, opts)
	if err != nil {
		w.t.Fatal(err)
	}
	defer l.Close()
	got, err := All(l)
	if err != nil {
		w.t.Fatal(err)
	}
	want, err := st.List()
	if err != nil {
		w.t.Fatal(err)
	}
	if len(got) != len(want) {
		w.t.Fatalf("%s: conversations %v, want %v", what, pathsOf(got), pathsOf(want))
	}
	if checks == OnlyFolders { // which says nothing about what is in them
		byPath := func(a, b store.Entry) int { return strings.Compare(a.Path, b.Path) }
		slices.SortFunc(got, byPath)
		slices.SortFunc(want, byPath)
	}
	var natives []string
	for i, e := range want {
		g := got[i]
		if g.Path != e.Path || g.Session.ID != e.Session.ID || g.Waiting != e.Waiting || !slices.Equal(g.Twins, e.Twins) ||
			checks != OnlyFolders && (g.LeftByMerge() != e.LeftByMerge() || !slices.EqualFunc(g.Session.Sources, e.Session.Sources, sameSource)) {
			w.t.Fatalf("%s: %d is %+v of %+v, want %+v of %+v", what, i, g, g.Session, e, e.Session)
		}
		if at, ok := l.ByID(e.Session.ID); !ok || !schema.SameConversation(l.Row(at).ID, e.Session.ID) {
			w.t.Fatalf("%s: no conversation has the id %s", what, e.Session.ID)
		}
		for _, src := range e.Session.Sources {
			if checks == OnlyFolders {
				break
			}
			natives = append(natives, src.NativeID)
		}
	}
	for _, id := range append(natives, "n", "") {
		got, err := OfSession(l, id)
		if err != nil {
			w.t.Fatal(err)
		}
		var paths, wanted []string
		for _, e := range got {
			if hasSource(e.Session.Sources, id) {
				paths = append(paths, e.Path)
			}
		}
		for _, e := range want {
			if hasSource(e.Session.Sources, id) {
				wanted = append(wanted, e.Path)
			}
		}
		if !slices.Equal(paths, wanted) {
			w.t.Fatalf("%s: session %q is of %v, want %v", what, id, paths, wanted)
		}
	}
}

func pathsOf(list []store.Entry) (paths []string) {
	for _, e := range list {
		paths = append(paths, e.Path)
	}
	return paths
}

func sameSource(a, b schema.Source) bool {
	return a.Agent == b.Agent && a.NativeID == b.NativeID && a.From == b.From && a.After == b.After
}
