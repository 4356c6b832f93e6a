package listing

import (
	"slices"
	"sync"
	"sync/atomic"

	"cortext/store/parallel"
)

// A sweep checks the files of all conversations.
type sweep struct {
	days *dayFolders
	base *index // nil: everything is new

	top   string
	looks []day
	dirty []string // folders that were changed, added or removed
	found int      // number of folders
}

// A counter reports progress.
type counter struct {
	done   atomic.Int64
	of     int
	mu     sync.Mutex
	report func(done, of int)
}

// reportEvery is how many conversations are examined between two reports.
const reportEvery = 500

func newCounter(of int, report func(done, of int)) *counter {
	if of < 2*reportEvery {
		report = nil
	}
	return &counter{of: of, report: report}
}

func (c *counter) add() {
	if n := int(c.done.Add(1)); c.report != nil && (n%reportEvery == 0 || n == c.of) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.report(int(c.done.Load()), c.of)
	}
}

// list finds the folders of all conversations.
func (s *sweep) list() (folders []string, err error) {
	s.top = s.days.store.Folders().LookAtDay("")
	names, err := s.days.store.Folders().Days()
	if err != nil {
		return nil, err
	}
	s.looks = make([]day, len(names))
	of := make([][]string, len(names))
	parallel.Each(len(names), func(i int) {
		look := s.days.store.Folders().LookAtDay(names[i])
		list, ok := s.days.foldersOf(names[i])
		if !ok {
			look = ""
		}
		s.looks[i], of[i] = day{names[i], look}, list
	})
	folders = slices.Concat(of...)
	s.found = len(folders)
	return folders, nil
}

// compare finds the folders that differ from the index.
func (s *sweep) compare(folders []string, progress func(done, of int)) error {
	if s.base == nil {
		s.dirty = folders
		return nil
	}
	for _, section := range []int{lookSection, folderSection} {
		if _, err := s.base.sections.load(section); err != nil {
			return err
		}
	}
	if err := s.base.loadAll(); err != nil {
		return err
	}
	seen := make([]atomic.Bool, s.base.n)
	changed := make([]bool, len(folders))
	var failed atomic.Pointer[error]
	counted := newCounter(len(folders), progress)
	parallel.Each(len(folders), func(i int) {
		defer counted.add()
		row, ok, err := s.base.byFolder(folders[i])
		if err != nil {
			failed.Store(&err)
			return
		}
		if !ok {
			changed[i] = true
			return
		}
		seen[row].Store(true)
		look, ok, err := s.base.look(row)
		if err != nil {
			failed.Store(&err)
			return
		}
		changed[i] = !ok || look != s.days.store.Folders().LookIn(folders[i])
	})
	if err := failed.Load(); err != nil {
		return *err
	}
	for i, name := range folders {
		if changed[i] {
			s.dirty = append(s.dirty, name)
		}
	}
	for i := range seen {
		if !seen[i].Load() {
			r, _, err := s.base.row(i)
			if err != nil {
				return err
			}
			s.dirty = append(s.dirty, r.Path)
		}
	}
	return nil
}

// looksAtOnce is how many files a goroutine looks at: for fewer, starting a thread takes longer.
const looksAtOnce = 64

// lookInParallel calls f with each number below n. It is [parallel.Each] for an f that takes
// microseconds.
func lookInParallel(n int, f func(i int)) {
	parallel.Each((n+looksAtOnce-1)/looksAtOnce, func(k int) {
		for i := k * looksAtOnce; i < min((k+1)*looksAtOnce, n); i++ {
			f(i)
		}
	})
}
