package secrets

import (
	"encoding/base64"
	"math/rand/v2"
	"strings"
)

// The alphabets of credentials.
const (
	digits  = "0123456789"
	hexLow  = "0123456789abcdef"
	lower   = "abcdefghijklmnopqrstuvwxyz"
	upper   = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	letters = lower + upper
	alnum   = letters + digits
	b64     = alnum + "+/"
	b64URL  = alnum + "_-"
	bech32  = "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L"
)

// A maker makes the random parts of secrets, so that the source code contains no secret.
type maker struct{ *rand.Rand }

func newMaker(seed uint64) maker { return maker{rand.New(rand.NewPCG(seed, 17))} }

// of returns n random bytes of an alphabet. They start and end with a letter or digit.
// Unless n is small, they include digits and both cases if the alphabet does.
func (m maker) of(alphabet string, n int) string {
	for {
		b := make([]byte, n)
		for i := range b {
			b[i] = alphabet[m.IntN(len(alphabet))]
		}
		s := string(b)
		if isAlnum(s[0]) && isAlnum(s[n-1]) && !placeholder(s) && !hasStopWord(s) && covers(s, alphabet) {
			return s
		}
	}
}

// covers reports whether s has each kind of byte that the alphabet has.
func covers(s, alphabet string) bool {
	if len(s) < 8 {
		return true
	}
	for _, kind := range []string{digits, lower, upper} {
		if strings.ContainsAny(alphabet, kind) && !strings.ContainsAny(s, kind) {
			return false
		}
	}
	return true
}

func (m maker) uuid() string {
	return m.of(hexLow, 8) + "-" + m.of(hexLow, 4) + "-" + m.of(hexLow, 4) + "-" + m.of(hexLow, 4) + "-" + m.of(hexLow, 12)
}

// armour returns n lines of base64.
func (m maker) armour(n int) string {
	var b strings.Builder
	for range n {
		b.WriteString(m.of(b64, 64) + "\n")
	}
	return b.String() + m.of(b64, 22) + "==\n"
}

func (m maker) pem(kind string) string {
	return "-----BEGIN " + kind + "-----\n" + m.armour(8) + "-----END " + kind + "-----"
}

func (m maker) jwt() string {
	enc := base64.RawURLEncoding.EncodeToString
	return enc([]byte(`{"alg":"HS256","typ":"JWT"}`)) + "." + enc([]byte(`{"sub":"u-`+m.of(digits, 9)+`","admin":true}`)) + "." + m.of(b64URL, 43)
}

// A sample is a secret that a rule finds, and the text around it.
type sample struct{ rule, before, secret, after string }

func (s sample) text() string { return s.before + s.secret + s.after }

func (s sample) want() string { return s.before + markerStart + s.rule + "]" + s.after }

