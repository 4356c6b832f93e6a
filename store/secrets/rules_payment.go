package secrets

// paymentRules returns the rules for payment and shop providers.
func paymentRules() []Rule {
	return []Rule{
		{
			ID:          "stripe-api-key",
			Description: "Stripe secret or restricted key",
			Source:      "https://docs.stripe.com/keys",
			Keywords:    []string{"sk_live_", "sk_test_", "rk_live_", "rk_test_"},
			pattern:     `[sr]k_(?:live|test)_[A-Za-z0-9]{16,}`,
			check:       func(v string) bool { return !compositionOf(v[8:]).words },
		},
		{
			ID:          "stripe-webhook-secret",
			Description: "Stripe webhook signing secret",
			Source:      "https://docs.stripe.com/webhooks#verify-official-libraries",
			Keywords:    []string{"whsec_"},
			pattern:     `whsec_[A-Za-z0-9+/]{24,}={0,2}`,
			check:       func(v string) bool { return !compositionOf(v[6:]).words },
		},
		{
			ID:          "square-token",
			Description: "Square access token or application secret",
			Source:      "https://developer.squareup.com/docs/build-basics/access-tokens (tokens; prefixes observed)",
			Keywords:    []string{"sq0atp-", "sq0csp-", "EAAA"},
			pattern:     `(?:sq0atp-[A-Za-z0-9_-]{22}|sq0csp-[A-Za-z0-9_-]{43}|EAAA[A-Za-z0-9_-]{60})`,
			separate:    true,
			check:       func(v string) bool { return mixed(v) && entropy(v) > 3.5 },
		},
		{
			ID:          "braintree-access-token",
			Description: "PayPal Braintree access token",
			Source:      "https://developer.paypal.com/braintree/docs/guides/extend/oauth/access-tokens",
			Keywords:    []string{"access_token$"},
			pattern:     `access_token\$(?:production|sandbox)\$[0-9a-z]{16}\$[0-9a-f]{32}`,
		},
		{
			ID:          "adyen-api-key",
			Description: "Adyen API key",
			Source:      "https://docs.adyen.com/development-resources/api-credentials/",
			Keywords:    []string{"AQE"},
			pattern:     `AQE[A-Za-z0-9+/]{40,}={0,2}-[A-Za-z0-9+/]{30,}={0,2}-[^\s"'\x60<>\\]{6,32}`,
		},
		{
			ID:          "shopify-token",
			Description: "Shopify access token or app secret",
			Source:      "https://shopify.dev/changelog/length-of-the-shopify-access-token-is-increasing and https://shopify.dev/changelog/app-secret-key-length-has-increased",
			Keywords:    []string{"shpat_", "shpca_", "shppa_", "shpss_"},
			pattern:     `shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}`,
		},
	}
}
