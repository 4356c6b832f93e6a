package cli

import (
	"fmt"
	"io"
	"os"
	"time"
)

// A progress shows the progress of a long import on a terminal.
type progress struct {
	out  io.Writer
	now  func() time.Time
	show bool

	files, done   int   // total and finished files
	bytes, passed int64 // bytes of all and of the finished files
	began, last   time.Time
	shown         bool
}

const (
	progressAfter = 500 * time.Millisecond // show progress of imports that take longer than this
	progressEvery = 100 * time.Millisecond
)

// start sets the files to count and looks up the size of each.
func (p *progress) start(files []string) {
	if !p.show {
		return
	}
	p.began, p.files = p.now(), len(files)
	for _, file := range files {
		p.bytes += fileSize(file)
	}
}

// next records that a file is done.
func (p *progress) next(file string) {
	if p.show {
		p.done++
		p.passed += fileSize(file)
	}
}

func fileSize(file string) int64 {
	info, err := os.Stat(file)
	if err != nil {
		return 0
	}
	return info.Size()
}

// update shows the progress, with done bytes of the current file done.
func (p *progress) update(_ string, done, _ int64) {
	now := p.now()
	if !p.show || now.Sub(p.began) < progressAfter || now.Sub(p.last) < progressEvery {
		return
	}
	p.last, p.shown = now, true
	fmt.Fprint(p.out, "\r\x1b[K"+p.line(now.Sub(p.began), min(p.passed+done, p.bytes)))
}

// line returns the progress line, given the time since the start and the number of bytes
// done.
func (p *progress) line(took time.Duration, done int64) string {
	const mega = 1 << 20
	text := fmt.Sprintf("%d of %d files, %d of %d MB", p.done, p.files, done/mega, p.bytes/mega)
	if done > 0 {
		left := time.Duration(float64(took) * float64(p.bytes-done) / float64(done))
		text += fmt.Sprintf(", %s left", max(left.Round(time.Second), time.Second))
	}
	return text
}

// clear clears the line for the next output.
func (p *progress) clear() {
	if p.shown {
		fmt.Fprint(p.out, "\r\x1b[K")
	}
	p.shown = false
}
