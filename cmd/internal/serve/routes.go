package serve

import (
	"net/http"
	"slices"
	"strings"
)

// A route is an endpoint. openapi.json, which a test makes of the routes, describes each.
type route struct {
	method, path string
	handle       handler
	about        string // in one line
	query        string // the names of its parameters, which the type params describes
	in           any    // the type of its body; nil: it takes none
	needs        string // the members that the body must have
	status       int    // of success
	out          any    // the type of the answer; nil: it has none
	media        string // of the answer, if it is not JSON
	fails        []int  // the statuses of failure, besides those of every route
}

// imports reports whether the body may be as large as a conversation.
func (rt *route) imports() bool { return strings.HasSuffix(rt.path, "/import") }

// The parameters in the query of routes.
const (
	whereQuery  = "workspace "
	filterQuery = "type tag agent model status archived since until "
	pageQuery   = "sort reverse offset limit "
	exportQuery = "format from to only noTools noReasoning redact subagents attachments noData "
)

// sessionPath is the path of a conversation.
const sessionPath = "/api/sessions/{id}"

func (s *Server) routes() []route {
	return slices.Concat(sessionRoutes{s}.routes(), messageRoutes{s}.routes(), transferRoutes{s}.routes(), findRoutes{s}.routes(), daemonRoutes{s}.routes())
}

// sessionRoutes are those about a conversation as a whole.
type sessionRoutes struct{ *Server }

func (s sessionRoutes) routes() []route {
	return []route{
		{http.MethodGet, "/api/sessions", s.list, "List conversations, the most recently active first.", whereQuery + filterQuery + pageQuery + "q", nil, "", 200, listPage{}, "", nil},
		{http.MethodPost, "/api/sessions", s.create, "Begin a conversation.", whereQuery, createRequest{}, "", 201, sessionAnswer{}, "", []int{409}},
		{http.MethodGet, sessionPath, s.about(s.get), "Get a conversation with its last messages.", whereQuery + "messages", nil, "", 200, sessionAnswer{}, "", nil},
		{http.MethodPatch, sessionPath, withBody(s.Server, s.update), "Change a conversation. What the body lacks stays. If-Match makes it fail if the conversation has changed since.", whereQuery, patch{}, "", 200, sessionAnswer{}, "", []int{409, 412}},
		{http.MethodDelete, sessionPath, s.about(s.remove), "Remove a conversation.", whereQuery, nil, "", 204, nil, "", []int{409, 412}},
		{http.MethodPost, sessionPath + "/fork", withBody(s.Server, s.fork), "Begin a conversation at a point of another.", whereQuery, forkRequest{}, "", 201, forkAnswer{}, "", []int{409}},
		{http.MethodPost, sessionPath + "/stop", s.about(s.stop), "Save, pause and commit a conversation.", whereQuery, nil, "", 200, stopped{}, "", []int{409}},
		{http.MethodPost, sessionPath + "/summarize", s.about(s.summarize), "Summarize old messages now.", whereQuery, nil, "", 200, summarized{}, "", []int{409, 502}},
	}
}

// messageRoutes are those about what was said in a conversation.
type messageRoutes struct{ *Server }

func (s messageRoutes) routes() []route {
	return []route{
		{http.MethodGet, sessionPath + "/messages", s.messages, "Get messages: the last ones, those from an offset on, or those after one.", whereQuery + "branch after offset limit", nil, "", 200, messagesPage{}, "", nil},
		{http.MethodPost, sessionPath + "/messages", withBody(s.Server, s.addMessage), "Add a message at the end of a conversation, without an agent. It is on disk when the answer comes.", whereQuery, newMessage{}, "content", 201, messageAnswer{}, "", []int{409}},
		{http.MethodGet, sessionPath + "/prompts", s.prompts, "List the user's prompts.", whereQuery + "branch", nil, "", 200, promptsAnswer{}, "", nil},
		{http.MethodGet, sessionPath + "/html", s.html, "Get messages as HTML.", whereQuery + "branch from to", nil, "", 200, rendered{}, "", nil},
		{http.MethodGet, sessionPath + "/events", s.events, "Server-sent events of a conversation. Last-Event-ID, or since, is the id of the last message that the client has: what came after it is sent first.", whereQuery + "since", nil, "", 200, liveEvent{}, "text/event-stream", nil},
		{http.MethodGet, sessionPath + "/live", s.socket, "A WebSocket with the events of a conversation. The client sends objects like LiveRequest: a message, which is acknowledged once it is on disk, or sync, after which it gets what came after lastMessageId.", whereQuery + "since", nil, "", 101, nil, "", []int{426}},
	}
}

