package serve

import "net/http"

// A route is an endpoint. openapi.json describes each, and a test compares the two.
type route struct {
	method, path string
	handle       handler
	imports      bool // its body may be a whole conversation
}

func (s *Server) routes() []route {
	return []route{
		{http.MethodGet, "/api/sessions", s.list, false},
		{http.MethodPost, "/api/sessions", s.create, false},
		{http.MethodGet, "/api/sessions/{id}", s.get, false},
		{http.MethodPatch, "/api/sessions/{id}", s.update, false},
		{http.MethodDelete, "/api/sessions/{id}", s.remove, false},
		{http.MethodGet, "/api/sessions/{id}/messages", s.messages, false},
		{http.MethodPost, "/api/sessions/{id}/messages", s.addMessage, false},
		{http.MethodGet, "/api/sessions/{id}/prompts", s.prompts, false},
		{http.MethodGet, "/api/sessions/{id}/html", s.html, false},
		{http.MethodGet, "/api/sessions/{id}/live", s.socket, false},
		{http.MethodPost, "/api/sessions/{id}/summarize", s.summarize, false},
		{http.MethodPost, "/api/sessions/{id}/export", s.export, false},
		{http.MethodGet, "/api/sessions/{id}/export", s.download, false},
		{http.MethodPost, "/api/sessions/import", s.importSession, true},
		{http.MethodPost, "/api/sessions/{id}/fork", s.fork, false},
		{http.MethodPost, "/api/sessions/{id}/stop", s.stop, false},
		{http.MethodGet, "/api/sessions/{id}/context", s.context, false},
		{http.MethodGet, "/api/sessions/{id}/events", s.events, false},
		{http.MethodGet, "/api/events", s.listEvents, false},
		{http.MethodGet, "/api/search", s.search, false},
		{http.MethodGet, "/api/stats", s.stats, false},
		{http.MethodGet, "/api/workspaces", s.workspaces, false},
		{http.MethodPost, "/init", s.init, false},
		{http.MethodGet, "/workspaces/{encodedPath}/sessions", s.workspaceSessions, false},
		{http.MethodPost, "/sessions", s.start, false},
		{http.MethodPost, "/sessions/{id}/messages", s.turn, false},
		{http.MethodDelete, "/sessions/{id}", s.pause, false},
	}
}
