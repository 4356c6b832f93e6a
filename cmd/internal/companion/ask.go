package companion

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"cortext/cmd/internal/summarize"
)

// A Model is a model behind an endpoint with OpenAI's API. cortext-web sends the requests.
type Model struct {
	BaseURL string `json:"base_url"` // see openai.Endpoint in cmd/internal/openai
	Model   string `json:"model"`
	Key     string `json:"key"` // passed on standard input, so that other processes cannot see it
}

// A Question is what the program reads, as JSON.
type Question struct {
	Model
	Prompt    string `json:"prompt"`
	MaxTokens int    `json:"max_tokens"` // size of the summary; 0: the prompt asks for a title
}

// An Answer is what the program writes, as JSON.
type Answer struct {
	summarize.Result
	Error string `json:"error,omitempty"`
	Away  bool   `json:"away,omitempty"` // see [summarize.Away]
}

// Summarize asks for a summary of about maxTokens tokens. If ctx ends first, the error is its
// cause.
func (m Model) Summarize(ctx context.Context, prompt string, maxTokens int) (summarize.Result, error) {
	return m.ask(ctx, Question{m, prompt, maxTokens})
}

// Title asks for a title.
func (m Model) Title(ctx context.Context, prompt string) (summarize.Result, error) {
	return m.ask(ctx, Question{m, prompt, 0})
}

func (m Model) ask(ctx context.Context, q Question) (summarize.Result, error) {
	in, err := json.Marshal(q)
	if err != nil {
		return summarize.Result{}, err
	}
	cmd, err := Web.Command(ctx, AskWord)
	if err != nil {
		return summarize.Result{}, summarize.AsAway(err)
	}
	var out, said bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(in), &out, &said
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return summarize.Result{}, summarize.AsAway(context.Cause(ctx))
		}
		return summarize.Result{}, summarize.AsAway(fmt.Errorf("%s: %w: %.400s", cmd.Path, err, bytes.TrimSpace(said.Bytes())))
	}
	var a Answer
	if err := json.Unmarshal(out.Bytes(), &a); err != nil {
		return summarize.Result{}, fmt.Errorf("%s: %w", cmd.Path, err)
	}
	if a.Error == "" {
		return a.Result, nil
	}
	err = errors.New(a.Error)
	if a.Away {
		err = summarize.AsAway(err)
	}
	return summarize.Result{}, err
}
