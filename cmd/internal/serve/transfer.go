package serve

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"

	"cortext/cmd/internal/companion"
	"cortext/cmd/internal/export"
	"cortext/cmd/internal/export/bundle"
	"cortext/cmd/internal/export/portable"
	"cortext/schema"
)

// An exportRequest says what to export. Without members, it asks for everything but
// sub-agents and the content of attachments, as JSON.
type exportRequest struct {
	Format      string      `json:"format"` // json, jsonl, md or html
	From        string      `json:"from"`   // the first message, by number or id
	To          string      `json:"to"`     // the last message
	Only        schema.Role `json:"only"`   // user or assistant
	NoTools     bool        `json:"noTools"`
	NoReasoning bool        `json:"noReasoning"`
	Redact      bool        `json:"redact"`
	Subagents   bool        `json:"subagents"`
	Attachments bool        `json:"attachments"`
	NoData      bool        `json:"noData"` // html: leave out the data that an import reads
}

// An exportAnswer is an export as text.
type exportAnswer struct {
	Data     string   `json:"data"`
	Filename string   `json:"filename"`
	Warnings []string `json:"warnings"`
}

// export answers POST /api/sessions/{id}/export.
func (s transferRoutes) export(_ http.ResponseWriter, r *http.Request) (*answer, error) {
	var in exportRequest
	if err := read(r, &in); err != nil {
		return nil, err
	}
	out, err := s.exported(r, in)
	if err != nil {
		return nil, err
	}
	return &answer{body: out}, nil
}

// download answers GET /api/sessions/{id}/export: the same as a file.
func (s transferRoutes) download(w http.ResponseWriter, r *http.Request) (*answer, error) {
	q := r.URL.Query()
	in := exportRequest{Format: q.Get("format"), From: q.Get("from"), To: q.Get("to"), Only: schema.Role(q.Get("only"))}
	for name, to := range map[string]*bool{
		"noTools": &in.NoTools, "noReasoning": &in.NoReasoning, "redact": &in.Redact, "subagents": &in.Subagents, "attachments": &in.Attachments, "noData": &in.NoData,
	} {
		var err error
		if *to, err = boolParam(r, name); err != nil {
			return nil, err
		}
	}
	out, err := s.exported(r, in)
	if err != nil {
		return nil, err
	}
	h := w.Header()
	h.Set("Content-Type", "application/octet-stream")
	h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": out.Filename}))
	h.Set("Content-Length", fmt.Sprint(len(out.Data)))
	_, err = io.WriteString(w, out.Data)
	return nil, err
}

func (s transferRoutes) exported(r *http.Request, in exportRequest) (*exportAnswer, error) {
	if in.Format == "" {
		in.Format = export.Formats()[0].Name
	}
	as, ok := export.FormatNamed(in.Format)
	if !ok {
		return nil, invalid("there is no format %q", in.Format)
	}
	switch in.Only {
	case "", schema.User, schema.Assistant:
	default:
		return nil, invalid("only is user or assistant")
	}
	space, e, err := s.on(r)
	if err != nil {
		return nil, err
	}
	defer space.End()
	g, err := as.Gather(space.Workspace, e, export.Options{
		From: in.From, To: in.To, Only: in.Only, NoTools: in.NoTools, NoReasoning: in.NoReasoning, Redact: in.Redact,
		Subagents: in.Subagents, Attachments: in.Attachments || as.Name == "html", NoData: in.NoData,
	})
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	if err := as.Write(r.Context(), &text, g); err != nil {
		return nil, err
	}
	return &exportAnswer{text.String(), portable.FileName(g.Title(), g.At(), as.Name), append([]string{}, g.Warnings...)}, nil
}

// An importRequest is an export, as text.
type importRequest struct {
	Data    string `json:"data"`    // in any format
	KeepIDs bool   `json:"keepIds"` // the conversation stays the same one, with its id and times
	Type    string `json:"type"`    // of new conversations; empty: as in the export
	Name    string `json:"name"`    // likewise
}

