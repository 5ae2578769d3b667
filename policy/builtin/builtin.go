// Package builtin is what envscrub knows about names and values without a policy file.
package builtin

import "strings"

// Group is a named set of names and globs.
type Group struct {
	Name, Doc    string
	Exact, Globs []string
}

var deny = []Group{
	{Name: "model-keys", Doc: "keys of model providers", Exact: []string{
		"TELEGRAM_BOT_TOKEN", "OPENAI_API_KEY", "GOOGLE_CLIENT_SECRET", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN",
	}},
	{Name: "tokens", Doc: "keys, tokens, secrets, passwords by suffix", Globs: []string{
		"*_API_KEY", "*_APIKEY", "*__APIKEY", "*_TOKEN", "*__*TOKEN", "*_SECRET", "*__*SECRET", "*_PASSWORD", "*__*PASSWORD",
	}},
}

// Deny is the built-in deny list.
func Deny() []Group { return deny }

// Allow is what the built-in globs spare by name.
func Allow() []Group { return nil }

// Core is what `inherit = "core"` lets through.
func Core() []Group { return nil }

// Spared says whether a value cannot be a secret.
func Spared(value string) bool { return value == "" }

// Shape says whether a value has the form of a credential.
func Shape(name, value string) (kind string, ok bool) { return "", false }

// IsSensitiveName says whether a deny group takes the name.
func IsSensitiveName(name string) bool {
	name = strings.ToUpper(name)
	for _, g := range deny {
		for _, e := range g.Exact {
			if e == name {
				return true
			}
		}
	}
	return false
}
