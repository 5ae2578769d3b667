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
	Source   string   // the public page that says so
}

// Grant is what one tool of an agent may have.
type Grant struct {
	Command string
	Allow   []string
}

// Presets returns all presets, by name.
func Presets() []Preset { return presets[:] }

// PresetByName finds one.
func PresetByName(name string) (Preset, bool) {
	for i := range presets {
		if presets[i].Name == name {
			return presets[i], true
		}
	}
	return Preset{}, false
}

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
			"AIDER_*", "OPENAI_API_KEY", "OPENAI_API_BASE", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "GROQ_API_KEY", "COHERE_API_KEY", "DEEPSEEK_API_KEY", "OPENROUTER_API_KEY",
			"AZURE_API_KEY", "AZURE_API_BASE", "AZURE_API_VERSION", "XAI_API_KEY", "MISTRAL_API_KEY", "OLLAMA_API_BASE", "OLLAMA_API_KEY",
		},
		Grants:   forges,
		Commands: []string{"aider", "*/aider"},
		Images:   []string{"*paulgauthier/aider*", "*/aider:*", "*/aider", "*/aider-*"},
		Source:   "https://aider.chat/docs/config/dotenv.html",
	},
	{
		Name:     "amp",
		Doc:      "Amp",
		Keep:     []string{"AMP_API_KEY", "AMP_URL", "AMP_LOG_LEVEL", "AMP_SETTINGS_FILE"},
		Grants:   forges,
		Commands: []string{"amp", "*/amp"},
		Images:   []string{"*/amp:*", "*sourcegraph/amp*"},
		Source:   "https://ampcode.com/manual",
	},
	{
		Name: "claude-code",
		Doc:  "Claude Code: Anthropic's API, a gateway, Bedrock, Vertex or Foundry",
		Keep: []string{
			"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN", "ANTHROPIC_CUSTOM_HEADERS", "ANTHROPIC_FOUNDRY_API_KEY",
			"AWS_BEARER_TOKEN_BEDROCK", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE", "AWS_REGION",
			"GOOGLE_APPLICATION_CREDENTIALS", "ANTHROPIC_VERTEX_PROJECT_ID", "CLOUD_ML_REGION", "CLAUDE_CODE_CLIENT_KEY_PASSPHRASE",
			"ANTHROPIC_BASE_URL", "ANTHROPIC_*_BASE_URL", "ANTHROPIC_MODEL", "ANTHROPIC_*_MODEL", "CLAUDE_CONFIG_DIR", "CLAUDE_CODE_*", "OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_*_HEADERS",
		},
		Grants:   forges,
		Commands: []string{"claude", "*/claude", "*/claude-code/cli.js"},
		Images:   []string{"*claude-code*", "*/claude:*"},
		Source:   "https://code.claude.com/docs/en/env-vars",
	},
	{
		Name:     "codex",
		Doc:      "Codex CLI",
		Keep:     []string{"OPENAI_API_KEY", "CODEX_API_KEY", "CODEX_ACCESS_TOKEN", "OPENAI_BASE_URL", "OPENAI_ORGANIZATION", "OPENAI_PROJECT", "AZURE_OPENAI_API_KEY", "CODEX_HOME", "CODEX_SQLITE_HOME"},
		Grants:   forges,
		Commands: []string{"codex", "*/codex", "*/codex.js"},
		Images:   []string{"*openai/codex*", "*/codex:*", "*/codex-*"},
		Source:   "https://github.com/openai/codex/blob/main/docs/config.md",
	},
	{
		Name:     "copilot-cli",
		Doc:      "GitHub Copilot CLI; it reads gh's tokens too, so give it COPILOT_GITHUB_TOKEN and keep those for gh",
		Keep:     []string{"COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN", "GH_HOST", "COPILOT_HOME", "COPILOT_MODEL", "COPILOT_PROVIDER_*", "COPILOT_CACHE_HOME"},
		Grants:   forges,
		Commands: []string{"copilot", "*/copilot"},
		Images:   []string{"*copilot-cli*"},
		Source:   "https://docs.github.com/en/copilot/how-tos/copilot-cli/set-up-copilot-cli/authenticate-copilot-cli",
	},
	{
		Name: "crush",
		Doc:  "Crush",
		Keep: []string{
			"ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENROUTER_API_KEY", "GEMINI_API_KEY", "CEREBRAS_API_KEY", "HF_TOKEN", "VERTEXAI_PROJECT", "VERTEXAI_LOCATION", "GROQ_API_KEY",
			"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_REGION", "AWS_PROFILE", "AWS_BEARER_TOKEN_BEDROCK", "AZURE_OPENAI_API_ENDPOINT", "AZURE_OPENAI_API_KEY", "AZURE_OPENAI_API_VERSION",
		},
		Grants:   forges,
		Commands: []string{"crush", "*/crush"},
		Images:   []string{"*charmbracelet/crush*", "*/crush:*"},
		Source:   "https://github.com/charmbracelet/crush#readme",
	},
	{
		Name:     "cursor-agent",
		Doc:      "Cursor's agent on the command line",
		Keep:     []string{"CURSOR_API_KEY", "CURSOR_AUTH_TOKEN", "CURSOR_CONFIG_DIR"},
		Grants:   forges,
		Commands: []string{"cursor-agent", "*/cursor-agent"},
		Images:   []string{"*cursor-agent*"},
		Source:   "https://cursor.com/docs/cli/reference/authentication",
	},
	{
		Name: "gemini-cli",
		Doc:  "Gemini CLI: an API key, Vertex AI or Code Assist",
		Keep: []string{
			"GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_APPLICATION_CREDENTIALS", "GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION", "GOOGLE_CLOUD_ACCESS_TOKEN",
			"GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_GENAI_USE_GCA", "GEMINI_MODEL", "GEMINI_CLI_*", "CODE_ASSIST_ENDPOINT",
		},
		Grants:   forges,
		Commands: []string{"gemini", "*/gemini"},
		Images:   []string{"*gemini-cli*"},
		Source:   "https://github.com/google-gemini/gemini-cli/blob/main/docs/reference/configuration.md",
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
		Source:   "https://github.com/aaif-goose/goose/blob/main/documentation/docs/guides/environment-variables.md",
	},
	{
		Name: "opencode",
		Doc:  "OpenCode, with any of its providers",
		Keep: []string{
			"OPENCODE_*", "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY", "OPENROUTER_API_KEY", "GROQ_API_KEY", "XAI_API_KEY", "DEEPSEEK_API_KEY",
			"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE", "AWS_REGION", "AWS_BEARER_TOKEN_BEDROCK", "AZURE_API_KEY", "AZURE_RESOURCE_NAME", "GOOGLE_APPLICATION_CREDENTIALS", "GOOGLE_CLOUD_PROJECT", "VERTEX_LOCATION",
		},
		Grants:   forges,
		Commands: []string{"opencode", "*/opencode"},
		Images:   []string{"*opencode*"},
		Source:   "https://opencode.ai/docs/providers/",
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
		Name:     "qwen-code",
		Doc:      "Qwen Code",
		Keep:     []string{"OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_MODEL", "DASHSCOPE_API_KEY", "BAILIAN_CODING_PLAN_API_KEY", "QWEN_*"},
		Grants:   forges,
		Commands: []string{"qwen", "*/qwen"},
		Images:   []string{"*qwen-code*"},
		Source:   "https://github.com/QwenLM/qwen-code#readme",
	},
}
