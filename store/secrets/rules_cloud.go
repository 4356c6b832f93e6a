package secrets

// cloudRules returns the rules for large cloud providers.
func cloudRules() []Rule {
	return []Rule{
		{
			ID:          "aws-access-key",
			Description: "AWS access key id",
			Source:      "https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_identifiers.html#identifiers-unique-ids",
			Keywords:    []string{"AKIA", "ASIA", "ABIA"},
			pattern:     `A[KSB]IA[A-Z0-9]{16}`,
			separate:    true,
		},
		{
			ID:          "aws-secret-key",
			Description: "AWS secret access key, behind its name or next to its key id",
			Source:      "https://docs.aws.amazon.com/IAM/latest/UserGuide/id_credentials_access-keys.html",
			Keywords: []string{
				"aws_secret", "aws-secret", "awssecret", "secret_access_key", "secret-access-key", "secretaccesskey",
				"secret access key", "secret_key", "secretkey", "akia", "asia",
			},
			Fold: true,
			find: awsSecretKey,
		},
		{
			ID:          "aws-session-token",
			Description: "AWS session token",
			Source:      "https://docs.aws.amazon.com/STS/latest/APIReference/API_Credentials.html",
			Keywords: []string{
				"session_token", "session-token", "sessiontoken", "security_token", "security-token", "securitytoken",
			},
			Fold:    true,
			named:   true,
			pattern: `[A-Za-z0-9/+]{100,}(?:%3[Dd]|=){0,2}`,
			check:   mixed,
		},
		{
			ID:          "aws-bedrock-api-key",
			Description: "Amazon Bedrock API key",
			Source:      "https://docs.aws.amazon.com/bedrock/latest/userguide/api-keys.html",
			Keywords:    []string{"ABSKQmVkcm9ja0FQSUtleS", "bedrock-api-key-"},
			pattern:     `(?:ABSKQmVkcm9ja0FQSUtleS|bedrock-api-key-)[A-Za-z0-9+/]{60,}={0,2}`,
		},
		{
			ID:          "gcp-api-key",
			Description: "Google API key, as for Maps, Firebase and Gemini",
			Source:      "https://cloud.google.com/docs/authentication/api-keys",
			Keywords:    []string{"AIza"},
			pattern:     `AIza[A-Za-z0-9_-]{35}`,
			separate:    true,
		},
		{
			ID:          "google-oauth-client-secret",
			Description: "Google OAuth client secret",
			Source:      "observed; the secret is documented at https://developers.google.com/identity/protocols/oauth2/web-server",
			Keywords:    []string{"GOCSPX-"},
			pattern:     `GOCSPX-[A-Za-z0-9_-]{28}`,
		},
		{
			ID:          "google-oauth-token",
			Description: "Google OAuth access or refresh token",
			Source:      "https://developers.google.com/identity/protocols/oauth2 (sizes); prefixes observed in its examples",
			Keywords:    []string{"ya29.", "1//0"},
			pattern:     `(?:ya29\.[A-Za-z0-9._-]{20,}[A-Za-z0-9_-]|1//0[A-Za-z0-9_-]{40,})`,
		},
		{
			ID:          "azure-storage-key",
			Description: "Azure storage account key or shared access key in a connection string",
			Source:      "https://learn.microsoft.com/en-us/azure/storage/common/storage-configure-connection-string",
			Keywords:    []string{"accountkey", "account_key", "sharedaccesskey", "shared_access_key"},
			Fold:        true,
			named:       true,
			pattern:     `[A-Za-z0-9+/]{42,86}={1,2}`,
		},
		{
			ID:          "azure-sas-signature",
			Description: "signature of an Azure shared access signature",
			Source:      "https://learn.microsoft.com/en-us/rest/api/storageservices/create-service-sas",
			Keywords:    []string{"sig="},
			pattern:     `sig=([A-Za-z0-9%+/]{43,64}(?:%3[Dd]|=))`,
		},
		{
			ID:          "azure-client-secret",
			Description: "Microsoft Entra client secret",
			Source:      "https://learn.microsoft.com/en-us/purview/sit-defn-azure-ad-client-secret",
			Keywords:    []string{"0Q~", "1Q~", "2Q~", "3Q~", "4Q~", "5Q~", "6Q~", "7Q~", "8Q~", "9Q~"},
			pattern:     `[A-Za-z0-9_.~-]{3}\dQ~[A-Za-z0-9_.~-]{31,34}`,
			before:      3,
			lead:        wordBytes + ".~",
		},
		{
			ID:          "azure-annotated-key",
			Description: "Azure key with the mark of the key format of several Azure services",
			Source:      "observed; the format is implemented in https://github.com/microsoft/security-utilities",
			Keywords:    []string{"JQQJ9"},
			pattern:     `[A-Za-z0-9]{52}JQQJ9[A-Za-z0-9]{27}`,
			before:      52,
			lead:        wordBytes,
		},
		{
			ID:          "azure-devops-token",
			Description: "Azure DevOps personal access token",
			Source:      "https://learn.microsoft.com/en-us/azure/devops/organizations/accounts/use-personal-access-tokens-to-authenticate",
			Keywords:    []string{"AZDO"},
			pattern:     `[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}`,
			before:      76,
			lead:        wordBytes,
		},
		{
			ID:          "alibaba-access-key",
			Description: "Alibaba Cloud AccessKey id",
			Source:      "observed; the key is documented at https://www.alibabacloud.com/help/en/ram/user-guide/create-an-accesskey-pair",
			Keywords:    []string{"LTAI"},
			pattern:     `LTAI[A-Za-z0-9]{12,26}`,
			separate:    true,
			check:       notWords,
		},
		{
			ID:          "alibaba-secret-key",
			Description: "Alibaba Cloud AccessKey secret, behind its name",
			Source:      "observed; the key is documented at https://www.alibabacloud.com/help/en/ram/user-guide/create-an-accesskey-pair",
			Keywords:    []string{"aliyun", "alibaba", "accesskeysecret", "access_key_secret", "access-key-secret"},
			Fold:        true,
			named:       true,
			pattern:     `[A-Za-z0-9]{30}`,
			check:       mixed,
		},
	}
}

// awsSecretKey finds the secret access key after one of its names, or after an access key
// id. s[at:end] is the name or the beginning of the id.
func awsSecretKey(s string, at, end int) (start, stop int, ok bool) {
	limit := 64
	if end-at == 4 {
		if at > 0 && isAlnum(s[at-1]) || s[at] != 'A' || s[at+3] != 'A' {
			return 0, 0, false
		}
		end += 16
		if limit = 120; end > len(s) {
			return 0, 0, false
		}
		for _, c := range []byte(s[at+4 : end]) {
			if !isDigit(c) && (c < 'A' || c > 'Z') {
				return 0, 0, false
			}
		}
	}
	given, quiet := end-at == 20, true
	for i := end; i < len(s) && i < end+limit; i++ {
		if !isBase64(s[i]) {
			given = given || s[i] == '=' || s[i] == ':' || s[i] == ','
			quiet = quiet && (s[i] == ' ' || isQuote(s[i]))
			continue
		}
		start = i
		for i < len(s) && i-start <= 41 && isBase64(s[i]) {
			i++
		}
		if i-start != 40 || i < len(s) && (s[i] == '=' || s[i] == '_' || s[i] == '-') {
			quiet = quiet && start == end // the rest of the name
			continue
		}
		v := s[start:i]
		return start, i, (given || quiet && start > end) && mixed(v) && entropy(v) > 4 && !placeholder(v)
	}
	return 0, 0, false
}
