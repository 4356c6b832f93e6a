package model

// A rule is one row of the table: what names that begin alike stand for.
type rule struct {
	name   string // lower case, without provider; in Claude's names a hyphen for each dot
	vendor string
	window int // tokens
	input  int // tokens that a request may have of them; 0: all
	long   int // window if the name ends in "[1m]"; 0: window

	// claudeCode is the window in Claude Code without "[1m]", by the list of
	// models that 2.1.330 carries; 0: window.
	claudeCode int

	count  counting
	source string // of window and input; each read on 2026-11-22
}

// counting is how a vendor's tokens compare with those of o200k_base.
type counting struct {
	exact  bool
	factor float64
	source string
}

// The factors that were measured on real conversations: how the input tokens that
// the vendor reported grew from one request to the next, over the o200k_base
// tokens of what was added, for additions of at least 1,500. Where the vendor's
// table of tokens is public, the conversations' texts were counted with that.
var (
	o200k      = counting{true, 1, "https://github.com/openai/tiktoken (o200k_base)"}
	o200kGPT53 = counting{true, 1, "measured: 1.000 over 27 requests to gpt-5.3-codex, 96,000 tokens"}
	cl100k     = counting{false, 1.3, "measured: cl100k_base has 1.003 of code and Markdown, 1.30 of Chinese and Japanese"}
	openAI     = counting{false, 1.1, "taken as o200k_base and a tenth: OpenAI does not say"}

	claude4 = counting{false, 1.2, "measured: 1.14 to 1.17 over 122 requests to four models up to Claude 4.6, 645,000 tokens; three quarters below 1.21"}
	// The page says about 1.3 times the tokens of the models before; others quote
	// Anthropic's notes on Claude 4.7 with up to 1.35, and counted 1.33 for what
	// Claude Code sends.
	claude47 = counting{false, UnknownFactor, "about 1.3 times as before: https://platform.claude.com/docs/en/models/haiku-5-5/overview; up to 1.35: https://sol.ava.dev/writings/2026-04-17-opus-4-7-tokenizer.html; 1.33: https://www.claudecodecamp.com/p/i-measured-claude-4-7-s-new-tokenizer-here-s-what-it-costs-you"}

	gemini  = counting{false, 1.3, "measured: 1.28 over 24 requests to gemini-3-pro-preview, 194,000 tokens; 1.16 with Gemini's public table"}
	llama3  = counting{false, 1.05, "measured: 1.00 with Llama 3.1's table over 24 conversations, 716,000 tokens; 1.01 at most"}
	qwen    = counting{false, 1.15, "measured: 1.07 with Qwen3's table over 24 conversations, 716,000 tokens; 1.12 at most"}
	unknown = counting{false, 1.3, "not known: the largest that was measured of others than Claude"}
)

// Pages that several rows are from. openCode is a list, kept by OpenCode's makers
// from the vendors' pages, that the program carries and fetches anew.
const (
	claudePages = "https://platform.claude.com/docs/en/models/"
	claudeHelp  = "https://support.claude.com/articles/8606395 (1M with Opus 4.6, Sonnet 4.5 and Sonnet 4, 200K with all others)"
	claudeAlias = "https://docs.claude.com/en/docs/claude-code/model-config (1M with [1m]; without, the least that the alias may stand for)"
	openCode    = "https://models.opencode.ai, as OpenCode 1.18.33 carries it"
	openAIPages = "https://developers.openai.com/api/docs/models/"
	geminiPages = "https://ai.google.dev/gemini-api/docs/models/"
)

const (
	k200  = 200_000
	m1    = 1_000_000
	mi1   = 1_048_576
	ki256 = 262_144

	gpt5Input  = 272_000 // of 400,000: 128,000 are for the answer
	gpt54Input = 922_000 // of 1,050,000
)

