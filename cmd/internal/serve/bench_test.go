package serve_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// BenchmarkRequests measures requests over TCP, by as many clients as there are processors:
// on the list and on a conversation, with the whole answer and with none because the client
// has it.
func BenchmarkRequests(b *testing.B) {
	s := newSite(b)
	for i := range 200 {
		s.begin(fmt.Sprintf("Topic %d", i), "hello")
	}
	var talk []string
	for i := range 100 {
		talk = append(talk, strings.Repeat(fmt.Sprintf("words %d ", i), 50))
	}
	id := s.begin("Long", talk...)
	one := "/api/sessions/" + id
	for _, x := range []struct{ name, path string }{
		{"list", "/api/sessions"}, {"session", one}, {"messages", one + "/messages"}, {"html", one + "/html"}, {"search", "/api/search?q=topic"}, {"context", one + "/context"},
	} {
		tag := s.send("GET", x.path, nil).header.Get("ETag")
		for _, known := range []string{"", tag} {
			name := x.name
			if known != "" {
				name += "/known"
			}
			b.Run(name, func(b *testing.B) {
				b.RunParallel(func(pb *testing.PB) {
					for pb.Next() {
						r, err := http.NewRequest(http.MethodGet, s.http.URL+x.path, nil)
						if err != nil {
							b.Error(err)
							return
						}
						r.Header.Set("Authorization", "Bearer "+token)
						r.Header.Set("If-None-Match", known)
						got, err := http.DefaultClient.Do(r)
						if err != nil {
							b.Error(err)
							return
						}
						_, err = io.Copy(io.Discard, got.Body)
						got.Body.Close()
						if err != nil || got.StatusCode >= 400 {
							b.Error(got.Status, err)
							return
						}
					}
				})
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "requests/s")
			})
		}
	}
}
