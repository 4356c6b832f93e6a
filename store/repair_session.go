package store

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"cortext/schema"
	"cortext/schema/jsonl"
)

// session plans session.json in a folder, after its logs.
func (cp *conversationPlan) session(fp *folderPlan) error {
	p, n := cp.planner, cp.census
	several := len(cp.folders) > 1
	count := !several && len(cp.lost) == 0 // otherwise the counters show what is lost
	name := fp.file(sessionFile)
	before, err := p.s.state(name)
	if !fp.there {
		before, err = fileState{}, nil
	}
	if err != nil {
		return err
	}
	blocked := before.Kind != kindAbsent && !before.isFile()
	sess, how := fp.session.session, ""
	switch {
	case sess != nil && !fp.session.mend:
	case sess != nil:
		how = "mended: both sides of the merge are in it"
		if fp.session.session.Repair.Partial {
			how = "mended from the lines that can be read"
		}
	case several && before.Kind == kindAbsent:
		return nil // the next write creates it from those in the other folders
	case within(keptDir, fp.dir) && before.Kind == kindAbsent:
		return nil // a waiting folder may have none
	default:
		if sess, how, err = cp.rebuild(fp); err != nil || sess == nil {
			return err
		}
		if blocked {
			how = movedAway(before) + "; " + how
		}
	}
	if p.id == "" {
		p.id = sess.ID
	}
	changed := fp.messages.changed() || len(fp.messages.added)+len(fp.tools.added) > 0 || fp.tools.changed()
	wrong := sess.CountedBytes > 0 && sess.MessageCount > n.tally.messages
	if how == "" && (!count || !changed && !wrong) {
		if before.isFile() {
			p.mode(name, before)
		}
		return nil
	}
	sess.Repair = nil
	switch {
	case count:
		if wrong && how == "" {
			how = fmt.Sprintf("message_count %d instead of %d", n.tally.messages, sess.MessageCount)
		}
		n.tally.into(sess, int64(len(fp.messages.final())))
	case several || how != "":
		sess.CountedBytes = 0
	}
	redact, earlier := p.s.policy.redactor(nil).knowing(p.known), sess.Clone()
	if err := redact.session(sess); err != nil {
		return err
	}
	if p.known != nil { // stamps repeat what was redacted
		sess.Stamp(earlier, earlier.LastActive.Time())
		if err := redact.forget(sess); err != nil {
			return err
		}
		sess.ForgetNotes()
	}
	sess.Upgrade()
	content, err := sess.Marshal()
	if err != nil {
		return err
	}
	after := stateOf(content, privateFileMode)
	if after.sameBytes(before) {
		p.mode(name, before)
		return nil
	}
	if how == "" {
		how = "counted again"
	}
	p.out.changes = append(p.out.changes, change{File: name, Before: before, After: after, content: content})
	p.step(name, how)
	return nil
}

// rebuild makes the session.json of a folder that has none that can be read. It returns
// nil if nothing is known about the conversation.
func (cp *conversationPlan) rebuild(fp *folderPlan) (sess *schema.Session, how string, err error) {
	p, c, f := cp.planner, cp.c, cp.copies
	var places []string
	take := func(s *schema.Session, from string) {
		if s == nil {
			return
		}
		if sess == nil {
			sess, places = s, []string{from}
			return
		}
		if !isSame(sess.ID, s.ID) {
			return
		}
		if merged, err := schema.MergeSessions(sess, s); err == nil {
			sess, places = merged, append(places, from)
		}
	}
	take(salvageSession(fp.session.raw), "what can be read of it")
	if c.base == "" && fp.sessionFolder == c.sessionFolder {
		for _, name := range []string{backupFile(c.path), backupsDir + "/" + c.path + "/" + sessionFile} {
			if old, err := p.s.readRegular(name); err == nil {
				if s, err := schema.ParseSession(old); err == nil {
					take(s, "its backup")
					break
				}
			}
		}
	}
	if f != nil && fp.sessionFolder == c.sessionFolder {
		for _, place := range f.Places {
			take(place.Session, place.From)
		}
	}
	if sess != nil {
		sess.CountedBytes = 0
		complete(sess, c.path)
		return sess, "rebuilt from " + strings.Join(slices.Compact(places), ", "), nil
	}
	log := fp.messages.final()
	if len(log) == 0 && len(fp.tools.final()) == 0 && fp.session.raw == nil && !fp.session.blocked {
		return nil, "", nil
	}
	sess, err = fromMessages(&c.Location, func(yield func(schema.Message, error) bool) {
		for rec, err := range jsonl.Read(bytes.NewReader(log), 0, 1) {
			if err != nil {
				continue
			}
			if m, err := schema.ParseMessage(rec.Raw); err == nil && !yield(m, nil) {
				return
			}
		}
	})
	if err != nil {
		return nil, "", err
	}
	complete(sess, c.path)
	return sess, "rebuilt from the log and the folder's name", nil
}

// salvageSession reads as much as possible of a broken session.json; nil if that is
// nothing of use.
func salvageSession(raw []byte) *schema.Session {
	if text, ok := fromUTF16(raw); ok {
		raw = text
	}
	raw = bytes.TrimPrefix(bytes.Trim(raw, "\x00"), []byte("\xEF\xBB\xBF"))
	if len(raw) == 0 {
		return nil
	}
	if s, err := schema.ParseSession(raw); err == nil {
		return s
	}
	return schema.SalvageSession(raw)
}
