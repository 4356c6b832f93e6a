package screen

import (
	"context"
	"slices"
	"testing"

	"cortext/cmd/internal/listing"
	"cortext/cmd/internal/picker"
)

// TestEverywhereKeepsPlace: in the list of all workspaces, the cursor stays in its place after an
// action hides or removes its conversation.
func TestEverywhereKeepsPlace(t *testing.T) {
	for _, remove := range []bool{false, true} {
		rows := placed(many(50), "/srv/shop")
		o := options(conversations())
		o.Everywhere = func(context.Context) (picker.Rows, error) { return slices.Clone(rows), nil }
		o.Actions = []picker.Action{{Key: 'x', Name: "archive"}}
		o.Act = func(_ context.Context, _ picker.Action, row listing.Row) (string, error) {
			at, _ := rows.ByID(row.ID)
			rows[at].Archived = true
			if remove {
				rows = slices.Delete(rows, at, at+1)
			}
			return "done", nil
		}
		drive(t, o, 80, 24, func(d *driver) {
			d.press("ctrl+a")
			for range 20 {
				d.press("down")
			}
			d.m.View()
			top, next, chosen := d.m.list.top, d.m.rows.Row(d.m.list.items[21]).ID, d.m.chosen().ID
			d.press("alt+x")
			want := next
			if remove {
				want = chosen // struck through
			}
			if got := d.m.chosen().ID; got != want || d.m.list.cursor != 20 || d.m.list.top != top || d.m.list.isGone(chosen) != remove {
				t.Errorf("removed %t: the cursor goes to item %d, %s below item %d; want item 20, %s below item %d", remove, d.m.list.cursor, got, d.m.list.top, want, top)
			}
		})
	}
}
