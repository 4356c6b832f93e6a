package tokens

import (
	"fmt"
	"testing"
	"time"
)

var start = time.Now()

func TestFirst(t *testing.T) {
	t0 := time.Now()
	Count("hello world")
	fmt.Println(time.Since(t0))
}
