package builtin

// Core returns the groups of names that inherit = "core" keeps. They are names
// that programs need to start and to find their way; rules 1 to 6 come first,
// so that a proxy with a password in it still goes.
func Core() []Group { return coreGroups[:] }

var coreGroups = [...]Group{
	{
		Name: "base",
		Doc:  "who and where one is",
		Exact: []string{
			"HOME", "USER", "LOGNAME", "USERNAME", "PATH", "PWD", "OLDPWD", "SHELL", "SHLVL", "HOSTNAME", "HOST",
			"TMPDIR", "TEMPDIR", "TMP", "TEMP", "TZ", "TZDIR", "EDITOR", "VISUAL", "PAGER", "MANPATH", "INFOPATH", "MAIL", "UMASK", "container",
		},
	},
	{
		Name:  "lang",
		Doc:   "language and character set",
		Exact: []string{"LANG", "LANGUAGE", "CHARSET", "NLSPATH", "LOCPATH", "LESSCHARSET"},
		Globs: []string{"LC_*"},
	},
	{
		Name:  "terminal",
		Doc:   "what the terminal can do",
		Exact: []string{"TERM", "TERMINFO", "TERMINFO_DIRS", "COLORTERM", "TERM_PROGRAM", "TERM_PROGRAM_VERSION", "COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "LS_COLORS", "LESS", "COLORFGBG"},
	},
	{
		Name:  "proxy",
		Doc:   "proxies, in both cases; one with a password in it goes by its shape",
		Exact: []string{"HTTP_PROXY", "HTTPS_PROXY", "FTP_PROXY", "NO_PROXY", "ALL_PROXY", "SOCKS_PROXY"},
	},
	{
		Name: "certificates",
		Doc:  "certificates of a company's own authority, by every name that a client reads",
		Exact: []string{
			"SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "GIT_SSL_CAINFO", "GIT_SSL_CAPATH",
			"PIP_CERT", "AWS_CA_BUNDLE", "CARGO_HTTP_CAINFO", "NIX_SSL_CERT_FILE", "DENO_CERT", "GRPC_DEFAULT_SSL_ROOTS_FILE_PATH",
			"CLOUDSDK_CORE_CUSTOM_CA_CERTS_FILE", "HTTPLIB2_CA_CERTS", "PERL_LWP_SSL_CA_FILE", "BUNDLE_SSL_CA_CERT", "COMPOSER_CAFILE",
		},
	},
	{
		Name: "desktop",
		Doc:  "display, sound and the session's buses",
		Exact: []string{
			"DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "DBUS_SESSION_BUS_ADDRESS", "DESKTOP_SESSION", "SSH_AUTH_SOCK", "SSH_AGENT_PID", "GPG_TTY",
			"BROWSER", "PULSE_SERVER", "XCURSOR_THEME", "XCURSOR_SIZE",
		},
		Globs: []string{"XDG_*"},
	},
	{
		Name: "go",
		Doc:  "the Go toolchain",
		Exact: []string{
			"GOPATH", "GOROOT", "GOBIN", "GOCACHE", "GOMODCACHE", "GOENV", "GOOS", "GOARCH", "GOARM", "GOAMD64", "GO111MODULE", "GOFLAGS", "GOPROXY",
			"GOPRIVATE", "GONOPROXY", "GONOSUMDB", "GONOSUMCHECK", "GOSUMDB", "GOINSECURE", "GOTOOLCHAIN", "GOLANG_VERSION", "GOTMPDIR", "GOWORK",
			"GOMAXPROCS", "GOGC", "GOMEMLIMIT", "GODEBUG", "GOTRACEBACK", "GOEXPERIMENT", "CGO_ENABLED", "CGO_CFLAGS", "CGO_CXXFLAGS", "CGO_LDFLAGS", "CGO_CPPFLAGS",
		},
	},
	{
		Name: "node",
		Doc:  "Node, its package managers and its relatives",
		Exact: []string{
			"NODE_PATH", "NODE_ENV", "NODE_OPTIONS", "NODE_VERSION", "YARN_VERSION", "NVM_DIR", "NVM_BIN", "NVM_INC", "NPM_CONFIG_PREFIX", "NPM_CONFIG_CACHE",
			"NPM_CONFIG_REGISTRY", "NPM_CONFIG_USERCONFIG", "NPM_CONFIG_GLOBALCONFIG", "NPM_CONFIG_LOGLEVEL", "NPM_CONFIG_UPDATE_NOTIFIER", "PNPM_HOME", "COREPACK_HOME", "VOLTA_HOME", "FNM_DIR", "BUN_INSTALL", "DENO_DIR", "DENO_INSTALL",
			"YARN_CACHE_FOLDER", "PLAYWRIGHT_BROWSERS_PATH", "PUPPETEER_EXECUTABLE_PATH", "PUPPETEER_CACHE_DIR", "NODE_ICU_DATA", "UV_THREADPOOL_SIZE",
		},
	},
	{
		Name: "python",
		Doc:  "Python and its package managers",
		Exact: []string{
			"PYTHONPATH", "PYTHONHOME", "PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE", "PYTHONIOENCODING", "PYTHONUTF8", "PYTHONHASHSEED", "PYTHONPYCACHEPREFIX",
			"PYTHONUSERBASE", "PYTHONNOUSERSITE", "PYTHONWARNINGS", "PYTHONFAULTHANDLER", "PYTHONOPTIMIZE", "PYTHON_VERSION", "PYTHON_SHA256", "VIRTUAL_ENV", "VIRTUAL_ENV_PROMPT",
			"CONDA_PREFIX", "CONDA_DEFAULT_ENV", "CONDA_EXE", "CONDA_PYTHON_EXE", "CONDA_SHLVL", "PYENV_ROOT", "PYENV_VERSION", "POETRY_HOME", "POETRY_CACHE_DIR", "PIPX_HOME", "PIPX_BIN_DIR",
			"PIP_CACHE_DIR", "PIP_INDEX_URL", "PIP_NO_CACHE_DIR", "PIP_DISABLE_PIP_VERSION_CHECK", "UV_CACHE_DIR", "UV_PYTHON", "UV_PROJECT_ENVIRONMENT", "UV_LINK_MODE", "UV_COMPILE_BYTECODE", "TOKENIZERS_PARALLELISM",
		},
	},
	{
		Name: "java",
		Doc:  "Java and its build tools",
		Exact: []string{
			"JAVA_HOME", "JRE_HOME", "JDK_HOME", "JAVA_VERSION", "JAVA_OPTS", "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "CLASSPATH",
			"MAVEN_HOME", "M2_HOME", "MAVEN_OPTS", "MAVEN_CONFIG", "GRADLE_HOME", "GRADLE_USER_HOME", "GRADLE_OPTS", "KOTLIN_HOME", "SBT_OPTS", "ANT_HOME",
		},
	},
	{
		Name: "rust",
		Doc:  "Rust and Cargo",
		Exact: []string{
			"CARGO_HOME", "CARGO_TARGET_DIR", "CARGO_BUILD_JOBS", "CARGO_INCREMENTAL", "CARGO_NET_GIT_FETCH_WITH_CLI", "CARGO_TERM_COLOR", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN", "RUST_VERSION",
			"RUSTFLAGS", "RUSTDOCFLAGS", "RUSTC_WRAPPER", "RUST_BACKTRACE", "RUST_LOG", "RUST_MIN_STACK",
		},
	},
	{
		Name: "native",
		Doc:  "C and C++ compilers and libraries",
		Exact: []string{
			"CC", "CXX", "CPP", "AR", "LD", "NM", "RANLIB", "STRIP", "CFLAGS", "CXXFLAGS", "CPPFLAGS", "LDFLAGS", "MAKEFLAGS", "PKG_CONFIG_PATH", "LD_LIBRARY_PATH", "LIBRARY_PATH",
			"CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "CMAKE_PREFIX_PATH", "CMAKE_GENERATOR", "CCACHE_DIR", "SOURCE_DATE_EPOCH",
		},
	},
	{
		Name:  "git",
		Doc:   "who commits, and where Git keeps its things",
		Exact: []string{"GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL", "GIT_EDITOR", "GIT_PAGER", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_TERMINAL_PROMPT", "GIT_EXEC_PATH", "GIT_TEMPLATE_DIR", "GIT_DISCOVERY_ACROSS_FILESYSTEM"},
	},
	{
		Name:  "agents",
		Doc:   "where the agents keep their state",
		Exact: []string{"CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME", "OPENCODE_CONFIG", "OPENCODE_CONFIG_DIR", "CI", "DEBIAN_FRONTEND"},
	},
	{
		Name: "windows",
		Doc:  "what a process on Windows does not start without",
		Exact: []string{
			"SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "OS", "USERPROFILE", "HOMEDRIVE", "HOMEPATH", "USERDOMAIN", "COMPUTERNAME", "LOGONSERVER",
			"APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "ALLUSERSPROFILE", "PUBLIC", "PROGRAMFILES", "PROGRAMFILES(X86)", "PROGRAMW6432",
			"COMMONPROGRAMFILES", "COMMONPROGRAMFILES(X86)", "COMMONPROGRAMW6432", "NUMBER_OF_PROCESSORS", "PROCESSOR_ARCHITECTURE", "PROCESSOR_IDENTIFIER", "PROCESSOR_LEVEL", "PROCESSOR_REVISION",
			"PSMODULEPATH", "DRIVERDATA", "SESSIONNAME",
		},
	},
}
