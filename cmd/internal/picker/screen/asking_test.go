package screen

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"cortext/cmd/internal/listing"
	"cortext/cmd/internal/picker"
)

// TestAskingKeepsItsConversation: an answer is about the conversation that the question was
// about, although the wheel turned or the list changed in between.
func TestAskingKeepsItsConversation(t *testing.T) {
	first, second := conversations()[0].ID, conversations()[1].ID
	archived := slices.Clone(conversations())
	archived[0].Archived = true
	between := map[string]func(d *driver){
		"wheel":    func(d *driver) { d.send(wheel{1}) },
		"archived": func(d *driver) { d.reload(archived) },
	}
	for name, change := range between {
		var done []string
		o := options(conversations())
		o.Actions = []picker.Action{{Key: 't', Name: "tag", Input: "Tags:"}, {Key: 'd', Name: "remove", Ask: "Remove it?"}}
		o.Act = func(_ context.Context, a picker.Action, row listing.Row) (string, error) {
			done = append(done, a.Name+" "+row.ID)
			return "", nil
		}
		for _, ask := range [][]string{{"alt+d", "y"}, {"alt+t", "x", "enter"}, {"alt+a", "enter"}} {
			done = nil
			drive(t, o, 80, 24, func(d *driver) {
				d.press(ask[0])
				change(d)
				d.press(ask[1:]...)
				if d.left && d.m.choice.Row.ID == second || slices.ContainsFunc(done, func(s string) bool { return s != "tag "+first && s != "remove "+first }) {
					t.Errorf("%s, then %q: about another conversation: %q, %+v", name, ask, done, d.m.choice.Row.Title)
				}
			})
		}
	}

	// The list is empty when the answer comes.
	o := options(conversations()[:1])
	o.Actions = []picker.Action{{Key: 'd', Name: "remove", Ask: "Remove it?"}}
	o.Act = func(context.Context, picker.Action, listing.Row) (string, error) {
		t.Error("it was removed, although nobody sees it")
		return "", nil
	}
	drive(t, o, 80, 24, func(d *driver) {
		d.press("alt+d")
		d.reload(archived[:1])
		d.press("y")
		if d.m.notice.text == "" {
			t.Error("it does not say why nothing happens")
		}
	})
}

// TestAskingAgain: what the user typed for an action that failed is offered again, for the
// same action and conversation only.
func TestAskingAgain(t *testing.T) {
	o := options(conversations())
	begin := func(row listing.Row) string { return "of " + row.ID }
	o.Actions = []picker.Action{{Key: 'e', Name: "title", Input: "Title:", Begin: begin}, {Key: 't', Name: "tag", Input: "Tags:"}}
	refuse := true
	o.Act = func(context.Context, picker.Action, listing.Row) (string, error) {
		if refuse {
			return "", errors.New("two conversations have this title")
		}
		return "done", nil
	}
	drive(t, o, 80, 24, func(d *driver) {
		offers := func(key, want string) {
			t.Helper()
			d.press(key)
			if got := d.m.topic.String(); got != want {
				t.Errorf("%s offers %q, want %q", key, got, want)
			}
		}
		id := d.m.chosen().ID
		offers("alt+e", "of "+id)
		d.press("!", "enter")
		offers("alt+t", "")
		d.press("esc")
		offers("alt+e", "of "+id+"!")
		d.press("esc", "down")
		offers("alt+e", "of "+d.m.chosen().ID)
		d.press("esc", "up")
		offers("alt+e", "of "+id+"!")
		refuse = false
		d.press("enter")
		offers("alt+e", "of "+id)
	})
}

// TestReadOnlyElsewhere: in a workspace that cannot be changed, actions work on the conversations
// of the others.
func TestReadOnlyElsewhere(t *testing.T) {
	const why = "the disk is read-only"
	var done []string
	o := options(conversations())
	o.Everywhere = func(context.Context) (picker.Rows, error) { return placed(many(50), "/srv/shop"), nil }
	o.Actions = []picker.Action{{Key: 'x', Name: "archive"}}
	o.Act = func(_ context.Context, _ picker.Action, row listing.Row) (string, error) {
		done = append(done, row.Workspace)
		return "archived", nil
	}
	o.ReadOnly = func(row listing.Row) string {
		if row.Workspace == "" {
			return why
		}
		return ""
	}
	drive(t, o, 80, 24, func(d *driver) {
		if !strings.Contains(screen(d.m), why) {
			t.Errorf("here:\n%s", screen(d.m))
		}
		d.press("ctrl+a")
		if strings.Contains(screen(d.m), why) {
			t.Errorf("everywhere:\n%s", screen(d.m))
		}
		if d.press("alt+x"); fmt.Sprint(done) != "[/srv/shop]" {
			t.Errorf("archived in %q", done)
		}
	})
}
