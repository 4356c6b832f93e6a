package tokens

import (
	"fmt"
	"os"
	"testing"
	"time"
)

var start = time.Now()

func TestFirst(t *testing.T) {
	t0 := time.Now()
	Count("hello world")
	fmt.Println(time.Since(t0))
	t0 = time.Now()
	newWideClasses()
	fmt.Println("wide", time.Since(t0))
	t0 = time.Now()
	x := make([]uint32, 1<<19)
	for i := 0; i < len(x); i += 1024 {
		x[i] = 1
	}
	fmt.Println("fault 2MB", time.Since(t0))
	b, _ := os.ReadFile("/proc/self/status")
	_ = b
}
