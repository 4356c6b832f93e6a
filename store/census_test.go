package store

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cortext/schema"
)

// named returns what Check reports about a conversation's files, by file name.
func named(s *Store) (list []string) {
	for d := range s.Check() {
		_, file, _ := strings.Cut(d.File, sessionDir+"/")
		list = append(list, fmt.Sprintf("%s:%d: %s", file, d.Line, d.Detail))
	}
	return list
}

// TestLostRecords checks that Check reports which records the logs lost and how many,
// with the line if one shows it, and that Lost counts the messages.
func TestLostRecords(t *testing.T) {
	type logs struct{ messages, tools []string }
	for _, tt := range []struct {
		name  string
		spoil func(l *logs)
		want  []string // file:line, and a part of the message
		lost  int
	}{
		{"nothing", func(*logs) {}, nil, 0},
		{"the last six lines", func(l *logs) { l.messages = l.messages[:4] },
			[]string{"messages.jsonl:0: session.json counted 10 messages, and the log holds 4: 6 messages are missing", "tools.jsonl:3: the message that made the call is missing, as for 3 calls in all"}, 6},
		{"the last line", func(l *logs) { l.messages = l.messages[:9] },
			[]string{"messages.jsonl:0: session.json counted 10 messages, and the log holds 9: 1 message is missing", "tools.jsonl:5: the message that made the call is missing, as for 1 call in all"}, 1},
		{"a middle line", func(l *logs) { l.messages = slices.Delete(l.messages, 6, 7) },
			[]string{"messages.jsonl:0: session.json counted 10 messages, and the log holds 9: 1 message is missing", `messages.jsonl:7: the message follows "m6", which is missing; 1 such message is missing in all`}, 1},
		{"the first line", func(l *logs) { l.messages = l.messages[1:] },
			[]string{"messages.jsonl:0: session.json counted 10 messages, and the log holds 9: 1 message is missing"}, 1},
		{"two middle lines", func(l *logs) { l.messages = append(slices.Delete(l.messages, 6, 7)[:2], l.messages[3:]...) },
			[]string{"messages.jsonl:0: session.json counted 10 messages, and the log holds 8: 2 messages are missing", `messages.jsonl:3: the message follows "m2", which is missing; 2 such messages are missing in all`}, 2},
		{"all messages", func(l *logs) { l.messages = nil },
			[]string{"messages.jsonl:0: session.json counted 10 messages, and the log holds 0: 10 messages are missing", "tools.jsonl:1: the message that made the call is missing, as for 5 calls in all"}, 10},
		{"all calls", func(l *logs) { l.tools = nil },
			[]string{`tools.jsonl:0: 5 calls are missing; the first is "t1", of the message in line 2 of messages.jsonl`}, 0},
		{"one call", func(l *logs) { l.tools = slices.Delete(l.tools, 2, 3) },
			[]string{`tools.jsonl:0: 1 call is missing; the first is "t5", of the message in line 6 of messages.jsonl`}, 0},
		{"a call that no message names", func(l *logs) {
			extra := tool(11)
			l.tools = append(l.tools, string(schema.AppendTool(nil, &extra)))
		}, nil, 0},
		{"doubled", func(l *logs) { l.messages = append(l.messages, l.messages...) }, nil, 0},
		{"reversed", func(l *logs) { slices.Reverse(l.messages); slices.Reverse(l.tools) }, nil, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newTestStore(t)
			c := create(t, s)
			appendBatch(t, c, thread(0, 10))
			must(t, settle(c))
			l := logs{strings.SplitAfter(strings.TrimSuffix(readFile(t, s, c.file(messagesFile)), "\n"), "\n"),
				strings.SplitAfter(strings.TrimSuffix(readFile(t, s, c.file(toolsFile)), "\n"), "\n")}
			l.messages[9] += "\n"
			l.tools[4] += "\n"
			tt.spoil(&l)
			writeFile(t, s, c.file(messagesFile), strings.Join(l.messages, ""))
			writeFile(t, s, c.file(toolsFile), strings.Join(l.tools, ""))
			if got := named(s); !slices.Equal(got, tt.want) {
				t.Errorf("check says\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(tt.want, "\n"))
			}
			for d := range s.Check() {
				if d.Kind != Missing {
					t.Errorf("%v", d.Error())
				}
			}
			if lost, err := c.Lost(); lost != tt.lost && tt.name != "the first line" || err != nil {
				t.Errorf("%d lost, %v, want %d", lost, err, tt.lost)
			}
		})
	}
}

