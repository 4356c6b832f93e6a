package serve

import (
	"net/http"
	"slices"

	"cortext/cmd/internal/stats"
)

// A statsAnswer counts what happened in the conversations of a workspace.
type statsAnswer struct {
	Total  counts        `json:"total"`
	Groups []group       `json:"groups"` // by day: by time; otherwise the most turns first
	Files  []writtenFile `json:"files"`  // the most written first
}

// counts holds the numbers of conversations and of what they contain.
type counts struct {
	Conversations int   `json:"conversations"`
	Turns         int   `json:"turns"` // prompts of the user
	Messages      int   `json:"messages"`
	TokensIn      int64 `json:"tokensIn"`  // read by models, cached or not, as the agents reported
	TokensOut     int64 `json:"tokensOut"` // written by models, as the agents reported
	ToolCalls     int   `json:"toolCalls"`
	Failures      int   `json:"failures"` // tool calls that failed
}

// A group holds the counts for one type, agent, model, tag or day.
type group struct {
	Key    string `json:"key"` // empty: unknown
	Counts counts `json:"counts"`
}

// A writtenFile is a file that tool calls wrote.
type writtenFile struct {
	Path  string `json:"path"` // relative to the workspace if it is below it
	Calls int    `json:"calls"`
}

func statsOf(st *stats.Stats) statsAnswer {
	out := statsAnswer{Total: counts(st.Total), Groups: []group{}, Files: []writtenFile{}}
	for _, g := range st.Groups {
		out.Groups = append(out.Groups, group{g.Key, counts(g.Counts)})
	}
	for _, f := range st.Files {
		out.Files = append(out.Files, writtenFile(f))
	}
	return out
}

// filesCounted is how many files the statistics name.
const filesCounted = 20

// stats answers GET /api/stats.
func (s findRoutes) stats(_ http.ResponseWriter, r *http.Request) (*answer, error) {
	by := stats.By(r.URL.Query().Get("by"))
	if by != "" && !slices.Contains(stats.Groupings, by) {
		return nil, invalid("by=%q is not one of %v", by, stats.Groupings)
	}
	space, err := s.open(r)
	if err != nil {
		return nil, err
	}
	defer space.End()
	all, err := space.Store.Outlines()
	if err != nil {
		return nil, err
	}
	var counted stats.Stats
	if err := counted.Add(r.Context(), space.Workspace, by, all, nil); err != nil {
		return nil, err
	}
	counted.Finish(by, filesCounted)
	return &answer{body: statsOf(&counted)}, nil
}
