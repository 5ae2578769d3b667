package builtin

import (
	"strings"
	"testing"
)

// What the public agent command lines take from the programs that they start is removed here too, and what
// they let through is kept; where we differ, the reason stands beside it. Told in words of our own, as of
// @anthropic-ai/claude-code 2.1.197 and @google/gemini-cli 0.61.0 on npm, and codex-rs/core/src/exec_env.rs of
// github.com/openai/codex at 0f28702.
func TestLikePublicAgents(t *testing.T) {
	const (
		file     = "the path of a file: removed with the group " + gCredentialsOf + ", which is off by default, because without it the tool that needs the file fails"
		address  = "an address, worth nothing without the token, which is removed"
		identity = "says who or where, opens nothing; cloud tools fail without it"
		word     = "a part of a word; a longer name that is a credential has its own rule"
		public   = "a certificate is public, and its private key is known by its value"
	)
	values := map[string]string{
		"ANTHROPIC_CUSTOM_HEADERS": "x-api-key: " + opaque, "INPUT_ANTHROPIC_CUSTOM_HEADERS": "x-api-key: " + opaque,
		"ALL_INPUTS": `{"api_key":"` + opaque + `"}`, "INPUT_ALL_INPUTS": `{"api_key":"` + opaque + `"}`,
		"GOOGLE_APPLICATION_CREDENTIALS": "/run/gcp.json", "AZURE_CLIENT_CERTIFICATE_PATH": "/run/client.pem",
		"ACTIONS_RUNTIME_URL": "https://runner.example.com/", "ACTIONS_ID_TOKEN_REQUEST_URL": "https://runner.example.com/token?v=2",
		"DB_URI": "mysql://app:" + opaque + "@db/app", "DATABASE_URL": "postgres://app:" + opaque + "@db/app",
		"SLACK_WEBHOOK_URL": "https://hooks.slack.com/services/T000/B000/" + opaque,
		"MY_CERT":           "-----BEGIN CERTIFICATE-----\nMIICmade\n-----END CERTIFICATE-----", "MY_PRIVATE": "-----BEGIN RSA PRIVATE KEY-----\nMIICmade\n-----END RSA PRIVATE KEY-----",
		"MAVEN_SETTINGS": "https://bob:" + opaque + "@repo.example.com/", "ISSUE_BODY": "see ghp_16C7e42F292c6912E7710c838347Ae178B4a",
		"GCP": "AIzaSyB-made0up1made0up1made0up1made0up", "AWS": "AKIAMADEUPMADEUPMADE", "SESSION": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NSJ9.made0up1made0up1made0up1made0up1made0up1mad",
		"PAY": "sk_live_" + "4eC39HqLyjWDarjtT1zdp7dc", "CHAT": "xoxb-123456789012-" + opaque,
		"AZURE_CLIENT_ID": "11111111-2222-3333-4444-555555555555", "AZURE_TENANT_ID": "11111111-2222-3333-4444-555555555555", "AWS_DEFAULT_REGION": "eu-west-1",
		"CLIENT_ID": "web-frontend", "TWILIO_ACCOUNT_SID": "AC0123456789abcdef0123456789abcdef", "GOOGLE_CLOUD_PROJECT": "made-up-1", "GOOGLE_CLOUD_ACCOUNT": "bob@example.com", "FIREBASE_PROJECT_ID": "made-up-1",
		"KEYBOARD_LAYOUT": "de", "TOKENIZERS_PARALLELISM": "fast", "AUTHOR": "Bob Made-Up", "SSH_AUTH_SOCK": "/run/agent", "SSL_CERT_FILE": "/etc/ssl/cert.pem",
	}
	for _, agent := range []struct {
		name          string
		removed, kept string
		keptHere      map[string]string // of what it removes, with the reason
	}{
		{
			// A fixed list, each name also behind INPUT_, as the runner of GitHub Actions spells it.
			name: "Claude Code's scrub of subprocesses",
			removed: `ANTHROPIC_API_KEY CLAUDE_CODE_OAUTH_TOKEN ANTHROPIC_AUTH_TOKEN ANTHROPIC_FOUNDRY_API_KEY ANTHROPIC_AWS_API_KEY
				ANTHROPIC_BEDROCK_MANTLE_API_KEY ANTHROPIC_CUSTOM_HEADERS AWS_SECRET_ACCESS_KEY AWS_SESSION_TOKEN AWS_BEARER_TOKEN_BEDROCK
				AZURE_CLIENT_SECRET ACTIONS_ID_TOKEN_REQUEST_TOKEN ACTIONS_RUNTIME_TOKEN ALL_INPUTS OVERRIDE_GITHUB_TOKEN DEFAULT_WORKFLOW_TOKEN
				SSH_SIGNING_KEY INPUT_ANTHROPIC_API_KEY INPUT_CLAUDE_CODE_OAUTH_TOKEN INPUT_AWS_SECRET_ACCESS_KEY INPUT_OVERRIDE_GITHUB_TOKEN
				INPUT_SSH_SIGNING_KEY INPUT_ANTHROPIC_CUSTOM_HEADERS INPUT_ALL_INPUTS`,
			kept: "PATH HOME CLAUDE_CONFIG_DIR ANTHROPIC_MODEL ANTHROPIC_BASE_URL AWS_REGION AWS_PROFILE",
			keptHere: map[string]string{
				"GOOGLE_APPLICATION_CREDENTIALS": file, "AZURE_CLIENT_CERTIFICATE_PATH": file,
				"ACTIONS_RUNTIME_URL": address, "ACTIONS_ID_TOKEN_REQUEST_URL": address,
			},
		},
		{
			// A fixed list, words anywhere in a name, and shapes of values; in a workflow of GitHub all but a short list.
			name: "Gemini CLI's sanitization",
			removed: `MY_TOKEN MY_SECRET MY_PASSWORD MY_PASSWD MY_KEY MY_AUTH MY_CREDENTIAL MY_CREDS MY_PRIVATE CONNECTION_STRING DB_URI DATABASE_URL
				SLACK_WEBHOOK_URL MAVEN_SETTINGS ISSUE_BODY GCP AWS SESSION PAY CHAT`,
			kept: `PATH HOME LANG SHELL TMPDIR USER LOGNAME TERM COLORTERM ADDITIONAL_CONTEXT AVAILABLE_LABELS BRANCH_NAME DESCRIPTION EVENT_NAME
				GITHUB_ENV IS_PULL_REQUEST ISSUES_TO_TRIAGE ISSUE_NUMBER ISSUE_TITLE PULL_REQUEST_NUMBER REPOSITORY TITLE TRIGGERING_ACTOR
				SYSTEMROOT COMSPEC PATHEXT WINDIR TEMP TMP USERPROFILE SYSTEMDRIVE GEMINI_CLI_SURFACE GIT_CONFIG_COUNT GIT_CONFIG_GLOBAL`,
			keptHere: map[string]string{
				"CLIENT_ID": identity, "AWS_DEFAULT_REGION": identity, "AZURE_CLIENT_ID": identity, "AZURE_TENANT_ID": identity, "TWILIO_ACCOUNT_SID": identity,
				"GOOGLE_CLOUD_PROJECT": identity, "GOOGLE_CLOUD_ACCOUNT": identity, "FIREBASE_PROJECT_ID": identity,
				"KEYBOARD_LAYOUT": word, "TOKENIZERS_PARALLELISM": word, "AUTHOR": word, "SSH_AUTH_SOCK": file, "SSL_CERT_FILE": public, "MY_CERT": public,
			},
		},
		{
			// Three words anywhere in a name, where the user has switched that on.
			name:     "Codex's shell environment policy",
			removed:  "API_KEY SECRET_TOKEN MY_KEY MY_SECRET MY_TOKEN TOKEN SECRET",
			kept:     "PATH HOME LOGNAME SHELL USER USERNAME TMPDIR TEMP TMP",
			keptHere: map[string]string{"KEYBOARD_LAYOUT": word, "TOKENIZERS_PARALLELISM": word},
		},
	} {
		c := defaults()
		judge := func(name, otherwise string) (string, bool) {
			value, given := values[name]
			if !given {
				value = otherwise
			}
			if group, rule, removed := c.Classify(name, value); removed {
				return group + " " + rule, true
			}
			return Shape(name, value)
		}
		for _, name := range strings.Fields(agent.removed) {
			if _, removed := judge(name, opaque); !removed {
				t.Errorf("%s removes %s; it is kept here", agent.name, name)
			}
		}
		for _, name := range strings.Fields(agent.kept) {
			if rule, removed := judge(name, "plain"); removed {
				t.Errorf("%s keeps %s; here %s removes it", agent.name, name, rule)
			}
		}
		for name, reason := range agent.keptHere {
			if rule, removed := judge(name, opaque); removed || reason == "" {
				t.Errorf("%s removes %s, and so do we (%s): it is no difference", agent.name, name, rule)
			}
		}
	}
}

// A value that can be a secret, and has the shape of none.
const opaque = "Xk9made7up2Hh4Zq8made3up7"
