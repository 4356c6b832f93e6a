package history

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"cortext/cmd/internal/workspace"
	"cortext/schema"
	"cortext/schema/clip"
	"cortext/store"
)

// A Branch is one of several branches of a conversation, which rewinds and clones make.
type Branch struct {
	Number    int         `json:"number"`               // from 1, in the order in which the branches began
	After     int         `json:"after,omitempty"`      // number of the message where it leaves an earlier branch; 0: none
	Messages  int         `json:"messages"`             // messages that no earlier branch has
	Last      schema.Time `json:"last_active"`          // time of its last message
	End       string      `json:"end"`                  // id of its last message
	Words     string      `json:"words"`                // beginning of the first user message that no earlier branch has, else of its last message
	Newest    bool        `json:"newest"`               // a resume continues it
	LastWords string      `json:"last_words,omitempty"` // beginning of the last such message, if it is another one
}

// String describes the branch in a few words.
func (b Branch) String() string { return fmt.Sprintf("%d (“%s”)", b.Number, b.Words) }

// A BranchError reports that a conversation has no branch with the requested number.
type BranchError struct {
	Number int
	Have   []Branch
}

func (e *BranchError) Error() string {
	if len(e.Have) < 2 {
		return fmt.Sprintf("there is no branch %d: the conversation has one branch", e.Number)
	}
	var list []string
	for _, b := range e.Have[:min(len(e.Have), 20)] {
		list = append(list, b.String())
	}
	if n := len(e.Have) - len(list); n > 0 {
		list = append(list, fmt.Sprintf("and %d more", n))
	}
	return fmt.Sprintf("there is no branch %d: the conversation has %s", e.Number, strings.Join(list, ", "))
}

// wordsLen is how many characters of a message name a branch.
const wordsLen = 60

// BranchesOf lists the branches among messages with unique ids in file order: the one that
// a resume continues, and those in which a user got an answer. A branch keeps its number
// when the conversation grows.
func BranchesOf(all []schema.Message) (list []Branch) {
	counts := map[string]bool{} // by the id of the last message
	for _, b := range schema.Others(all) {
		counts[b[len(b)-1].ID] = answered(b)
	}
	path, _ := schema.Branch(all)
	newest := lastID(path)
	all = slices.Clone(all)
	schema.NumberAll(all)
	leaves, owner := schema.Leaves(all)
	asked := make([]struct{ first, last *schema.Message }, len(leaves)) // the user messages of each branch
	for i := range all {
		m := &all[i]
		if m.Role != schema.User {
			continue
		}
		said := &asked[owner[i]]
		if said.first == nil || m.Number < said.first.Number {
			said.first = m
		}
		if said.last == nil || m.Number > said.last.Number {
			said.last = m
		}
	}
	for k, l := range leaves {
		end := all[l.End]
		if end.ID != newest && !counts[end.ID] {
			continue
		}
		b := Branch{Number: len(list) + 1, Messages: l.Own, Last: end.Timestamp, End: end.ID, Newest: end.ID == newest}
		if l.After >= 0 {
			b.After = all[l.After].Number
		}
		switch said := asked[k]; said.first {
		case nil: // such as a branch that only says that the user took messages back
			b.Words = wordsOf(&all[l.End])
		case said.last:
			b.Words = wordsOf(said.first)
		default:
			b.Words, b.LastWords = wordsOf(said.first), wordsOf(said.last)
		}
		list = append(list, b)
	}
	return list
}

// wordsOf returns the words of a message that name a branch.
func wordsOf(m *schema.Message) string { return clip.Characters(workspace.Plain(m.Content), wordsLen) }

// lastID returns the id of the last message that has one.
func lastID(messages []schema.Message) string {
	for _, m := range slices.Backward(messages) {
		if m.ID != "" {
			return m.ID
		}
	}
	return ""
}

// A Choice names a point in a conversation: the end of a branch, or a message on any.
type Choice struct {
	Branch int    // 0: the branch that a resume continues
	At     string // a message, by number or id; empty: the end of the branch
}

// A Point is a point in a conversation that another one may begin at.
type Point struct {
	Path   []schema.Message // the messages up to the point, oldest first, without the rest of their contents
	Prompt schema.Message   // the user message that the choice named: the point is before it; no id: another message was named
}

// An AtError reports that no message matches the name of a point.
type AtError struct {
	At          string
	Messages    int
	OtherBranch bool // the message is on another branch than the one searched
}

func (e *AtError) Error() string {
	if e.OtherBranch {
		return fmt.Sprintf("message %q is on another branch: cortext fork --at %s makes a conversation of that one", e.At, e.At)
	}
	if e.Messages == 0 {
		return fmt.Sprintf("there is no message %q: the conversation has no messages", e.At)
	}
	return fmt.Sprintf("there is no message %q: the messages of the conversation are 1 to %d, as cortext show numbers them", e.At, e.Messages)
}

