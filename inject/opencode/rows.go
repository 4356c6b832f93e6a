package opencode

import (
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"time"

	"cortext/inject"
	"cortext/schema/rawjson"
)

// Each query finds its rows by the session's id, which is indexed (1.18.33). Its cost
// depends on the session, not on the rest of the database.

// session reads one session.
func (d *database) session(id string, o inject.Options) (*inject.Transcript, error) {
	src := &source{rows: func(from place) iter.Seq2[row, error] { return d.rows(id, from) }}
	src.before = func(p place) (string, string, error) { return d.before(id, p) }
	src.calls = func(p place) (map[string]bool, error) { return d.calls(id, p) }
	src.release = d.close
	src.check = func() error {
		if d.isWritten() {
			return d.fault(whyWritten)
		}
		return nil
	}
	var err error
	if src.meta, err = d.meta(id); err != nil {
		return nil, err
	}
	if o.Head == 0 {
		if src.size, err = d.state(id); err != nil {
			return nil, err
		}
		if o.From.Offset == 0 {
			if src.warnings, err = d.warnings(id); err != nil {
				return nil, err
			}
		}
	}
	return read(src, o)
}

func (d *database) meta(id string) (meta, error) {
	m := meta{ID: id}
	var parent, version, title, dir, revert, metadata sql.NullString
	err := d.tx.QueryRow(`select `+d.has("parent_id")+`, version, title, directory, `+d.has("revert")+`, `+d.has("metadata")+` from session where id = ?`, id).
		Scan(&parent, &version, &title, &dir, &revert, &metadata)
	if errors.Is(err, sql.ErrNoRows) {
		return m, fmt.Errorf("%s: session %s: %w", d.file, id, fs.ErrNotExist)
	}
	if err != nil {
		return m, d.explain(err)
	}
	m.Parent, m.Version, m.Title, m.Dir = parent.String, version.String, title.String, dir.String
	m.setRevert([]byte(revert.String))
	m.setPayload([]byte(metadata.String))
	return m, nil
}

// rows yields the messages of a session from a place on, in OpenCode's display order:
// by time, then id.
func (d *database) rows(id string, from place) iter.Seq2[row, error] {
	return func(yield func(row, error) bool) {
		messages, err := d.tx.Query(`select id, time_created, data from message
			where session_id = ? and (time_created, id) >= (?, ?) order by time_created, id`, id, from.at, from.id)
		if err != nil {
			yield(row{}, d.explain(err))
			return
		}
		defer messages.Close()
		parts, err := d.tx.Prepare(`select id, data from part where message_id = ? order by id`)
		if err != nil {
			yield(row{}, d.explain(err))
			return
		}
		defer parts.Close()
		for messages.Next() {
			var r row
			err := messages.Scan(&r.id, &r.at, &r.info)
			if r.created = r.at; err == nil {
				r.parts, err = partsOf(parts, r.id)
			}
			if err != nil {
				yield(row{}, d.explain(err))
				return
			}
			if !yield(r, nil) {
				return
			}
		}
		if err := messages.Err(); err != nil {
			yield(row{}, d.explain(err))
		}
	}
}

func partsOf(query *sql.Stmt, message string) ([]piece, error) {
	rows, err := query.Query(message)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var list []piece
	for rows.Next() {
		var p piece
		if err := rows.Scan(&p.id, &p.raw); err != nil {
			return nil, err
		}
		list = append(list, p)
	}
	return list, rows.Err()
}

// earlierMessages selects the messages before a place.
const earlierMessages = `from message where session_id = ?1 and (time_created, id) < (?2, ?3)`

// sums selects totals that change whenever a row does, without reading its text. It
// truncates the times so that their sum stays exact.
const sums = `select count(*), total(time_updated & 4294967295), max(time_updated), total(octet_length(data)), max(id) `

