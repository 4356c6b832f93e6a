package secrets

// toolRules returns the rules for infrastructure, monitoring and office tools.
func toolRules() []Rule {
	return []Rule{
		{
			ID:          "terraform-cloud-token",
			Description: "HCP Terraform user, team, or organization token",
			Source:      "https://developer.hashicorp.com/terraform/cloud-docs/api-docs/user-tokens",
			Keywords:    []string{".atlasv1."},
			pattern:     `[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{60,70}`,
			before:      14,
			lead:        wordBytes,
		},
		{
			ID:          "vault-token",
			Description: "HashiCorp Vault service, batch, or recovery token",
			Source:      "https://developer.hashicorp.com/vault/docs/concepts/tokens#token-prefixes",
			Keywords:    []string{"hvs.", "hvb.", "hvr."},
			pattern:     `hv[sbr]\.[A-Za-z0-9_-]{24,}`,
			check:       func(v string) bool { return !compositionOf(v[4:]).words },
		},
		{
			ID:          "doppler-token",
			Description: "Doppler token",
			Source:      "https://docs.doppler.com/reference/auth-token-formats",
			Keywords:    []string{"dp.pt.", "dp.ct.", "dp.st.", "dp.sa.", "dp.said.", "dp.scim.", "dp.audit."},
			pattern:     `dp\.(?:pt|ct|st|sa|said|scim|audit)\.(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{40,44}`,
		},
		{
			ID:          "onepassword-service-account-token",
			Description: "1Password service account token",
			Source:      "https://developer.1password.com/docs/service-accounts/security/",
			Keywords:    []string{"ops_eyJ"},
			pattern:     `ops_eyJ[A-Za-z0-9+/_-]{200,}={0,2}`,
		},
		{
			ID:          "onepassword-secret-key",
			Description: "1Password Secret Key",
			Source:      "https://support.1password.com/secret-key-security/",
			Keywords:    []string{"A3-"},
			pattern:     `A3-[A-Z0-9]{6}-[A-Z0-9]{6}(?:-[A-Z0-9]{5}){4}`,
		},
		{
			ID:          "pulumi-token",
			Description: "Pulumi access token",
			Source:      "https://www.pulumi.com/docs/pulumi-cloud/access-management/access-tokens/",
			Keywords:    []string{"pul-"},
			pattern:     `pul-[0-9a-f]{40}`,
		},
		{
			ID:          "grafana-token",
			Description: "Grafana service account token, cloud access policy token, or API key",
			Source:      "https://grafana.com/docs/grafana/latest/administration/service-accounts/",
			Keywords:    []string{"glsa_", "glc_", "eyJrIjoi"},
			pattern:     `(?:glsa_[A-Za-z0-9]{32}_[0-9A-Fa-f]{8}|glc_[A-Za-z0-9+/]{32,}={0,2}|eyJrIjoi[A-Za-z0-9+/]{60,}={0,2})`,
		},
		{
			ID:          "sentry-token",
			Description: "Sentry user, organization, or integration token",
			Source:      "https://docs.sentry.io/security-legal-pii/security/token-formats/",
			Keywords:    []string{"sntryu_", "sntrys_", "sntrya_", "sntryi_"},
			pattern:     `sntry[usai]_[A-Za-z0-9+/=_-]{60,}`,
		},
		{
			ID:          "newrelic-key",
			Description: "New Relic user, ingest, or license key",
			Source:      "https://docs.newrelic.com/docs/apis/intro-apis/new-relic-api-keys/",
			Keywords:    []string{"NRAK-", "NRII-"},
			pattern:     `(?:NRAK-[A-Z0-9]{27}|NRII-[A-Za-z0-9_-]{32})`,
		},
		{
			ID:          "newrelic-license-key",
			Description: "New Relic license key",
			Source:      "https://docs.newrelic.com/docs/apis/intro-apis/new-relic-api-keys/",
			Keywords:    []string{"NRAL"},
			pattern:     `[0-9a-f]{36}NRAL`,
			before:      36,
			lead:        "0123456789abcdef",
		},
		{
			ID:          "datadog-key",
			Description: "Datadog API or application key, behind its name",
			Source:      "https://docs.datadoghq.com/account_management/api-app-keys/ (keys; length observed)",
			Keywords:    []string{"datadog", "dd_api", "dd-api", "dd_app", "dd-app"},
			Fold:        true,
			named:       true,
			pattern:     `[0-9a-f]{40}|[0-9a-f]{32}`,
		},
		{
			ID:          "dynatrace-token",
			Description: "Dynatrace access token",
			Source:      "https://docs.dynatrace.com/docs/dynatrace-api/basics/dynatrace-api-authentication",
			Keywords:    []string{"dt0c01.", "dt0s01.", "dt0s16."},
			pattern:     `dt0[cs]\d\d\.[A-Z0-9]{8,24}\.[A-Z0-9]{64}`,
		},
		{
			ID:          "posthog-key",
			Description: "PostHog personal or secret API key",
			Source:      "https://posthog.com/docs/api#authentication",
			Keywords:    []string{"phx_", "phs_"},
			pattern:     `ph[xs]_[A-Za-z0-9]{32,}`,
		},
		{
			ID:          "postman-api-key",
			Description: "Postman API key",
			Source:      "https://learning.postman.com/docs/developer/postman-api/authentication/",
			Keywords:    []string{"PMAK-"},
			pattern:     `PMAK-[0-9a-f]{24}-[0-9a-f]{34}`,
		},
		{
			ID:          "linear-api-key",
			Description: "Linear API key or OAuth token",
			Source:      "observed; keys are documented at https://linear.app/developers/graphql",
			Keywords:    []string{"lin_api_", "lin_oauth_"},
			pattern:     `lin_(?:api|oauth)_[A-Za-z0-9]{40,}`,
		},
		{
			ID:          "notion-token",
			Description: "Notion integration token",
			Source:      "https://developers.notion.com/reference/authentication (prefixes; length observed)",
			Keywords:    []string{"ntn_", "secret_"},
			pattern:     `(?:ntn_[A-Za-z0-9]{40,}|secret_[A-Za-z0-9]{43})`,
			check:       notWords,
		},
		{
			ID:          "figma-token",
			Description: "Figma personal access token",
			Source:      "observed; tokens are documented at https://developers.figma.com/docs/rest-api/personal-access-tokens/",
			Keywords:    []string{"figd_", "figu_", "figo_"},
			pattern:     `fig[duo]_[A-Za-z0-9_-]{36,}`,
		},
		{
			ID:          "airtable-token",
			Description: "Airtable personal access token",
			Source:      "https://airtable.com/developers/web/guides/personal-access-tokens",
			Keywords:    []string{"pat"},
			find:        airtableToken,
		},
	}
}

// airtableToken finds a token that starts with "pat", which is s[at:end]. A regexp would
// be too slow, because so many words start like this.
func airtableToken(s string, at, end int) (start, stop int, ok bool) {
	const dot, length = 14, 14 + 1 + 64
	if end+length > len(s) || s[end+dot] != '.' || at > 0 && isAlnum(s[at-1]) {
		return 0, 0, false
	}
	stop = end + length
	for i := end; i < stop; i++ {
		if i < end+dot && !isAlnum(s[i]) || i > end+dot && !isHex(s[i]) {
			return 0, 0, false
		}
	}
	if stop < len(s) && isAlnum(s[stop]) || placeholder(s[at:stop]) || entropy(s[at:stop]) < 3 {
		return 0, 0, false
	}
	return at, stop, true
}
