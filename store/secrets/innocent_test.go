package secrets

import (
	"encoding/base64"
	"strings"
	"testing"
)

// innocents returns texts that look a little like secrets but are not.
func innocents() []string {
	m := newMaker(4)
	image := make([]byte, 60_000)
	for i := range image {
		image[i] = byte(m.Uint32())
	}
	blob := base64.StdEncoding.EncodeToString(image)
	sha1, sha256 := m.of(hexLow, 40), m.of(hexLow, 64)
	return append([]string{
		"gpg --export-secret-keys " + strings.ToUpper(sha1) + " > key.asc", "gpg --batch --delete-secret-keys=" + sha1, `{"command":"gpg --export-secret-keys \"0x` + sha1 + `\""}`, "gpg --list-secret-keys " + sha1[:16],
		"A3-FORMAT-LETTER-paper", "A3-ABCDEF-GHIJKL-MNOPQ",
		m.uuid(), sha1, sha256, m.of(alnum, 40), m.of(b64URL, 64),
		"commit " + sha1 + "\nAuthor: A <a@example.org>",
		"index " + sha1[:7] + ".." + sha256[:7] + " 100644",
		"sha256:" + sha256, "FROM golang:1.26@sha256:" + sha256,
		`"integrity": "sha512-` + m.of(b64, 86) + `=="`,
		`"js-tokens@npm:^4.0.0": resolution: "js-tokens@npm:4.0.0", checksum: ` + sha256,
		"golang.org/x/sys v0.49.0 h1:" + m.of(b64, 43) + "=",
		`{"type":"tool_use","id":"toolu_01` + m.of(alnum, 22) + `","name":"Bash"}`,
		`{"id":"msg_01` + m.of(alnum, 22) + `","requestId":"req_01` + m.of(alnum, 22) + `"}`,
		"data:image/png;base64," + blob, `{"signature":"` + blob[:700] + `"}`, blob,
		"/home/user/.cache/" + sha1 + "/secrets/token-store.json", `C:\Users\me\AppData\token\` + m.uuid(),
		"https://example.org/a/" + m.uuid() + "?page=2&token_type=bearer", "git@github.com:owner/repo.git",
		"ssh://git@host.example:22/path", "http://localhost:8080/@scope/pkg@1.2.3", "https://user@host/path:80@x",
		"postgres://postgres:postgres@localhost:5432/db", "mysql://root:root@db", "https://user:password@host/",
		"https://$USER:$PASS@host/", "https://{user}:{pass}@host", "https://user:<password>@host", "redis://:${REDIS_PASSWORD}@h",
		`apiKey: process.env.API_KEY_2`, `token = os.environ["SERVICE_TOKEN_1"]`, `secret := getSecret("db1")`,
		`password = "your-password-123"`, `"password": "changeme123!"`, `API_KEY=xxxxxxxxxxxxxxxxxxxxxxxx1`,
		`api_key = "<YOUR_API_KEY_1>"`, `token: ${{ secrets.GITHUB_TOKEN }}`, `secret_key: "{{ vault.key_1 }}"`,
		`password: string;`, `Token: TypeAlias = str | None`, `fmt.Printf("token=%s", t1)`, `token=$TOKEN1 make`,
		`nextToken: "` + m.of(alnum, 40) + `"`, `"page_token":"` + m.of(alnum, 40) + `"`, `max_tokens: 4096, "tokenizer": "` + m.of(alnum, 30) + `"`,
		`"cache_read_input_tokens":104315`, `tokens used: 1234567890123456`, `tokenUri = "a1b2c3d4e5f6g7h8i9"`,
		`secretName: prod-db-credentials-v2`, `password_file=/run/keys/db1`, `--token-file ./token1.txt`, `if token == "abc" {`,
		`the password is checked in auth2.go:120`, `Secret: the team meets at 10:30`, `pwd: /home/user/project1`, `PWD=/srv/app1`,
		`[]string{"md5", "password", "scram-sha-256"}`, `public_key: "` + m.of(b64, 60) + `"`, `ssh-ed25519 AAAAC3` + m.of(b64, 62) + " me@host",
		"-----BEGIN CERTIFICATE-----\n" + m.armour(9) + "-----END CERTIFICATE-----", "-----BEGIN PUBLIC KEY-----\n" + m.armour(4) + "-----END PUBLIC KEY-----",
		`strings.HasPrefix(s, "-----BEGIN RSA PRIVATE ` + `KEY-----")`, "-----BEGIN PRIVATE " + "KEY-----\n...\n-----END PRIVATE " + "KEY-----",
		"the line -----BEGIN PRIVATE " + "KEY----- starts a key, see /home/user/projects/crypto/internal/keys/server.pem",
		"Authorization: Bearer $TOKEN", `"Authorization": "Bearer " + token`, "Authorization: Bearer {env:CONTEXT7_API_KEY}",
		"uses bearer authentication-with-tokens", "Basic authentication is simple", "Basic dXNlcjpwYXNzd29yZA==", "basic AuthorizationHeader",
		"curl -u user:pass https://host", "docker run -u 1000:1000 img", `curl -u "$USER:$PASS" https://host`, "ps -u root:x",
		"eyJust some words", "eyJhbGciOiJIUzI1NiJ9.short", `task-output-waiting-1770927708311`, "disk-" + m.of(alnum, 40), "risk-inheritance",
		"sk-output-waiting-1770927708311-and-then-some-more-words", "sk_live_or_test_mode_flag", "xoxb-your-token-goes-in-here-please",
		"hf_hub_download_to_local_directory_with_symlinks", "re_compile_pattern_with_flags_and_cache", "npm_config_registry_and_more_settings_x",
		"pattern.match(path).patch", "the patient." + sha256, "key-value-store", "monkey-" + m.of(hexLow, 32), "de-us1 en-us2",
		"AKIAIOSFODNN7" + "EXAMPLE", "ASIAPACIFIC region", "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCY" + "EXAMPLEKEY",
		"aws_secret_name: " + sha1, "AIzaShort", "cio is not the CTO", "ghp_" + strings.Repeat("x", 36), "glpat-" + strings.Repeat("X", 20),
		"sk-ant-api03-" + strings.Repeat("x", 93) + "AA", "ghp_1234567890" + "abcdefghijklmnopqrstuvwxyz", "[redacted: github-token]: next line",
		"TWILIO_ACCOUNT_SID=AC" + sha256[:32], "client-certificate-data: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0t" + blob[:2000],
		"SharedAccessKeyName=RootManageSharedAccessKey;", "the ABIA" + "AAAAAAAAAAAAAAAA row", "ACGT ASIA" + "ACGTACGTACGTACGT",
		"the token is used in auth2.go:120", "your password is password123", "the API key is in config/prod2.yaml", "<token>T1</token>",
		"docker login -u me -p $PASS1 host", "docker login --password-stdin host1", `{"auth": "none"}`, `{"auth": "dXNlcjpwYXNz"}`,
		`password: "[redacted: secret-assignment]"`, "https://user:[redacted: url-password]@host",
	}, strings.Split(cleanText(4000), "\n")...)
}

func TestInnocents(t *testing.T) {
	r := New()
	for _, s := range append(innocents(), strings.Join(innocents(), "\n")) {
		for _, esc := range []func(string) string{strings.Clone, quoted, spelled} {
			in := esc(s)
			got, err := r.Text(in, nil)
			if err != nil {
				t.Fatal(err)
			}
			if got != in {
				t.Errorf("%.300q\nbecame %.300q", in, got)
			}
		}
	}
}

// TestNearMisses spoils the samples of all rules that have a pattern: a sample that is
// cut short, made of one letter, or inside a longer word is not a secret.
func TestNearMisses(t *testing.T) {
	r := New()
	rules := map[string]Rule{}
	for _, rule := range Rules() {
		rules[rule.ID] = rule
	}
	for _, sm := range samples(3) {
		rule := rules[sm.rule]
		if rule.pattern == "" && sm.rule != "airtable-token" && sm.rule != "jwt" {
			continue
		}
		head := 0
		for _, k := range rule.Keywords {
			if i := strings.Index(sm.secret, k); i >= 0 {
				head = max(head, i+len(k))
			}
		}
		if rule.before > 0 {
			head = 0
		}
		same := []byte(sm.secret)
		for i := head; i < len(same); i++ {
			if isAlnum(same[i]) {
				same[i] = 'x'
			}
		}
		for name, secret := range map[string]string{
			"cut":      sm.secret[:min(len(sm.secret)-1, head+6)],
			"same":     string(same),
			"in words": "z" + sm.secret + "z",
		} {
			// Words end at a full stop, and the part before a cut may still be a
			// password.
			if name == "in words" && (rule.loose || rule.before > 0 || sm.before != "" || strings.Contains(sm.secret, ".")) ||
				name == "cut" && (strings.Contains(sm.before, "://") || sm.rule == "option-password") {
				continue
			}
			s := sm.before + secret + sm.after
			if got, err := r.Text(s, nil); err != nil || got != s {
				t.Errorf("rule %s, %s: %q became %q (%v)", sm.rule, name, s, got, err)
			}
		}
	}
}
