package digest

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

// Plan is the agent's todo list as it stood last, nil if there is none. The
// tools are all calls of the conversation in their order; of lines with one id the
// one with the greatest rev counts, in the place of the first.
//
// The lists of Claude Code (TodoWrite; TaskCreate and TaskUpdate), OpenCode
// (todowrite) and Gemini CLI (write_todos) are known. A call that failed changed
// nothing; one whose outcome is not known counts, since the list is what the
// agent meant. A call that cannot be read is passed over.
func Plan(tools []schema.Tool) *schema.Plan {
	var l todoList
	for _, t := range latest(tools) {
		l.apply(t)
	}
	return l.plan()
}

// plan returns the list as it stands, nil if nothing is on it.
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

// IsPlanTool reports whether [Plan] looks at the calls of a tool, so that a
// caller need not hold the others.
func IsPlanTool(name string) bool { return schema.KindOf(name) == schema.TodoTool }

// latest returns each call once, its greatest rev in the place of its first line.
func latest(tools []schema.Tool) []schema.Tool {
	var calls []schema.Tool
	at := map[string]int{}
	for _, t := range tools {
		i, seen := at[t.ID]
		switch {
		case !seen || t.ID == "":
			at[t.ID] = len(calls)
			calls = append(calls, t)
		case t.Rev >= calls[i].Rev:
			calls[i] = t
		}
	}
	return calls
}

// The statuses of a step; dropped ones are not part of a plan.
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
	ID      string `json:"id,omitempty"` // of a task; "" in a list that is written as a whole
	Content string `json:"content"`
	Status  string `json:"status"`
}

// maxSteps is the most entries of a list: nobody works off more.
const maxSteps = 500

type todoList []todo

// apply does what a call did to the list.
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

// replace takes the list that t writes as a whole.
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

// create adds a task under the number that its output names: "Task #3 created
// successfully". A number that is taken belongs to a new list: each session of
// the agent begins at 1.
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
		id = l.free()
	}
	if slices.ContainsFunc(*l, func(e todo) bool { return e.ID == id }) {
		*l = nil
	}
	*l = append(*l, todo{ID: id, Content: content, Status: pendingStep})
}

// free returns the number that the next task gets.
func (l *todoList) free() string {
	last := 0
	for _, e := range *l {
		n, _ := strconv.Atoi(e.ID)
		last = max(last, n)
	}
	return strconv.Itoa(last + 1)
}

func (l *todoList) update(t schema.Tool) {
	raw := rawjson.Get(t.Input, "taskId")
	id := cmp.Or(rawjson.String(raw), string(raw)) // it may be a number
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

// stepIn is the first of the named members that says something, as one short line.
func stepIn(raw schema.Raw, names ...string) (step string) {
	for _, name := range names {
		step = cmp.Or(step, cut(oneLine(rawjson.String(rawjson.Get(raw, name))), maxStep))
	}
	return step
}