// before identifies the rows before a place by number, times and lengths.
func (d *database) before(id string, p place) (messages, parts string, err error) {
	if messages, err = d.sum(sums+earlierMessages, id, p.at, p.id); err == nil {
		parts, err = d.sum(sums+`from part where session_id = ?1 and message_id in (select id `+earlierMessages+`)`, id, p.at, p.id)
	}
	return messages, parts, err
}

func (d *database) sum(query string, args ...any) (string, error) {
	var count int64
	var times, newest, bytes, last any
	if err := d.tx.QueryRow(query, args...).Scan(&count, &times, &newest, &bytes, &last); err != nil {
		return "", d.explain(err)
	}
	h := newState()
	fmt.Fprintln(h, count, times, newest, bytes, last)
	return fmt.Sprintf("%d-%x", count, h.value()), nil
}

// state returns a value that changes whenever the session does.
func (d *database) state(id string) (int64, error) {
	var updated, title, revert any
	err := d.tx.QueryRow(`select time_updated, title, `+d.has("revert")+` from session where id = ?`, id).Scan(&updated, &title, &revert)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, fmt.Errorf("%s: session %s: %w", d.file, id, fs.ErrNotExist)
	}
	if err != nil {
		return 0, d.explain(err)
	}
	h := newState()
	fmt.Fprintln(h, updated, title, revert)
	for _, table := range []string{"message", "part"} {
		s, err := d.sum(sums+`from `+table+` where session_id = ?`, id)
		if err != nil {
			return 0, err
		}
		fmt.Fprintln(h, s)
	}
	return h.value(), nil
}

// calls returns the ids of the calls before a place.
func (d *database) calls(id string, p place) (map[string]bool, error) {
	ids := map[string]bool{}
	err := d.each(func(rows *sql.Rows) error {
		var raw []byte
		err := rows.Scan(&raw)
		ids[rawjson.String(rawjson.Get(raw, "callID"))] = true
		return err
	}, `select data from part where session_id = ?1 and instr(data, '"callID"') and message_id in (select id `+earlierMessages+`)`, id, p.at, p.id)
	return ids, err
}

// warnings describes what is in the database but was not read.
func (d *database) warnings(id string) (list []string, err error) {
	var lost, messages, later int
	err = d.tx.QueryRow(`select count(*) from part where session_id = ?1 and message_id not in (select id from message where session_id = ?1)`, id).Scan(&lost)
	if err == nil && lost > 0 {
		list = append(list, fmt.Sprintf("%d parts of messages that are not there left out", lost))
	}
	if err == nil && d.columns["session_message"] != nil {
		err = d.tx.QueryRow(`select (select count(*) from message where session_id = ?1), (select count(*) from session_message where session_id = ?1)`, id).Scan(&messages, &later)
		if messages == 0 && later > 0 {
			list = append(list, fmt.Sprintf("%d records of the unknown kind %q left out", later, "session_message"))
		}
	}
	if err != nil {
		return nil, d.explain(err)
	}
	return list, nil
}

// subagents lists the sessions that a session started, directly or indirectly.
func (d *database) subagents(id string) (list []inject.Subagent, err error) {
	if d.has("parent_id") == "null" {
		return nil, nil
	}
	seen := map[string]bool{id: true}
	for todo := []string{id}; len(todo) > 0; todo = todo[1:] {
		var children []string
		err := d.each(func(rows *sql.Rows) error {
			var id string
			err := rows.Scan(&id)
			children = append(children, id)
			return err
		}, `select id from session where parent_id = ? order by time_updated, id`, todo[0])
		if err != nil {
			return nil, err
		}
		if len(children) == 0 {
			continue
		}
		calls, err := d.started(todo[0])
		if err != nil {
			return nil, err
		}
		for _, child := range children {
			if !seen[child] {
				seen[child] = true
				list = append(list, inject.Subagent{NativeID: child, Path: d.file + "#" + child, ToolCallID: calls[child]})
				todo = append(todo, child)
			}
		}
	}
	return list, nil
}

