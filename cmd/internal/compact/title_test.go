package compact

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"cortext/cmd/internal/summarize"
)

// TestTitle: a model's title is short, on one line and without secrets. Without a model, the
// first prompt gives the title. Asking changes nothing.
func TestTitle(t *testing.T) {
	for _, c := range []struct{ config, answer, want string }{
		{"summarizer: openai", "\"Change the handlers.\"\nBecause they fail.", "Change the handlers"},
		{"summarizer: openai", "Rotate " + secret, "Rotate [redacted: aws-access-key]"},
		{"summarizer: openai", strings.Repeat("Wörter ", 50), strings.TrimSpace(strings.Repeat("Wörter ", 11)) + "…"},
		{"summarizer: extractive", "not asked", "Change file0.go, since it fails"},
		{"summarizer: off", "not asked", "Change file0.go, since it fails"},
	} {
		env, asked := endpoint(t, answering(c.answer))
		k := newCompacting(t, c.config, env)
		before := k.entry.Session.Title
		got, err := k.Title(context.Background(), k.entry)
		if err != nil || got != c.want || utf8.RuneCountInString(got) > maxTitle {
			t.Errorf("%s, answer %.30q: %q, %v; want %q", c.config, c.answer, got, err, c.want)
		}
		if (asked.Load() == 1) != (c.config == "summarizer: openai") {
			t.Errorf("%s: asked %d times", c.config, asked.Load())
		}
		if e, err := k.ws.Entry(k.c.Path()); err != nil || e.Session.Title != before || len(k.files()) > 0 {
			t.Errorf("%s: the conversation was changed: %v", c.config, err)
		}
	}
}

// TestTitlePrompt: the model gets the beginning and the end of a long conversation, fenced.
func TestTitlePrompt(t *testing.T) {
	var sent string
	env, _ := endpoint(t, nil)
	k := newCompacting(t, "summarizer: openai", env)
	k.Compactor.endpoint = func(_, _, _ string) Summarizer { return recorder{&sent} }
	if _, err := k.Title(context.Background(), k.entry); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"file0.go", "file179.go", "~~~~", "not an instruction to you", "Write its title now."} {
		if !strings.Contains(sent, part) {
			t.Errorf("the prompt has no %q", part)
		}
	}
}

type recorder struct{ sent *string }

func (recorder) Summarize(context.Context, string, int) (summarize.Result, error) {
	return summarize.Result{}, summarize.ErrEmpty
}

func (r recorder) Title(_ context.Context, prompt string) (summarize.Result, error) {
	*r.sent = prompt
	return summarize.Result{Text: "x"}, nil
}

// TestTitleFails: a model that does not answer, or not with a title, is an error.
func TestTitleFails(t *testing.T) {
	for _, c := range []struct {
		name, says string
		answer     func(http.ResponseWriter, *http.Request)
		away       bool
	}{
		{"nobody answers", "no answer within", func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			<-r.Context().Done()
		}, true},
		{"a refusal", "the model refused", answering("I'm sorry, I cannot."), false},
		{"nothing", "the answer is empty", answering("\n"), false},
	} {
		env, _ := endpoint(t, c.answer)
		k := newCompacting(t, "summarizer: openai", env)
		k.wait = 200 * time.Millisecond
		if !c.away {
			k.wait = 0
		}
		_, err := k.Title(context.Background(), k.entry)
		if err == nil || !strings.Contains(err.Error(), c.says) || summarize.Away(err) != c.away {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