var rules = []rule{
	{name: "claude-3", vendor: "Anthropic", window: k200, count: claude4, source: claudeHelp},
	{name: "claude-3-5", vendor: "Anthropic", window: k200, count: claude4, source: claudeHelp},
	{name: "claude-3-7", vendor: "Anthropic", window: k200, count: claude4, source: claudeHelp},
	{name: "claude-opus-4", vendor: "Anthropic", window: k200, count: claude4, source: claudeHelp},
	{name: "claude-opus-4-0", vendor: "Anthropic", window: k200, count: claude4, source: claudeHelp},
	{name: "claude-opus-4-1", vendor: "Anthropic", window: k200, count: claude4, source: claudeHelp},
	{name: "claude-opus-4-5", vendor: "Anthropic", window: k200, count: claude4, source: claudePages + "opus-4-5/overview"},
	{name: "claude-opus-4-6", vendor: "Anthropic", window: m1, long: m1, claudeCode: k200, count: claude4, source: claudePages + "opus-4-6/overview"},
	{name: "claude-opus-4-7", vendor: "Anthropic", window: m1, count: claude47, source: "https://docs.aws.amazon.com/bedrock/latest/userguide/model-card-anthropic-claude-opus-4-7.md"},
	{name: "claude-opus-4-8", vendor: "Anthropic", window: m1, count: claude47, source: claudePages + "opus-4-8/overview"},
	{name: "claude-opus-5", vendor: "Anthropic", window: m1, count: claude47, source: claudePages + "opus-5/overview"},
	{name: "claude-opus-5-5", vendor: "Anthropic", window: m1, count: claude47, source: claudePages + "haiku-5-5/overview (its table of models)"},
	{name: "claude-sonnet-4", vendor: "Anthropic", window: k200, long: m1, count: claude4, source: claudeHelp},
	{name: "claude-sonnet-4-0", vendor: "Anthropic", window: k200, long: m1, count: claude4, source: claudeHelp},
	{name: "claude-sonnet-4-5", vendor: "Anthropic", window: k200, long: m1, count: claude4, source: claudePages + "sonnet-4-5/overview; with [1m]: " + claudeHelp},
	{name: "claude-sonnet-4-6", vendor: "Anthropic", window: m1, long: m1, claudeCode: k200, count: claude4, source: claudePages + "sonnet-4-6/overview"},
	{name: "claude-sonnet-5", vendor: "Anthropic", window: m1, count: claude47, source: claudePages + "sonnet-5/overview"},
	{name: "claude-sonnet-5-5", vendor: "Anthropic", window: m1, count: claude47, source: claudePages + "haiku-5-5/overview (its table of models)"},
	{name: "claude-haiku-4-5", vendor: "Anthropic", window: k200, count: claude4, source: claudePages + "haiku-4-5/overview"},
	{name: "claude-haiku-5-5", vendor: "Anthropic", window: m1, count: claude47, source: claudePages + "haiku-5-5/overview"},
	{name: "claude-fable-5", vendor: "Anthropic", window: m1, count: claude47, source: claudePages + "fable-5/overview"},
	{name: "claude-fable-5-1", vendor: "Anthropic", window: m1, count: claude47, source: claudePages + "haiku-5-5/overview (its table of models)"},
	{name: "claude-mythos-5", vendor: "Anthropic", window: m1, count: claude47, source: claudePages + "fable-5/overview (as Fable 5)"},
	{name: "opus", vendor: "Anthropic", window: k200, long: m1, count: claude47, source: claudeAlias},
	{name: "sonnet", vendor: "Anthropic", window: k200, long: m1, count: claude47, source: claudeAlias},
	{name: "haiku", vendor: "Anthropic", window: k200, count: claude47, source: claudeAlias},

	{name: "gpt-3.5-turbo", vendor: "OpenAI", window: 16_385, count: cl100k, source: openCode},
	{name: "gpt-4", vendor: "OpenAI", window: 8_192, count: cl100k, source: openCode},
	{name: "gpt-4-turbo", vendor: "OpenAI", window: 128_000, count: cl100k, source: openCode},
	{name: "gpt-4o", vendor: "OpenAI", window: 128_000, count: o200k, source: openCode},
	{name: "gpt-4.1", vendor: "OpenAI", window: 1_047_576, count: o200k, source: openCode},
	{name: "o1", vendor: "OpenAI", window: k200, count: o200k, source: openCode},
	{name: "o3", vendor: "OpenAI", window: k200, count: o200k, source: openCode},
	{name: "o4-mini", vendor: "OpenAI", window: k200, count: o200k, source: openCode},
	{name: "codex-mini", vendor: "OpenAI", window: k200, count: o200k, source: openAIPages + "codex-mini-latest"},
	{name: "gpt-5", vendor: "OpenAI", window: 400_000, input: gpt5Input, count: o200k, source: openAIPages + "gpt-5-codex; input: " + openCode},
	{name: "gpt-5.1", vendor: "OpenAI", window: 400_000, input: gpt5Input, count: o200k, source: openCode},
	{name: "gpt-5.2", vendor: "OpenAI", window: 400_000, input: gpt5Input, count: o200k, source: openCode},
	{name: "gpt-5.2-chat", vendor: "OpenAI", window: 128_000, count: o200k, source: openCode},
	{name: "gpt-5.3-chat", vendor: "OpenAI", window: 128_000, count: o200kGPT53, source: openCode},
	{name: "gpt-5.3-codex", vendor: "OpenAI", window: 400_000, input: gpt5Input, count: o200kGPT53, source: openCode},
	{name: "gpt-5.3-codex-spark", vendor: "OpenAI", window: 128_000, input: 100_000, count: o200kGPT53, source: openCode},
	{name: "gpt-5.4", vendor: "OpenAI", window: 1_050_000, input: gpt54Input, count: openAI, source: openCode},
	{name: "gpt-5.4-mini", vendor: "OpenAI", window: 400_000, input: gpt5Input, count: openAI, source: openCode},
	{name: "gpt-5.4-nano", vendor: "OpenAI", window: 400_000, input: gpt5Input, count: openAI, source: openCode},
	{name: "gpt-5.5", vendor: "OpenAI", window: 1_050_000, input: gpt54Input, count: openAI, source: openCode},
	{name: "gpt-5.6", vendor: "OpenAI", window: 1_050_000, input: gpt54Input, count: openAI, source: openCode},
	{name: "gpt-6-astra", vendor: "OpenAI", window: 1_050_000, input: gpt54Input, count: openAI, source: openCode},
	{name: "gpt-6-luna", vendor: "OpenAI", window: 1_050_000, input: gpt54Input, count: openAI, source: openCode},
	{name: "gpt-6-sol", vendor: "OpenAI", window: 1_050_000, input: gpt54Input, count: openAI, source: openCode},
	{name: "gpt-oss", vendor: "OpenAI", window: 128_000, count: openAI, source: openCode},

	{name: "gemini-2.0-flash", vendor: "Google", window: mi1, count: gemini, source: geminiPages + "gemini-2.0-flash"},
	{name: "gemini-2.5-pro", vendor: "Google", window: mi1, count: gemini, source: "https://docs.cloud.google.com/gemini-enterprise-agent-platform/models/gemini/2-5-pro"},
	{name: "gemini-2.5-flash", vendor: "Google", window: mi1, count: gemini, source: openCode},
	{name: "gemini-2.5-flash-image", vendor: "Google", window: 32_768, count: gemini, source: openCode},
	{name: "gemini-3-pro", vendor: "Google", window: mi1, count: gemini, source: geminiPages + "gemini-3-pro-preview"},
	{name: "gemini-3-pro-image", vendor: "Google", window: 65_536, count: gemini, source: openCode},
	{name: "gemini-3-flash", vendor: "Google", window: mi1, count: gemini, source: openCode},
	{name: "gemini-3.1-pro", vendor: "Google", window: mi1, count: gemini, source: geminiPages + "gemini-3.1-pro-preview"},
	{name: "gemini-3.1-flash-lite", vendor: "Google", window: mi1, count: gemini, source: openCode},
	{name: "gemini-3.1-flash-lite-image", vendor: "Google", window: 65_536, count: gemini, source: openCode},
	{name: "gemini-3.5-flash", vendor: "Google", window: mi1, count: gemini, source: openCode},
	{name: "gemini-3.6-flash", vendor: "Google", window: mi1, count: gemini, source: openCode},
	{name: "gemini-3.7-flash", vendor: "Google", window: mi1, count: gemini, source: openCode},
	{name: "gemini-3.8-flash", vendor: "Google", window: mi1, count: gemini, source: openCode},
	{name: "gemini-flash", vendor: "Google", window: mi1, count: gemini, source: openCode},
	{name: "gemma-4", vendor: "Google", window: ki256, count: gemini, source: openCode},
	{name: "gemma4:31b", vendor: "Google", window: ki256, count: gemini, source: openCode},

	{name: "big-pickle", vendor: "OpenCode", window: k200, input: 160_000, count: unknown, source: openCode},
	{name: "grok-code", vendor: "xAI", window: 256_000, count: unknown, source: openCode},
	{name: "grok-build-0.1", vendor: "xAI", window: 256_000, count: unknown, source: openCode},
	{name: "grok-4.3", vendor: "xAI", window: m1, count: unknown, source: openCode},
	{name: "grok-4.5", vendor: "xAI", window: 500_000, count: unknown, source: openCode},
	{name: "grok-4.6", vendor: "xAI", window: 500_000, count: unknown, source: openCode},
	{name: "grok-4.7", vendor: "xAI", window: 500_000, count: unknown, source: openCode},

	// Qwen2.5-Coder takes 131,072 tokens with settings that a server does not have
	// by itself.
	{name: "qwen2.5-coder", vendor: "Alibaba", window: 32_768, count: qwen, source: "https://huggingface.co/Qwen/Qwen2.5-Coder-32B-Instruct (config.json as it is)"},
	{name: "qwen-2.5-coder", vendor: "Alibaba", window: 32_768, count: qwen, source: "https://huggingface.co/Qwen/Qwen2.5-Coder-32B-Instruct (config.json as it is)"},
	{name: "qwen3-coder", vendor: "Alibaba", window: ki256, count: qwen, source: "https://huggingface.co/Qwen/Qwen3-Coder-480B-A35B-Instruct"},
	{name: "qwen3-coder-plus", vendor: "Alibaba", window: mi1, count: qwen, source: openCode},
	{name: "qwen3-coder-flash", vendor: "Alibaba", window: m1, count: qwen, source: openCode},
	{name: "qwen3-max", vendor: "Alibaba", window: ki256, count: qwen, source: openCode},
	{name: "qwen3.5", vendor: "Alibaba", window: ki256, count: unknown, source: openCode},
	{name: "qwen3.6", vendor: "Alibaba", window: ki256, count: unknown, source: openCode},
	{name: "qwen3.8-max", vendor: "Alibaba", window: ki256, count: unknown, source: openCode},
	{name: "qwen3.8-flash", vendor: "Alibaba", window: m1, count: unknown, source: openCode},

	{name: "deepseek-flash", vendor: "DeepSeek", window: m1, count: unknown, source: "https://api-docs.deepseek.com/quick_start/pricing"},
	{name: "deepseek-v4-flash", vendor: "DeepSeek", window: m1, count: unknown, source: "https://api-docs.deepseek.com/quick_start/pricing"},
	{name: "deepseek-v4-flash-free", vendor: "DeepSeek", window: k200, count: unknown, source: openCode},
	{name: "deepseek-v4-pro", vendor: "DeepSeek", window: m1, count: unknown, source: "https://api-docs.deepseek.com/quick_start/pricing"},
	{name: "deepseek-v4.1-flash", vendor: "DeepSeek", window: m1, count: unknown, source: openCode},

	{name: "kimi-k2", vendor: "Moonshot AI", window: 128_000, count: unknown, source: "https://novita.ai/models/model-detail/moonshotai-kimi-k2-0905 (256k from 0905 on, before 128k)"},
	{name: "kimi-k2-0905", vendor: "Moonshot AI", window: ki256, count: unknown, source: "https://novita.ai/models/model-detail/moonshotai-kimi-k2-0905"},
	{name: "kimi-k2-thinking", vendor: "Moonshot AI", window: ki256, count: unknown, source: openCode},
	{name: "kimi-k2.5", vendor: "Moonshot AI", window: ki256, count: unknown, source: openCode},
	{name: "kimi-k2.6", vendor: "Moonshot AI", window: ki256, count: unknown, source: openCode},
	{name: "kimi-k2.7-code", vendor: "Moonshot AI", window: ki256, count: unknown, source: openCode},
	{name: "kimi-k3", vendor: "Moonshot AI", window: mi1, count: unknown, source: openCode},

	{name: "glm-4.5", vendor: "Z.ai", window: 131_072, count: unknown, source: openCode},
	{name: "glm-4.6", vendor: "Z.ai", window: k200, count: unknown, source: "https://inference.readthedocs.io/en/v2.10.0/models/builtin/llm/glm-4.6.html (up to 200K)"},
	{name: "glm-4.7", vendor: "Z.ai", window: k200, count: unknown, source: openCode},
	{name: "glm-5", vendor: "Z.ai", window: k200, count: unknown, source: openCode},
	{name: "glm-5.1", vendor: "Z.ai", window: k200, count: unknown, source: openCode},
	{name: "glm-5.2", vendor: "Z.ai", window: 976_000, count: unknown, source: openCode},
	{name: "glm-5.3", vendor: "Z.ai", window: m1, count: unknown, source: openCode},

	{name: "minimax-m2", vendor: "MiniMax", window: 196_608, count: unknown, source: openCode},
	{name: "minimax-m2.1", vendor: "MiniMax", window: 196_608, count: unknown, source: openCode},
	{name: "minimax-m2.5", vendor: "MiniMax", window: 196_608, count: unknown, source: openCode},
	{name: "minimax-m2.7", vendor: "MiniMax", window: 196_608, count: unknown, source: openCode},
	{name: "minimax-m3", vendor: "MiniMax", window: 512_000, count: unknown, source: openCode},
	{name: "minimax-m3-free", vendor: "MiniMax", window: k200, count: unknown, source: openCode},

	{name: "devstral-2512", vendor: "Mistral", window: ki256, count: unknown, source: "https://openrouter.ai/mistralai/devstral-2512"},
	{name: "devstral-small-2507", vendor: "Mistral", window: 128_000, count: unknown, source: openCode},
	{name: "codestral", vendor: "Mistral", window: 256_000, count: unknown, source: openCode},
	{name: "mistral-large-2512", vendor: "Mistral", window: ki256, count: unknown, source: openCode},
	{name: "mistral-medium-2604", vendor: "Mistral", window: ki256, count: unknown, source: openCode},

	{name: "llama3.1", vendor: "Meta", window: 128_000, count: llama3, source: "https://inference.readthedocs.io/en/v1.1.0/models/builtin/llm/llama-3.1.html"},
	{name: "llama-3.1", vendor: "Meta", window: 128_000, count: llama3, source: "https://inference.readthedocs.io/en/v1.1.0/models/builtin/llm/llama-3.1.html"},
	{name: "llama3.3", vendor: "Meta", window: 128_000, count: llama3, source: openCode},
	{name: "llama-3.3", vendor: "Meta", window: 128_000, count: llama3, source: openCode},
	{name: "llama-4", vendor: "Meta", window: 128_000, count: unknown, source: openCode},
}
