package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"cortext/cmd/internal/companion"
	"cortext/cmd/internal/summarize"
)

// TestAsk asks a model through cortext-web.
func TestAsk(t *testing.T) {
	bin, err := built()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer key" {
			w.WriteHeader(http.StatusUnauthorized)
		}
		fmt.Fprint(w, `{"model":"m1","choices":[{"message":{"content":"It was done."},"finish_reason":"stop"}]}`)
	}))
	defer server.Close()
	m := companion.Model{BaseURL: server.URL, Model: "m", Key: "key"}
	got, err := m.Summarize(t.Context(), "What was done?", 100)
	if want := (summarize.Result{Text: "It was done.", Model: "m1"}); got != want || err != nil {
		t.Errorf("summary: %+v, %v, want %+v", got, err, want)
	}
	got, err = m.Title(t.Context(), "What was done?")
	if want := (summarize.Result{Text: "It was done", Model: "m1"}); got != want || err != nil {
		t.Errorf("title: %+v, %v, want %+v", got, err, want)
	}
	m.Key = "another"
	if _, err := m.Title(t.Context(), "What was done?"); err == nil || !summarize.Away(err) {
		t.Errorf("with a wrong key: %v, want an error by which the model is away", err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	late := errors.New("too late")
	cancel(late)
	if _, err := m.Title(ctx, "What was done?"); !errors.Is(err, late) {
		t.Errorf("too late: %v", err)
	}
	t.Setenv("PATH", t.TempDir())
	var missing *companion.MissingError
	if _, err := m.Title(t.Context(), "What was done?"); !errors.As(err, &missing) || !summarize.Away(err) {
		t.Errorf("without the program: %v", err)
	}
}

// TestZstd compresses and decompresses in cortext-zstd.
func TestZstd(t *testing.T) {
	bin, err := built()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin)
	text := bytes.Repeat([]byte("text "), 1<<20)
	var out bytes.Buffer
	w, err := companion.Compressor(t.Context())(&out)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	decompress := companion.Decompressor(t.Context())
	r, err := decompress(bytes.NewReader(out.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, text) {
		t.Errorf("%d bytes, %v, want the %d that were compressed", len(got), err, len(text))
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	r, err = decompress(bytes.NewReader(out.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.CopyN(io.Discard, r, 100); err != nil {
		t.Error(err)
	}
	r.Close() // must not wait for somebody to read the rest
	r, err = decompress(bytes.NewReader(out.Bytes()[:out.Len()-5]))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, r); err == nil {
		t.Error("half of it is decompressed without an error")
	}
	r.Close()
	t.Setenv("PATH", t.TempDir())
	var missing *companion.MissingError
	if _, err := decompress(&out); !errors.As(err, &missing) {
		t.Errorf("without the program: %v", err)
	}
}
