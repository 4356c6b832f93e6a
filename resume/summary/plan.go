package summary

import "cortext/schema"

// Plan returns the ranges of h that are to be summed up, in their order and without
// gaps, from the first message up to the last [Options.Keep]. None if there are no
// more messages than the threshold, or if h was not read from its beginning.
//
// A range is closed at the first turn that begins after [Options.RangeMessages]
// messages, counted from the conversation's beginning, so that new messages never
// move its borders; in a turn that alone is longer, after just so many. The last one
// may still be open: it ends with a turn, unless that leaves more than Keep messages
// between it and those that are kept. Messages before the first one with an id are in
// no range: nothing could name it.
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
	for end > start && msgs[end].ID == "" {
		end-- // a line without id is of the range before it
	}
	var ranges []Range
	border := start // the last place up to end where a range may end
	cut := func(at int) {
		ranges = append(ranges, Range{Start: start, End: at})
		start, border = at, at
	}
	for at := start; at < end; {
		next := nextTurn(msgs, at)
		if next-at > o.RangeMessages {
			// It is split as it grows, so that what was made of its beginning stays.
			for {
				piece := withFollowers(msgs, start+o.RangeMessages)
				if piece > end || piece >= next {
					break
				}
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
	if end-border > o.Keep {
		border = end
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
