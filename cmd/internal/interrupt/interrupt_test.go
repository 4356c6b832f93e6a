package interrupt

import (
	"os"
	"syscall"
	"testing"
	"time"
)

// TestGrace: only a command that asked for it gets time to finish, and only before the
// first signal. A running agent gets the signals.
func TestGrace(t *testing.T) {
	receive := func(i *Interrupts, s os.Signal, grace time.Duration, act bool, code int) {
		t.Helper()
		gotGrace, gotAct := i.receive(s)
		if gotGrace != grace || gotAct != act || i.Code() != code {
			t.Errorf("%v: %v, %v, exit code %d, want %v, %v, %d", s, gotGrace, gotAct, i.Code(), grace, act, code)
		}
	}
	var i Interrupts
	receive(&i, syscall.SIGTERM, noticeTime, true, 143)
	receive(&i, syscall.SIGINT, 0, true, 130)

	i = Interrupts{}
	first, second := i.Finish(), i.Finish()
	second()
	receive(&i, syscall.SIGINT, finishTime, true, 130)
	first()

	i = Interrupts{}
	i.Finish()()
	receive(&i, syscall.SIGINT, noticeTime, true, 130)

	i = Interrupts{}
	done, ok := i.Yield()
	if !ok {
		t.Fatal("no agent may start")
	}
	receive(&i, syscall.SIGINT, 0, false, 0)
	done()
	receive(&i, syscall.SIGINT, noticeTime, true, 130)
	if _, ok := i.Yield(); ok {
		t.Error("an agent may start after a signal")
	}
}

// TestHandle: the first signal ends the context, and the program, too, if it continues.
func TestHandle(t *testing.T) {
	canceled, exited := make(chan bool, 1), make(chan int, 1)
	i := New(func() { canceled <- true }, func(code int) { exited <- code; select {} })
	signals := make(chan os.Signal)
	go i.Handle(signals)
	signals <- syscall.SIGTERM
	<-canceled
	if code := <-exited; code != 143 {
		t.Errorf("exit code %d", code)
	}
}
