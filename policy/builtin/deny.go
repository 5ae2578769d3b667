package builtin

// Names of the groups that verdicts by words belong to.
const (
	gAgents        = "agents"
	gAPIKeys       = "api-keys"
	gTokens        = "tokens"
	gSecrets       = "secrets"
	gPasswords     = "passwords"
	gKeys          = "keys"
	gSessions      = "sessions"
	gCloud         = "cloud"
	gDatabases     = "databases"
	gConnections   = "connection-strings"
	gCI            = "ci"
	gPackages      = "package-managers"
	gMonitoring    = "monitoring"
	gCrypto        = "crypto"
	gLoader        = "loader"
	gCredentialsOf = "credential-files"
)

// Deny returns the built-in deny groups, in the order in which they are listed.
func Deny() []Group { return denyGroups[:] }

var denyGroups = [...]Group{
	{
		Name: gAgents,
		Doc:  "keys of the agents themselves and of the channels that steer them",
		Exact: []string{
			"TELEGRAM_BOT_TOKEN", "OPENAI_API_KEY", "GOOGLE_CLIENT_SECRET",
			"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN",
		},
	},
	{
		Name:  gAPIKeys,
		Doc:   "keys of web services",
		Globs: []string{"*_API_KEY", "*_APIKEY", "*__APIKEY", "*APIKEY*", "*API_KEY*"},
	},
	{
		Name:  gTokens,
		Doc:   "access, refresh, bearer and bot tokens",
		Globs: []string{"*_TOKEN", "*__*TOKEN", "*TOKEN*", "*_JWT"},
	},
	{
		Name:  gSecrets,
		Doc:   "secrets of clients, applications and webhooks; credentials as a whole",
		Globs: []string{"*_SECRET", "*__*SECRET", "*SECRET*", "*CREDENTIAL*", "*_CREDS", "*_AUTH", "*_WEBHOOK*"},
	},
	{
		Name:  gPasswords,
		Doc:   "passwords, passphrases, PINs, also under their short names",
		Globs: []string{"*_PASSWORD", "*__*PASSWORD", "*PASSWORD*", "*PASSWD*", "*PASSPHRASE*", "*_PASS", "*_PWD", "*_PW", "*_PIN"},
	},
	{
		Name:  gKeys,
		Doc:   "private, signing, encryption and access keys, salts of applications",
		Globs: []string{"*_KEY", "*_KEYS", "*PRIVATE_KEY*", "*_SALT"},
	},
	{
		Name:  gSessions,
		Doc:   "sessions and cookies that are as good as a login",
		Globs: []string{"*_SESSION", "*_COOKIE", "*_COOKIES"},
	},
	{
		Name:  gCloud,
		Doc:   "cloud accounts, where the name does not say that it is a secret",
		Exact: []string{"AWS_SECRET_ACCESS_KEY"},
		Names: []string{
			"AWS_ACCESS_KEY_ID", "AWS_ACCESS_KEY", "AWS_SECRET_KEY",
			"IDENTITY_HEADER", "VAULT_DEV_ROOT_TOKEN_ID",
		},
		Globs: []string{"*_ACCESS_KEY_ID"},
	},
	{
		Name:  gDatabases,
		Doc:   "passwords that database clients read under names of their own",
		Exact: []string{"PGPASSWORD", "MYSQL_PWD", "REDISCLI_AUTH"},
		Names: []string{"PGPASSFILE"},
	},
	{
		Name:  gConnections,
		Doc:   "connection strings and URLs that usually carry a password",
		Names: []string{"DATABASE_URL", "MONGODB_URI", "AMQP_URL"},
		Globs: []string{"*_DSN", "*CONNECTION_STRING*"},
	},
	{
		Name:  gCI,
		Doc:   "credentials of builds, where the name does not say that they are",
		Names: []string{"CONCOURSE_ADD_LOCAL_USER", "UNITY_SERIAL", "UNITY_LICENSE", "PLEX_CLAIM", "LI_AT", "SP_DC"},
	},
	{
		Name:  gPackages,
		Doc:   "credentials of package registries, also under names that no shell can export",
		Globs: []string{"npm_config_//*:_authToken", "npm_config_//*:_password", "npm_config_//*:_auth", "npm_config__auth*", "npm_config__password"},
	},
	{
		Name:  gMonitoring,
		Doc:   "ingest addresses with a key in them",
		Names: []string{"SENTRY_DSN", "PAGERDUTY_ROUTING_KEY", "PD_ROUTING_KEY", "AIRBRAKE_PROJECT_KEY"},
	},
	{
		Name:  gCrypto,
		Doc:   "wallets: mnemonics, seeds, recovery phrases",
		Globs: []string{"*MNEMONIC*", "*_SEED", "*SEED_PHRASE*"},
	},
	{
		Name:  gLoader,
		Doc:   "code that the dynamic loader puts into every process",
		Exact: []string{"LD_PRELOAD", "LD_AUDIT", "DYLD_INSERT_LIBRARIES"},
	},
	{
		Name: gCredentialsOf,
		Doc:  "files and sockets that lead to a credential; a file name is none itself, so this is off until asked for",
		Off:  true,
		Names: []string{
			"GOOGLE_APPLICATION_CREDENTIALS", "KUBECONFIG", "SSH_AUTH_SOCK",
			"AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_SHARED_CREDENTIALS_FILE", "PGPASSFILE",
		},
	},
}
