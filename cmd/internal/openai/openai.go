// Package openai asks a model for a summary or a title over HTTP.
package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"

	"cortext/cmd/internal/companion"
	"cortext/cmd/internal/summarize"
	"cortext/schema"
)

// An Endpoint is a model behind an endpoint with OpenAI's chat completions API, local or
// remote.
type Endpoint struct {
	BaseURL string       // with or without /v1 or a trailing slash: http://localhost:11434
	Model   string       // the endpoint's name for it
	Key     string       // empty for none; never sent unencrypted, except to this machine
	Client  *http.Client // nil: our own
}

// moreTokens is the multiple of a summary's tokens that the model may spend. The model's
// tokens may be smaller than ours, and a summary that is a little long can be condensed,
// but one that is cut off cannot be used.
const moreTokens = 2

type completionRequest struct {
	Model       string              `json:"model,omitempty"`
	Messages    []completionMessage `json:"messages"`
	MaxTokens   int                 `json:"max_tokens"`
	Temperature int                 `json:"temperature"`
	Stream      bool                `json:"stream"`
}

type completionMessage struct {
	Role    string `json:"role"`
	Content string `json:"content"`
	Refusal string `json:"refusal,omitempty"`
}

type completion struct {
	Model   string `json:"model"`
	Choices []struct {
		Message      completionMessage `json:"message"`
		FinishReason string            `json:"finish_reason"`
	} `json:"choices"`
}

// Summarize asks for a summary of about maxTokens tokens, in one POST. ctx limits the time;
// if it ends, the error is its cause. An error names the host and its message, and never
// the key. An unusable answer is an error of [summarize.Check].
func (o Endpoint) Summarize(ctx context.Context, prompt string, maxTokens int) (summarize.Result, error) {
	return o.ask(ctx, prompt, maxTokens*moreTokens, summarize.Check)
}

// titleTokens is how many tokens a model may spend on a title, with the thoughts that some
// put before it.
const titleTokens = 1000

// Title is Summarize for a title. An unusable answer is an error of [summarize.CheckTitle].
func (o Endpoint) Title(ctx context.Context, prompt string) (summarize.Result, error) {
	return o.ask(ctx, prompt, titleTokens, summarize.CheckTitle)
}

// ask requests a completion of at most maxTokens tokens, and returns what check extracts
// from it.
func (o Endpoint) ask(ctx context.Context, prompt string, maxTokens int, check func(string) (string, error)) (summarize.Result, error) {
	u, err := o.endpoint()
	if err != nil {
		return summarize.Result{}, summarize.AsAway(err)
	}
	body, err := json.Marshal(completionRequest{
		Model: o.Model, MaxTokens: maxTokens,
		Messages: []completionMessage{{Role: "user", Content: prompt}},
	})
	if err != nil {
		return summarize.Result{}, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, u.String(), bytes.NewReader(body))
	if err != nil {
		return summarize.Result{}, fmt.Errorf("%s: no request can be made", u.Host) // the reason may contain secrets
	}
	req.Header.Set("Content-Type", "application/json")
	if o.Key != "" {
		req.Header.Set("Authorization", "Bearer "+o.Key)
	}
	resp, err := o.client().Do(req)
	if err != nil {
		if e := (*url.Error)(nil); errors.As(err, &e) {
			err = e.Err // without the address, which may hold a key
		}
		return summarize.Result{}, summarize.AsAway(fmt.Errorf("%s: %w", u.Host, err))
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, summarize.MaxAnswer+1))
	switch {
	case resp.StatusCode == http.StatusUnauthorized, resp.StatusCode == http.StatusForbidden:
		return summarize.Result{}, summarize.AsAway(fmt.Errorf("%s: %s%s", u.Host, o.hide(summarize.Said(resp.Status)), o.complaint(resp, answer)))
	case resp.StatusCode/100 != 2:
		return summarize.Result{}, fmt.Errorf("%s: %s%s", u.Host, o.hide(summarize.Said(resp.Status)), o.complaint(resp, answer))
	case err != nil && ctx.Err() != nil:
		return summarize.Result{}, summarize.AsAway(fmt.Errorf("%s: %w", u.Host, context.Cause(ctx)))
	case err != nil:
		return summarize.Result{}, fmt.Errorf("%s: %w: %w", u.Host, summarize.ErrCut, err)
	case len(answer) > summarize.MaxAnswer:
		return summarize.Result{}, fmt.Errorf("%s: the answer has more than %d bytes", u.Host, summarize.MaxAnswer)
	}
	r, err := o.result(answer, check)
	if err != nil {
		return summarize.Result{}, fmt.Errorf("%s: %w", u.Host, err)
	}
	return r, nil
}

