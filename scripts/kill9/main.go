// Command kill9 appends to one conversation from several processes, kills them with
// SIGKILL at random moments, and then looks for every message that was acknowledged.
//
//	go run ./scripts/kill9 -kills 10000
//
// It prints its progress, and fails if a message is missing, if its content differs from
// what was written, or if a later append cannot be read.
package main

import (
	"bufio"
	"crypto/sha256"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"cortext/schema"
	"cortext/store"
)

const (
	smallest = 100     // bytes of a message
	largest  = 5 << 20 // bytes of a message
	rotate   = 8       // rounds per conversation
)

func main() {
	kills := flag.Int("kills", 200, "how many processes to kill")
	writers := flag.Int("writers", 4, "how many processes append at a time")
	seed := flag.Uint64("seed", 1, "for sizes and moments")
	dir := flag.String("dir", "", "workspace of a writer process (internal)")
	path := flag.String("path", "", "conversation of a writer process (internal)")
	name := flag.String("name", "", "name of a writer process (internal)")
	flag.Parse()
	var err error
	if *name != "" {
		err = write(*dir, *path, *name, *seed)
	} else {
		err = run(*kills, *writers, *seed)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "kill9:", err)
		os.Exit(1)
	}
}

// content returns the required content of the message with the given id, from which it is
// derived.
func content(id string, size int) string {
	sum := sha256.Sum256([]byte(id))
	line := fmt.Sprintf("%s %x\n", id, sum[:8])
	return strings.Repeat(line, size/len(line)+1)
}

// write appends until it is killed, and acknowledges each message that is safe.
func write(dir, path, name string, seed uint64) error {
	st, err := store.Open(dir, store.Options{LockWait: time.Minute, Holder: name})
	if err != nil {
		return err
	}
	defer st.Close()
	c, err := st.Conversation(path)
	if err != nil {
		return err
	}
	defer c.Close()
	fmt.Println("ready")
	random := rand.New(rand.NewPCG(seed, 1))
	for n := 0; ; n++ {
		// Spread sizes evenly over the orders of magnitude.
		size := smallest
		for limit := largest; size < limit && random.IntN(5) > 0; {
			size = size*3 + random.IntN(size)
		}
		size = min(size, largest)
		id := fmt.Sprintf("%s-%d-%d", name, n, size)
		m := schema.Message{ID: id, Role: schema.User, Content: content(id, size)}
		if _, err := c.Append(schema.Batch{Messages: []schema.Message{m}}); err != nil {
			return err
		}
		fmt.Println("ack", id)
	}
}

func run(kills, writers int, seed uint64) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "cortext-kill9-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	st, _, err := store.Init(dir)
	if err != nil {
		return err
	}
	defer st.Close()
	random := rand.New(rand.NewPCG(seed, 2))
	var path string
	acked := map[string]bool{}
	total, torn, begun := 0, 0, time.Now()
	for killed, round := 0, 0; killed < kills; round++ {
		if round%rotate == 0 {
			if path != "" {
				if err := os.RemoveAll(filepath.Join(dir, path)); err != nil {
					return err
				}
			}
			if path, err = begin(st); err != nil {
				return err
			}
			clear(acked)
		}
		var mu sync.Mutex
		var group sync.WaitGroup
		errs := make([]error, writers)
		for w := range writers {
			wait := time.Duration(random.IntN(200_000)) * time.Microsecond
			cmd := exec.Command(self, "-dir", dir, "-path", path, "-name", fmt.Sprintf("r%dw%d", round, w), "-seed", fmt.Sprint(random.Uint64()))
			group.Go(func() {
				errs[w] = killAfter(cmd, wait, func(id string) {
					mu.Lock()
					acked[id] = true
					mu.Unlock()
					total++
				})
			})
		}
		group.Wait()
		for _, err := range errs {
			if err != nil {
				return err
			}
		}
		killed += writers
		n, err := verify(st, path, acked)
		if err != nil {
			return fmt.Errorf("after %d kills: %w", killed, err)
		}
		torn += n
		if round%50 == 49 {
			fmt.Printf("%d kills, %d acknowledged messages\n", killed, total)
		}
	}
	fmt.Printf("%d kills -9, %d writers, %d acknowledged messages, 0 lost, %d torn tails left by the dead (%.0f s)\n",
		kills, writers, total, torn, time.Since(begun).Seconds())
	return nil
}

func begin(st *store.Store) (path string, err error) {
	c, err := st.Create("chat", "kill 9", &schema.Session{}, nil)
	if err != nil {
		return "", err
	}
	return c.Path(), c.Close()
}

// killAfter starts a writer, kills it some time after it is ready, and passes on what it
// acknowledged before.
func killAfter(cmd *exec.Cmd, wait time.Duration, ack func(id string)) error {
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	var stderr strings.Builder
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		return err
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if id, ok := strings.CutPrefix(lines.Text(), "ack "); ok {
			ack(id)
		} else {
			time.AfterFunc(wait, func() { cmd.Process.Kill() })
		}
	}
	cmd.Wait()
	if stderr.Len() > 0 {
		return fmt.Errorf("a writer failed: %s", stderr.String())
	}
	return nil
}

// verify reads the conversation and checks that every acknowledged message is there,
// whole. It returns the number of torn tails.
func verify(st *store.Store, path string, acked map[string]bool) (torn int, err error) {
	c, err := st.Conversation(path)
	if err != nil {
		return 0, err
	}
	defer c.Close()
	seen := map[string]bool{}
	for m, err := range c.Messages() {
		if err != nil {
			torn++
			continue
		}
		var size int
		if _, err := fmt.Sscanf(m.ID[strings.LastIndexByte(m.ID, '-')+1:], "%d", &size); err != nil || m.Content != content(m.ID, size) {
			return torn, fmt.Errorf("message %s is not what was written", m.ID)
		}
		seen[m.ID] = true
	}
	if torn > 1 {
		return torn, fmt.Errorf("%d damaged places, at most the tail may be torn", torn)
	}
	for id := range acked {
		if !seen[id] {
			return torn, fmt.Errorf("message %s was acknowledged and is lost", id)
		}
	}
	return torn, nil
}
