package digest

import (
	"testing"

	"cortext/schema"
)

// stateOf is the state of a conversation that is at hand as a whole.
func stateOf(h schema.History) *State {
	s := new(State)
	s.Add(h)
	return s
}

func TestDecision(t *testing.T) {
	for _, tc := range []struct {
		why, want string
		messages  []string
	}{
		{"we decided", "use REST for internal APIs because it is simpler", []string{"a: We decided to use REST for internal APIs because it is simpler."}},
		{"have decided that", "the header wins", []string{"u: we've decided that the header wins"}},
		{"you decided", "cursors", []string{"a: You decided on cursors."}},
		{"note form", "drop the cache", []string{"a: Decided to drop the cache."}},
		{"let's go with", "Postgres", []string{"u: ok, let's go with Postgres!"}},
		{"typed in haste", "option B for now", []string{"u: lets go with option B for now"}},
		{"go with", "the second one", []string{"u: yes, go with the second one"}},
		{"typographic apostrophe", "SQLite", []string{"u: Let’s go with SQLite."}},
		{"instead of", "use NATS instead of Kafka", []string{"a: We'll use NATS instead of Kafka."}},
		{"leaning", "leaning toward REST for simplicity", []string{"u: I'm leaning towards REST for simplicity"}},
		{"settled", "a nightly job", []string{"a: So we settled on a nightly job."}},
		{"opted", "the simplest form, a map", []string{"a: I opted for the simplest form, a map."}},
		{"against", "against sharding", []string{"a: We decided against sharding."}},
		{"not to", "not to cache", []string{"u: we decided not to cache"}},
		{"label", "page by cursor", []string{"a: **Decision:** page by cursor."}},
		{"label in a list", "page by cursor", []string{"a: Notes:\n\n- Decision: page by cursor\n- Limit is 100"}},
		{"heading", "Page by cursor", []string{"a: ## Decision\n\nPage by cursor.\n\n## Background\n\nNumbers shift."}},
		{"agreed", "no ORM", []string{"a: Agreed: no ORM."}},
		{"user's preference", "tabs over spaces", []string{"u: I prefer tabs over spaces"}},
		{"after a condition of another clause", "Go", []string{"u: If it must be fast, let's go with Go"}},
		{"after a refusal of another clause", "REST", []string{"u: I don't like GraphQL here, let's go with REST"}},
		{"code in the decision", "use errors.Join everywhere", []string{"u: we decided to use `errors.Join` everywhere"}},
		{"german", "PostgreSQL", []string{"u: Wir haben uns für PostgreSQL entschieden."}},
		{"german label", "keine Umlaute in Dateinamen", []string{"a: Entscheidung: keine Umlaute in Dateinamen."}},
		{"spanish", "usar PostgreSQL", []string{"u: Hemos decidido usar PostgreSQL."}},
		{"french", "garder REST", []string{"u: Nous avons décidé de garder REST."}},
		{"chinese", "PostgreSQL", []string{"u: 我们决定使用 PostgreSQL。"}},

		{"the last of two", "MySQL", []string{"u: We decided on Postgres.", "a: Noted.", "u: No, we decided on MySQL."}},
		{"the last of two sentences", "retries", []string{"u: Let's go with queues. And let's go with retries."}},
		{"the user after the agent", "gRPC", []string{"u: which one?", "a: I went with REST.", "u: let's go with gRPC"}},

		{"not decided", "", []string{"a: We have not decided yet."}},
		{"haven't decided", "", []string{"u: we haven't decided on the database"}},
		{"undecided", "", []string{"a: The format is undecided. It needs to be decided by Friday."}},
		{"decide later", "", []string{"u: We decided later, not now."}},
		{"question", "", []string{"u: Should we go with REST?", "a: Did we agree on that? Have we decided to use REST?"}},
		{"condition", "", []string{"a: If we go with REST, caching is easier."}},
		{"possibility", "", []string{"a: We could go with REST. You might say it is what we chose."}},
		{"not going with", "", []string{"u: I'm not going with REST"}},
		{"whether", "", []string{"a: You asked whether we decided on REST."}},
		{"somebody else", "", []string{"a: The parser decided to skip the line. They decided on XML in 1999."}},
		{"by whom", "", []string{"a: It was decided by the compiler."}},
		{"in code", "", []string{"a: Run this:\n\n```\n# we decided to use REST\n```\n\nThe comment says `we decided to use REST`."}},
		{"in a quotation", "", []string{"u: > we decided to use REST\n\nwho wrote that", "a: The file says \"we decided to use REST\" and “let's go with XML”."}},
		{"in output", "", []string{"s: <local-command-stdout>we decided to use REST</local-command-stdout>"}},
		{"in a heading", "", []string{"a: ## We decided to use REST\n\nThat heading is from the template."}},
		{"as a word inside another", "", []string{"a: The cargoing with ropes is done."}},
		{"what was not said", "", []string{"u: let's go with it"}},
		{"a small step of the agent", "", []string{"a: Let's use the shell here. I prefer short commands."}},
		{"a command's arguments", "", []string{"u: /workspace.plan let's go with REST"}},

		{"yes to a question", "add an index on users.email", []string{"u: it is slow", "a: The table has no index.\n\nShall I add an index on `users.email`?", "u: Yes, do that"}},
		{"yes to a suggestion", "move the lock into the store", []string{"u: it hangs", "a: I'd suggest to move the lock into the store. It is the only writer.", "u: sounds good"}},
		{"yes please", "split the file in two", []string{"u: it is long", "a: Would you like me to split the file in two?", "u: yes please!"}},
		{"german yes", "die Tabelle teilen", []string{"u: zu langsam", "a: Soll ich die Tabelle teilen?", "u: Ja, mach das"}},
		{"yes to the next step", "", []string{"u: it is done", "a: Shall I commit and push?", "u: yes"}},
		{"yes to this", "", []string{"u: it is slow", "a: The index is missing. Want me to make this change?", "u: yes"}},
		{"yes to the suggestion behind this", "put the index on email", []string{"u: it is slow", "a: I'd suggest putting an index on email, maybe. I recommend to put the index on email. Want me to make this change?", "u: yes"}},
		{"yes to nothing", "", []string{"u: it is slow", "a: It is.", "u: yes"}},
		{"yes and more", "", []string{"u: it is slow", "a: Shall I add an index on email?", "u: yes but it was fast before the update, so find out first what changed"}},
		{"no", "", []string{"u: it is slow", "a: Shall I add an index on email?", "u: no"}},
		{"nobody proposed", "", []string{"u: yes"}},
		{"a question that only contains the words", "", []string{"u: where", "a: What url should I pin to the board?", "u: yes"}},
		{"an option by number", "Rewrite the importer", []string{"u: options?", "a: I see two:\n\n1. Keep it as it is\n2. Rewrite the importer\n\nWhich one?", "u: option 2 please"}},
		{"an option by word", "Keep it as it is", []string{"u: options?", "a: I see two:\n\n1. Keep it as it is\n2. Rewrite the importer", "u: the first one"}},
		{"an option by letter", "Rewrite the importer", []string{"u: options?", "a: a) Keep it\nb) Rewrite the importer", "u: b"}},
		{"an option that is not there", "", []string{"u: options?", "a: 1. Keep it\n2. Rewrite it", "u: 7"}},
	} {
		if got := stateOf(schema.History{Messages: talk(tc.messages...)}).Fold.Decided; got != tc.want {
			t.Errorf("%s: %q, want %q", tc.why, got, tc.want)
		}
	}
}

