package capture

import (
	"fmt"
	"io"
	"os"
	"strings"

	"cortext/inject"
)

// mostAhead is the size in bytes of the largest transcript that is read ahead: two large ones
// at a time would need much memory.
const mostAhead = 16 << 20

// An ahead is a transcript that is opened while the one before it is imported. That takes a
// while, because opening one reads all of it.
type ahead struct {
	file       string
	agent      inject.Agent
	info       os.FileInfo // of the file before it was opened
	transcript *inject.Transcript
	done       chan struct{} // closed when it is open, or failed: then transcript is nil
}

// detect returns the agent that wrote a file.
func (im *Importer) detect(f *os.File, file string) (inject.Agent, error) {
	for _, agent := range im.c.ws.Env.Agents {
		if im.opts.Agent == agent.Name() {
			return agent, nil
		}
		if im.opts.Agent != "" {
			continue
		}
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return nil, err
		}
		if agent.Detect(f) {
			return agent, nil
		}
	}
	return nil, &inject.FileError{File: file, Why: fmt.Sprintf("is not a transcript of an agent that cortext reads (%s)", strings.Join(im.c.ws.Env.AgentNames(), ", "))}
}

// Next says which file will be imported after the next one; it need not exist.
func (im *Importer) Next(file string) { im.next = file }

// readAhead begins to open the next file, unless it was imported before and probably has not
// changed.
func (im *Importer) readAhead() {
	if im.ahead != nil && im.ahead.file == im.next { // the file before it has several transcripts
		return
	}
	im.ahead.close()
	im.ahead = nil
	info, err := os.Stat(im.next)
	if err != nil || !info.Mode().IsRegular() || info.Size() > mostAhead {
		return
	}
	if _, known := im.imports.agent(im.next); known {
		return
	}
	a := &ahead{file: im.next, info: info, done: make(chan struct{})}
	im.ahead = a
	go func() {
		defer close(a.done)
		f, _, err := inject.OpenFile(a.file)
		if err != nil {
			return
		}
		defer f.Close()
		if a.agent, err = im.detect(f, a.file); err != nil {
			return
		}
		if _, bundles := a.agent.(inject.Bundler); !bundles {
			a.transcript, _ = a.agent.Open(a.file, inject.Options{Strip: im.c.ws.Prompts.Strip})
		}
	}()
}

// open opens a transcript, unless it was read ahead. Then no progress is reported for it.
func (im *Importer) open(agent inject.Agent, file string, o inject.Options) (*inject.Transcript, error) {
	if a := im.ahead; a != nil && a.file == file {
		im.ahead = nil
		<-a.done
		info, err := os.Stat(file)
		same := err == nil && os.SameFile(info, a.info) && info.Size() == a.info.Size() && info.ModTime().Equal(a.info.ModTime())
		if same && a.transcript != nil && a.agent.Name() == agent.Name() {
			return a.transcript, nil
		}
		a.close()
	}
	return agent.Open(file, o)
}

// close waits for the end of the reading and closes the transcript. a may be nil.
func (a *ahead) close() {
	if a == nil {
		return
	}
	if <-a.done; a.transcript != nil {
		_ = a.transcript.Close()
	}
}
