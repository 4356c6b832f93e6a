package git

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"time"
)

// A pace is what a clone remembers of its last push, so that several clones that push all
// the time get about as many pushes each. A clone that always tried at once would win every
// race: it has nothing to fetch and merge.
type pace struct {
	Until time.Time `json:"until"` // others may push until then
	Early int       `json:"early"` // how many pushes in a row began before that
	Races int       `json:"races"` // more for each lost race, fewer for each push
}

// paceFile, in the repository, holds the pace.
const paceFile = "cortext-pushed"

const (
	// The time that a clone leaves to others after a push: minPause and a multiple of the time
	// that the push took, because others have to fetch and merge before they push.
	minPause  = time.Second
	perPush   = 3
	mostPause = 30 * time.Second

	// A clone that pushes at most mostEarly times in a row does not wait.
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

// waitForOthers returns what is remembered about the last push, and adds the one that begins.
// It lets others push first if this clone has pushed several times in a row.
func (x Exchange) waitForOthers(ctx context.Context) (p pace, err error) {
	b, err := os.ReadFile(filepath.Join(CommonDir(x.Root), paceFile))
	if err != nil || json.Unmarshal(b, &p) != nil {
		return pace{}, nil // it never pushed, or the file is damaged: others wait longer
	}
	wait := p.Until.Sub(x.Now())
	if wait > mostPause || wait < -remembered { // the clock was set back, or it is long ago
		return pace{}, nil
	}
	switch {
	case wait <= 0:
		p.Early = 0
	case p.Early < mostEarly:
		p.Early++
	default:
		err = sleep(ctx, wait)
	}
	return p, err
}

// noteOwnPush remembers a push and how long it took.
func (x Exchange) noteOwnPush(p pace, took time.Duration) {
	p.Until = x.Now().Add(min(minPause+perPush*took, mostPause)).UTC()
	p.Races = max(p.Races-1, 0)
	if b, err := json.Marshal(p); err == nil {
		_ = os.WriteFile(filepath.Join(CommonDir(x.Root), paceFile), append(b, '\n'), 0o666)
	}
}

// lost counts a lost race, and returns the longest wait before the next try. took is how
// long the last one took.
func (p *pace) lost(took time.Duration) time.Duration {
	p.Races = min(p.Races+1, mostDoubled)
	return min(max(took, leastTry)<<p.Races, mostWait)
}