// An importAnswer says what an import did.
type importAnswer struct {
	Session  *session     `json:"session"`  // of the first
	Imported []importedAs `json:"imported"` // in the order of the export
}

// importedAs says what became of one conversation.
type importedAs struct {
	ID       string   `json:"id"`
	Name     string   `json:"name"`
	Messages int      `json:"messages"` // in the export
	Appended int      `json:"appended"` // that were new
	Existed  bool     `json:"existed"`
	Warnings []string `json:"warnings"`
}

// importSession answers POST /api/sessions/import. The body is an importRequest, or the file
// itself, which may be a bundle then.
func (s transferRoutes) importSession(_ http.ResponseWriter, r *http.Request) (*answer, error) {
	var in importRequest
	var data []byte
	media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err == nil && media == "application/octet-stream" {
		if data, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
		if in.KeepIDs, err = boolParam(r, "keepIds"); err != nil {
			return nil, err
		}
	} else {
		if err := read(r, &in); err != nil {
			return nil, err
		}
		data = []byte(in.Data)
	}
	space, err := s.open(r)
	if err != nil {
		return nil, err
	}
	defer space.End()
	im, err := export.NewImporter(space.Workspace, export.ImportOptions{KeepIDs: in.KeepIDs, Type: in.Type, Title: in.Name})
	if err != nil {
		return nil, err
	}
	var done []*export.Imported
	err = documents(r.Context(), data, func(name string, c *portable.Conversation) error {
		got, err := im.Import(r.Context(), c)
		if err != nil {
			return named(name, err)
		}
		done = append(done, got)
		return nil
	})
	if err != nil && len(done) > 0 {
		return nil, fmt.Errorf("%w (the %d conversations before it were imported)", err, len(done))
	}
	if err == nil && len(done) == 0 {
		err = invalid("the bundle is empty")
	}
	if err != nil {
		return nil, err
	}
	out := importAnswer{Imported: []importedAs{}}
	for _, got := range done {
		x := got.Entry.Session
		out.Imported = append(out.Imported, importedAs{x.ID, x.DisplayTitle(), got.Messages, got.Appended, got.Existed, warnings(got)})
	}
	first := done[0].Entry
	c, err := s.content(space, first, 0)
	if err != nil {
		return nil, err
	}
	out.Session = s.full(space, first, c, space.Config.KeepMessages)
	return &answer{status: http.StatusCreated, body: out, location: "/api/sessions/" + first.Session.ID}, nil
}

// warnings returns what a client should know about an import.
func warnings(got *export.Imported) []string {
	list := append([]string{}, got.Warnings...)
	if got.Lacks != "" {
		list = append(list, got.Lacks)
	}
	return list
}

// documents calls each with every conversation of an export or a bundle. It checks a whole
// bundle before the first call.
func documents(ctx context.Context, data []byte, each func(name string, c *portable.Conversation) error) error {
	budget := bundle.NewBudget(bundle.Default())
	budget.Add(int64(len(data)))
	one := func(name string, text []byte) error {
		c, ok, err := export.Read(name, text, &budget.Left)
		if !ok {
			err = &portable.FormatError{Foreign: true, Why: "is not an export of a conversation"}
		}
		if err != nil {
			return named(name, err)
		}
		return each(name, c)
	}
	if !bundle.Is(data) {
		return one("data", data)
	}
	zstd := bundle.Zstd{Compress: companion.Compressor(ctx), Decompress: companion.Decompressor(ctx)}
	checked, err := zstd.Check(bytes.NewReader(data), budget)
	if err != nil {
		return err
	}
	return zstd.Read(bytes.NewReader(data), checked, func(name string, content io.Reader) error {
		text, err := io.ReadAll(content)
		if err != nil {
			return err
		}
		return one(name, text)
	})
}

// named adds the name of a part to its error.
func named(name string, err error) error {
	if format := (*portable.FormatError)(nil); errors.As(err, &format) {
		return &problem{status: http.StatusUnprocessableEntity, detail: name + " " + format.Why}
	}
	return fmt.Errorf("%s: %w", name, err)
}
