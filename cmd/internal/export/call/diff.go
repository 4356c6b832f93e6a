package call

import "strings"

// A Line is a line of a diff.
type Line struct {
	Op          byte // '+', '-' or ' '
	Text        string
	Before, New int // index of the line in the old and the new text, -1 if absent
}

// A Hunk is a part of a diff: changed lines and the lines around them.
type Hunk []Line

// context is the number of lines that a diff shows around changes.
const context = 3

// mostCells limits the work of comparing two texts: the product of their numbers of lines.
const mostCells = 4 << 20

// diff compares two texts line by line.
func diff(before, after string) []Hunk {
	a, b := split(before), split(after)
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	var all []Line
	for i := range head {
		all = append(all, Line{' ', a[i], i, i})
	}
	all = append(all, changes(a[head:len(a)-tail], b[head:len(b)-tail], head)...)
	for i := range tail {
		at, bt := len(a)-tail+i, len(b)-tail+i
		all = append(all, Line{' ', a[at], at, bt})
	}
	return hunks(all)
}

func split(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

// changes compares two texts from line from on. It finds the longest common subsequence. If
// that would take too long, everything counts as changed.
func changes(a, b []string, from int) (list []Line) {
	n, m := len(a), len(b)
	remove := func(i int) { list = append(list, Line{'-', a[i], from + i, -1}) }
	add := func(j int) { list = append(list, Line{'+', b[j], -1, from + j}) }
	i, j := 0, 0
	if n > 0 && m > 0 && n*m <= mostCells {
		width := m + 1
		common := make([]int32, (n+1)*width)
		for i := n - 1; i >= 0; i-- {
			for j := m - 1; j >= 0; j-- {
				if a[i] == b[j] {
					common[i*width+j] = common[(i+1)*width+j+1] + 1
				} else {
					common[i*width+j] = max(common[(i+1)*width+j], common[i*width+j+1])
				}
			}
		}
		for i < n && j < m {
			switch {
			case a[i] == b[j]:
				list = append(list, Line{' ', a[i], from + i, from + j})
				i, j = i+1, j+1
			case common[(i+1)*width+j] >= common[i*width+j+1]:
				remove(i)
				i++
			default:
				add(j)
				j++
			}
		}
	}
	for ; i < n; i++ {
		remove(i)
	}
	for ; j < m; j++ {
		add(j)
	}
	return list
}

// hunks drops the lines that are far from any change.
func hunks(all []Line) (list []Hunk) {
	near := make([]bool, len(all))
	for i, l := range all {
		if l.Op == ' ' {
			continue
		}
		for k := max(0, i-context); k <= min(len(all)-1, i+context); k++ {
			near[k] = true
		}
	}
	for i := 0; i < len(all); i++ {
		if !near[i] {
			continue
		}
		from := i
		for i < len(all) && near[i] {
			i++
		}
		list = append(list, Hunk(all[from:i]))
	}
	return list
}
