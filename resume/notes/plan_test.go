package notes

import (
	"fmt"
	"strings"
	"testing"

	"cortext/schema"
)

// show writes a plan as "content:status …", with the current step in brackets and
// "?" where steps are open.
func show(p *schema.Plan) string {
	if p == nil {
		return "none"
	}
	var parts []string
	for i, s := range p.Steps {
		part := s.Content + ":" + s.Status
		if i == p.Current {
			part = "[" + part + "]"
		}
		parts = append(parts, part)
	}
	if p.Awaiting {
		parts = append(parts, "?")
	}
	return strings.Join(parts, " ")
}

func todos(name, todos string) schema.Tool {
	return schema.Tool{ID: fmt.Sprint(name, len(todos)), Name: name, Input: schema.Raw(`{"todos":` + todos + `}`), Success: yes()}
}

func create(n int, subject string) schema.Tool {
	return schema.Tool{ID: fmt.Sprint("create", n, subject), Name: "TaskCreate", Input: schema.Raw(fmt.Sprintf(`{"subject":%q,"description":"d","activeForm":"f"}`, subject)),
		Output: fmt.Sprintf("Task #%d created successfully: %s", n, subject), Success: yes()}
}

func update(fields string) schema.Tool {
	return schema.Tool{ID: "update" + fields, Name: "TaskUpdate", Input: schema.Raw("{" + fields + "}"), Success: yes()}
}

func TestIsPlanTool(t *testing.T) {
	for name, want := range map[string]bool{"TodoWrite": true, "todowrite": true, "write_todos": true, "TaskCreate": true, "TaskUpdate": true, "Task": false, "TaskOutput": false, "todoread": false, "": false} {
		if IsPlanTool(name) != want {
			t.Errorf("%q: %v", name, !want)
		}
	}
}

