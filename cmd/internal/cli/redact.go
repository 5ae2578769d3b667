package cli

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/envscrub/envscrub/policy"
	"github.com/envscrub/envscrub/policy/redact"
)

func newRedact(a *app) *cobra.Command {
	var (
		flags         policyFlags
		lines, values []string
		forms         []string
		hold          time.Duration
	)
	cmd := &cobra.Command{
		Use:   "redact [--secrets FILE | --secrets0 FILE] [-- COMMAND [ARG]...]",
		Short: "Replace known secret values in a stream or in a command's output",
		Long: `redact replaces every known value by ` + redact.Placeholder + `: on its way from standard input to standard
output, or in what COMMAND writes to its standard output and error. The values are those that
the policy's "secrets" names, or those of the files given here. Values shorter than
` + fmt.Sprint(redact.MinLength) + ` bytes are left as they are and named in a warning.

Only the end of what was written so far is ever held back, and only while it is the beginning
of a value. After the time of --hold up to three bytes of it are let through, and in place of more the
placeholder; the rest is still recognised.

A COMMAND keeps its exit code and its terminal. What it leaves running when it ends
cannot write any more.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if at := cmd.ArgsLenAtDash(); at > 0 || at < 0 && len(args) > 0 {
				return usagef("the command has to stand behind -- (see envscrub redact --help)")
			}
			if hold < 0 {
				return usagef("--hold: a time below zero; 0 is for as long as it takes")
			}
			if len(args) == 0 && (slices.Contains(lines, "-") || slices.Contains(values, "-")) {
				return usagef("the secrets cannot come from standard input, which is what is redacted; name a file, or a command behind --")
			}
			r, err := a.redactor(&flags, lines, values, forms)
			if err != nil {
				return err
			}
			a.warnIgnored(r.Ignored())
			if r.Empty() {
				a.note("no secret is known, so nothing is replaced; name them with --secrets or `secrets` in the policy")
			}
			if len(args) > 0 {
				return wrap(r, hold, args)
			}
			return a.filter(r, hold)
		},
	}
	f := cmd.Flags()
	flags.addFiles(f)
	f.StringVar(&flags.profile, "profile", "", "the secrets and forms of the profile of this `name`")
	f.StringArrayVar(&lines, "secrets", nil, "the values are the lines of this `file` (- is standard input, where a command is given)")
	f.StringArrayVar(&values, "secrets0", nil, "the values are separated by NUL bytes in this `file`")
	f.StringSliceVar(&forms, "forms", nil, "look for a value also in these `forms`: "+strings.Join(redact.FormNames(), ", ")+" (default: the policy's redact.forms)")
	f.DurationVar(&hold, "hold", redact.DefaultHold, "hold the possible beginning of a value back for at most this `time`; 0 is for as long as it takes")
	return cmd
}

// maxWarned is how many values that are not redacted are named: more tell no more.
const maxWarned = 10

func (a *app) warnIgnored(names []string) {
	for i, name := range names {
		if i == maxWarned {
			a.note("and %d values more: shorter than %d bytes, so not redacted", len(names)-i, redact.MinLength)
			return
		}
		a.note("%s: shorter than %d bytes, so not redacted", name, redact.MinLength)
	}
}

// redactor knows the values of the files, or without any the policy's.
func (a *app) redactor(flags *policyFlags, lines, values, names []string) (*redact.Redactor, error) {
	var known []redact.Secret
	for _, file := range lines {
		s, err := a.secretsOf(file, "line", "\n")
		if err != nil {
			return nil, err
		}
		known = append(known, s...)
	}
	for _, file := range values {
		s, err := a.secretsOf(file, "value", "\x00")
		if err != nil {
			return nil, err
		}
		known = append(known, s...)
	}
	own := len(lines)+len(values) > 0
	asked, all := redact.Forms(0), len(names) == 0
	for _, name := range names {
		form, ok := redact.ParseForm(name)
		if !ok {
			return nil, usagef("--forms: %s: no such form; there are %s", name, strings.Join(redact.FormNames(), ", "))
		}
		asked |= form
	}
	if own && all {
		asked = redact.AllForms
	}
	if own {
		return redact.New(known, asked), nil
	}
	loaded, err := flags.load()
	if err != nil {
		return nil, err
	}
	view, err := flags.view(loaded, policy.Subject{})
	if err != nil {
		return nil, err
	}
	if len(names) > 0 {
		view.Redact.Forms = names
	}
	return view.Redactor(), nil
}

// Bounds of what is looked for: all forms of so many values are made within seconds and fit into memory.
const (
	maxValues    = 10000
	maxValueSize = 64 << 10
)

// secretsOf reads values, and names each by its place: what is wrong with one can
// be said without it.
func (a *app) secretsOf(file, unit, separator string) ([]redact.Secret, error) {
	if file == "" {
		return nil, usagef("the file of the secrets has no name")
	}
	data, err := a.readAll(file)
	if err != nil {
		return nil, fmt.Errorf("read the secrets: %w", err)
	}
	var out []redact.Secret
	for i, value := range bytes.Split(data, []byte(separator)) {
		if separator == "\n" {
			value = bytes.TrimSuffix(value, []byte("\r"))
		}
		switch {
		case len(value) > maxValueSize:
			return nil, fmt.Errorf("%s: %s %d is longer than %d KiB; is this the file of the secrets?", file, unit, i+1, maxValueSize>>10)
		case len(out) == maxValues:
			return nil, fmt.Errorf("%s: more than %d values; is this the file of the secrets?", file, maxValues)
		case len(value) > 0:
			out = append(out, redact.Secret{Name: fmt.Sprintf("%s: %s %d", file, unit, i+1), Value: string(value)})
		}
	}
	return out, nil
}

// filter carries standard input to standard output.
func (a *app) filter(r *redact.Redactor, hold time.Duration) error {
	if r.Empty() {
		_, err := io.Copy(a.out, a.in)
		return err
	}
	w := r.NewWriter(a.out, hold)
	_, err := io.Copy(w, a.in)
	if cerr := w.Close(); err == nil {
		err = cerr
	}
	return err
}
