package schema_test

import (
	"fmt"
	"log"
	"strings"

	"cortext/schema"
	"cortext/schema/jsonl"
)

// The lines of messages.jsonl are messages. After a merge they are in no particular order;
// their parents give the branch that a resume continues.
func Example() {
	const messages = `{"id":"m1","timestamp":"2026-03-01T10:00:00.000Z","role":"user","content":"Which database?"}
{"id":"m3","parent_id":"m2","timestamp":"2026-03-01T10:02:00.000Z","role":"user","content":"Agreed."}
{"id":"m2","parent_id":"m1","timestamp":"2026-03-01T10:01:00.000Z","role":"assistant","content":"SQLite.","x_cost":3}
`
	var all []schema.Message
	for record, err := range jsonl.Read(strings.NewReader(messages), 0, 1) {
		if err != nil {
			log.Fatal(err)
		}
		m, err := schema.ParseMessage(record.Raw)
		if err != nil {
			log.Fatal(err)
		}
		all = append(all, m)
	}
	branch, aside := schema.Branch(all)
	fmt.Println(len(branch), "messages,", aside, "on other branches")
	for _, m := range branch {
		fmt.Printf("%s %s: %s\n", m.ID, m.Role, m.Content)
	}

	// Members that this version does not know are kept.
	fmt.Printf("%s", schema.AppendMessage(nil, &all[2]))
	// Output:
	// 3 messages, 0 on other branches
	// m1 user: Which database?
	// m2 assistant: SQLite.
	// m3 user: Agreed.
	// {"id":"m2","parent_id":"m1","timestamp":"2026-03-01T10:01:00.000Z","role":"assistant","content":"SQLite.","x_cost":3}
}
