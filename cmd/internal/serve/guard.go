package serve

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"
)

// A guard decides which requests are served. Other programs and pages on this machine can
// reach a server on loopback, and so can a web page elsewhere through the user's browser:
//
//   - Host must be an address or a known name, so that a name that somebody points to this
//     machine (DNS rebinding) is refused.
//   - A browser's request must come from the page itself, as Origin and Sec-Fetch-Site show.
//   - Everything but the page's static files needs the token in the header Authorization.
//     For the page's own reads a cookie is enough; a browser gets it in exchange for a
//     one-time key.
type guard struct {
	token  string
	secret string // that the cookie of the page holds
	names  []string
	listen net.IP // where the server listens; unspecified: on every address of this machine

	mu      sync.Mutex
	pageKey string // opens the page once
}

// newGuard returns a guard that expects a token. The cookie holds another secret, so that a leak
// of it does not allow changes.
func newGuard(c Config) *guard {
	return &guard{token: c.Token, secret: rand.Text(), names: c.Names, listen: c.Listen, pageKey: rand.Text()}
}

// key returns a key that opens the page in a browser, once.
func (g *guard) key() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.pageKey
}

// useKey reports whether a key opens the page. A key does so once: another one replaces it.
func (g *guard) useKey(key string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !same(key, g.pageKey) {
		return false
	}
	g.pageKey = rand.Text()
	return true
}

// cookieName returns the name of the cookie that lets the page read. The port is part
// of it, because browsers share cookies between the ports of a host.
func cookieName(host string) string {
	_, port, err := net.SplitHostPort(host)
	if err != nil {
		port = "80"
	}
	return "cortext-" + port
}

// cookie returns the cookie that lets a browser read.
func (g *guard) cookie(r *http.Request) *http.Cookie {
	return &http.Cookie{Name: cookieName(r.Host), Value: g.secret, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode}
}

func (g *guard) protect(next http.Handler) http.Handler {
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
func (g *guard) refusal(r *http.Request) *problem {
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
	if r.Method == http.MethodConnect {
		return &problem{status: http.StatusMethodNotAllowed, detail: "this server is not a proxy"}
	}
	if isPublic(path.Clean(r.URL.Path)) || g.authorized(r) {
		return nil
	}
	return &problem{status: http.StatusUnauthorized, detail: "this request needs the token that cortext serve printed: send it as Authorization: Bearer TOKEN"}
}

// isNavigation reports whether a request is a link to the page that was followed on another
// site. Such a page loads nothing that the site could read.
func isNavigation(r *http.Request) bool {
	return r.Method == http.MethodGet && r.URL.Path == "/" && r.Header.Get("Sec-Fetch-Mode") == "navigate"
}

// isPublic reports whether a path holds nothing of the user's.
func isPublic(at string) bool {
	return !strings.HasPrefix(at, "/api/") && at != "/api" && !isDaemon(at)
}

// isDaemon reports whether a path is one of the endpoints outside of /api.
func isDaemon(at string) bool {
	first, _, _ := strings.Cut(strings.TrimPrefix(at, "/"), "/")
	return first == "init" || first == "workspaces" || first == "sessions"
}

// authorized reports whether a request may be carried out.
func (g *guard) authorized(r *http.Request) bool {
	if r.Header.Get("Authorization") != "" || r.Method != http.MethodGet && r.Method != http.MethodHead {
		return g.mayChange(r)
	}
	cookie, err := r.Cookie(cookieName(r.Host))
	return err == nil && same(cookie.Value, g.secret)
}

// mayChange reports whether a request has the token.
func (g *guard) mayChange(r *http.Request) bool {
	scheme, token, ok := strings.Cut(r.Header.Get("Authorization"), " ")
	return ok && strings.EqualFold(scheme, "Bearer") && same(strings.TrimSpace(token), g.token)
}

// same compares secrets in constant time.
func same(a, b string) bool {
	have, want := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return b != "" && subtle.ConstantTimeCompare(have[:], want[:]) == 1
}

// knows reports whether a Host header names this server: an address of loopback, the one it
// listens on, localhost, or a name that the user gave. A server that listens on every
// address accepts any of them.
func (g *guard) knows(host string) bool {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	name = strings.TrimSuffix(strings.TrimPrefix(name, "["), "]")
	if ip := net.ParseIP(name); ip != nil {
		return ip.IsLoopback() || g.listen != nil && (g.listen.IsUnspecified() && !ip.IsUnspecified() || g.listen.Equal(ip))
	}
	return strings.EqualFold(name, "localhost") ||
		slices.ContainsFunc(g.names, func(known string) bool { return strings.EqualFold(known, name) })
}
