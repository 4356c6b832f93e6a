package serve

import (
	"net/http"
	"slices"
	"strings"

	"cortext/cmd/internal/export/portable"
	"cortext/cmd/internal/organise"
	"cortext/cmd/internal/workspace"
	"cortext/schema"
	"cortext/store"
)

// A patch is what PATCH changes; what is absent stays.
type patch struct {
	Name     *string           `json:"name"`
	Modes    *modesPatch       `json:"modes"`
	Status   *schema.Status    `json:"status"`
	Archived *bool             `json:"archived"`
	Tags     *[]string         `json:"tags"` // all of them
	Notes    *string           `json:"notes"`
	Values   map[string]string `json:"values"` // an empty one removes the key
}

// A modesPatch changes modes; what is absent stays.
type modesPatch struct {
	Orchestrate       *bool `json:"orchestrate,omitempty"`
	Plan              *bool `json:"plan,omitempty"`
	BypassPermissions *bool `json:"bypassPermissions,omitempty"`
}

func (p *modesPatch) change(x *schema.Session) error {
	m := portable.ModesOf(x)
	for _, set := range []struct{ to, from *bool }{{&m.Orchestrate, p.Orchestrate}, {&m.Plan, p.Plan}, {&m.BypassPermissions, p.BypassPermissions}} {
		if set.from != nil {
			*set.to = *set.from
		}
	}
	portable.SetModes(x, m)
	return nil
}

// update answers PATCH /api/sessions/{id}.
func (s sessionRoutes) update(r *http.Request, in patch, space *Space, e store.Entry) (*answer, error) {
	if err := s.expected(r, space, e); err != nil {
		return nil, err
	}
	e, err := in.apply(space.Workspace, e)
	if err != nil {
		return nil, err
	}
	return s.whole(space, e)
}

// apply makes the changes. All are checked before the first is made.
func (p *patch) apply(w *workspace.Workspace, e store.Entry) (store.Entry, error) {
	changes, err := p.changes(e)
	if err != nil {
		return e, err
	}
	all := func(x *schema.Session) error {
		for _, change := range changes {
			if err := change(x); err != nil {
				return err
			}
		}
		return nil
	}
	if err := all(e.Session.Clone()); err != nil {
		return e, err
	}
	if len(changes) > 0 {
		if e, _, err = organise.Apply(w, e, all); err != nil {
			return e, err
		}
	}
	if p.Status != nil && *p.Status != e.Session.Status {
		if _, err := w.Status.Set(e, *p.Status); err != nil {
			return e, err
		}
		return w.Entry(e.Path)
	}
	return e, nil
}

func (p *patch) changes(e store.Entry) (list []organise.Change, err error) {
	if p.Name != nil {
		title, err := workspace.CleanTitle(workspace.Plain(*p.Name))
		if err != nil {
			return nil, err
		}
		list = append(list, func(x *schema.Session) error { x.Title = title; return nil })
	}
	if p.Modes != nil {
		list = append(list, p.Modes.change)
	}
	if p.Status != nil && !slices.Contains(schema.Statuses(), *p.Status) {
		return nil, invalid("status %q is not one of %v", *p.Status, schema.Statuses())
	}
	if p.Archived != nil {
		list = append(list, organise.SetArchived(*p.Archived))
	}
	if p.Tags != nil {
		var tags []string
		for _, t := range *p.Tags {
			parsed, err := organise.ParseTags(t)
			if err != nil {
				return nil, err
			}
			tags = append(tags, parsed...)
		}
		var gone []string
		for _, have := range e.Session.Tags {
			if !containsFold(tags, have) {
				gone = append(gone, have)
			}
		}
		list = append(list, organise.Untag(gone), organise.Tag(tags))
	}
	if p.Notes != nil {
		list = append(list, organise.ReplaceNotes(*p.Notes))
	}
	var values []organise.Value
	for key, text := range p.Values {
		v, err := organise.ParseValue(key + "=" + text)
		if err != nil {
			return nil, err
		}
		values = append(values, v)
	}
	if len(values) > 0 {
		list = append(list, organise.Set(values))
	}
	return list, nil
}

func containsFold(list []string, word string) bool {
	return slices.ContainsFunc(list, func(w string) bool { return strings.EqualFold(w, word) })
}
