package schema

import "time"

type Repair struct {
	Doubled  bool
	Conflict int64
}

func MergeSessions(a, b *Session) (*Session, error)     { return a, nil }
func (s *Session) Stamp(before *Session, now time.Time) {}
func SameConversation(a, b string) bool                 { return IDKey(a) == IDKey(b) }
func IDKey(id string) string                            { return id[max(0, len(id)-16):] }

func PartID(agent, nativeID, from string, at time.Time) string {
	if from != "" {
		nativeID += "\n" + from
	}
	return DerivedID(agent, nativeID, at)
}
