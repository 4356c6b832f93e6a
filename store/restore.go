package store

import (
	"bytes"

	"cortext/schema"
	"cortext/schema/jsonl"
)

// records are the records of a conversation by "m" and the id of a message, or "t" and
// the id of a call. The record with the greatest rev counts.
type records struct {
	ofID map[string]heldRecord
	some bool // there are records, with or without ids
}

type heldRecord struct {
	rev     int
	raw     []byte
	mangled bool // it had bytes that are not UTF-8

	redacted bool // a person redacted it: the copies in other places stay out
}

func (h *records) add(id string, r heldRecord) {
	h.some = true
	if len(id) == 1 {
		return
	}
	if old, ok := h.ofID[id]; ok && !(r.redacted && !old.redacted) {
		if old.redacted && !r.redacted || old.rev > r.rev || old.rev == r.rev && !old.mangled {
			return
		}
	}
	if h.ofID == nil {
		h.ofID = map[string]heldRecord{}
	}
	h.ofID[id] = r
}

// restore plans to add the records that only other places have to the logs of a folder.
func (p *planner) restore(fp *folderPlan, f *Copies, n *census, have *records) error {
	if f == nil || len(f.Places) == 0 {
		return nil
	}
	redact := p.s.policy.redactor(nil).knowing(p.known)
	limits := limiter{p.s.opts.limits(), func(name, text string) error {
		if p.wholes == nil {
			p.wholes = map[string]string{}
		}
		p.wholes[name] = text
		return nil
	}}
	had := *have
	err := restoreLog(&fp.tools, toolLog(), restoring[schema.Tool]{
		prefix: "t", places: f.Places, have: had,
		log: func(place Copy) []byte { return place.Tools },
		id:  func(t *schema.Tool) (string, *int) { return t.ID, &t.Rev },
		prepare: func(t, held schema.Tool) (schema.Tool, error) {
			t, err := redact.tool(t)
			if err == nil {
				err = limits.limit(&t)
			}
			return likeStored(t, &held), err
		},
		add: func(raw []byte) {
			_ = n.tool(jsonl.Record{Raw: raw}, place{file: fp.file(toolsFile)})
		},
	})
	if err != nil {
		return err
	}
	return restoreLog(&fp.messages, messageLog(), restoring[schema.Message]{
		prefix: "m", places: f.Places, have: had,
		log:     func(place Copy) []byte { return place.Messages },
		id:      func(m *schema.Message) (string, *int) { return m.ID, &m.Rev },
		prepare: func(m, _ schema.Message) (schema.Message, error) { return redact.message(m) },
		add: func(raw []byte) {
			_ = n.message(jsonl.Record{Raw: raw}, place{file: fp.file(messagesFile)})
		},
	})
}

// A restoring says where the records of one log may come from.
type restoring[R any] struct {
	prefix  string // of ids in have
	places  []Copy
	have    records
	log     func(Copy) []byte
	id      func(*R) (id string, rev *int)
	prepare func(r, held R) (R, error) // redacts secrets, and applies limits
	add     func(raw []byte)
}

// restoreLog adds to a log the records that it lacks. A record that has a greater rev
// here does not come back: it may have been redacted. If several places have a record,
// the one that counts is taken.
func restoreLog[R any](l *logPlan, k logKind[R], from restoring[R]) error {
	type candidate struct {
		r    R
		from string
	}
	var order []string
	best := map[string]candidate{}
	var nameless [][]byte // of version 1.0, which gave no ids
	namelessFrom := ""
	for _, place := range from.places {
		for rec, err := range jsonl.Read(bytes.NewReader(from.log(place)), 0, 0) {
			if err != nil {
				continue
			}
			r, err := k.parse(rec.Raw)
			if err != nil {
				continue
			}
			id, rev := from.id(&r)
			if id == "" {
				if !from.have.some && (namelessFrom == "" || namelessFrom == place.From) {
					namelessFrom = place.From
					nameless = append(nameless, bytes.Clone(rec.Raw))
				}
				continue
			}
			if from.have.ofID[from.prefix+id].redacted {
				continue
			}
			var old R
			held, ok := from.have.ofID[from.prefix+id]
			revised := ok && *rev <= held.rev && !(held.mangled && *rev == held.rev)
			if revised {
				old, err = k.parse(held.raw)
				if err != nil || !k.less(&old, &r) || k.less(&r, &old) {
					continue
				}
				if *rev = held.rev + 1; *rev > schema.MaxRev {
					continue
				}
			}
			keep := *rev
			if r, err = from.prepare(r, old); err != nil {
				continue // it is not a record that cortext would write
			}
			if revised && !k.less(&old, &r) {
				continue // what limits leave of it says no more
			}
			_, rev = from.id(&r)
			*rev = keep
			was, ok := best[id]
			if !ok {
				order = append(order, id)
			}
			if !ok || k.beats(&r, &was.r) {
				best[id] = candidate{r, place.From}
			}
		}
	}
	add := func(line []byte, place string) {
		l.added = append(l.added, line...)
		if l.from == nil {
			l.from = map[string]int{}
		}
		l.from[place]++
		from.add(bytes.TrimSuffix(line, []byte("\n")))
	}
	for _, raw := range nameless {
		add(append(raw, '\n'), namelessFrom)
	}
	for _, id := range order {
		c := best[id]
		l.salvaged.without(id)
		add(k.encode(&c.r), c.from)
	}
	return nil
}
