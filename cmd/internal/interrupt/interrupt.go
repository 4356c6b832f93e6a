// Package interrupt ends the program on signals, but gives work that must not stop half-way
// the time to finish.
package interrupt

import (
	"os"
	"sync"
	"syscall"
	"time"
)

// How long a command may continue after a signal, to notice that its context ended or to
// finish a write. Both end it within the time that the help promises.
const (
	noticeTime = 700 * time.Millisecond
	finishTime = 5*time.Second - 100*time.Millisecond
)

// ExitSignal is added to a signal's number for the exit code of a command that the
// signal ended, as shells do.
const ExitSignal = 128

// Interrupts ends the program on SIGINT, SIGTERM and SIGHUP, even while a command does not
// watch its context because it computes, or waits for a lock or a slow disk. Ending the
// program in the middle of a write is harmless, since the next command that writes repairs a
// torn line.
//
// The zero value ends nothing.
type Interrupts struct {
	cancel func()         // ends the command's context
	exit   func(code int) // ends the program

	mu        sync.Mutex
	ended     os.Signal // the last signal, or nil
	finishing int       // commands that may finish a write
	agents    int       // running agents, which get the signals
}

// New returns Interrupts that call cancel on the first signal, and exit if the
// program continues too long or another signal follows.
func New(cancel func(), exit func(code int)) *Interrupts {
	return &Interrupts{cancel: cancel, exit: exit}
}

// Handle handles signals until the program exits.
func (i *Interrupts) Handle(signals <-chan os.Signal) {
	var over <-chan time.Time
	for {
		select {
		case s := <-signals:
			switch grace, act := i.receive(s); {
			case !act:
			case grace > 0:
				i.cancel()
				over = time.After(grace)
			default:
				i.exit(i.Code())
			}
		case <-over:
			i.exit(i.Code())
		}
	}
}

// receive records a signal. It returns how long the command may continue, or 0 if it
// already got a signal; act is false if the signal is for an agent.
func (i *Interrupts) receive(s os.Signal) (grace time.Duration, act bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	switch {
	case i.agents > 0:
		return 0, false
	case i.ended != nil:
		i.ended = s
		return 0, true
	}
	i.ended = s
	if i.finishing > 0 {
		return finishTime, true
	}
	return noticeTime, true
}

// Code returns the exit code of a command that a signal ended, or 0 if there was no
// signal.
func (i *Interrupts) Code() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.ended == nil {
		return 0
	}
	if s, ok := i.ended.(syscall.Signal); ok {
		return ExitSignal + int(s)
	}
	return 1
}

// Finish gives the command time to finish its write if a signal comes before done is
// called.
func (i *Interrupts) Finish() (done func()) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.finishing++
	return func() {
		i.mu.Lock()
		defer i.mu.Unlock()
		i.finishing--
	}
}

// Yield leaves signals to the agent that is about to start, until done is called. It
// refuses if a signal already came: then the agent must not start.
func (i *Interrupts) Yield() (done func(), ok bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.ended != nil {
		return nil, false
	}
	i.agents++
	return func() {
		i.mu.Lock()
		defer i.mu.Unlock()
		i.agents--
	}, true
}
