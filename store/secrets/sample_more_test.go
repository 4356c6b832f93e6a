package secrets

import (
	"encoding/base64"
	"strings"
)

// moreSamples returns the samples of forges, tools, messages, payment and of
// what no vendor issues.
func moreSamples(m maker) []sample {
	join := func(parts ...string) string { return strings.Join(parts, "") }
	return []sample{
		// Forges and registries.
		{"github-token", "https://x-access-token:", join("gh", "p_", m.of(alnum, 36)), "@github.com/a/b"},
		{"github-token", "GH_TOKEN=", join("gh", "o_", m.of(alnum, 36)), " gh pr list"},
		{"github-token", "", join("gh", "s_", m.of(alnum, 36)), ""},
		{"github-token", "", join("gh", "u_", m.of(alnum, 36)), ""},
		{"github-token", "", join("gh", "r_", m.of(alnum, 76)), ""},
		{"github-fine-grained-token", "`", join("github", "_pat_", m.of(alnum, 22), "_", m.of(alnum, 59)), "`"},
		{"gitlab-token", "PRIVATE-TOKEN: ", join("gl", "pat-", m.of(b64URL, 20)), "\n"},
		{"gitlab-token", "", join("gl", "pat-", m.of(b64URL, 27), ".", m.of(lower+digits, 2), ".", m.of(lower+digits, 9)), "\n"},
		{"gitlab-token", "", join("gl", "dt-", m.of(b64URL, 20)), "\n"},
		{"gitlab-token", "", join("gl", "rt-", m.of(b64URL, 20)), "\n"},
		{"gitlab-token", "", join("gl", "ptt-", m.of(hexLow, 40)), "\n"},
		{"gitlab-runner-registration-token", "", join("GR13", "48941", m.of(b64URL, 20)), "\n"},
		{"atlassian-token", "", join("AT", "ATT3xFfGF0", m.of(b64URL, 170), "=", m.of("0123456789ABCDEF", 8)), "\n"},
		{"atlassian-token", "", join("AT", "CTT3xFfGN0", m.of(b64URL, 170), "=", m.of("0123456789ABCDEF", 8)), "\n"},
		{"atlassian-token", "", join("AT", "BB", m.of(alnum, 32)), "\n"},
		{"npm-token", "", join("np", "m_", m.of(alnum, 36)), "\n"},
		{"npm-registry-auth", "//registry.npmjs.org/:_authToken=", m.uuid(), "\n"},
		{"pypi-token", "", join("py", "pi-AgEIcHlwaS5vcmc", m.of(b64URL, 150)), "\n"},
		{"rubygems-api-key", "", join("ruby", "gems_", m.of(hexLow, 48)), "\n"},
		{"crates-io-token", "", join("ci", "o", m.of(alnum, 32)), "\n"},
		{"docker-hub-token", "", join("dckr", "_pat_", m.of(b64URL, 27)), "\n"},
		{"artifactory-token", "", join("AK", "Cp", m.of(alnum, 69)), "\n"},
		{"artifactory-token", "", join("cmVm", "dGtu", m.of(alnum, 56)), "\n"},
		{"circleci-token", "", join("CCI", "PAT_", m.of(alnum, 22), "_", m.of(hexLow, 40)), "\n"},
		{"buildkite-token", "", join("bk", "ua_", m.of(hexLow, 40)), "\n"},
		{"sonarqube-token", "", join("sq", "u_", m.of(hexLow, 40)), "\n"},

		// Tools.
		{"terraform-cloud-token", "", join(m.of(alnum, 14), ".atlas", "v1.", m.of(alnum, 67)), "\n"},
		{"vault-token", "", join("hv", "s.", m.of(alnum, 24)), "\n"},
		{"vault-token", "", join("hv", "b.", m.of(b64URL, 150)), "\n"},
		{"doppler-token", "", join("dp", ".pt.", m.of(alnum, 43)), "\n"},
		{"doppler-token", "", join("dp", ".st.prd.", m.of(alnum, 43)), "\n"},
		{"onepassword-service-account-token", "", join("ops", "_eyJ", m.of(b64, 600)), "\n"},
		{"pulumi-token", "", join("pu", "l-", m.of(hexLow, 40)), "\n"},
		{"grafana-token", "", join("gl", "sa_", m.of(alnum, 32), "_", m.of(hexLow, 8)), "\n"},
		{"grafana-token", "", join("gl", "c_", m.of(b64, 80), "="), "\n"},
		{"sentry-token", "", join("sntr", "yu_", m.of(hexLow, 64)), "\n"},
		{"sentry-token", "", join("sntr", "ys_eyJ", m.of(b64, 120), "_", m.of(b64, 43)), "\n"},
		{"newrelic-key", "", join("NR", "AK-", m.of(upper+digits, 27)), "\n"},
		{"newrelic-license-key", "", join(m.of(hexLow, 36), "NR", "AL"), "\n"},
		{"datadog-key", "DD_API_KEY=", m.of(hexLow, 32), "\n"},
		{"datadog-key", `datadog_app_key = "`, m.of(hexLow, 40), "\"\n"},
		{"dynatrace-token", "", join("dt0", "c01.", m.of(upper+digits, 24), ".", m.of(upper+digits, 64)), "\n"},
		{"posthog-key", "", join("ph", "x_", m.of(alnum, 43)), "\n"},
		{"postman-api-key", "", join("PM", "AK-", m.of(hexLow, 24), "-", m.of(hexLow, 34)), "\n"},
		{"linear-api-key", "", join("lin", "_api_", m.of(alnum, 40)), "\n"},
		{"notion-token", "", join("nt", "n_", m.of(alnum, 46)), "\n"},
		{"notion-token", "", join("sec", "ret_", m.of(alnum, 43)), "\n"},
		{"figma-token", "", join("fi", "gd_", m.of(b64URL, 40)), "\n"},
		{"airtable-token", "", join("pa", "t", m.of(alnum, 14), ".", m.of(hexLow, 64)), "\n"},

		// Messages.
		{"slack-token", "", join("xo", "xb-", m.of(digits, 12), "-", m.of(digits, 13), "-", m.of(alnum, 24)), "\n"},
		{"slack-token", "", join("xo", "xp-", m.of(digits, 12), "-", m.of(digits, 12), "-", m.of(digits, 13), "-", m.of(hexLow, 32)), "\n"},
		{"slack-token", "", join("xo", "xe.xo", "xp-1-", m.of(alnum, 160)), "\n"},
		{"slack-app-token", "", join("xa", "pp-1-A", m.of(upper+digits, 10), "-", m.of(digits, 13), "-", m.of(hexLow, 64)), "\n"},
		{"slack-webhook", "https://hooks.slack.com/services/", join("T", m.of(upper+digits, 8), "/B", m.of(upper+digits, 10), "/", m.of(alnum, 24)), "\n"},
		{"discord-bot-token", "DISCORD_BOT=", join("MT", m.of(b64URL, 24), ".", m.of(b64URL, 6), ".", m.of(b64URL, 38)), "\n"},
		{"discord-webhook", "https://discord.com/api/webhooks/", join(m.of(digits, 18), "/", m.of(b64URL, 68)), "\n"},
		{"telegram-bot-token", "https://api.telegram.org/bot", join(m.of(digits, 10), ":", "AA", m.of(b64URL, 33)), "/getMe"},
		{"twilio-api-key", "twilio key ", join("S", "K", m.of(hexLow, 32)), "\n"},
		{"twilio-auth-token", "TWILIO_AUTH_TOKEN=", m.of(hexLow, 32), "\n"},
		{"sendgrid-api-key", "", join("S", "G.", m.of(b64URL, 22), ".", m.of(b64URL, 43)), "\n"},
		{"mailgun-api-key", "", join("ke", "y-", m.of(hexLow, 32)), "\n"},
		{"mailgun-private-key", "mailgun: ", join(m.of(hexLow, 32), "-", m.of(hexLow, 8), "-", m.of(hexLow, 8)), "\n"},
		{"mailchimp-api-key", "", join(m.of(hexLow, 32), "-us", "12"), "\n"},
		{"resend-api-key", "", join("r", "e_", m.of(alnum, 8), "_", m.of(alnum, 24)), "\n"},

		// Payment.
		{"stripe-api-key", "", join("sk", "_live_", m.of(alnum, 24)), "\n"},
		{"stripe-api-key", "", join("sk", "_test_", m.of(alnum, 99)), "\n"},
		{"stripe-api-key", "", join("rk", "_live_", m.of(alnum, 99)), "\n"},
		{"stripe-webhook-secret", "", join("wh", "sec_", m.of(alnum, 32)), "\n"},
		{"square-token", "", join("sq0", "csp-", m.of(b64URL, 43)), "\n"},
		{"square-token", "", join("EA", "AA", m.of(b64URL, 60)), "\n"},
		{"braintree-access-token", "", join("access", "_token$production$", m.of(lower+digits, 16), "$", m.of(hexLow, 32)), "\n"},
		{"adyen-api-key", "", join("AQ", "Eyhmfx", m.of(b64, 80), "==-", m.of(b64, 43), "=-", m.of(alnum, 12)), "\n"},
		{"shopify-token", "", join("shp", "at_", m.of(hexLow, 32)), "\n"},
		{"shopify-token", "", join("shp", "ss_", m.of(hexLow, 32)), "\n"},

		// What no vendor issues.
		{"jwt", "cookie: session=", m.jwt(), "; Path=/"},
		{"jwt", "", join("ey", "J", m.of(b64URL, 30), ".", m.of(b64URL, 200), ".", m.of(b64URL, 16), ".", m.of(b64URL, 90), ".", m.of(b64URL, 22)), "\n"},
		{"url-password", "postgres://app:", m.of(alnum, 14), "@db.internal:5432/app?sslmode=require"},
		{"url-password", "redis://:", m.of(alnum, 20), "@cache:6379/0"},
		{"url-password", "amqp://svc:", m.of(lower, 12), "@mq"},
		{"bearer-token", `-H "Authorization: Bearer `, m.of(alnum, 40), `"`},
		{"basic-login", "Authorization: Basic ", base64.StdEncoding.EncodeToString([]byte("svc:" + m.of(alnum, 16))), "\r\n"},
		{"authorization-header", "Authorization: token ", m.of(hexLow, 40), "\r\n"},
		{"curl-password", "curl -s -u admin:", m.of(alnum, 16), " https://host/api"},
		{"curl-password", `curl --user "svc:`, m.of(alnum, 16), `" https://host/api`},
		{assignmentID, "export API_KEY=", m.of(alnum, 32), "\n"},
		{assignmentID, `"client_secret": "`, m.of(alnum, 32), `"`},
		{assignmentID, "password: '", m.of(lower, 7) + "4" + m.of(lower, 5) + "!", "'"},
		{assignmentID, "const authToken: string = `", m.of(b64URL, 40), "`;"},
		{assignmentID, "DB_PASSWORD=", m.of(alnum, 16), " ./run"},
		{assignmentID, "mysql --password ", m.of(alnum, 16), " -e status"},
		{assignmentID, "machine host login me password ", m.of(alnum, 16), "\n"},
		{assignmentID, "X-Api-Key: ", m.of(hexLow, 32), "\r\n"},
		{assignmentID, `os.environ["SERVICE_SECRET_KEY"] = "`, m.of(b64, 44), `"`},
		{assignmentID, `req.Header.Set("X-Auth-Token", "`, m.of(alnum, 32), `")`},
		{assignmentID, "?user=7&access_token=", m.of(alnum, 32), "&page=2"},
	}
}
