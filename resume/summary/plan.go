package summary

import "cortext/schema"

// longTurn is how many ranges a turn must be longer than to be split.
const longTurn = 4

// Plan returns the ranges of h that are to be summed up, in their order and without
// gaps: from the first message up to the last [Options.Keep] or somewhat more, since
// a range is made of whole turns. None if there are no more messages than the
// threshold, or if h was not read from its beginning.
//
// A range is closed at the first turn that begins after [Options.RangeMessages]
// messages, counted from the conversation's beginning, so that new messages never
// move its borders; the last one may still be open. A turn alone is split only if it
// is longer than four ranges. Messages before the first one with an id are in no
// range: nothing could name it.
func Plan(h schema.History, o Options) []Range {
	o = o.withDefaults()
	msgs := h.Messages
	if len(msgs) <= o.Threshold || h.Earlier > 0 {
		return nil
	}
	start := 0
	for start < len(msgs) && msgs[start].ID == "" {
		start++
	}
	end := len(msgs) - o.Keep
	var ranges []Range
	border := start // the last place up to end where a range may end
	cut := func(at int) {
		if at > start {
			ranges = append(ranges, Range{Start: start, End: at})
			start = at
		}
	}
	for at := start; at < end; {
		next := nextTurn(msgs, at)
		if next-at > longTurn*o.RangeMessages {
			// It begins a range and is split as it grows, so that what was made of
			// its beginning stays.
			cut(at)
			for {
				piece := withFollowers(msgs, start+o.RangeMessages)
				if piece > end || piece >= next {
					break
				}
				border = piece
				cut(piece)
			}
		}
		if next > end || next == len(msgs) {
			break
		}
		if at, border = next, next; at-start >= o.RangeMessages {
			cut(at)
		}
	}
	if border > start {
		ranges = append(ranges, Range{Start: start, End: border, Open: true})
	}
	return ranges
}

// nextTurn is where the turn after the one that holds msgs[at] begins: at a message
// of the user's.
func nextTurn(msgs []schema.Message, at int) int {
	for at++; at < len(msgs); at++ {
		if msgs[at].Role == schema.User && msgs[at].ID != "" {
			return at
		}
	}
	return at
}

// withFollowers moves a border past the lines without id, which belong to the line
// before them.
func withFollowers(msgs []schema.Message, at int) int {
	for at < len(msgs) && msgs[at].ID == "" {
		at++
	}
	return at
}