// TestNotLost covers what only looks like a loss.
func TestNotLost(t *testing.T) {
	for name, change := range map[string]func(t *testing.T, s *Store, c *Conversation){
		"never counted": func(t *testing.T, s *Store, c *Conversation) {
			log := readFile(t, s, c.file(messagesFile))
			writeFile(t, s, c.file(messagesFile), log[:strings.Index(log, `{"id":"m6"`)])
		},
		"1.0: any count": func(t *testing.T, s *Store, c *Conversation) {
			writeFile(t, s, c.file(sessionFile), sessionV1)
			writeFile(t, s, c.file(messagesFile), `{"role":"user","content":"x"}`+"\n")
			writeFile(t, s, c.file(toolsFile), "")
		},
		"counted before more came": func(t *testing.T, s *Store, c *Conversation) {
			must(t, settle(c))
			appendBatch(t, c, thread(10, 14))
		},
		"counters of a merge": func(t *testing.T, s *Store, c *Conversation) {
			must(t, settle(c))
			log := readFile(t, s, c.file(messagesFile))
			extra := thread(20, 22)
			extra.Messages[0].ParentID = "m3"
			writeFile(t, s, c.file(messagesFile), string(schema.AppendMessage(nil, &extra.Messages[0]))+log+string(schema.AppendMessage(nil, &extra.Messages[1])))
		},
		"a broken line": func(t *testing.T, s *Store, c *Conversation) {
			must(t, settle(c))
			log := readFile(t, s, c.file(messagesFile))
			writeFile(t, s, c.file(messagesFile), strings.Replace(log, `{"id":"m6",`, `{"id":"m6";`, 1))
		},
		"some of it waits": func(t *testing.T, s *Store, c *Conversation) {
			must(t, settle(c))
			log := readFile(t, s, c.file(messagesFile))
			at := strings.Index(log, `{"id":"m6"`)
			writeFile(t, s, c.file(messagesFile), log[:at])
			writeFile(t, s, waitingDir+"/"+c.file(messagesFile), log[at:])
		},
		"another native session": func(t *testing.T, s *Store, c *Conversation) {
			m := message(20)
			m.Source = "another"
			appendBatch(t, c, schema.Batch{Messages: []schema.Message{m}})
			must(t, settle(c))
		},
		"a part of a native session, in another order and never counted": func(t *testing.T, s *Store, c *Conversation) {
			must(t, c.Edit(func(s *schema.Session) error {
				s.Sources = []schema.Source{{Agent: "claude", NativeID: "one", From: "m20"}}
				return nil
			}))
			part := thread(20, 22)
			log := append(schema.AppendMessage(nil, &part.Messages[1]), schema.AppendMessage(nil, &part.Messages[0])...)
			writeFile(t, s, c.file(messagesFile), string(log))
			writeFile(t, s, c.file(toolsFile), "")
		},
		"parts of a native session": func(t *testing.T, s *Store, c *Conversation) {
			must(t, c.Edit(func(s *schema.Session) error {
				s.Sources = []schema.Source{{Agent: "claude", NativeID: "one"}, {Agent: "claude", NativeID: "one", From: "m20"}, {Agent: "claude", NativeID: "one", From: "m30", After: "m9"}}
				return nil
			}))
			later := message(30)
			later.ParentID = "m9"
			appendBatch(t, c, schema.Batch{Messages: []schema.Message{message(20), later}})
			must(t, settle(c))
		},
		"a sub-agent of a message above": func(t *testing.T, s *Store, c *Conversation) {
			sub := subagent(t, c, "x")
			b := thread(20, 22)
			b.Messages[1].ParentID = "m9"
			appendBatch(t, sub, b)
			must(t, settle(sub))
		},
		"an agent that named a call it never made": func(t *testing.T, s *Store, c *Conversation) {
			m := message(11)
			m.ParentID = "m9"
			appendBatch(t, c, schema.Batch{Messages: []schema.Message{m}})
			must(t, settle(c))
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newTestStore(t)
			c := create(t, s)
			b := thread(0, 10)
			appendBatch(t, c, b)
			change(t, s, c)
			c = visit(t, s, c)
			want := 0
			for d := range s.Check() {
				if d.Kind == Missing {
					t.Errorf("%v", d.Error())
				}
			}
			if name == "a broken line" {
				want = 1
			}
			if lost, err := c.Lost(); lost > want || err != nil {
				t.Errorf("%d lost, %v", lost, err)
			}
		})
	}
}

