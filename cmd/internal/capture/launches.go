package capture

import (
	"cortext/cmd/internal/workspace"
	"cortext/inject"
	"cortext/schema"
)

// LaunchDir is the folder for the files of a launch, relative to the workspace.
const LaunchDir = ".workspace/local/cache/launch"

// LaunchedFor is the environment variable that names the conversation a program was
// launched for, for its hooks.
const LaunchedFor = "CORTEXT_LAUNCHED_FOR"

// launches knows which conversations programs were launched for. A session belongs to the
// conversation of a launch if it begins with the payload of that launch, or if it is the
// first session of the launched program.
type launches struct {
	ws     *workspace.Workspace
	binder *Binder
}

// launchedWith returns the place in a conversation that a payload was made for, if a note
// of a launch has that payload.
func (l *launches) launchedWith(agent, payload string) (at Place, ok bool) {
	for _, id := range l.ws.Launches().IDs() {
		note, known := l.ws.Launches().Get(id)
		if known && note.Agent == agent && note.Payload == payload {
			return Place{note.Path, note.After}, true
		}
	}
	return Place{}, false
}

// LaunchedConversation returns the path of the conversation that the calling program was
// launched for, if it is still active.
func (l *launches) LaunchedConversation() string {
	id := l.ws.Env.Machine.Getenv(LaunchedFor)
	if id == "" {
		return ""
	}
	e, err := l.ws.Pick(id)
	if err != nil || e.Session.Status != schema.Active {
		return "" // gone, stopped, or in another workspace
	}
	return e.Path
}

// BindLaunched binds a session to the conversation that its program was launched for, if
// the agent chose the session's id only after the launch.
func (l *launches) BindLaunched(agent inject.Agent, e inject.Event) error {
	path := l.LaunchedConversation()
	if path == "" {
		return nil
	}
	for _, id := range l.ws.Launches().IDs() {
		note, ok := l.ws.Launches().Get(id)
		if !ok || note.Agent != agent.Name() || note.NativeID != "" || note.Path != path {
			continue
		}
		b, err := l.binder.Bind(agent, e.NativeID, "")
		if err == nil && len(b.Segments) == 0 {
			err = l.binder.ContinueIn(agent, e, b, Place{path, note.After})
		}
		if err != nil {
			return err
		}
		note.NativeID = e.NativeID
		return l.ws.Launches().Put(id, note)
	}
	return nil
}