// PointOf finds the point that a choice names. If it names a user message, the point is
// before it, so that the user can ask something else there, as after a rewind in the
// agents. The error is a [*BranchError] or an [*AtError].
func PointOf(w workspace.Conversations, e store.Entry, at Choice) (Point, error) {
	all, err := headsOf(w, e)
	if err != nil {
		return Point{}, err
	}
	if at.At == "" {
		path, _ := schema.Branch(all)
		if at.Branch == 0 {
			return Point{Path: path}, nil
		}
		b, err := numberedBranch(all, at.Branch)
		if err == nil && !b.Newest {
			path = schema.PathTo(all, b.End)
		}
		return Point{Path: path}, err
	}
	schema.NumberAll(all)
	i := -1
	if n, err := strconv.Atoi(at.At); err == nil {
		i = slices.IndexFunc(all, func(m schema.Message) bool { return m.Number == n })
	}
	if i < 0 {
		i = slices.IndexFunc(all, func(m schema.Message) bool { return m.ID == at.At && m.ID != "" })
	}
	if i < 0 {
		return Point{}, &AtError{At: at.At, Messages: len(all)}
	}
	path := pathTo(all, i)
	if m := path[len(path)-1]; m.Role == schema.User {
		return Point{Path: path[:len(path)-1], Prompt: m}, nil
	}
	return Point{Path: path}, nil
}

// PathTo returns the messages from the beginning to the one with the given id, oldest
// first, without the rest of their contents; nothing if the conversation does not have that
// message.
func PathTo(w workspace.Conversations, e store.Entry, id string) ([]schema.Message, error) {
	all, err := headsOf(w, e)
	return schema.PathTo(all, id), err
}

// Prompts returns what the user said on the branch that a resume continues, oldest first,
// numbered, without the rest of their contents. Each can be the point of a fork.
func Prompts(w workspace.Conversations, e store.Entry) (list []schema.Message, err error) {
	all, err := headsOf(w, e)
	if err != nil {
		return nil, err
	}
	schema.NumberAll(all)
	path, _ := schema.Branch(all)
	for _, m := range path {
		if m.Role == schema.User {
			list = append(list, m)
		}
	}
	return list, nil
}

// pathTo returns the messages from the beginning to all[i]. Lines without an id belong to
// the one before them.
func pathTo(all []schema.Message, i int) []schema.Message {
	node := i
	for node > 0 && all[node].ID == "" {
		node--
	}
	if all[node].ID == "" {
		return all[:i+1]
	}
	path := schema.PathTo(all, all[node].ID)
	return path[:len(path)-trailing(all[node:])+i-node]
}

// trailing counts the lines of all that belong to the first one.
func trailing(all []schema.Message) int {
	n := 1
	for n < len(all) && all[n].ID == "" {
		n++
	}
	return n - 1
}

// EndOf returns the branch with the given number, or the zero Branch for 0 and for the
// branch that a resume continues. The error is a [*BranchError].
func EndOf(w workspace.Conversations, e store.Entry, branch int) (Branch, error) {
	if branch == 0 {
		return Branch{}, nil
	}
	all, err := headsOf(w, e)
	if err != nil {
		return Branch{}, err
	}
	b, err := numberedBranch(all, branch)
	if b.Newest {
		b = Branch{}
	}
	return b, err
}

func numberedBranch(all []schema.Message, number int) (Branch, error) {
	list := BranchesOf(all)
	if number < 1 || number > len(list) {
		return Branch{}, &BranchError{number, list}
	}
	return list[number-1], nil
}

// headsOf reads the messages of a conversation by id, in file order, without the rest of
// their contents.
func headsOf(w workspace.Conversations, e store.Entry) ([]schema.Message, error) {
	c, err := w.Open(e)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	return Messages(beginnings(c.Messages()))
}

// Continued returns the branches of a conversation that was continued in several places:
// its branches end in different native sessions. It returns none for a conversation whose
// branches a rewind in one session made.
func Continued(w workspace.Conversations, e store.Entry) ([]Branch, error) {
	if len(e.Session.Sources) < 2 {
		return nil, nil
	}
	all, err := headsOf(w, e)
	if err != nil {
		return nil, err
	}
	list := BranchesOf(all)
	sources := map[string]bool{}
	for _, m := range all {
		if m.Source != "" && slices.ContainsFunc(list, func(b Branch) bool { return b.End == m.ID }) {
			sources[m.Source] = true
		}
	}
	if len(sources) < 2 {
		return nil, nil
	}
	return list, nil
}
