package listing

import "errors"

// Looked is the maximum number of rows whose files a page checks one by one. A longer page
// checks the folders of all days.
const Looked = 4096

// Recheck looks at the files of the conversations in some folders, and rereads those that
// changed. It invalidates all positions.
func (l *Listing) Recheck(folders []string) error {
	err := l.recheck(folders)
	if errors.Is(err, errDamaged) {
		return l.sweep(nil)
	}
	return err
}

func (l *Listing) recheck(folders []string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	v, err := l.refresher.current(l.view.Load(), nil, func(v *view) (at []int, err error) {
		for _, folder := range folders {
			i, ok, err := v.byFolder(folder)
			if err != nil {
				return nil, err
			}
			if ok {
				at = append(at, i)
			}
		}
		return at, nil
	})
	if err != nil {
		return err
	}
	l.view.Store(v)
	return nil
}