// TestMergesLoseNothing checks that Check reports no loss, whatever two clones append and
// merge, but reports the loss of any line other than a last one that nothing follows.
func TestMergesLoseNothing(t *testing.T) {
	s := newTestStore(t)
	c := create(t, s)
	g := randomHistory{r: rand.New(rand.NewPCG(5, 5))}
	found, removed := 0, 0
	rounds := 150
	if testing.Short() { // under the race detector, too slow
		rounds = 75
	}
	for range rounds {
		h := g.make(true)
		writeFile(t, s, c.file(messagesFile), strings.Join(h.messages[:g.r.IntN(len(h.messages)+1)], ""))
		writeFile(t, s, c.file(toolsFile), strings.Join(h.tools, ""))
		must(t, settle(c))
		writeFile(t, s, c.file(messagesFile), strings.Join(h.messages, ""))
		wantSound(t, s) // the counters are stale
		must(t, settle(c))
		wantSound(t, s)
		if len(h.messages) == 0 {
			continue
		}
		at := g.r.IntN(len(h.messages))
		gone := h.messages[at]
		if strings.Contains(gone, `"rev":`) || strings.Count(strings.Join(h.messages, ""), gone) > 1 || strings.Contains(gone, `"event"`) {
			continue // the line that counts is still there
		}
		id := recordID([]byte(gone))
		if strings.Count(strings.Join(h.messages, ""), `{"id":"`+id+`"`) > 1 {
			continue
		}
		removed++
		writeFile(t, s, c.file(messagesFile), strings.Join(slices.Delete(slices.Clone(h.messages), at, at+1), ""))
		if list := named(s); len(list) > 0 {
			found++
		} else {
			t.Errorf("the loss of %s is not named", gone)
		}
		writeFile(t, s, c.file(messagesFile), strings.Join(h.messages, ""))
	}
	t.Logf("%d of %d lines", found, removed)
	if removed < 50 {
		t.Errorf("only %d lines were removed", removed)
	}
}

// TestCheckOfAWaitingConversation checks that Check covers waiting records, and that a
// removal is not damage.
func TestCheckOfAWaitingConversation(t *testing.T) {
	s := newTestStore(t)
	c := waits(t, s)
	if got := damages(s); len(got) != 2 || !strings.HasPrefix(got[0], waitingDir) || !strings.HasPrefix(got[1], waitingDir) {
		t.Errorf("%q", got)
	}
	must(t, os.RemoveAll(filepath.Join(s.dir, c.Path())))
	if got := damages(s); len(got) != 2 { // the broken line and the torn one
		t.Errorf("without its folder: %q", got)
	}
	must(t, os.RemoveAll(filepath.Join(s.dir, waitingDir)))
	wantSound(t, s)
}