// transferRoutes are those of export and import.
type transferRoutes struct{ *Server }

func (s transferRoutes) routes() []route {
	return []route{
		{http.MethodPost, "/api/sessions/import", s.importSession, "Import an export, or with the type application/octet-stream a file: an export or a bundle.", whereQuery + "keepIds", importRequest{}, "data", 201, importAnswer{}, "", []int{409}},
		{http.MethodPost, sessionPath + "/export", s.export, "Export a conversation as text.", whereQuery, exportRequest{}, "", 200, exportAnswer{}, "", []int{409}},
		{http.MethodGet, sessionPath + "/export", s.download, "Export a conversation as a file.", whereQuery + exportQuery, nil, "", 200, "", "application/octet-stream", []int{409}},
	}
}

// findRoutes are those about many conversations, and the preview of a payload.
type findRoutes struct{ *Server }

func (s findRoutes) routes() []route {
	return []route{
		{http.MethodGet, "/api/search", s.search, "Search what was said.", whereQuery + filterQuery + "q regexp in limit", nil, "", 200, searchAnswer{}, "", nil},
		{http.MethodGet, "/api/stats", s.stats, "Count what happened.", whereQuery + "by", nil, "", 200, statsAnswer{}, "", nil},
		{http.MethodGet, "/api/workspaces", s.workspaces, "List the workspaces that requests may name.", "", nil, "", 200, workspacesAnswer{}, "", nil},
		{http.MethodGet, "/api/events", s.listEvents, "Server-sent events: change, when the list of conversations has changed.", whereQuery, nil, "", 200, liveEvent{}, "text/event-stream", nil},
		{http.MethodGet, "/api/openapi.json", s.openapi, "This document.", "", nil, "", 200, map[string]any{}, "", nil},
		{http.MethodGet, sessionPath + "/context", s.context, "Preview the payload of a resume.", whereQuery + "agent strategy budget last branch text", nil, "", 200, preview{}, "", []int{409, 422}},
	}
}

// daemonRoutes are those without /api, by which a client runs an agent.
type daemonRoutes struct{ *Server }

func (s daemonRoutes) routes() []route {
	return []route{
		{http.MethodPost, "/init", s.init, "Describe a workspace that this machine has seen.", "", initRequest{}, "", 200, initAnswer{}, "", []int{404}},
		{http.MethodGet, "/workspaces/{encodedPath}/sessions", s.workspaceSessions, "List the conversations of a workspace, whose folder is percent-encoded in the path.", filterQuery + pageQuery, nil, "", 200, []encodedRow{}, "", []int{404}},
		{http.MethodPost, "/sessions", s.start, "Begin a conversation, or make an old one active. The status is 201 for a new one.", "", startRequest{}, "", 200, started{}, "", []int{201, 404, 409}},
		{http.MethodPost, "/sessions/{id}/messages", s.turn, "Run one turn of an agent without a terminal, as cortext resume -p does, and stream what it prints: a JSON object on each line. The turn is saved even if the client leaves.", whereQuery, turnRequest{}, "content", 200, turnEvent{}, "application/x-ndjson", []int{409}},
		{http.MethodDelete, "/sessions/{id}", s.about(s.pause), "Pause a conversation. Nothing is removed.", whereQuery, nil, "", 204, nil, "", []int{409}},
	}
}
