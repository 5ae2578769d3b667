package builtin

import "testing"

func TestGroupPositions(t *testing.T) {
	for i, name := range []string{
		iAgents: gAgents, iAPIKeys: gAPIKeys, iTokens: gTokens, iSecrets: gSecrets, iPasswords: gPasswords, iKeys: gKeys, iSessions: gSessions, iCloud: gCloud,
		iDatabases: gDatabases, iConnections: gConnections, iCI: gCI, iPackages: gPackages, iMonitoring: gMonitoring, iCrypto: gCrypto, iLoader: gLoader, iCredentialFiles: gCredentialsOf,
	} {
		if denyGroups[i].Name != name {
			t.Errorf("group %d is %q, not %q", i, denyGroups[i].Name, name)
		}
	}
}

// report: promptfoo PR#10638
func TestClassifyWords(t *testing.T) {
	c := New(nil)
	for _, name := range []string{"github_token", "APIKEY", "MYSECRETKEY", "AGENT_SESSION_KEY", "npm_config_//registry.npm.example/:_authToken", "NPM_CONFIG__AUTH", "npm_config__password", "NODE_AUTH_TOKEN", "my.db-password"} {
		if _, rule, ok := c.Classify(name, "x1"); !ok {
			t.Errorf("%s is kept", name)
		} else {
			t.Log(name, rule)
		}
	}
	for _, name := range []string{"PORTKEY_API_BASE_URL", "MONKEY", "OAUTH_SCOPE", "WATSONX_AI_AUTH_TYPE", "npm_config_registry", "NPM_CONFIG_CACHE"} {
		if _, rule, ok := c.Classify(name, "x1"); ok {
			t.Errorf("%s goes by %s", name, rule)
		}
	}
}

// What has to go by default whatever its value says, and what one switch takes.
//
// report: bytedance/deer-flow PR#4018, repopilot#47, npm/npm#15565
func TestClassifyReports(t *testing.T) {
	exact := map[string]bool{}
	for _, g := range Deny() {
		for _, n := range g.Exact {
			exact[n] = true
		}
	}
	for _, name := range []string{
		"MYSQL_PWD", "REDISCLI_AUTH", "PGPASSWORD", "PGPASSFILE", "MONGODB_URI", "AMQP_URL", "SENTRY_DSN", "DATABASE_URL",
		"AWS_SESSION_TOKEN", "ANTHROPIC_API_KEY", "NPM_TOKEN", "PYPI_TOKEN", "DOCKER_PASSWORD", "AZURE_CLIENT_SECRET", "HF_TOKEN",
		"AWS_ACCESS_KEY_ID", "DOCKER_AUTH_CONFIG", "AWS_CONTAINER_AUTHORIZATION_TOKEN",
	} {
		if _, _, ok := defaults().Classify(name, "x1"); !ok && !exact[name] {
			t.Errorf("%s is kept", name)
		}
	}
	files := New(map[string]bool{gCredentialsOf: true})
	for _, name := range []string{"GOOGLE_APPLICATION_CREDENTIALS", "KUBECONFIG", "SSH_AUTH_SOCK", "AWS_WEB_IDENTITY_TOKEN_FILE"} {
		if _, _, ok := files.Classify(name, "/some/path"); !ok {
			t.Errorf("%s is kept with the group on", name)
		}
		if _, rule, ok := defaults().Classify(name, "/some/path"); ok {
			t.Errorf("%s goes by %s with the group off", name, rule)
		}
	}
	if _, rule, ok := files.Classify("AWS_REGION", "eu-west-1"); ok {
		t.Errorf("AWS_REGION goes by %s", rule)
	}
}

func BenchmarkClassify(b *testing.B) {
	c := New(nil)
	for _, v := range [][2]string{
		{"PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"},
		{"OPENAI_API_KEY", "sk-made-up-0123456789"},
		{"KUBERNETES_SERVICE_PORT_HTTPS", "443"},
		{"PYTHONDONTWRITEBYTECODE", "1"},
		{"MY_VARIABLE_0123", "some value of a variable"},
	} {
		b.Run(v[0], func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c.Classify(v[0], v[1])
			}
		})
	}
}

func BenchmarkNew(b *testing.B) {
	for b.Loop() {
		New(nil)
	}
}
