package serve

import (
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"slices"
	"strings"
)

// A guard decides which requests are served. Other programs and pages on this machine can
// reach a server on loopback, and so can a web page elsewhere through the user's browser:
//
//   - Host must be an address or a known name, so that a name that somebody points to this
//     machine (DNS rebinding) is refused.
//   - A browser's request must come from the page itself: Origin and Sec-Fetch-Site tell.
//   - Everything but the page's static files needs the token. A client sends it in the
//     header Authorization. The page gets a cookie in exchange for it, which counts only
//     for reading; what changes something needs the header.
type guard struct {
	token string
	names []string
}

// cookieName names the cookie with which the page reads. A port is part of it, because
// browsers share cookies between the ports of a host.
func cookieName(host string) string {
	_, port, err := net.SplitHostPort(host)
	if err != nil {
		port = "80"
	}
	return "cortext-" + port
}

func (g guard) protect(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
		h.Set("Cache-Control", "no-store")
		if p := g.refusal(r); p != nil {
			p.write(w)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// refusal returns why a request is not served, or nil.
func (g guard) refusal(r *http.Request) *problem {
	if !g.knows(r.Host) {
		return &problem{status: http.StatusMisdirectedRequest, detail: "the host name of this request is not one of this server: use its address, or start it with --host"}
	}
	if origin := r.Header.Get("Origin"); origin != "" && origin != "http://"+r.Host {
		return &problem{status: http.StatusForbidden, detail: "this server answers only its own page, not pages of other sites"}
	}
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "same-origin":
	case "none": // typed, or opened by a program
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			return &problem{status: http.StatusForbidden, detail: "this request did not come from the page"}
		}
	default:
		if !isNavigation(r) {
			return &problem{status: http.StatusForbidden, detail: "this server answers only its own page, not pages of other sites"}
		}
	}
	if isPublic(r.URL.Path) || g.authorized(r) {
		return nil
	}
	return &problem{status: http.StatusUnauthorized, detail: "this request needs the token that cortext serve printed: send it as Authorization: Bearer TOKEN"}
}

// isNavigation reports whether a request is a link to the page that was followed on another
// site. Such a page loads nothing that the site could read.
func isNavigation(r *http.Request) bool {
	return r.Method == http.MethodGet && r.URL.Path == "/" && r.URL.RawQuery == "" && r.Header.Get("Sec-Fetch-Mode") == "navigate"
}

// isPublic reports whether a path holds nothing of the user's.
func isPublic(path string) bool {
	return !strings.HasPrefix(path, "/api/") && path != "/api" && !isDaemon(path)
}

// isDaemon reports whether a path is one of the endpoints outside of /api.
func isDaemon(path string) bool {
	first, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	return first == "init" || first == "workspaces" || first == "sessions"
}

func (g guard) authorized(r *http.Request) bool {
	if scheme, token, ok := strings.Cut(r.Header.Get("Authorization"), " "); ok && strings.EqualFold(scheme, "Bearer") {
		return g.is(strings.TrimSpace(token))
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		return false
	}
	cookie, err := r.Cookie(cookieName(r.Host))
	return err == nil && g.is(cookie.Value)
}

// is compares a token in constant time.
func (g guard) is(token string) bool {
	have, want := sha256.Sum256([]byte(token)), sha256.Sum256([]byte(g.token))
	return subtle.ConstantTimeCompare(have[:], want[:]) == 1
}

// knows reports whether a Host header names this server.
func (g guard) knows(host string) bool {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	name = strings.TrimSuffix(strings.TrimPrefix(name, "["), "]")
	return net.ParseIP(name) != nil || strings.EqualFold(name, "localhost") ||
		slices.ContainsFunc(g.names, func(known string) bool { return strings.EqualFold(known, name) })
}
