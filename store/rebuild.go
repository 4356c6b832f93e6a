package store

import (
	"iter"
	"path"
	"slices"
	"strings"
	"time"

	"cortext/schema"
	"cortext/schema/clip"
)

// rebuild reconstructs the session of a conversation whose session.json is missing or
// broken: from the backup, or else from the logs and the folder's name.
func rebuild(r *Reader) (*schema.Session, error) {
	if r.base == "" {
		if sess := r.s.Backups().Session(r.path); sess != nil {
			return sess, nil
		}
	}
	return fromMessages(&r.Location, r.Messages())
}

// Backups are the last good session.json of each conversation, by the conversation's path.
type Backups struct{ files *Files }

// Backups returns the backups of the workspace.
func (s *Store) Backups() Backups { return Backups{s.Files} }

// Session returns the session.json that a conversation had before the last change to it, without
// the state of the log that was counted; nil if there is no backup.
func (b Backups) Session(conversation string) *schema.Session {
	for _, backup := range []string{backupFile(conversation), backupsDir + "/" + conversation + "/" + sessionFile} { // 1.1 used the second path
		old, err := b.files.readRegular(backup)
		if err != nil {
			continue
		}
		if sess, err := schema.ParseSession(old); err == nil {
			sess.CountedBytes = 0 // the log may have been replaced since
			return sess
		}
	}
	return nil
}

// backupFile returns the path of the last good session.json of a conversation. It is a
// separate file that shares nothing with the one in use, which people may edit in place.
func backupFile(conversation string) string { return backupsDir + "/" + conversation + ".json" }

// Has reports whether there may be a backup for a conversation.
func (b Backups) Has(conversation string) bool {
	there, err := b.files.Exists(backupFile(conversation))
	return there || err != nil
}

// Remove removes the backup for a conversation. The next write makes another.
func (b Backups) Remove(conversation string) error {
	return b.files.RemoveFile(backupFile(conversation))
}

// descriptionBytes bounds a description taken from the first user message.
const descriptionBytes = 200

// fromMessages makes a session from the messages of the logs and the folder's name.
func fromMessages(l *Location, messages iter.Seq2[schema.Message, error]) (*schema.Session, error) {
	s := fromName(l.path)
	var first, last schema.Time
	var sources []beginning
	for m, err := range Undamaged(messages) {
		if err != nil {
			return nil, err
		}
		if at := m.Timestamp.Time(); !at.IsZero() && (first == "" || at.Before(first.Time())) {
			first = m.Timestamp
		}
		last = later(last, m.Timestamp)
		if m.Source != "" && !slices.ContainsFunc(sources, func(b beginning) bool { return b.nativeID == m.Source }) {
			sources = append(sources, beginning{m.Source, m.ID})
		}
		if s.Description == "" && m.Role == schema.User {
			s.Description = cutText(m.Content, descriptionBytes)
		}
		if m.Model != "" {
			s.AgentConfig.Model = m.Model
		}
	}
	if first != "" {
		s.CreatedAt, s.LastActive, s.ID = first, last, ""
		if !l.isSub() {
			capturedFrom(s, l.path, sources, l.s.opts.Agents)
			if identify := l.s.opts.Identify; s.ID == "" && identify != nil {
				s.ID, s.Sources = identify(l.path, nativeIDs(sources))
			}
		}
		complete(s, l.path)
	}
	return s, nil
}

// A beginning is the first message of a native session in a log.
type beginning struct{ nativeID, message string }

func nativeIDs(list []beginning) (ids []string) {
	for _, b := range list {
		ids = append(ids, b.nativeID)
	}
	return ids
}

// capturedFrom finds, among the sources of the messages, the native session that the
// conversation began with and gets its id from: the folder is named after that id. If the
// conversation is a later part of a session, its id also depends on the message it begins
// with (FORMAT.md, section 10).
func capturedFrom(s *schema.Session, name string, sources []beginning, agents []string) {
	for _, b := range sources {
		for _, from := range []string{"", b.message, "message:" + b.message} {
			for _, agent := range agents {
				id := schema.DerivedPartID(agent, b.nativeID, from, s.CreatedAt.Time())
				if NamedAfter(name, id) {
					s.ID, s.Sources = id, []schema.Source{{Agent: agent, NativeID: b.nativeID, From: from}}
					return
				}
			}
		}
	}
}

// fromName makes a session from the path of a conversation alone.
func fromName(name string) *schema.Session {
	parts := strings.Split(name, "/") // conversations, day, folder, and more for a sub-agent
	typ, about := folderName(parts[2])
	s := &schema.Session{
		Version:          schema.Version,
		ConversationID:   path.Base(name),
		ConversationType: typ,
		Title:            about,
		Status:           schema.Paused,
	}
	if len(parts) > 3 {
		s.Title = s.ConversationID
	} else if typ != "" {
		s.AgentConfig.Command = "/workspace." + typ
	}
	if day, err := time.Parse(time.DateOnly, parts[1]); err == nil {
		s.CreatedAt = schema.NewTime(day)
		s.LastActive = s.CreatedAt
	}
	complete(s, name)
	return s
}

// complete fills in fields that version 1.0 did not write, from the path of the
// conversation.
func complete(s *schema.Session, name string) {
	if s.ConversationID == "" {
		s.ConversationID = path.Base(name)
	}
	if s.ID == "" {
		s.ID = schema.DerivedID("cortext", s.ConversationID, s.CreatedAt.Time())
	}
}

// cutText returns the beginning of text on one line, at most n bytes of it.
func cutText(text string, n int) string {
	if len(text) > 4*n {
		text = text[:4*n]
	}
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "")), " ")
	if len(text) <= n {
		return text
	}
	return strings.TrimRight(clip.Head(text, n), " ") + clip.Mark
}
