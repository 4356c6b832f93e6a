package serve

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"cortext/cmd/internal/export"
	"cortext/cmd/internal/listing"
	"cortext/cmd/internal/serve/live"
	"cortext/cmd/internal/stats"
	"cortext/schema"
)

var update = flag.Bool("update", false, "write openapi.json")

// parameters describes the parameters of queries and paths.
var parameters = map[string]parameter{
	"workspace": {"string", "The folder of a workspace that this machine has seen, absolute. Without it, the server's own is meant."},
	"type":      {"string", "Only conversations of these types, separated by commas."},
	"tag":       {"string", "Only conversations with one of these tags."},
	"agent":     {"string", "The agent; in lists, several separated by commas."},
	"model":     {"string", "Only conversations with one of these models, or parts of their names."},
	"status":    {"string", "Only conversations with one of these statuses, or all. Without it, a list has active and paused ones."},
	"archived":  {"boolean", "Include archived conversations."},
	"since":     {"string", "In lists, a time: only conversations active since then (RFC 3339, a date, or milliseconds). For live updates, the id of the last message that the client has."},
	"until":     {"string", "A time: only conversations last active before then."},
	"sort":      {"string", "The order; the newest or largest first. Without it, last_active."},
	"reverse":   {"boolean", "Reverse the order."},
	"offset":    {"integer", "Leave out as many from the beginning."},
	"limit":     {"integer", fmt.Sprintf("Answer with at most as many: %d conversations, unless told otherwise, and at most %d; %d messages, and at most %d; %d conversations found, and at most %d.", pageLen, pageMost, messagesLen, messagesMost, foundLen, foundMost)},
	"q":         {"string", "Words to look for. A list looks in title, folder, tags, first message and summary, a search in everything."},
	"regexp":    {"boolean", "q is a regular expression."},
	"in":        {"string", "Search only one field, such as user or assistant."},
	"by":        {"string", "How to group. Without it, the answer has no groups."},
	"keepIds":   {"boolean", "The conversations of a file stay the same ones, with their ids and times."},
	"messages":  {"integer", fmt.Sprintf("How many of the last messages to include, from 0 to %d. Without it, as many as stay unsummarized.", messagesMost)},
	"branch":    {"integer", "The number of a branch. Without it, the one is meant that a resume continues."},
	"after":     {"string", "The id of a message: only those that followed it."},
	"from":      {"string", "The first message: its number, and for exports also its id."},
	"to":        {"string", "The last message, likewise."},
	"strategy":  {"string", "What to do with a history that does not fit."},
	"budget":    {"integer", "Tokens that the payload may have. Without it, as many as the model has room for."},
	"last":      {"integer", "Only the last messages."},
	"text":      {"boolean", "Include the payload itself."},
	"format":    {"string", "The format. Without it, json."},
	"only":      {"string", "Only messages of this role."},
	"noTools":   {"boolean", "Leave out tool calls."}, "noReasoning": {"boolean", "Leave out the model's reasoning."},
	"redact":    {"boolean", "Redact secrets by today's rules again."},
	"subagents": {"boolean", "Include the conversations of sub-agents."}, "attachments": {"boolean", "Include the content of attachments."},
	"noData": {"boolean", "Leave the data that an import reads out of a page."},
	"id":     {"string", "The id of a conversation."}, "encodedPath": {"string", "The folder of a workspace, percent-encoded."},
}

type parameter struct{ typ, about string }

// headers describes the headers of requests.
var headers = map[string]parameter{
	"If-None-Match": {"string", "ETags that the client has an answer with: if one is still that of the answer, the answer is 304 without a body."},
	"If-Match":      {"string", "ETags of GET. If none is that of the conversation now, nothing happens and the answer is 412."},
	"Last-Event-ID": {"string", "The id of the last message that the client has, as since. It comes before since."},
}

