package openai

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"cortext/cmd/internal/companion"
	"cortext/cmd/internal/summarize"
)

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
