package git

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"time"
)

// A turn is what a clone remembers of its last push, so that several clones that push all
// the time get about as many pushes each. One that always tried at once would win every
// race: it has nothing to fetch and merge.
type turn struct {
	Until time.Time `json:"until"` // others may push until then
	Early int       `json:"early"` // how many pushes in a row began before that
	Races int       `json:"races"` // more for each lost race, fewer for each push
}

// turnFile, in the repository, holds the turn.
const turnFile = "cortext-pushed"

const (
	// The time that a clone leaves to others after a push: minTurn and a multiple of the time
	// that the push took, because others have to fetch and merge before they push.
	minTurn  = time.Second
	perPush  = 3
	mostTurn = 30 * time.Second

	// Nobody waits who pushes only mostEarly times in a row.
	mostEarly = 2

	// The longest wait doubles with each lost race, and is a multiple of the time that a try
	// takes, or of leastTry. Clones that try as often as they can only slow each other down;
	// with mostDoubled, there is room for twenty.
	leastTry    = 100 * time.Millisecond
	mostDoubled = 5
	mostWait    = 30 * time.Second

	// Races of earlier pushes count for this long.
	remembered = time.Minute
)

// awaitTurn returns what is remembered about the last push, and adds the one that begins.
// It lets others push first if this clone has pushed several times in a row.
func (x Exchange) awaitTurn(ctx context.Context) (t turn, err error) {
	b, err := os.ReadFile(filepath.Join(CommonDir(x.Root), turnFile))
	if err != nil || json.Unmarshal(b, &t) != nil {
		return turn{}, nil // it never pushed, or the file is damaged: others wait longer
	}
	wait := t.Until.Sub(x.Now())
	if wait > mostTurn || wait < -remembered { // the clock was set back, or it is long ago
		return turn{}, nil
	}
	switch {
	case wait <= 0:
		t.Early = 0
	case t.Early < mostEarly:
		t.Early++
	default:
		err = sleep(ctx, wait)
	}
	return t, err
}

// endTurn remembers a push that took some time.
func (x Exchange) endTurn(t turn, took time.Duration) {
	t.Until = x.Now().Add(min(minTurn+perPush*took, mostTurn)).UTC()
	t.Races = max(t.Races-1, 0)
	if b, err := json.Marshal(t); err == nil {
		_ = os.WriteFile(filepath.Join(CommonDir(x.Root), turnFile), append(b, '\n'), 0o666)
	}
}

// lost counts a lost race, and returns how long to wait at most before the next try. The
// last one took some time.
func (t *turn) lost(took time.Duration) time.Duration {
	t.Races = min(t.Races+1, mostDoubled)
	return min(max(took, leastTry)<<t.Races, mostWait)
}
