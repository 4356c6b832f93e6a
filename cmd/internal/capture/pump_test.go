package capture

import (
	"context"
	"testing"

	"cortext/cmd/internal/workspace"
	"cortext/inject"
)

// TestReadingPanics: a hook can recover from a defect in the reader of a transcript.
func TestReadingPanics(t *testing.T) {
	defer func() {
		if v := recover(); v != "defect" {
			t.Errorf("recovered %v", v)
		}
	}()
	p := pump{ctx: context.Background(), attachments: workspace.Attachments{}}
	err := p.run(&inject.Transcript{Each: func(yield func(string, inject.Batch) error) error {
		if err := yield("", inject.Batch{}); err != nil {
			return err
		}
		panic("defect")
	}}, func(string, inject.Batch) error { return nil })
	t.Errorf("it ended with %v", err)
}
