// Package policy decides which environment variables a container, its agent and the agent's children may see.
//
// It promises that whatever cannot be decided is an error, that no error, label or report holds a value, and that one
// policy decides for every door. It knows no OCI and makes no system call; its only files are the policy's own.
//
// # Files
//
// A policy is TOML: /etc/envscrub/policy.toml, then /etc/envscrub/policy.d/*.toml in the order of their names; for a
// rootless user the same two of $XDG_CONFIG_HOME/envscrub (or $HOME/.config/envscrub) over them; or exactly the files
// that the caller names. With none, the built-in rules apply. For root of the host, the standard files and their
// directories have to belong to root and to be closed to other writers.
//
// Later files go over earlier ones, and a profile over all of them:
//
//   - lists add: deny, allow, locked, unset, secrets, overrides, runtimes, agent.keep, agent.presets, exec.allow,
//     [[spawn.rule]], [[spawn.trust]], [[hook]] (the base policy's hooks run first), nri.namespaces;
//   - tables add key by key, and the later file wins where both have a key: groups, set, placeholder, nri.selector.
//     Of set and unset, the last word on a name counts;
//   - everything else is replaced: mode, inherit, time_zone, strict, shim, harden.*, redact.*, audit.*, exec.unknown;
//   - a profile of one name in two files is one profile; conditions in the later file replace the earlier ones;
//   - what a profile denies by its exact name, the base policy does not allow.
//
// Files and keys that contradict each other are errors: allow (or overrides) of a name that deny names exactly, set and
// unset of one name in one file, an unknown key or one that stands in the wrong section, an empty entry, a bad name or
// glob. A name without glob characters has to match [A-Za-z_][A-Za-z0-9_]*; other names can be meant with a glob.
//
// A `secrets` entry is "file:/path" (a glob perhaps) or "env:NAME". A file is one value, whole, without one newline
// at its end. It has to be closed to other users, and what cannot be read is an error.
//
// # The table
//
// First match wins, names without regard to case. Exact duplicates are folded before, the last one wins; two spellings
// of one name are two variables.
//
//  1. its exact name is denied: removed
//  2. a name or glob in allow: kept
//  3. a glob in deny, or one of the built-in judgements by name: removed
//  4. its value equals, or contains, a known secret: removed
//  5. its value equals or contains that of a variable removed by 1 to 4 or 6: removed
//  6. its value has the shape of a credential: removed
//  7. inherit is core or none, and it is not on that list: removed
//  8. otherwise: kept
//
// ENVSCRUB_* are envscrub's own control variables and go before the table. After it come [set] and unset, TZ from
// time_zone unless set, placeholders, and the hooks; none of these is filtered. A pair of git's numbered variables of
// which one half goes is given a content that says nothing, for git does not run when one is missing.
//
// Rule 5 needs values of eight bytes. What is looked for inside another value, and how, depends on what the value looks
// like: see reachOf. PATH, HOME and the other names without which nothing starts are left alone by rules 4 to 6. What
// rule 7 removes is no secret, so its value may stand elsewhere.
//
// # The agent, its tools, and execs
//
// agent.keep, and the presets of package builtin, give the agent alone what the table takes away; an exactly denied name
// may stand there. [[spawn.rule]] grants a tool what others do not get: where the agent does not have it either, the
// value is held for the tool alone (Decision.Held). A placeholder stands for a variable that is not there or was taken
// away, for programs that refuse to start without it. A pattern over commands is compared with the whole path if it has
// a slash, and with the program's name if not.
//
// At an exec, a variable that is new or changed is explicit and passes, unless its value is that of a variable taken away
// in the same environment or a known secret, or its name is `locked`: such a name is judged by the table like any other.
// exec.allow and the rules for the command grant; a trusted command gets what the agent has.
//
// # Overrides
//
// A container may ask for variables, a profile, or to be left alone, only as far as `overrides` says: names or globs of
// variables, or the annotation or variable as a whole (io.envscrub.allow, ENVSCRUB_PROFILE, …). Exactly denied names are
// never granted. What was asked for in vain is reported, not an error: it may come from an image.
//
// # Go programs
//
// An agent written in Go makes a Spawner with a View and turns each Request into a complete Context. Explicit variables
// of a request are applied after the filter and not filtered: the program that calls is trusted with what it holds.
//
// # Not promised, and known holes
//
// A secret under a name that says nothing, with a value that has no shape, and that the policy does not know, is kept.
// So is an encoded copy of a removed value, or a part of one (the password of a URL apart). A value under eight bytes is protected only under its own names.
// A word-like password is found inside another value only between delimiters.
package policy