// started returns a session's calls that started other sessions, by the started
// session. If an id may have been issued twice, it reads all calls.
func (d *database) started(id string) (map[string]string, error) {
	calls, sure := map[string]string{}, true
	err := d.each(func(rows *sql.Rows) error {
		var p piece
		err := rows.Scan(&p.id, &p.raw)
		v := parsePart(p)
		if child := v.State.Session; child != "" && calls[child] == "" {
			calls[child] = v.CallID
			sure = sure && len(v.CallID) >= inject.LeastUniqueCall
		}
		return err
	}, `select id, data from part where session_id = ? and instr(data, '"sessionId"') order by message_id, id`, id)
	if err != nil || sure {
		return calls, err
	}
	clear(calls)
	err = newWalk(&source{meta: meta{ID: id}, rows: func(from place) iter.Seq2[row, error] { return d.rows(id, from) }}, inject.Options{}).each(func(it *item) error {
		for _, s := range it.started {
			if calls[s.NativeID] == "" {
				calls[s.NativeID] = s.ToolCallID
			}
		}
		return nil
	})
	return calls, err
}

// youngest is how many of the newest parts are read to see what is currently going
// on.
const youngest = 500

// recent returns when the newest parts were updated, in milliseconds, by session. A
// turn writes parts long before it updates its session's row (1.18.33). Ids ascend in
// time.
func (d *database) recent() (map[string]int64, error) {
	// A child's updates count for its parent.
	root := `coalesce(nullif((select ` + d.has("parent_id") + ` from session where id = session_id), ''), session_id)`
	at := map[string]int64{}
	err := d.each(func(rows *sql.Rows) error {
		var id string
		var updated int64
		err := rows.Scan(&id, &updated)
		at[id] = updated
		return err
	}, `select `+root+`, max(time_updated) from (select session_id, time_updated from part order by id desc limit ?) group by 1`, youngest)
	return at, err
}

// roots lists the sessions that no other session started, including archived ones.
func (d *database) roots() ([]inject.SessionRef, error) {
	recent, err := d.recent()
	if err != nil {
		return nil, err
	}
	var list []inject.SessionRef
	err = d.each(func(rows *sql.Rows) error {
		var n inject.SessionRef
		var dir, project sql.NullString
		var updated int64
		err := rows.Scan(&n.NativeID, &dir, &project, &updated)
		n.Path, n.Dir, n.Updated = d.file+"#"+n.NativeID, dir.String, time.UnixMilli(max(updated, recent[n.NativeID])).UTC()
		if isCommit(project.String) {
			n.Root = project.String
		}
		list = append(list, n)
		return err
	}, `select id, directory, `+d.has("project_id")+`, time_updated from session
		where coalesce(`+d.has("parent_id")+`, '') = '' order by time_updated, id`)
	return list, err
}

// calling returns the session that is running a command of ours as a tool call right
// now, or "" if there is none or more than one candidate. OpenCode records a call
// before it runs it (FACTS.md, "Environment variables").
func calling(file string) string {
	d, err := openDatabase(file)
	if err != nil {
		return ""
	}
	defer d.close()
	var found []string
	var starts []int64
	// Read only the newest parts: ids ascend in time.
	err = d.each(func(rows *sql.Rows) error {
		var id string
		var start int64
		err := rows.Scan(&id, &start)
		found, starts = append(found, id), append(starts, start)
		return err
	}, `select session_id, coalesce(max(json_extract(data, '$.state.time.start')), 0) from (select session_id, data from part order by id desc limit ?)
		where json_valid(data) and json_extract(data, '$.type') = 'tool' and json_extract(data, '$.state.status') = 'running'
		and json_extract(data, '$.state.input.command') like '%cortext%' group by session_id order by 2 desc limit 2`, youngest)
	if err != nil || len(found) == 0 || len(found) == 2 && starts[0]-starts[1] < abandoned {
		return ""
	}
	return found[0]
}

// abandoned is how much older than another running call a call must be, in
// milliseconds, for us to consider it dead: the database still lists it as running
// because its OpenCode was killed.
const abandoned = 60_000
