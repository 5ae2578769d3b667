package builtin

// Allow returns the named allow groups. All are off by default: a default allow
// would let a known secret value through under a harmless name.
func Allow() []Group { return allowGroups[:] }

var allowGroups = [...]Group{
	{
		Name: "git-hosting", Off: true,
		Doc:   "what gh, glab and git need to speak to their host",
		Names: []string{"GH_TOKEN", "GITHUB_TOKEN", "GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN", "GITLAB_TOKEN", "GITLAB_ACCESS_TOKEN", "BITBUCKET_TOKEN", "GITEA_TOKEN"},
	},
	{
		Name: "package-registries", Off: true,
		Doc:   "what package managers need to read private packages",
		Names: []string{"NPM_TOKEN", "NODE_AUTH_TOKEN", "PYPI_TOKEN", "CARGO_REGISTRY_TOKEN", "GEM_HOST_API_KEY", "NUGET_API_KEY", "TWINE_USERNAME", "TWINE_PASSWORD"},
	},
}
