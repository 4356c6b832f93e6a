package store

import (
	"strings"

	"cortext/store/secrets"
)

// What a user redacted after it was stored stays redacted. The logs say which records were
// redacted: `redacted` lists the redactions, and the line with the most redactions counts.
// So a capture never replaces such a line with what the agent's transcript still has,
// unless this machine can repeat all of its redactions. For that it has a [secrets.Known]
// of each, which recognizes the texts and does not hold them.

// known is what the user redacted in one conversation, as far as this machine knows. A
// nil known is one that knows nothing.
type known struct {
	replacement
	partial map[string]bool // by id: whether a redaction cannot be repeated in full
}

// repeats reports whether all texts of a redaction are recognized.
func (k *known) repeats(id string) bool {
	if k == nil {
		return false
	}
	partial, ok := k.partial[id]
	return ok && !partial
}

// knownTexts returns what the user redacted in the conversation; nil for nothing.
func (l *Location) knownTexts() (*known, error) {
	if l.s.policy.redacted == nil {
		return nil, nil
	}
	for _, f := range append([]sessionFolder{l.sessionFolder}, l.others()...) {
		if l.isSub() {
			f = f.at(topOf(f.dir))
		}
		if id := f.idOf(l.top()); id != "" {
			return l.s.policy.knownOf(id)
		}
	}
	return nil, nil
}

// topOf returns the folder .session/ of a conversation, given that of a sub-agent in it.
func topOf(dir string) string {
	before, _, _ := strings.Cut(dir, "/"+sessionDir+"/")
	return before + "/" + sessionDir
}

// A policy says which texts are not stored: those that the rules find, and those that the
// user redacted.
type policy struct {
	rules    *secrets.Redactor
	redacted func(id string) ([]secrets.Known, error) // [Options.Redacted]
}

// knownOf returns what the user redacted in the conversation with the given id; nil for
// nothing.
func (p policy) knownOf(id string) (*known, error) {
	if p.redacted == nil || id == "" {
		return nil, nil
	}
	list, err := p.redacted(id)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	k := &known{partial: map[string]bool{}}
	k.redactor, k.ids = secrets.Recognizing(list), map[string]string{}
	for _, one := range list {
		k.ids[one.ID], k.partial[one.ID] = one.ID, one.Partial
	}
	return k, nil
}

// knows returns what the user redacted in the conversation. It looks once.
func (tx *Tx) knows() (*known, error) {
	if tx.looked {
		return tx.known, nil
	}
	var err error
	if s := tx.doc.session; s != nil && !tx.c.isSub() {
		tx.known, err = tx.c.s.policy.knownOf(s.ID)
	} else {
		tx.known, err = tx.c.knownTexts()
	}
	tx.looked = err == nil
	return tx.known, err
}

// A replacement replaces text in what was stored before.
type replacement struct {
	redactor *secrets.Redactor
	ids      map[string]string // of the redactions, by what redactor counts: a name, or the id itself
}

// record returns a record with its text replaced, marked as redacted, and the number of
// replacements. If there are none, it returns r itself.
func (p replacement) record(r record) (out record, n int, err error) {
	counts := secrets.Counts{}
	redact := recordRedactor{redactor: p.redactor, counts: counts}
	if r.message != nil {
		m, err := redact.message(*r.message)
		if err == nil {
			err = redact.across(&m)
		}
		if err != nil || len(counts) == 0 {
			return r, 0, err
		}
		out = messageRecord(m)
	} else {
		t, err := redact.tool(*r.tool)
		if err != nil || len(counts) == 0 {
			return r, 0, err
		}
		out = toolRecord(t)
	}
	out.setRev(r.rev())
	for name, times := range counts {
		out.mark(p.ids[name])
		n += times
	}
	return out, n, nil
}
