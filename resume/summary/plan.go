package summary

import "cortext/schema"

// Plan returns the ranges of h to summarize, in order and without gaps, from the
// first message up to the last [Options.Keep]. It returns none if h has no more
// messages than the threshold, or was not read from its beginning.
//
// A range ends at the first turn that begins after [Options.RangeMessages] messages,
// counted from the beginning of the conversation, so that new messages never move its
// bounds. Within a longer turn, it ends after exactly that many. The last range may
// still be open: it ends with a turn, unless that leaves more than Keep messages
// between it and those that are kept. Messages before the first one with an id are in
// no range, since nothing could name them.
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
		end-- // a record without id belongs to the range before it
	}
	var ranges []Range
	border := start // the last position up to end where a range may end
	cut := func(at int) {
		ranges = append(ranges, Range{Start: start, End: at})
		start, border = at, at
	}
	for at := start; at < end; {
		next := nextTurn(msgs, at)
		if next-at > o.RangeMessages {
			// Split the range as it grows, so that summaries of its beginning stay
			// valid.
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

// nextTurn returns where the turn after the one with msgs[at] begins: at a user
// message.
func nextTurn(msgs []schema.Message, at int) int {
	for at++; at < len(msgs); at++ {
		if msgs[at].Role == schema.User && msgs[at].ID != "" {
			return at
		}
	}
	return at
}

// withFollowers moves a bound past the records without id, which belong to the record
// before them.
func withFollowers(msgs []schema.Message, at int) int {
	for at < len(msgs) && msgs[at].ID == "" {
		at++
	}
	return at
}
