// Package builtin is what envscrub knows without being told: which names hold
// credentials, which values are credentials whatever they are called, which
// variables a bare environment keeps (inherit = "core"), and what the public
// agent programs need. It reads nothing and writes nothing: static data and
// functions over two strings.
//
// # How a decision uses it
//
// Rule 1 of the policy takes [Group].Exact of every group that is on: these
// never look at a value, and allowing one is a contradiction.
//
// Rule 3 asks a [Classifier], made once a policy with [New]:
//
//	c := builtin.New(nil)                        // nil: every group's default
//	c := builtin.New(map[string]bool{"loader": false, "credential-files": true})
//	group, rule, ok := c.Classify(name, value)   // rule names what decided: "*_TOKEN", "PGPASSFILE"
//
// Classify covers [Group].Names and [Group].Globs of the groups that are on,
// and the judgement by words that globs cannot express; [Spared] is applied
// inside, where the rule is one that looks at values. Names and Globs are there
// to be listed, not to be compiled again. The user's allow comes first (rule 2).
//
// Rule 6 asks [Shape].
//
// # Judgement by words
//
// A name is cut into words at every byte that is no letter or digit and where
// camel case changes. The last word that can mean a credential decides with
// what follows it: TOKEN_URL is a URL, SECRET_NAME a name, MAX_TOKENS a number.
// Short words (KEY, PW, DSN) count only whole; long ones also at the end of a
// word (PGPASSWORD, MYSECRETKEY). Where a name alone is weak, the value speaks:
// a path, a public key, a fingerprint, a URL without credentials are spared.
//
// # Files and sockets
//
// GOOGLE_APPLICATION_CREDENTIALS, KUBECONFIG, SSH_AUTH_SOCK and their like name
// what leads to a credential. A file name is no credential, and without these an
// agent's tools do not find what a user mounted for them, so they are kept; one
// switch takes them all: groups.credential-files = true. PGPASSFILE alone goes by
// default as well, with the other ways that a PostgreSQL client gets a password.
// An address without a user in it is kept too, but for DATABASE_URL, MONGODB_URI,
// AMQP_URL and SENTRY_DSN, which have a credential in them as a rule; the file
// name of a database is none of those.
//
// # Against what the agents' own filters do
//
// What Codex (KEY, SECRET, TOKEN in a name), Gemini CLI and Claude Code take away
// and is a credential goes here too. Kept although one of them takes it: public
// keys, certificates, client and tenant ids, regions, project names, numbers of
// tokens, files and sockets as above. They unlock nothing, and programs that miss
// them fail in ways that look like something else.
//
// # Not promised
//
// A password under a name that says nothing and with a value that has no shape
// (COLOR=hunter2) is not found here: the policy's secrets are for that.
package builtin