// samples returns at least one sample of each rule.
func samples(seed uint64) []sample {
	m := newMaker(seed)
	join := func(parts ...string) string { return strings.Join(parts, "") }
	all := []sample{
		// Private keys.
		{"private-key", "cat id_rsa\n", m.pem("RSA PRIVATE " + "KEY"), "\n$ "},
		{"private-key", "", m.pem("EC PRIVATE " + "KEY"), ""},
		{"private-key", "", m.pem("DSA PRIVATE " + "KEY"), "\n"},
		{"private-key", "", m.pem("OPENSSH PRIVATE " + "KEY"), "\n"},
		{"private-key", "key: |\n", m.pem("PRIVATE " + "KEY"), "\n"},
		{"private-key", "", m.pem("ENCRYPTED PRIVATE " + "KEY"), "\n"},
		{"private-key", "", "-----BEGIN PGP PRIVATE " + "KEY BLOCK-----\nVersion: GnuPG v2\n\n" + m.armour(30) + "=" + m.of(alnum, 4) +
			"\n-----END PGP PRIVATE " + "KEY BLOCK-----", "\n"},
		{"private-key", "", "-----BEGIN RSA PRIVATE " + "KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC," + m.of(digits+"ABCDEF", 32) + "\n\n" +
			m.armour(5) + "-----END RSA PRIVATE " + "KEY-----", "\n"},
		{"private-key", "", "---- BEGIN SSH2 ENCRYPTED PRIVATE " + "KEY ----\n" + m.armour(5) + "---- END SSH2 ENCRYPTED PRIVATE " + "KEY ----", "\n"},
		{"private-key", "head -3: ", "-----BEGIN PRIVATE " + "KEY-----\n" + m.of(b64, 64) + "\n" + m.of(b64, 64), "\n$ "},
		{"encoded-private-key", "client-key-data: ", base64.StdEncoding.EncodeToString([]byte(m.pem("RSA PRIVATE " + "KEY"))), "\n"},
		{"putty-private-key", "PuTTY-User-Key-File-3: ssh-ed25519\nPrivate-Lines: 2\n", m.of(b64, 64) + "\n" + m.of(b64, 20) + "==", "\nPrivate-MAC: 00"},
		{"gcp-service-account-key", `{"type": "service_account", "private_key": "`,
			strings.ReplaceAll(m.pem("PRIVATE "+"KEY"), "\n", `\n`), `\n", "client_id": "1"}`},
		{"age-secret-key", "# created: 2026-01-01\n", join("AGE-SECRET-", "KEY-1", m.of(bech32, 58)), "\n"},

		// Models.
		{"anthropic-api-key", "key ", join("sk-", "ant-", "api03-", m.of(b64URL, 93), "AA"), " works"},
		{"anthropic-api-key", "", join("sk-", "ant-", "oat01-", m.of(b64URL, 93), "AA"), ""},
		{"anthropic-api-key", "(", join("sk-", "ant-", "admin01-", m.of(b64URL, 93), "AA"), ")"},
		{"openai-api-key", "OPENAI_API_KEY=", join("sk-", "proj-", m.of(b64URL, 74), "T3Blbk", "FJ", m.of(b64URL, 74)), "\n"},
		{"openai-api-key", "", join("sk-", "svcacct-", m.of(b64URL, 58), "T3Blbk", "FJ", m.of(b64URL, 58)), " "},
		{"openai-api-key", "", join("sk-", "admin-", m.of(b64URL, 58), "T3Blbk", "FJ", m.of(b64URL, 58)), " "},
		{"openai-user-key", "'", join("sk-", m.of(alnum, 20), "T3Blbk", "FJ", m.of(alnum, 20)), "'"},
		{"openrouter-api-key", "", join("sk-", "or-v1-", m.of(hexLow, 64)), ","},
		{"langfuse-secret-key", "", join("sk-", "lf-", m.uuid()), ","},
		{"deepseek-api-key", "https://api.deepseek.com with ", join("sk-", m.of(hexLow, 32)), "."},
		{"sk-api-key", "litellm: ", join("sk-", m.of(alnum, 48)), ","},
		{"huggingface-token", "HF_TOKEN=", join("hf", "_", m.of(letters, 34)), "\n"},
		{"huggingface-token", "", join("api_", "org_", m.of(letters, 34)), "\n"},
		{"groq-api-key", "", join("gsk", "_", m.of(alnum, 52)), "\n"},
		{"xai-api-key", "", join("xai", "-", m.of(alnum, 80)), "\n"},
		{"replicate-api-token", "", join("r8", "_", m.of(alnum, 37)), "\n"},
		{"perplexity-api-key", "", join("pplx", "-", m.of(alnum, 48)), "\n"},
		{"mistral-api-key", "MISTRAL_API_KEY=", m.of(alnum, 32), "\n"},
		{"cohere-api-key", `cohere_key: "`, m.of(alnum, 40), `"`},
		{"nvidia-api-key", "", join("nvapi", "-", m.of(b64URL, 64)), "\n"},
		{"langsmith-api-key", "", join("lsv2", "_pt_", m.of(hexLow, 32), "_", m.of(hexLow, 10)), "\n"},
		{"cerebras-api-key", "", join("csk", "-", m.of(lower+digits, 48)), "\n"},
		{"tavily-api-key", "", join("tvly", "-dev-", m.of(alnum, 32)), "\n"},
		{"pinecone-api-key", "", join("pcsk", "_", m.of(alnum, 6), "_", m.of(alnum, 60)), "\n"},
		{"firecrawl-api-key", "", join("fc", "-", m.of(hexLow, 32)), "\n"},
		{"wandb-api-key", "WANDB_API_KEY=", m.of(hexLow, 40), "\n"},

		// Clouds.
		{"aws-access-key", "id ", join("AK", "IA", m.of(upper+"234567", 16)), "."},
		{"aws-access-key", "", join("AS", "IA", m.of(upper+"234567", 16)), "\n"},
		{"aws-secret-key", "export AWS_SECRET_ACCESS_KEY=", m.of(b64, 40), "\n"},
		{"aws-secret-key", `"SecretAccessKey": "`, m.of(b64, 40), `",`},
		{"aws-session-token", "AWS_SESSION_TOKEN=", join("FwoG", m.of(b64, 300), "="), "\n"},
		{"aws-session-token", `"SessionToken": "`, join("IQoJ", m.of(b64, 700), "=="), `"`},
		{"aws-bedrock-api-key", "", join("ABSKQmVkcm9j", "a0FQSUtleS", m.of(b64, 96), "="), "\n"},
		{"gcp-api-key", "?key=", join("AI", "za", m.of(b64URL, 35)), "&x=1"},
		{"google-oauth-client-secret", `"client_secret":"`, join("GOC", "SPX-", m.of(b64URL, 28)), `"`},
		{"google-oauth-token", "", join("ya", "29.", m.of(b64URL, 120)), "\n"},
		{"google-oauth-token", "", join("1/", "/0", m.of(b64URL, 60)), "\n"},
		{"azure-storage-key", "AccountName=x;AccountKey=", join(m.of(b64, 86), "=="), ";EndpointSuffix=core.windows.net"},
		{"azure-storage-key", "SharedAccessKey=", join(m.of(b64, 43), "="), ";EntityPath=q"},
		{"azure-sas-signature", "?sv=2022-11-02&se=2027-01-01&sig=", join(m.of(b64, 43), "%3D"), "&sr=b"},
		{"azure-client-secret", "", join(m.of(alnum, 3), "8Q", "~", m.of(b64URL, 34)), "\n"},
		{"azure-annotated-key", "", join(m.of(alnum, 52), "JQ", "QJ9", m.of(alnum, 27)), "\n"},
		{"azure-devops-token", "", join(m.of(alnum, 76), "AZ", "DO", m.of(alnum, 4)), "\n"},
		{"alibaba-access-key", "", join("LT", "AI5t", m.of(alnum, 18)), "\n"},
		{"alibaba-secret-key", "accessKeySecret: '", m.of(alnum, 30), "'"},

		// Hosting.
		{"digitalocean-token", "", join("dop", "_v1_", m.of(hexLow, 64)), "\n"},
		{"digitalocean-token", "", join("dor", "_v1_", m.of(hexLow, 64)), "\n"},
		{"heroku-api-key", "", join("HRKU", "-", m.uuid()), "\n"},
		{"heroku-api-key", "", join("HRKU", "-AA", m.of(b64URL, 58)), "\n"},
		{"heroku-legacy-api-key", "HEROKU_API_KEY=", m.uuid(), "\n"},
		{"cloudflare-api-token", "", join("cf", "ut_", m.of(alnum, 40), m.of(hexLow, 8)), "\n"},
		{"cloudflare-api-token", "", join("cf", "k_", m.of(alnum, 40), m.of(hexLow, 8)), "\n"},
		{"cloudflare-legacy-key", "CLOUDFLARE_API_TOKEN=", m.of(alnum, 40), "\n"},
		{"cloudflare-origin-ca-key", "", join("v1", ".0-", m.of(hexLow, 24), "-", m.of(hexLow, 146)), "\n"},
		{"hetzner-api-token", "HCLOUD_TOKEN=", m.of(alnum, 64), "\n"},
		{"fly-io-token", "FlyV1 ", join("fm", "2_", m.of(b64, 300), "=="), "\n"},
		{"fly-io-token", "", join("fo", "1_", m.of(b64URL, 43)), "\n"},
		{"vercel-token", "", join("vc", "p_", m.of(alnum, 56)), "\n"},
		{"netlify-token", "", join("nf", "p_", m.of(alnum, 36)), "\n"},
		{"render-api-key", "", join("rn", "d_", m.of(alnum, 28)), "\n"},
		{"supabase-access-token", "", join("sb", "p_", m.of(hexLow, 40)), "\n"},
		{"supabase-secret-key", "", join("sb_", "secret_", m.of(alnum, 22), "_", m.of(alnum, 8)), "\n"},
		{"planetscale-token", "", join("pscale", "_tkn_", m.of(b64URL, 43)), "\n"},
		{"planetscale-token", "", join("pscale", "_pw_", m.of(b64URL, 43)), "\n"},
		{"databricks-token", "", join("da", "pi", m.of(hexLow, 32), "-2"), "\n"},
		{"tailscale-key", "", join("ts", "key-auth-", m.of(alnum, 12), "CNTRL-", m.of(alnum, 32)), "\n"},
	}
	return append(all, moreSamples(m)...)
}
