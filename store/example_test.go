package store_test

import (
	"fmt"
	"log"
	"os"

	"cortext/schema"
	"cortext/store"
)

// A conversation is created, appended to, and read. Once Append has returned, the message
// is on disk; appending it again changes nothing.
func Example() {
	dir, err := os.MkdirTemp("", "workspace")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	s, _, err := store.Init(dir)
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()

	c, err := s.Create("plan", "release", &schema.Session{Title: "Release"}, []byte("# Release\n"))
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	batch := schema.Batch{Messages: []schema.Message{{ID: "m1", Role: schema.User, Content: "export GITHUB_TOKEN=ghp_16C7e42F292c6912E7710c838347Ae178B4a"}}}
	for range 2 {
		result, err := c.Append(batch)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println("appended", result.Appended)
	}
	for m, err := range c.Messages() {
		fmt.Println(m.Role, m.Content, err)
	}
	// Output:
	// appended 1
	// appended 0
	// user export GITHUB_TOKEN=[redacted: github-token] <nil>
}
