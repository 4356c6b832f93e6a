package opencode

// calling is the session that has a command of ours running as a tool call at this
// moment, empty if there is none or more than one: OpenCode writes a call down
// before it runs it (FACTS section 4, "Self-identification without a plugin").
func calling(file string) string {
	d, err := openDatabase(file)
	if err != nil {
		return ""
	}
	defer d.close()
	// Of the parts only the youngest are looked at: ids ascend in time.
	rows, err := d.tx.Query(`select distinct session_id from (select session_id, data from part order by id desc limit ?)
		where json_extract(data, '$.type') = 'tool' and json_extract(data, '$.state.status') = 'running'
		and json_extract(data, '$.state.input.command') like '%cortext%'`, youngest)
	if err != nil {
		return ""
	}
	defer rows.Close()
	var found []string
	for rows.Next() {
		var id string
		if rows.Scan(&id) != nil {
			return ""
		}
		found = append(found, id)
	}
	if rows.Err() != nil || len(found) != 1 {
		return ""
	}
	return found[0]
}
