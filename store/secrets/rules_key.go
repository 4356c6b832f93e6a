package secrets

// keyRules are the rules for private keys in files of their own.
func keyRules() []Rule {
	return []Rule{
		{
			ID:          "gcp-service-account-key",
			Description: "private key in the credentials file of a Google Cloud service account",
			Source:      "https://cloud.google.com/iam/docs/keys-create-delete",
			Keywords:    []string{"private_key"},
			findAll:     serviceAccountKey,
		},
		{
			ID:          "private-key",
			Description: "private key in PEM, OpenSSH, OpenPGP or SSH2 armour",
			Source:      "https://www.rfc-editor.org/rfc/rfc7468 and https://www.rfc-editor.org/rfc/rfc9580#section-6.2",
			Keywords:    []string{"PRIVATE KEY"},
			findAll:     pemBlock,
		},
		{
			ID:          "encoded-private-key",
			Description: "private key in PEM that is once more encoded, as in a kubeconfig file",
			Source:      "https://kubernetes.io/docs/reference/config-api/kubeconfig.v1/#AuthInfo",
			Keywords:    []string{"LS0tLS1CRUdJTi"},
			find:        encodedKey,
		},
		{
			ID:          "putty-private-key",
			Description: "private part of a PuTTY-User-Key-File",
			Source:      "https://the.earth.li/~sgtatham/putty/latest/htmldoc/AppendixC.html",
			Keywords:    []string{"Private-Lines:"},
			findAll:     puttyKey,
		},
		{
			ID:          "age-secret-key",
			Description: "age identity",
			Source:      "https://github.com/C2SP/C2SP/blob/main/age.md",
			Keywords:    []string{"AGE-SECRET-KEY-"},
			pattern:     `AGE-SECRET-KEY-(?:PQ-)?1[02-9AC-HJ-NP-Z]{58,}`,
		},
	}
}
