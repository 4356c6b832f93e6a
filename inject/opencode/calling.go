package opencode

// calling is the session that has a command of ours running as a tool call at this
// moment, empty if there is none or it could be one of several: OpenCode writes a
// call down before it runs it (FACTS.md, "Variables of the
// environment").
func calling(file string) string {
	d, err := openDatabase(file)
	if err != nil {
		return ""
	}
	defer d.close()
	// Of the parts only the youngest are looked at: ids ascend in time.
	rows, err := d.tx.Query(`select session_id, coalesce(max(json_extract(data, '$.state.time.start')), 0) from (select session_id, data from part order by id desc limit ?)
		where json_valid(data) and json_extract(data, '$.type') = 'tool' and json_extract(data, '$.state.status') = 'running'
		and json_extract(data, '$.state.input.command') like '%cortext%' group by session_id order by 2 desc limit 2`, youngest)
	if err != nil {
		return ""
	}
	defer rows.Close()
	var found []string
	var starts []int64
	for rows.Next() {
		var id string
		var start int64
		if rows.Scan(&id, &start) != nil {
			return ""
		}
		found, starts = append(found, id), append(starts, start)
	}
	if rows.Err() != nil || len(found) == 0 || len(found) == 2 && starts[0]-starts[1] < abandoned {
		return ""
	}
	return found[0]
}

// abandoned is how many milliseconds before another a call has begun that runs no
// more, though the database says so: its OpenCode was killed.
const abandoned = 60_000