func TestPlan(t *testing.T) {
	refused := todos("TodoWrite", `[{"content":"other","status":"pending"}]`)
	refused.Success = no()
	unanswered := todos("TodoWrite", `[{"content":"other","status":"pending"}]`)
	unanswered.Success = nil
	pending := create(1, "a")
	pending.Output, pending.Success = "", nil
	later := create(1, "a")
	later.Rev = 1
	older := todos("TodoWrite", `[{"content":"old","status":"pending"}]`)
	older.ID, older.Rev = "same", 1
	newer := todos("TodoWrite", `[{"content":"new","status":"pending"}]`)
	newer.ID, newer.Rev = "same", 2

	equal := newer
	equal.Input, equal.Rev = todos("TodoWrite", `[{"content":"newest","status":"pending"}]`).Input, 2

	for _, tc := range []struct {
		why, want string
		tools     []schema.Tool
	}{
		{"no calls", "none", nil},
		{"other calls", "none", []schema.Tool{{ID: "1", Name: "Bash", Input: schema.Raw(`{"todos":[{"content":"a"}]}`)}}},
		{"Claude Code's list", "a:completed [b:in_progress] c:pending ?", []schema.Tool{
			todos("TodoWrite", `[{"content":"x","status":"pending","activeForm":"X"}]`),
			todos("TodoWrite", `[{"content":"a","status":"completed","activeForm":"A"},{"content":"b","status":"in_progress"},{"content":"c","status":"pending"}]`)}},
		{"OpenCode's list", "[a:pending] b:completed ?", []schema.Tool{todos("todowrite", `[{"content":"a","status":"pending","priority":"high"},{"content":"b","status":"completed"},{"content":"c","status":"cancelled"}]`)}},
		{"Gemini CLI's list", "a:completed [b:in_progress] ?", []schema.Tool{todos("write_todos", `[{"description":"a","status":"completed"},{"description":"b","status":"in_progress"}]`)}},
		{"all done", "a:completed [b:completed]", []schema.Tool{todos("TodoWrite", `[{"content":"a","status":"completed"},{"content":"b","status":"done"}]`)}},
		{"in progress before open", "a:pending [b:in_progress] ?", []schema.Tool{todos("TodoWrite", `[{"content":"a","status":"pending"},{"content":"b","status":"In Progress"}]`)}},
		{"odd words", "a:pending [b:in_progress] c:completed d:pending ?", []schema.Tool{todos("TodoWrite", `[{"content":"a","status":"blocked"},{"content":"b","status":"in-progress"},{"content":"c","status":"Finished"},{"content":"d"}]`)}},
		{"emptied", "none", []schema.Tool{todos("TodoWrite", `[{"content":"a","status":"pending"}]`), todos("TodoWrite", `[]`)}},
		{"all cancelled", "none", []schema.Tool{todos("todowrite", `[{"content":"a","status":"cancelled"},{"content":"b","status":"canceled"}]`)}},
		{"refused", "[a:pending] ?", []schema.Tool{todos("TodoWrite", `[{"content":"a","status":"pending"}]`), refused}},
		{"not answered", "[other:pending] ?", []schema.Tool{todos("TodoWrite", `[{"content":"a","status":"pending"}]`), unanswered}},
		{"lines and spaces", "[a b:pending] ?", []schema.Tool{todos("TodoWrite", `[{"content":" a\n\tb ","status":"pending"}]`)}},
		{"the same call again", "[new:pending] ?", []schema.Tool{older, newer}},
		{"the same call again, merged the other way", "[new:pending] ?", []schema.Tool{newer, older}},

		{"the same call again, of one rev", "[newest:pending] ?", []schema.Tool{newer, equal}},
		{"not a list", "[a:pending] ?", []schema.Tool{todos("TodoWrite", `[{"content":"a","status":"pending"}]`), todos("TodoWrite", `"b"`), todos("TodoWrite", `{"content":"b"}`)}},
		{"not steps", "[a:pending] ?", []schema.Tool{todos("TodoWrite", `[{"content":"a","status":"pending"}]`), todos("TodoWrite", `[1,null,{"content":7},{"content":""},{}]`)}},
		{"some steps", "[a:pending] ?", []schema.Tool{todos("TodoWrite", `[1,{"content":"a","status":3},{"content":"  "}]`)}},
		{"not JSON", "none", []schema.Tool{{ID: "1", Name: "TodoWrite", Input: schema.Raw(`{"todos":[{"content":"a"`)}, {ID: "2", Name: "TodoWrite"}}},

		{"tasks", "[a:pending] b:pending ?", []schema.Tool{create(1, "a"), create(2, "b")}},
		{"tasks at work", "a:completed [b:in_progress] ?", []schema.Tool{create(1, "a"), create(2, "b"), update(`"taskId":"1","status":"in_progress"`), update(`"taskId":"1","status":"completed"`), update(`"taskId":"2","status":"in_progress"`)}},
		{"a task renamed and one deleted", "[c:pending] ?", []schema.Tool{create(1, "a"), create(2, "b"), update(`"taskId":"1","subject":"c"`), update(`"taskId":"2","status":"deleted"`)}},
		{"all deleted", "none", []schema.Tool{create(1, "a"), update(`"taskId":"1","status":"deleted"`)}},
		{"a number for an id", "[a:completed]", []schema.Tool{create(1, "a"), update(`"taskId":1,"status":"completed"`)}},
		{"a mark before the id", "[a:completed]", []schema.Tool{create(1, "a"), update(`"taskId":"#1","status":"completed"`)}},
		{"no such task", "[a:pending] ?", []schema.Tool{create(1, "a"), update(`"taskId":"9","status":"completed"`), update(`"status":"completed"`)}},
		{"no number in the output", "a:completed [b:pending] ?", []schema.Tool{create(1, "a"), {ID: "x", Name: "TaskCreate", Input: schema.Raw(`{"subject":"b"}`)}, update(`"taskId":"1","status":"completed"`)}},
		{"which is the next", "a:pending [b:in_progress] ?", []schema.Tool{create(9, "a"), {ID: "x", Name: "TaskCreate", Input: schema.Raw(`{"subject":"b"}`)}, update(`"taskId":"10","status":"in_progress"`)}},
		{"a description only", "[b:pending] ?", []schema.Tool{{ID: "x", Name: "TaskCreate", Input: schema.Raw(`{"description":"b"}`)}}},
		{"a task of nothing", "none", []schema.Tool{{ID: "x", Name: "TaskCreate", Input: schema.Raw(`{}`)}}},
		{"a task seen twice", "[a:pending] ?", []schema.Tool{pending, later}},
		{"a new session counts from one", "[c:pending] ?", []schema.Tool{create(1, "a"), create(2, "b"), create(1, "c")}},
		{"tasks after a list", "[a:pending] ?", []schema.Tool{todos("TodoWrite", `[{"content":"x","status":"pending"}]`), create(1, "a")}},
		{"a list after tasks", "[x:pending] ?", []schema.Tool{create(1, "a"), todos("TodoWrite", `[{"content":"x","status":"pending"}]`)}},
		{"other calls of tasks", "[a:pending] ?", []schema.Tool{create(1, "a"), {ID: "l", Name: "TaskList", Input: schema.Raw(`{}`)}, {ID: "o", Name: "TaskOutput", Input: schema.Raw(`{"taskId":"1","status":"completed"}`)}}},
		{"an update of a list", "[x:pending] ?", []schema.Tool{todos("TodoWrite", `[{"content":"x","status":"pending"}]`), update(`"status":"completed"`)}},
	} {
		if got := show(Plan(tc.tools)); got != tc.want {
			t.Errorf("%s: %s, want %s", tc.why, got, tc.want)
		}
	}
	long := Plan([]schema.Tool{todos("TodoWrite", `[{"content":"`+strings.Repeat("long ", 200)+`","status":"pending"}]`)})
	if n := len([]rune(long.Steps[0].Content)); n > maxStep || n < maxStep-10 {
		t.Errorf("a step of %d runes", n)
	}
}