// In the middle of its work the agent's choices are small; only what it calls a
// decision is one.
func TestDecisionInTheMiddle(t *testing.T) {
	for said, want := range map[string]string{
		"I went with a map here.": "", "Going with grep.": "", "We decided on REST.": "REST", "We agreed on REST.": "REST",
	} {
		messages := talk("u: Plan it", "a: "+said, "a: Hm.")
		messages[1].ToolCalls = []schema.ToolCall{{ID: "c", Name: "Bash"}}
		if got := stateOf(schema.History{Messages: messages}).Fold.Decided; got != want {
			t.Errorf("%q: %q, want %q", said, got, want)
		}
	}
}

// A question that was put by a call and passed over is not open any more.
func TestAskedBefore(t *testing.T) {
	m, tool := call("AskUserQuestion", `{"questions":[{"question":"Which database?"}]}`, "", nil)
	h := schema.History{Messages: append(append(talk("u: Plan it"), m), talk("a: I took SQLite, and it works.")...), Tools: map[string]schema.Tool{tool.ID: tool}}
	if got, want := Summary(h), "Last: I took SQLite, and it works."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// call is a message that makes one call, and the call.
func call(name, input, output string, success *bool) (schema.Message, schema.Tool) {
	id := "call-" + name
	return schema.Message{Role: schema.Assistant, ToolCalls: []schema.ToolCall{{ID: id, Name: name}}},
		schema.Tool{ID: id, Name: name, Input: schema.Raw(input), Output: output, Success: success}
}

func yes() *bool { b := true; return &b }
func no() *bool  { b := false; return &b }

func TestDecisionByTool(t *testing.T) {
	const ask = `{"questions":[{"question":"Which database?","header":"Database","options":[{"label":"PostgreSQL (Recommended)"}]},{"question":"Keep \"old\" rows?","options":[]}]}`
	for _, tc := range []struct {
		why, name, input, output string
		success                  *bool
		decision, open           string
	}{
		{"answers", "AskUserQuestion", ask, `User has answered your questions: "Which database?"="PostgreSQL (Recommended)", "Keep "old" rows?"="No". You can now continue.`, yes(), "Database: PostgreSQL; No", ""},
		{"one answer", "AskUserQuestion", ask, `User has answered your questions: "Which database?"="SQLite".`, yes(), "Database: SQLite", ""},
		{"no answer", "AskUserQuestion", ask, "", nil, "", "Which database?"},
		{"dismissed", "AskUserQuestion", ask, refusedByUser, no(), "", "Which database?"},
		{"no questions", "AskUserQuestion", `{"questions":7}`, "", nil, "", ""},
		{"empty questions", "AskUserQuestion", `{"questions":[{"question":""},3]}`, "", nil, "", ""},
		{"not JSON", "AskUserQuestion", `{`, "x", yes(), "", ""},
		{"plan approved", "ExitPlanMode", `{"plan":"# Plan: Move the cache\n\n1. Copy"}`, "User has approved your plan.", yes(), "plan approved, Move the cache", ""},
		{"plan refused", "ExitPlanMode", `{"plan":"# Move the cache"}`, refusedByUser, no(), "", "the plan “Move the cache” was refused: what to do instead?"},
		{"plan not answered", "ExitPlanMode", `{"plan":"# Move the cache"}`, "", nil, "", "go ahead with the plan “Move the cache”?"},
		{"empty plan", "ExitPlanMode", `{}`, "User has approved exiting plan mode.", yes(), "", ""},
		{"another tool", "Bash", `{"command":"echo we decided to use REST"}`, "we decided to use REST", yes(), "", ""},
	} {
		m, tool := call(tc.name, tc.input, tc.output, tc.success)
		h := schema.History{Messages: append(talk("u: Plan it"), m), Tools: map[string]schema.Tool{tool.ID: tool}}
		s := stateOf(h)
		if got := s.Fold.Decided; got != tc.decision {
			t.Errorf("%s: decided %q, want %q", tc.why, got, tc.decision)
		}
		if got := openQuestion(s.Fold.Last); got != tc.open {
			t.Errorf("%s: open %q, want %q", tc.why, got, tc.open)
		}
	}
}
