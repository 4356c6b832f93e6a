package fork

import (
	"fmt"
	"slices"

	"cortext/cmd/internal/workspace"
	"cortext/schema"
	"cortext/store"
)

// An Unlinked is a conversation that does not name one of its forks: the fork was killed
// before it wrote the link, or a clone or a branch has only the fork's side of it.
type Unlinked struct{ Old, Fork store.Entry }

func (u Unlinked) String() string {
	return fmt.Sprintf("%s does not name its fork %s", u.Old.Path, u.Fork.Path)
}

// FindUnlinked returns each conversation in a list that does not name one of its forks in that
// list.
func FindUnlinked(all []store.Entry) (list []Unlinked) {
	byID := map[string]store.Entry{}
	for _, e := range all {
		if e.Session.ID != "" && len(e.Damage) == 0 { // a damaged one may have links that could not be read
			byID[e.Session.ID] = e
		}
	}
	for _, e := range all {
		l := e.Session.Links
		if l == nil || e.Session.ID == "" {
			continue
		}
		old, ok := byID[l.Parent]
		if ok && (old.Session.Links == nil || !slices.Contains(old.Session.Links.Related, e.Session.ID)) {
			list = append(list, Unlinked{old, e})
		}
	}
	return list
}

// Link adds a fork to the conversation it was forked from, along with any other fork that
// lacks its link.
func Link(in *workspace.Workspace, old store.Entry, id string) error {
	all, err := in.Store.List()
	if err != nil {
		return err
	}
	ids := []string{id}
	for _, u := range FindUnlinked(all) {
		if u.Old.Session.ID == old.Session.ID {
			ids = append(ids, u.Fork.Session.ID)
		}
	}
	_, err = in.Edit(old, func(s *schema.Session) error {
		if s.Links == nil {
			s.Links = new(schema.Links)
		}
		s.Links.Related = append(s.Links.Related, ids...)
		slices.Sort(s.Links.Related)
		s.Links.Related = slices.Compact(s.Links.Related)
		return nil
	})
	return err
}
