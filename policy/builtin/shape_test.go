package builtin

import (
	"strings"
	"testing"
	"time"
)

// Every value here is made up.
func TestShape(t *testing.T) {
	pem := func(label string) string {
		return "-----BEGIN " + label + "-----\nMIIEpAIBAAKCAQEA\n-----END " + label + "-----\n"
	}
	for _, test := range []struct{ name, value, kind string }{
		{"HTTPS_PROXY", "http://bob:pw-x1@proxy:3128", "url-password"}, // report: BasedHardware/omi PR#8388
		{"HTTPS_PROXY", "http://proxy:3128", ""},
		{"HTTPS_PROXY", "http://bob@proxy:3128", ""},
		{"HTTP_PROXY", "bob:pw-x1@proxy:3128", "url-password"},
		{"no_proxy", "localhost,127.0.0.1,.svc", ""},
		{"X", "redis://:pw@cache:6379/0", "url-password"},
		{"X", "see postgres://app:s3cr3t@db/app for it", "url-password"},
		{"X", "mongodb+srv://u:p%40ss@c0.example.net/db?retryWrites=true", "url-password"},
		{"X", "mongodb://u:p@a:27017,b:27017/db", "url-password"},
		{"X", "//:token@registry.example.com", ""},
		{"X", "https://ghp_0123456789abcdefghij@github.com/o/r.git", "url-token"},
		{"X", "https://x-access-token:ghs_0123456789@github.com/o/r.git", "url-password"},
		{"X", "https://0123456789abcdef0123456789abcdef@o1.ingest.sentry.io/42", "url-token"},
		{"X", "https://user:@host/", ""},
		{"X", "ssh://git@github.com/o/r.git", ""},
		{"X", "git@github.com:o/r.git", ""},
		{"X", "postgres://${USER}:${PASSWORD}@db/app", ""},
		{"X", "postgres://user:$PGPASS@db/app", ""},
		{"X", "https://gitlab-ci-token:[MASKED]@gitlab.example.com/g/p.git", ""},
		{"X", "http://[::1]:8080/@scope/pkg", ""},
		{"X", "http://host:8080/@scope/pkg", ""},
		{"X", "postgres://u:p/w#1@db/app", "url-password"},
		{"X", "app:s3cret@tcp(db:3306)/app?parseTime=true", "url-password"},
		{"X", "jdbc:oracle:thin:scott/tiger@db:1521:orcl", "url-password"},
		{"X", "jdbc:mysql://db/app?user=x&password=geheim", "key-value"},
		{"IMAGE_URL", "registry.example.com/app:1.2@sha256:0123456789abcdef", ""},
		{"IMAGE_URL", "node:20@sha256:0123456789abcdef0123456789abcdef", ""},

		{"X", pem("RSA PRIVATE KEY"), "private-key"},
		{"X", pem("OPENSSH PRIVATE KEY"), "private-key"},
		{"X", pem("EC PRIVATE KEY"), "private-key"},
		{"X", pem("ENCRYPTED PRIVATE KEY"), "private-key"},
		{"X", pem("PGP PRIVATE KEY BLOCK"), "private-key"},
		{"X", strings.ReplaceAll(pem("PRIVATE KEY"), "\n", `\n`), "private-key"},
		{"X", `{"type":"service_account","private_key":"-----BEGIN PRIVATE KEY-----\nMII\n-----END PRIVATE KEY-----\n"}`, "json-credential"},
		{"X", "LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRVktLS0tLQpNSUlFcEFJQkFBS0NBUUVBCg==", "base64-private-key"},
		{"X", pem("PUBLIC KEY"), ""},
		{"X", pem("CERTIFICATE"), ""},
		{"X", "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIMadeupmadeupmadeupmadeupmadeupmadeup me@host", ""},
		{"X", "MIIEowIBAAKCAQEAmadeup0123456789", "private-key"},
		{"X", "MIIDdzCCAl+gAwIBAgIEAgAAuTANBgkq", ""},

		{"X", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJlLW1hZGUtdXA", "jwt"},
		{"X", "token eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln", "jwt"},
		{"X", "AKIAIOSFODNN7EXAMPLE", "aws-access-key"},
		{"X", "AIzaSyMadeUp0123456789madeup0123456789", "google-api-key"},
		{"X", "GOCSPX-made_up-0123456789abcdef", "google-client-secret"},
		{"X", "ya29.a0made-up-0123456789", "google-token"},
		{"X", "ghp_madeup0123456789madeup0123456789", "github-token"},
		{"X", "github_pat_11MADEUP0_0123456789", "github-token"},
		{"X", "glpat-madeup_0123456789", "gitlab-token"},
		{"X", "glrt-t3_madeup0123456789", "gitlab-token"},
		{"X", "xoxb-123456789012-madeup", "slack-token"},
		{"X", "https://hooks.slack.com/services/T000/B000/madeup0123", "webhook-url"},
		{"X", "https://discord.com/api/webhooks/123456/madeup-0123", "webhook-url"},
		{"X", "sk_live_madeup0123456789", "stripe-key"},
		{"X", "pk_live_madeup0123456789", ""},
		{"X", "whsec_madeup0123456789ab", "webhook-secret"},
		{"X", "sk-made-up-0123456789", "openai-key"},
		{"X", "sk-proj-madeup0123", "openai-key"},
		{"X", "sk-ant-api03-madeup", "anthropic-key"},
		{"X", "npm_madeup0123456789madeup0123456789", "npm-token"},
		{"X", "npm_config_registry_url_0123456789", ""},
		{"X", "pypi-some-package-with-a-name", ""},
		{"X", "pypi-AgEIcHlwaS5vcmcCJ0123madeup", "pypi-token"},
		{"X", "hf_madeupMadeupMadeupMadeup", "huggingface-token"},
		{"X", "hf_hub_download_something", ""},
		{"X", "123456789:AAHmadeup-madeup_madeupmadeupmadeup", "telegram-token"},
		{"X", "SG.madeup0123456789.madeup0123456789madeup", "sendgrid-key"},
		{"X", "dop_v1_0123456789abcdef0123456789abcdef", "digitalocean-token"},
		{"X", "hvs.CAESImadeup", "vault-token"},
		{"X", "abcdefghijklmn.atlasv1.madeup0123456789", "terraform-token"},
		{"X", "abc8Q~madeup0123456789madeup0123456789", "azure-client-secret"},
		{"X", "AGE-SECRET-KEY-1MADEUP0123456789MADEUP", "age-key"},
		{"X", "DefaultEndpointsProtocol=https;AccountName=a;AccountKey=bWFkZXVwMDEyMzQ1Njc4OQ==;EndpointSuffix=core.windows.net", "key-value"},
		{"X", "https://a.blob.core.windows.net/c?sv=2022-11-02&sig=bWFkZXVw%2BMDEyMzQ1Njc4OQ%3D", "key-value"},
		{"X", "Server=db;Database=app;User Id=sa;Password=geheim;", "key-value"},
		{"X", "Server=db;Database=app;Integrated Security=true", ""},
		{"X", `{"auths":{"registry.example.com":{"auth":"dXNlcjpwYXNzd29yZA=="}}}`, "json-credential"},
		{"X", `{"db":{"password":"geheim"}}`, "json-credential"},
		{"X", `{"password":"","token":"${TOKEN}"}`, ""},
		{"X", "eyJkYiI6eyJwYXNzd29yZCI6ImdlaGVpbSJ9fQ==", "base64-json-credential"},
		{"X", "cG9zdGdyZXM6Ly91OnBAaC9kYg==", "base64-url-password"},
		{"X", "dXNlcjpwYXNzd29yZA==", "base64-password"},
		{"X", "Authorization: Basic dXNlcjpwYXNzd29yZA==", "key-value"},
		{"X", "AUTHORIZATION: basic ***", ""},
		{"X", "Bearer ${TOKEN}", ""}, // report: NousResearch/hermes-agent#33801
		{"X", "Bearer made-up-0123456789", "authorization"},
		{"X", "mysqladmin ping -pS3c-x1", "command-line"}, // report: benchpress#192
		{"X", "mysqldump -p'pass word' app", "command-line"},
		{"X", "mkdir -p/x && docker run -p8080:80 x", ""},
		{"X", "tool --password=geheim run", "key-value"},
		{"X", "tool --password geheim run", "command-line"},
		{"X", "tool --password-file /run/x --ask-pass --become", ""},
		{"X", "curl -u me:geheim https://x", "command-line"},
		{"JAVA_OPTS", "-Djavax.net.ssl.keyStorePassword=changeit -Xmx1g", "key-value"},
		{"NODE_OPTIONS", "--max-old-space-size=4096 --enable-source-maps", ""},
		{"X", "machine github.com login me password geheim", "netrc"},
		{"X", `"jsonwebtoken": "^9.0.0"`, ""},
		{"X", "MAX_TOKENS=100", ""},

		{"WALLET", "legal winner thank year wave sausage worth useful legal winner thank yellow", "mnemonic"},
		{"WALLET", "abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about", "mnemonic"},
		{"PACKAGES", "curl wget vim nano less htop tree unzip zip tar gzip sudo", ""},
		{"X", "9b74c9897bac770ffc029102a200c5de", ""},
		{"X", "sha256:9b74c9897bac770ffc029102a200c5de9b74c9897bac770ffc029102a200c5de", ""},
		{"X", "0f8fad5b-d9cb-469f-a165-70867728950e", ""},
		{"X", "E3FF2839C048B25C084DEBE9B26995E310250568", ""},
		{"PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin", ""},
		{"LS_COLORS", "rs=0:di=01;34:ln=01;36:*.tar=01;31:*.deb=01;31", ""},
		{"PS1", `\[\e]0;\u@\h: \w\a\]${debian_chroot:+($debian_chroot)}\u@\h:\w\$ `, ""},
		{"DBUS_SESSION_BUS_ADDRESS", "unix:path=/run/user/1000/bus,guid=0123456789abcdef", ""},
	} {
		kind, _ := Shape(test.name, test.value)
		if kind != test.kind {
			t.Errorf("Shape(%q, %q) is %q, not %q", test.name, test.value, kind, test.kind)
		}
	}
}

// A mebibyte of what each rule looks for takes no more than a moment.
func TestShapeTime(t *testing.T) {
	for _, piece := range []string{"://", "a://b:", "eyJ", "eyJaaaaaaaa.", "password=", "token=a ", "@(", "ghp_", "-p", " --user ", "key-", "a", "=", "123456:", `"password":""`, "Bearer ", "M", "sk-", "AAAA"} {
		v := strings.Repeat(piece, (1<<20)/len(piece))
		start := time.Now()
		Shape("X_URL", v)
		New(nil).Classify("X_DSN", v)
		New(nil).Classify(v, v)
		if d := time.Since(start); d > 2*time.Second {
			t.Errorf("%q repeated takes %v", piece, d)
		}
	}
}

func FuzzShapeClassify(f *testing.F) {
	f.Add("DB_PASSWORD", "geheim")
	f.Add("X_URL", "postgres://u:p@h/db")
	f.Add("npm_config_//r/:_authToken", `{"password":"x"}`)
	f.Add("", "-----BEGIN PRIVATE KEY-----")
	f.Add("A", "MIIEowIBAAKCAQEA")
	c := New(nil)
	f.Fuzz(func(t *testing.T, name, value string) {
		kind, ok := Shape(name, value)
		if ok != (kind != "") {
			t.Fatal("a kind without a verdict, or the reverse")
		}
		group, rule, ok := c.Classify(name, value)
		if ok != (group != "" && rule != "") {
			t.Fatal("a verdict without a group and a rule, or the reverse")
		}
		IsSensitiveName(name)
		Spared(value)
	})
}

func BenchmarkShape(b *testing.B) {
	for _, v := range [][2]string{
		{"short", "production"},
		{"PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"},
		{"url", "https://registry.npm.example/some/path"},
		{"hash", "9b74c9897bac770ffc029102a200c5de9b74c9897bac770ffc029102a200c5de"},
		{"text", "the quick brown fox jumps over the lazy dog and does it again"},
	} {
		b.Run(v[0], func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Shape(v[0], v[1])
			}
		})
	}
}
