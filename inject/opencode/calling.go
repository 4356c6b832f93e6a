package opencode

// calling returns the session that is running a command of ours as a tool call right
// now, or empty if there is none or more than one candidate. OpenCode records a call
// before it runs it (FACTS.md, "Variables of the environment").
func calling(file string) string {
	d, err := openDatabase(file)
	if err != nil {
		return ""
	}
	defer d.close()
	// Read only the newest parts: ids ascend in time.
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

// abandoned is the age in milliseconds, relative to another call, from which we
// consider a call dead that the database still lists as running: its OpenCode was
// killed.
const abandoned = 60_000
