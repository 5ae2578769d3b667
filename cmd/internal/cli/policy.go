package cli

import (
	"os"
	"strings"

	"github.com/spf13/pflag"

	"github.com/envscrub/envscrub/policy"
)

// policyFlags choose a policy and what it is applied to.
type policyFlags struct {
	files   []string
	profile string
	user    string
	image   string
}

func (p *policyFlags) add(f *pflag.FlagSet) {
	p.addFiles(f)
	f.StringVar(&p.profile, "profile", "", "the `name` of the profile to apply")
	f.StringVar(&p.user, "user", "", "choose the profile as for a container of this `user`")
	f.StringVar(&p.image, "image", "", "choose the profile as for a container of this `image`")
}

func (p *policyFlags) addFiles(f *pflag.FlagSet) {
	f.StringArrayVar(&p.files, "policy", nil, "read this `file` instead of the installed policy (repeat for several, in order)")
}

func (p *policyFlags) load() (*policy.Policy, error) {
	return policy.Load(policy.LoadOptions{Files: p.files, User: os.Geteuid() != 0, Lookup: os.LookupEnv})
}

// view is the policy for subject.
func (p *policyFlags) view(loaded *policy.Policy, subject policy.Subject) (*policy.View, error) {
	return loaded.For(p.apply(subject))
}

// apply lets what the command line says about a subject win.
func (p *policyFlags) apply(subject policy.Subject) policy.Subject {
	if p.profile != "" {
		subject.Profile = p.profile
	}
	if p.user != "" {
		subject.User = p.user
	}
	if p.image != "" {
		subject.Image = p.image
	}
	return subject
}

// allowed are the names of ENVSCRUB_ALLOW, separated by commas.
func allowed(lookup func(string) (string, bool)) []string {
	list, _ := lookup("ENVSCRUB_ALLOW")
	var out []string
	for name := range strings.SplitSeq(list, ",") {
		if name = strings.TrimSpace(name); name != "" {
			out = append(out, name)
		}
	}
	return out
}
