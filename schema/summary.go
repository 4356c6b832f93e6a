package schema

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"cortext/schema/rawjson"
)

// A Summary is a file of summaries/: a short version of a range of messages (FORMAT.md,
// "Summaries").
type Summary struct {
	Version      string `json:"version"`
	First        string `json:"first"` // ids of the range's first and last message
	Last         string `json:"last"`
	MessageCount int    `json:"message_count"`
	CreatedAt    Time   `json:"created_at"`
	Content      string `json:"content"`
	Tokens       int    `json:"tokens" codec:"keep"` // o200k_base, of Content
	Method       string `json:"method"`
	SourceTokens int64  `json:"source_tokens"` // of the messages and their calls
	Ratio        Raw    `json:"ratio"`         // Tokens / SourceTokens; a value set here is ignored
	Members      string `json:"members"`       // [MembersHash] of the range
	Model        string `json:"model"`

	Unknown []rawjson.Member
}

// The methods that cortext writes: how a summary was made.
const (
	Extracted  = "extract" // sentences of the messages
	FromAgent  = "agent"   // one of the user's agents
	FromOpenAI = "openai"  // an OpenAI-compatible endpoint
)

// ParseSummary decodes a file of summaries/. Like [ParseSession] it checks the version
// first.
func ParseSummary(b []byte) (*Summary, error) {
	s := new(Summary)
	b = oneOfEach(b)
	var head struct {
		Version string `json:"version"`
	}
	if err := decode(b, &head, anyName); err != nil {
		return nil, err
	}
	if err := checkVersion(head.Version); err != nil {
		return nil, err
	}
	if err := rawjson.Strict(b); err != nil {
		return nil, err
	}
	if err := decode(b, s, exactName); err != nil {
		return nil, err
	}
	if len(s.Ratio) > 0 && s.Ratio[0] != '-' && (s.Ratio[0] < '0' || s.Ratio[0] > '9') {
		return nil, fmt.Errorf("field %q: %.40q is not a number", "ratio", s.Ratio)
	}
	if err := s.validate(); err != nil {
		return nil, err
	}
	s.Ratio = ratio(s.Tokens, s.SourceTokens)
	return s, nil
}

// oneOfEach handles a summary with doubled members, as a merge leaves it that keeps the
// lines of two summaries of one range. Of the copies of a member it keeps the one that is
// greatest byte by byte, so that all clones read the same. It combines copies of a text that
// differ only in what is redacted, and returns anything else unchanged.
func oneOfEach(b []byte) []byte {
	if _, conflict := splitConflicts(b); conflict >= 0 || !enclosed(b) {
		return b
	}
	members, whole := looseMembers(b)
	if !whole || duplicateName(members) == "" {
		return b
	}
	slices.SortStableFunc(members, func(x, y rawjson.Member) int {
		return cmp.Or(strings.Compare(x.Name, y.Name), bytes.Compare(y.Value, x.Value))
	})
	for i, m := range members[1:] { // summaries of different messages: neither is known to be right
		if (m.Name == "members" || m.Name == "message_count") && m.Name == members[i].Name && !bytes.Equal(m.Value, members[i].Value) {
			return b
		}
	}
	for i := len(members) - 1; i > 0; i-- {
		x, y := &members[i-1], &members[i]
		if x.Name != "content" || y.Name != "content" {
			continue
		}
		if text, ok := CombineRedacted(rawjson.String(x.Value), rawjson.String(y.Value)); ok {
			x.Value = rawjson.AppendQuote(nil, text)
		}
	}
	members = slices.CompactFunc(members, func(x, y rawjson.Member) bool { return x.Name == y.Name })
	return objectOf(members)
}

// Marshal encodes s as its file, one member per line. It returns an error if s is not a
// valid summary. The ratio is computed from the counts.
func (s *Summary) Marshal() ([]byte, error) {
	if err := s.validate(); err != nil {
		return nil, err
	}
	with := *s
	with.Ratio = ratio(s.Tokens, s.SourceTokens)
	b := encodeLines(reflect.ValueOf(&with).Elem())
	if err := rawjson.Strict(b); err != nil {
		return nil, err
	}
	return b, nil
}

func (s *Summary) validate() error {
	if err := checkVersion(s.Version); err != nil {
		return err
	}
	switch {
	case s.First == "" || s.Last == "":
		return errors.New("a summary names no first or no last message")
	case s.MessageCount < 1:
		return errors.New("a summary of no messages")
	case s.CreatedAt.Time().IsZero():
		return fmt.Errorf("%.40q is not a time in RFC 3339", s.CreatedAt)
	case s.Content == "":
		return errors.New("a summary without content")
	case s.Method == "":
		return errors.New("a summary without a method")
	case s.Tokens < 0 || s.SourceTokens < 0:
		return errors.New("a counter is negative")
	}
	if s.Members != "" {
		digits, ok := strings.CutPrefix(s.Members, hashPrefix)
		if !ok || len(digits) != 2*sha256.Size || strings.Trim(digits, "0123456789abcdef") != "" {
			return fmt.Errorf("members %.80q is not of the form %s and a SHA-256 in hex", s.Members, hashPrefix)
		}
	}
	return nil
}

// ratio spells tokens / source with at most four decimals and no trailing zeros, so there
// is only one spelling. It is absent if the source is unknown.
func ratio(tokens int, source int64) Raw {
	if source <= 0 {
		return nil
	}
	s := strconv.FormatFloat(float64(tokens)/float64(source), 'f', 4, 64)
	return Raw(strings.TrimSuffix(strings.TrimRight(s, "0"), "."))
}

// FileName returns the name of the summary's file in summaries/.
func (s *Summary) FileName() string {
	return PathElement(s.First) + "-" + PathElement(s.Last) + ".json"
}

const hashPrefix = "sha256:"

// MembersHash returns the hash of a range of messages. It shows whether the range is
// still the one that was summarized (FORMAT.md, "Summaries").
func MembersHash(msgs []Message) string {
	sum := sha256.New()
	var line []byte
	for i := range msgs {
		line = append(line[:0], msgs[i].ID...)
		if msgs[i].Rev > 0 {
			line = strconv.AppendInt(append(line, '@'), int64(msgs[i].Rev), 10)
		}
		sum.Write(append(line, '\n'))
	}
	return hashPrefix + hex.EncodeToString(sum.Sum(nil))
}
