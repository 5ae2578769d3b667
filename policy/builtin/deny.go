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
		Globs: []string{"*_TOKEN", "*__*TOKEN", "*TOKEN*", "*_TOKENS", "*_JWT", "*_PAT"},
	},
	{
		Name:  gSecrets,
		Doc:   "secrets of clients, applications and webhooks; credentials as a whole",
		Globs: []string{"*_SECRET", "*__*SECRET", "*SECRET*", "*CREDENTIAL*", "*_SECRETS", "*_SECRET_ID", "*_AUTH", "*_HEADERS", "*_WEBHOOK*"},
		Names: []string{"DOCKER_AUTH_CONFIG", "COMPOSER_AUTH"},
	},
	{
		Name:  gPasswords,
		Doc:   "passwords, passphrases, PINs, also under their short names",
		Globs: []string{"*_PASSWORD", "*__*PASSWORD", "*PASSWORD*", "*_PASS", "*_PIN", "*_OTP", "*_CODE", "*_PSK"},
		Names: []string{"SSHPASS"},
	},
	{
		Name:  gKeys,
		Doc:   "private, signing, encryption and access keys, salts of applications",
		Globs: []string{"*_KEY", "*KEY*", "*_SALT", "*_KEYSTORE", "*_LICENSE"},
		Names: []string{"RAILS_MASTER_KEY", "SECRET_KEY_BASE"},
	},
	{
		Name:  gSessions,
		Doc:   "sessions and cookies that are as good as a login",
		Globs: []string{"*_SESSION", "*_COOKIE"},
		Names: []string{"BW_SESSION", "RABBITMQ_ERLANG_COOKIE", "ERLANG_COOKIE", "RELEASE_COOKIE"},
	},
	{
		Name:  gCloud,
		Doc:   "cloud accounts, where the name does not say that it is a secret",
		Exact: []string{"AWS_SECRET_ACCESS_KEY"},
		Names: []string{
			"AWS_ACCESS_KEY_ID", "AWS_ACCESS_KEY", "AWS_SECRET_KEY",
			"IDENTITY_HEADER", "VAULT_DEV_ROOT_TOKEN_ID",
		},
		Globs: []string{"*_ACCESS_KEY_ID", "*KUBECONFIG*"},
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
		Names: []string{"CONCOURSE_ADD_LOCAL_USER", "SFTP_USERS", "UNITY_SERIAL", "UNITY_LICENSE", "PLEX_CLAIM", "LI_AT", "SP_DC"},
	},
	{
		Name:  gPackages,
		Doc:   "credentials of package registries, also under names that no shell can export",
		Globs: []string{"BUNDLE_*__*"},
		Names: []string{"npm_config__auth", "npm_config__authToken", "npm_config__password"},
	},
	{
		Name:  gMonitoring,
		Doc:   "ingest addresses with a key in them",
		Names: []string{"SENTRY_DSN", "PAGERDUTY_ROUTING_KEY", "PD_ROUTING_KEY", "AIRBRAKE_PROJECT_KEY"},
	},
	{
		Name:  gCrypto,
		Doc:   "wallets: mnemonics, seeds, recovery phrases",
		Globs: []string{"*MNEMONIC*", "*_SEED", "*_PHRASE"},
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
			"GOOGLE_APPLICATION_CREDENTIALS", "CLOUDSDK_AUTH_CREDENTIAL_FILE_OVERRIDE", "CLOUDSDK_CONFIG", "BOTO_CONFIG",
			"AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE", "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE",
			"AWS_CONTAINER_CREDENTIALS_FULL_URI", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AZURE_FEDERATED_TOKEN_FILE", "AZURE_CLIENT_CERTIFICATE_PATH", "AZURE_CONFIG_DIR",
			"KUBECONFIG", "DOCKER_CONFIG", "DOCKER_CERT_PATH", "REGISTRY_AUTH_FILE", "SSH_AUTH_SOCK", "GNUPGHOME", "GPG_AGENT_INFO", "NETRC", "PGPASSFILE", "PGSSLKEY", "PGSERVICEFILE",
			"KRB5CCNAME", "KRB5_KTNAME", "X509_USER_PROXY", "X509_USER_KEY", "NPM_CONFIG_USERCONFIG", "PIP_CONFIG_FILE", "TF_CLI_CONFIG_FILE", "VAULT_CONFIG_PATH", "OCI_CLI_KEY_FILE",
			"MYSQL_HOME", "MYSQL_TEST_LOGIN_FILE", "ANSIBLE_VAULT_PASSWORD_FILE", "SOPS_AGE_KEY_FILE", "RESTIC_PASSWORD_FILE", "PASSWORD_STORE_DIR",
		},
		Globs: []string{"*_FILE"},
	},
}

// harmless are names whose words say credential and which are none: they tell a
// shell, or the processes of one build, from the others.
var harmless = [...]string{
	"STARSHIP_SESSION_KEY", "ATUIN_SESSION", "JENKINS_SERVER_COOKIE", "JENKINS_NODE_COOKIE", "HUDSON_SERVER_COOKIE", "HUDSON_COOKIE",
}