// values lists what a parameter or a member may be, if the types do not say it. Members are
// named by type and field.
func values() map[string][]string {
	formats, orders, groups := []string{}, []string{}, []string{}
	for _, f := range export.Formats() {
		formats = append(formats, f.Name)
	}
	for _, o := range listing.Orders {
		orders = append(orders, string(o))
	}
	for _, g := range stats.Groupings {
		groups = append(groups, string(g))
	}
	talk := []string{string(schema.User), string(schema.Assistant)}
	roles := append(slices.Clip(talk), string(schema.System))
	kinds := []string{string(live.MessageEvent), string(live.CallEvent), string(live.ChangeEvent), string(live.ResetEvent), string(live.GoneEvent), "ack", "synced", "error"}
	return map[string][]string{
		"format": formats, "exportRequest.Format": formats, "only": talk, "exportRequest.Only": talk, "sort": orders, "by": groups,
		"message.Role": roles, "newMessage.Role": roles, "liveRequest.Type": {"message", "sync"}, "liveEvent.Type": kinds, "turnEvent.Type": {"text", "done", "error"},
	}
}

// TestOpenAPI: openapi.json describes every route with its parameters, its statuses and the
// fields of its requests and responses.
func TestOpenAPI(t *testing.T) {
	d := describer{t, comments(t), values(), object{}, object{}, object{}}
	doc, err := json.MarshalIndent(d.document(New(Config{}).routes()), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	doc = append(doc, '\n')
	if *update {
		if err := os.WriteFile("openapi.json", doc, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if have, err := os.ReadFile("openapi.json"); err != nil || !bytes.Equal(have, doc) {
		t.Errorf("openapi.json is not what the routes say (%v): run go test ./cmd/internal/serve -run TestOpenAPI -update", err)
	}
}

// TestBodiesNeedLittle: a part of a body needs nothing. Of a body itself, routes say it.
func TestBodiesNeedLittle(t *testing.T) {
	d := describer{t, comments(t), values(), object{}, object{}, object{}}
	for _, rt := range New(Config{}).routes() {
		if rt.in == nil {
			continue
		}
		d.body(reflect.TypeOf(rt.in), strings.Fields(rt.needs))
		for f := range reflect.TypeOf(rt.in).Fields() {
			typ := f.Type
			if typ.Kind() == reflect.Pointer {
				typ = typ.Elem()
			}
			if typ.Kind() != reflect.Struct || f.Anonymous {
				continue
			}
			if of, _ := d.schemas[schemaName(typ)].(object); of["required"] != nil {
				t.Errorf("%s %s: %s needs %v", rt.method, rt.path, schemaName(typ), of["required"])
			}
		}
	}
}

// A describer describes routes. Types are described by their fields and the comments there.
type describer struct {
	t                              *testing.T
	comments                       map[string]string   // by type, and by type and field
	values                         map[string][]string // likewise, and by parameter
	schemas, parameters, responses map[string]any
}

type object = map[string]any

// pathName matches a parameter in a path.
var pathName = regexp.MustCompile(`{(\w+)}`)

func (d *describer) document(routes []route) object {
	paths := map[string]object{}
	for _, rt := range routes {
		if paths[rt.path] == nil {
			paths[rt.path] = object{}
		}
		paths[rt.path][strings.ToLower(rt.method)] = d.operation(&rt)
	}
	d.body(reflect.TypeFor[liveRequest](), []string{"type"})
	d.schemas["Problem"] = object{
		"type": "object", "description": "An error (RFC 9457).", "additionalProperties": false, "required": []string{"type", "title", "status", "detail"},
		"properties": object{
			"type": object{"type": "string"}, "title": object{"type": "string"}, "status": object{"type": "integer"}, "detail": object{"type": "string"},
			"hint": object{"type": "string", "description": "What to do about it."},
		},
	}
	return object{
		"openapi": "3.1.0",
		"info": object{
			"title": "cortext", "version": "1.0",
			"description": about,
		},
		"security": []any{object{"bearer": []any{}}, object{"page": []any{}}},
		"paths":    paths,
		"components": object{
			"schemas": d.schemas, "parameters": d.parameters, "responses": d.responses,
			"securitySchemes": object{
				"bearer": object{"type": "http", "scheme": "bearer", "description": "The token that cortext serve prints."},
				"page":   object{"type": "apiKey", "in": "cookie", "name": "cortext-PORT", "description": "What the page has. It only reads: GET and HEAD, and a WebSocket without messages."},
			},
		},
	}
}

func (d *describer) operation(rt *route) object {
	op := object{"summary": rt.about, "operationId": operationID(rt)}
	var list []any
	add := func(name, in string) {
		p, ok := parameters[name]
		if in == "header" {
			p, ok = headers[name]
		}
		if !ok {
			d.t.Fatalf("%s: the parameter %s is not described", rt.path, name)
		}
		d.parameters[name] = object{"name": name, "in": in, "required": in == "path", "description": p.about, "schema": d.valued(object{"type": p.typ}, name)}
		list = append(list, object{"$ref": "#/components/parameters/" + name})
	}
	for _, m := range pathName.FindAllStringSubmatch(rt.path, -1) {
		add(m[1], "path")
	}
	for _, name := range strings.Fields(rt.query) {
		add(name, "query")
	}
	statuses := rt.statuses()
	switch {
	case slices.Contains(statuses, http.StatusNotModified):
		add("If-None-Match", "header")
	case slices.Contains(statuses, http.StatusPreconditionFailed):
		add("If-Match", "header")
	case rt.mediaType() == "text/event-stream" && strings.Contains(rt.query, "since"):
		add("Last-Event-ID", "header")
	}
	if list != nil {
		op["parameters"] = list
	}
	if rt.in != nil {
		body := d.body(reflect.TypeOf(rt.in), strings.Fields(rt.needs))
		content := object{"application/json": object{"schema": body}}
		if rt.imports() {
			content["application/octet-stream"] = object{"schema": object{"type": "string", "format": "binary"}}
		}
		op["requestBody"] = object{"required": rt.needs != "", "content": content}
	}
	answers := object{}
	for _, status := range statuses {
		name := strconv.Itoa(status)
		if status < 300 {
			answer := object{"description": http.StatusText(status)}
			if rt.out != nil {
				answer["content"] = object{rt.mediaType(): object{"schema": d.schema(reflect.TypeOf(rt.out))}}
			}
			if headers := rt.answerHeaders(status); len(headers) > 0 {
				answer["headers"] = headers
			}
			answers[name] = answer
			continue
		}
		d.responses[name] = object{"description": http.StatusText(status)}
		if status >= 400 {
			d.responses[name] = object{"description": http.StatusText(status), "content": object{"application/problem+json": object{"schema": ref("Problem")}}}
		}
		answers[name] = object{"$ref": "#/components/responses/" + name}
	}
	op["responses"] = answers
	return op
}

// about describes the API as a whole.
const about = "Conversations with AI coding agents in the workspaces of this machine. Times are milliseconds since 1970. An answer has an ETag where the request only reads. " +
	"Live updates: a server-sent event has the type of its LiveEvent as name, and the id of the message if it is one. A WebSocket sends each LiveEvent as a text. " +
	"After a client has connected, or asked with sync, it gets what it missed, and on a WebSocket then synced. " +
	"After reset, read the conversation again. A message may come again if it has changed: its id tells. " +
	"A client that is too slow is cut off, and comes back with the id of the last message that it has."

// answerHeaders describes the headers of an answer.
func (rt *route) answerHeaders(status int) object {
	of := object{}
	header := func(name, about string) {
		of[name] = object{"description": about, "schema": object{"type": "string"}}
	}
	if slices.Contains(rt.statuses(), http.StatusNotModified) {
		header("ETag", "Names this state of the answer.")
	}
	if strings.Contains(rt.query, pageQuery) {
		header("Link", "The addresses of the next and the previous page, as next and prev (RFC 8288), if there are.")
	}
	if status == http.StatusCreated && strings.HasPrefix(rt.path, "/api/") {
		header("Location", "The address of what was created.")
	}
	return of
}

// valued adds what values says about a name to the description of a text.
func (d *describer) valued(of object, name string) object {
	if list, ok := d.values[name]; ok {
		of["enum"] = list
	}
	return of
}

// operationID names an operation by its method and path.
func operationID(rt *route) string {
	id := strings.ToLower(rt.method)
	for part := range strings.FieldsFuncSeq(strings.TrimSuffix(rt.path, ".json"), func(c rune) bool { return c == '/' || c == '{' || c == '}' }) {
		id += strings.ToUpper(part[:1]) + part[1:]
	}
	return id
}

func (rt *route) mediaType() string {
	if rt.media != "" {
		return rt.media
	}
	return "application/json"
}

// statuses lists the statuses that a route may return.
func (rt *route) statuses() (list []int) {
	list = append([]int{rt.status, 401, 403, 421, 500, 503}, rt.fails...)
	if strings.Contains(rt.path, "{") || strings.Contains(rt.query, "workspace") {
		list = append(list, 404)
	}
	if rt.query != "" || rt.in != nil {
		list = append(list, 400)
	}
	if rt.in != nil {
		list = append(list, 413, 415, 422)
	}
	if rt.method == http.MethodGet && rt.mediaType() == "application/json" && rt.out != nil {
		list = append(list, 304)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

func ref(name string) object { return object{"$ref": "#/components/schemas/" + name} }

// body describes the body of a request, which requires only what the route needs.
func (d *describer) body(t reflect.Type, needs []string) object {
	d.schema(t)
	of, _ := d.schemas[schemaName(t)].(object)
	delete(of, "required")
	if len(needs) > 0 {
		of["required"] = needs
	}
	return ref(schemaName(t))
}

func schemaName(t reflect.Type) string { return strings.ToUpper(t.Name()[:1]) + t.Name()[1:] }

// schema describes a type.
func (d *describer) schema(t reflect.Type) object {
	switch t.Kind() {
	case reflect.Pointer:
		return d.schema(t.Elem())
	case reflect.Slice:
		if t == reflect.TypeFor[json.RawMessage]() {
			return object{}
		}
		return object{"type": "array", "items": d.schema(t.Elem())}
	case reflect.Map:
		if t.Elem().Kind() == reflect.Interface {
			return object{"type": "object"}
		}
		return object{"type": "object", "additionalProperties": d.schema(t.Elem())}
	case reflect.String:
		return object{"type": "string"}
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.Int, reflect.Int64:
		return object{"type": "integer"}
	case reflect.Struct:
	default:
		d.t.Fatalf("%s cannot be described", t)
	}
	name := schemaName(t)
	if d.schemas[name] == nil {
		_, others := t.FieldByName("foreign") // members of another program
		out := object{"type": "object", "additionalProperties": others}
		d.schemas[name] = out
		if c := d.comments[t.Name()]; c != "" {
			out["description"] = c
		}
		properties := object{}
		var required []string
		d.fields(t, properties, &required)
		out["properties"] = properties
		if required != nil {
			out["required"] = required
		}
	}
	return ref(name)
}

func (d *describer) fields(t reflect.Type, properties object, required *[]string) {
	for f := range t.Fields() {
		name, opts, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Name == "foreign" {
			continue
		}
		if f.Anonymous && name == "" {
			d.fields(f.Type, properties, required)
			continue
		}
		of := d.valued(maps.Clone(d.schema(f.Type)), t.Name()+"."+f.Name)
		if c := d.comments[t.Name()+"."+f.Name]; c != "" {
			of["description"] = c
		}
		properties[name] = of
		if opts != "omitempty" {
			*required = append(*required, name)
		}
	}
}

// comments reads the comments of types and fields.
func comments(t *testing.T) map[string]string {
	out := map[string]string{}
	for _, dir := range []string{".", "../export/portable"} {
		files, err := filepath.Glob(dir + "/*.go")
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(f, func(n ast.Node) bool {
				decl, ok := n.(*ast.GenDecl)
				if !ok || decl.Tok != token.TYPE {
					return true
				}
				for _, spec := range decl.Specs {
					typ := spec.(*ast.TypeSpec)
					st, ok := typ.Type.(*ast.StructType)
					if !ok {
						continue
					}
					if _, have := out[typ.Name.Name]; !have {
						out[typ.Name.Name] = strings.Join(strings.Fields(decl.Doc.Text()), " ")
					}
					for _, f := range st.Fields.List {
						for _, name := range f.Names {
							out[typ.Name.Name+"."+name.Name] = strings.Join(strings.Fields(f.Comment.Text()), " ")
						}
					}
				}
				return true
			})
		}
	}
	return out
}
