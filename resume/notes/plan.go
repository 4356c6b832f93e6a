package notes

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"cortext/schema"
	"cortext/schema/rawjson"
)

// maxStep is the most runes of a step.
const maxStep = 300

// Plan returns the agent's latest todo list, nil if there is none. tools are all calls
// of the conversation in order. If several records have the same id, the one with the
// greatest rev counts, in the place of the first.
//
// Plan reads the lists of Claude Code (TodoWrite; TaskCreate and TaskUpdate), OpenCode
// (todowrite) and Gemini CLI (write_todos). A failed call changed nothing. A call with
// unknown outcome counts, since the list shows the agent's intent. Plan skips calls it
// cannot read.
func Plan(tools []schema.Tool) *schema.Plan {
	var l todoList
	for _, t := range latest(tools) {
		l.apply(t)
	}
	return l.plan()
}

// plan returns the current list, nil if it is empty.
func (l todoList) plan() *schema.Plan {
	p := new(schema.Plan)
	for _, e := range l {
		if e.Status != dropped {
			p.Steps = append(p.Steps, schema.Step{Content: e.Content, Status: e.Status})
		}
	}
	if len(p.Steps) == 0 {
		return nil
	}
	p.Current = len(p.Steps) - 1
	for _, status := range []string{pendingStep, inProgress} {
		if i := slices.IndexFunc(p.Steps, func(s schema.Step) bool { return s.Status == status }); i >= 0 {
			p.Current, p.Awaiting = i, true
		}
	}
	return p
}

// IsPlanTool reports whether [Plan] reads the calls of a tool. A caller can drop all
// others.
func IsPlanTool(name string) bool { return schema.KindOf(name) == schema.TodoTool }

// latest returns each call once: its greatest rev, in the place of its first record.
func latest(tools []schema.Tool) []schema.Tool {
	var calls []schema.Tool
	at := map[string]int{}
	for _, t := range tools {
		i, seen := at[t.ID]
		switch {
		case !seen || t.ID == "":
			at[t.ID] = len(calls)
			calls = append(calls, t)
		case t.Precedence() >= calls[i].Precedence():
			calls[i] = t
		}
	}
	return calls
}

// The statuses of a step. A plan omits dropped steps.
const (
	pendingStep = "pending"
	inProgress  = "in_progress"
	completed   = "completed"
	dropped     = "dropped"
)

func status(word string) string {
	word = strings.NewReplacer("-", "_", " ", "_").Replace(strings.ToLower(word))
	for _, s := range []string{inProgress, completed, dropped} {
		if listed(s, word) {
			return s
		}
	}
	return pendingStep
}

type todo struct {
	ID      string `json:"id,omitempty"` // of a task; "" in a list written as a whole
	Content string `json:"content"`
	Status  string `json:"status"`
}

// maxSteps is the most entries of a list; real lists are far shorter.
const maxSteps = 500

type todoList []todo

// apply updates the list with a call.
func (l *todoList) apply(t schema.Tool) {
	if t.Success != nil && !*t.Success {
		return
	}
	switch schema.ToolName(t.Name) {
	case "todowrite", "writetodos":
		l.replace(t)
	case "taskcreate":
		l.create(t)
	case "taskupdate":
		l.update(t)
	}
	*l = (*l)[:min(len(*l), maxSteps)]
}

// replace takes over the whole list that t writes.
func (l *todoList) replace(t schema.Tool) {
	list, err := rawjson.Array(rawjson.Get(t.Input, "todos"))
	if err != nil {
		return
	}
	var entries []todo
	for _, e := range list {
		if content := stepIn(e, "content", "description"); content != "" {
			entries = append(entries, todo{Content: content, Status: status(rawjson.String(rawjson.Get(e, "status")))})
		}
	}
	if len(entries) > 0 || len(list) == 0 {
		*l = entries
	}
}

// create adds a task under the number in its output: "Task #3 created successfully".
// A number in use means a new list: each agent session starts at 1.
func (l *todoList) create(t schema.Tool) {
	content := stepIn(t.Input, "subject", "description")
	if content == "" {
		return
	}
	if len(*l) > 0 && (*l)[0].ID == "" {
		*l = nil
	}
	id := strings.TrimPrefix(patterns()["task numbers"].FindString(t.Output), "Task #")
	if id == "" {
		id = l.nextNumber()
	}
	if slices.ContainsFunc(*l, func(e todo) bool { return e.ID == id }) {
		*l = nil
	}
	*l = append(*l, todo{ID: id, Content: content, Status: pendingStep})
}

// nextNumber returns the next task's number.
func (l *todoList) nextNumber() string {
	last := 0
	for _, e := range *l {
		n, _ := strconv.Atoi(e.ID)
		last = max(last, n)
	}
	return strconv.Itoa(last + 1)
}

func (l *todoList) update(t schema.Tool) {
	raw := rawjson.Get(t.Input, "taskId")
	id := cmp.Or(rawjson.String(raw), string(raw)) // may be a number
	for i := range *l {
		if e := &(*l)[i]; e.ID != "" && e.ID == strings.TrimPrefix(id, "#") {
			if s := rawjson.String(rawjson.Get(t.Input, "status")); s != "" {
				e.Status = status(s)
			}
			if s := stepIn(t.Input, "subject"); s != "" {
				e.Content = s
			}
		}
	}
}

// stepIn returns the first non-empty named member, as one short line.
func stepIn(raw schema.Raw, names ...string) (step string) {
	for _, name := range names {
		step = cmp.Or(step, cut(oneLine(rawjson.String(rawjson.Get(raw, name))), maxStep))
	}
	return step
}
