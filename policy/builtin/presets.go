package builtin

// Preset is what one agent program needs: the names that it, and it alone, may
// hold, and what its usual tools are granted. It is used where a policy names
// it, or says auto and the container's command or image is one of these.
type Preset struct {
	Name string
	Doc  string

	Keep     []string // names and globs for [agent] keep
	Grants   []Grant  // as [[spawn.rule]] entries
	Commands []string // globs over the container's command
	Images   []string // globs over the image's name
	Source   string   // the public page that says so, and what it was checked against: a published package or a file of a repository
}

// Grant is what one tool of an agent may have.
type Grant struct {
	Command string
	Allow   []string
}

// Presets returns all presets, by name.
func Presets() []Preset { return presets[:] }

// forges are granted to the clients of the hosts of a repository: without its
// token gh falls back to a store of its own, or asks at a terminal that is not
// there.
var forges = []Grant{
	{"*/gh", []string{"GH_TOKEN", "GITHUB_TOKEN", "GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN"}},
	{"*/glab", []string{"GITLAB_TOKEN", "GITLAB_ACCESS_TOKEN", "OAUTH_TOKEN"}},
}

var presets = [...]Preset{
	{
		Name: "aider",
		Doc:  "aider, with any of the providers that it reads keys for",
		Keep: []string{
			"AIDER_*", "OPENAI_API_KEY", "OPENAI_API_BASE", "OPENAI_API_TYPE", "OPENAI_API_VERSION", "OPENAI_API_DEPLOYMENT_ID", "OPENAI_ORGANIZATION_ID",
			"ANTHROPIC_API_KEY", "GEMINI_API_KEY", "GROQ_API_KEY", "COHERE_API_KEY", "DEEPSEEK_API_KEY", "OPENROUTER_API_KEY", "AZURE_API_KEY", "AZURE_API_BASE",
			"AZURE_API_VERSION", "XAI_API_KEY", "MISTRAL_API_KEY", "FIREWORKS_API_KEY", "OLLAMA_API_BASE", "OLLAMA_API_KEY",
		},
		Grants:   forges,
		Commands: []string{"aider", "*/aider"},
		Images:   []string{"*paulgauthier/aider*", "*/aider:*", "*/aider", "*/aider-*"},
		Source:   "https://aider.chat/docs/llms.html, and aider/website/docs/config/dotenv.md of github.com/Aider-AI/aider at 009c4dc",
	},
	{
		Name: "amp",
		Doc:  "Amp",
		Keep: []string{
			"AMP_API_KEY", "AMP_URL", "AMP_LOG_LEVEL", "AMP_LOG_FILE", "AMP_SETTINGS_FILE",
		},
		Grants:   forges,
		Commands: []string{"amp", "*/amp"},
		Images:   []string{"*/amp:*", "*sourcegraph/amp*"},
		Source:   "https://ampcode.com/manual, and the help of npm @ampcode/cli-linux-x64@0.0.1790142911-g7618fb",
	},
	{
		Name: "claude-code",
		Doc:  "Claude Code: Anthropic's API, a gateway, Bedrock, Vertex or Foundry",
		Keep: []string{
			"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN", "ANTHROPIC_CUSTOM_HEADERS", "ANTHROPIC_FOUNDRY_API_KEY",
			"ANTHROPIC_AWS_API_KEY", "ANTHROPIC_BEDROCK_MANTLE_API_KEY", "ANTHROPIC_IDENTITY_TOKEN", "AZURE_CLIENT_SECRET", "AWS_ACCESS_KEY_ID",
			"AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_BEARER_TOKEN_BEDROCK", "AWS_CONTAINER_AUTHORIZATION_TOKEN", "AWS_PROFILE", "AWS_REGION",
			"GOOGLE_APPLICATION_CREDENTIALS", "ANTHROPIC_VERTEX_PROJECT_ID", "CLOUD_ML_REGION", "ANTHROPIC_BASE_URL", "ANTHROPIC_*_BASE_URL", "ANTHROPIC_MODEL",
			"ANTHROPIC_*_MODEL", "CLAUDE_CONFIG_DIR", "CLAUDE_CODE_*", "OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_*_HEADERS",
		},
		Grants:   forges,
		Commands: []string{"claude", "*/claude", "*/claude-code/cli.js"},
		Images:   []string{"*claude-code*", "*/claude:*"},
		Source:   "https://code.claude.com/docs/en/env-vars, and the names in npm @anthropic-ai/claude-code-linux-x64@2.1.197",
	},
	{
		Name: "codex",
		Doc:  "Codex CLI",
		Keep: []string{
			"OPENAI_API_KEY", "CODEX_API_KEY", "CODEX_ACCESS_TOKEN", "OPENAI_BASE_URL", "OPENAI_ORGANIZATION", "AZURE_OPENAI_API_KEY",
			"AWS_BEARER_TOKEN_BEDROCK", "CODEX_HOME", "CODEX_SQLITE_HOME", "CODEX_CA_CERTIFICATE", "OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_*_HEADERS",
		},
		Grants:   forges,
		Commands: []string{"codex", "*/codex", "*/codex.js"},
		Images:   []string{"*openai/codex*", "*/codex:*", "*/codex-*"},
		Source:   "https://github.com/openai/codex/blob/main/docs/config.md (AZURE_OPENAI_API_KEY is its example of env_key), and the names in npm @openai/codex@0.171.0-linux-x64",
	},
	{
		Name: "copilot-cli",
		Doc:  "GitHub Copilot CLI; it reads gh's tokens too, so give it COPILOT_GITHUB_TOKEN and keep those for gh",
		Keep: []string{
			"COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN", "GH_HOST", "COPILOT_GH_HOST", "COPILOT_HOME", "COPILOT_MODEL", "COPILOT_PROVIDER_*",
			"OTEL_EXPORTER_OTLP_HEADERS",
		},
		Grants:   forges,
		Commands: []string{"copilot", "*/copilot"},
		Images:   []string{"*copilot-cli*"},
		Source:   "https://docs.github.com/en/copilot/how-tos/copilot-cli/set-up-copilot-cli/authenticate-copilot-cli, and the help of npm @github/copilot-linux-x64@1.0.102",
	},
	{
		Name: "crush",
		Doc:  "Crush",
		Keep: []string{
			"HYPER_API_KEY", "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "VERCEL_API_KEY", "GEMINI_API_KEY", "ZAI_API_KEY", "MINIMAX_API_KEY", "SYNTHETIC_API_KEY",
			"HF_TOKEN", "CEREBRAS_API_KEY", "OPENROUTER_API_KEY", "IONET_API_KEY", "ALIBABA_SINGAPORE_API_KEY", "ALIBABA_US_API_KEY", "GROQ_API_KEY",
			"AVIAN_API_KEY", "OPENCODE_API_KEY", "MOONSHOT_API_KEY", "DEEPSEEK_API_KEY", "VERTEXAI_PROJECT", "VERTEXAI_LOCATION",
			"GOOGLE_APPLICATION_CREDENTIALS", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_BEARER_TOKEN_BEDROCK",
			"AWS_CONTAINER_AUTHORIZATION_TOKEN", "AWS_PROFILE", "AWS_REGION", "AZURE_OPENAI_API_ENDPOINT", "AZURE_OPENAI_API_KEY", "AZURE_OPENAI_API_VERSION",
			"CRUSH_GLOBAL_CONFIG", "CRUSH_GLOBAL_DATA",
		},
		Grants:   forges,
		Commands: []string{"crush", "*/crush"},
		Images:   []string{"*charmbracelet/crush*", "*/crush:*"},
		Source:   "https://github.com/charmbracelet/crush#readme, and the README of npm @charmland/crush@0.96.1",
	},
	{
		Name:     "cursor-agent",
		Doc:      "Cursor's agent on the command line",
		Keep:     []string{"CURSOR_API_KEY", "CURSOR_AUTH_TOKEN", "CURSOR_CONFIG_DIR"},
		Grants:   forges,
		Commands: []string{"cursor-agent", "*/cursor-agent"},
		Images:   []string{"*cursor-agent*"},
		Source:   "https://cursor.com/docs/cli/reference/authentication (its program is published nowhere but on its own site; not checked against it)",
	},
	{
		Name: "gemini-cli",
		Doc:  "Gemini CLI: an API key, Vertex AI or Code Assist",
		Keep: []string{
			"GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_APPLICATION_CREDENTIALS", "GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION", "GOOGLE_CLOUD_ACCESS_TOKEN",
			"GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_GENAI_USE_GCA", "GOOGLE_GEMINI_BASE_URL", "GOOGLE_VERTEX_BASE_URL", "GEMINI_MODEL", "GEMINI_CLI_*",
			"CODE_ASSIST_ENDPOINT", "OTEL_EXPORTER_OTLP_HEADERS",
		},
		Grants:   forges,
		Commands: []string{"gemini", "*/gemini"},
		Images:   []string{"*gemini-cli*"},
		Source:   "https://github.com/google-gemini/gemini-cli/blob/main/docs/reference/configuration.md, and the names in npm @google/gemini-cli@0.61.0",
	},
	{
		Name: "goose",
		Doc:  "goose",
		Keep: []string{
			"GOOSE_*", "OPENAI_API_KEY", "OPENAI_HOST", "OPENAI_BASE_PATH", "OPENAI_ORGANIZATION", "OPENAI_PROJECT", "ANTHROPIC_API_KEY", "ANTHROPIC_HOST", "GOOGLE_API_KEY", "GROQ_API_KEY",
			"OPENROUTER_API_KEY", "DATABRICKS_HOST", "DATABRICKS_TOKEN", "AZURE_OPENAI_API_KEY", "AZURE_OPENAI_ENDPOINT", "AZURE_OPENAI_DEPLOYMENT_NAME", "OLLAMA_HOST", "XAI_API_KEY",
		},
		Grants:   forges,
		Commands: []string{"goose", "*/goose", "*/goosed"},
		Images:   []string{"*block/goose*", "*aaif-goose/goose*", "*/goose:*"},
		Source:   "https://github.com/aaif-goose/goose/blob/main/documentation/docs/guides/environment-variables.md, at 3b6a7c9",
	},
	{
		Name: "opencode",
		Doc:  "OpenCode, with any of its providers",
		Keep: []string{
			"OPENCODE_*", "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY", "GOOGLE_VERTEX_API_KEY",
			"OPENROUTER_API_KEY", "GROQ_API_KEY", "XAI_API_KEY", "DEEPSEEK_API_KEY", "MISTRAL_API_KEY", "CEREBRAS_API_KEY", "COHERE_API_KEY",
			"PERPLEXITY_API_KEY", "FIREWORKS_API_KEY", "TOGETHER_API_KEY", "DEEPINFRA_API_KEY", "MOONSHOT_API_KEY", "MINIMAX_API_KEY", "ZHIPU_API_KEY",
			"DASHSCOPE_API_KEY", "NVIDIA_API_KEY", "AI_GATEWAY_API_KEY", "HF_TOKEN", "OLLAMA_API_KEY", "CLOUDFLARE_API_TOKEN", "CLOUDFLARE_ACCOUNT_ID",
			"AICORE_SERVICE_KEY", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_BEARER_TOKEN_BEDROCK",
			"AWS_CONTAINER_AUTHORIZATION_TOKEN", "AWS_PROFILE", "AWS_REGION", "AZURE_API_KEY", "AZURE_COGNITIVE_SERVICES_API_KEY", "AZURE_RESOURCE_NAME",
			"GOOGLE_APPLICATION_CREDENTIALS", "GOOGLE_CLOUD_PROJECT", "VERTEX_LOCATION",
		},
		Grants:   forges,
		Commands: []string{"opencode", "*/opencode"},
		Images:   []string{"*opencode*"},
		Source:   "https://opencode.ai/docs/providers/ (the better known of some 200 providers), and the names in npm opencode-linux-x64@1.18.33",
	},
	{
		Name:     "openhands",
		Doc:      "OpenHands",
		Keep:     []string{"LLM_*", "OPENHANDS_*", "OH_*", "SESSION_API_KEY", "SANDBOX_*", "AGENT_*", "JWT_SECRET", "SEARCH_API_KEY"},
		Grants:   forges,
		Commands: []string{"openhands", "*/openhands"},
		Images:   []string{"*openhands/openhands*", "*openhandsai/openhands*", "*all-hands-ai/openhands*", "*openhands/agent-server*"},
		Source:   "https://docs.openhands.dev/openhands/usage/environment-variables",
	},
	{
		Name: "qwen-code",
		Doc:  "Qwen Code",
		Keep: []string{
			"OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_MODEL", "DASHSCOPE_API_KEY", "BAILIAN_CODING_PLAN_API_KEY", "BAILIAN_TOKEN_PLAN_API_KEY", "QWEN_*",
			"ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "GEMINI_API_KEY", "GOOGLE_API_KEY", "DEEPSEEK_API_KEY", "OPENROUTER_API_KEY", "ZAI_API_KEY",
			"MINIMAX_API_KEY", "IDEALAB_API_KEY",
		},
		Grants:   forges,
		Commands: []string{"qwen", "*/qwen"},
		Images:   []string{"*qwen-code*"},
		Source:   "https://github.com/QwenLM/qwen-code#readme, and the names in npm @qwen-code/qwen-code@0.15.10",
	},
}