// result extracts the result from a completion.
func (o Endpoint) result(answer []byte, check func(string) (string, error)) (summarize.Result, error) {
	var c completion
	if err := json.Unmarshal(answer, &c); err != nil {
		return summarize.Result{}, fmt.Errorf("the answer is not a completion: %s", o.hide(summarize.Said(string(answer))))
	}
	if len(c.Choices) == 0 {
		return summarize.Result{}, fmt.Errorf("%w: it has no choices", summarize.ErrEmpty)
	}
	choice := c.Choices[0]
	switch {
	case choice.FinishReason == "length":
		return summarize.Result{}, fmt.Errorf("%w: the model reached its limit of output tokens", summarize.ErrCut)
	case choice.FinishReason == "content_filter" || choice.Message.Refusal != "":
		return summarize.Result{}, fmt.Errorf("%w: %s", summarize.ErrRefused, o.hide(summarize.Said(choice.FinishReason+" "+choice.Message.Refusal)))
	}
	text, err := check(schema.WithoutEscapes(choice.Message.Content))
	if err != nil {
		return summarize.Result{}, err
	}
	if c.Model == "" {
		c.Model = o.Model
	}
	return summarize.Result{Text: text, Model: o.hide(summarize.Said(c.Model))}, nil
}

// endpoint returns the URL of the request. It adds /v1 to a base that is only a host,
// because all endpoints have it.
func (o Endpoint) endpoint() (*url.URL, error) {
	u, err := url.Parse(o.BaseURL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, errors.New("the endpoint's address is not of the form http://host:port/v1") // it may hold a key
	}
	if u.Scheme == "http" && (o.Key != "" || u.User != nil) && !loopback(u.Hostname()) {
		return nil, fmt.Errorf("%s: cortext sends no key over http, which others on the network can read: use https", u.Host)
	}
	u.Fragment = ""
	if strings.HasSuffix(u.Path, "/chat/completions") {
		return u, nil
	}
	if strings.Trim(u.Path, "/") == "" {
		u = u.JoinPath("v1")
	}
	return u.JoinPath("chat", "completions"), nil
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// client returns a client that follows no redirects, so that nobody else gets the prompt
// and the key. If the redirect is right, the user can correct the address.
func (o Endpoint) client() *http.Client {
	c := http.Client{}
	if o.Client != nil {
		c = *o.Client
	}
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &c
}

// complaint returns an endpoint's error: its message, else its first line; for a
// redirect, the host it leads to.
func (o Endpoint) complaint(resp *http.Response, body []byte) string {
	text := string(body)
	if u, err := resp.Location(); err == nil {
		text = "it redirects to " + u.Host
	}
	var e struct {
		Error json.RawMessage `json:"error"`
	}
	if json.Unmarshal(body, &e) == nil && len(e.Error) > 0 {
		var message struct {
			Message string `json:"message"`
		}
		if json.Unmarshal(e.Error, &text) != nil && json.Unmarshal(e.Error, &message) == nil {
			text = message.Message
		}
	}
	if text = o.hide(summarize.Said(text)); text == "" {
		return ""
	}
	return ": " + text
}

// hide removes the key from text that others wrote.
func (o Endpoint) hide(s string) string {
	if o.Key == "" {
		return s
	}
	return strings.ReplaceAll(s, o.Key, "[key]")
}

// Reply reads a question, asks the model, and writes the answer.
func Reply(ctx context.Context, from io.Reader, to io.Writer) error {
	var q companion.Question
	if err := json.NewDecoder(from).Decode(&q); err != nil {
		return fmt.Errorf("standard input: %w", err)
	}
	o := Endpoint{BaseURL: q.BaseURL, Model: q.Model.Model, Key: q.Key}
	var a companion.Answer
	var err error
	if q.MaxTokens > 0 {
		a.Result, err = o.Summarize(ctx, q.Prompt, q.MaxTokens)
	} else {
		a.Result, err = o.Title(ctx, q.Prompt)
	}
	if err != nil {
		a.Error, a.Away = err.Error(), summarize.Away(err)
	}
	return json.NewEncoder(to).Encode(a)
}
