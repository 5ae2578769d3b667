package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/envscrub/envscrub/policy"
)

func newCheck(a *app) *cobra.Command {
	var flags policyFlags
	cmd := &cobra.Command{
		Use:   "check [FILE]...",
		Short: "Check the policy",
		Args:  cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			flags.files = append(flags.files, args...)
			loaded, err := flags.load()
			if err != nil {
				return err
			}
			view, err := flags.view(loaded, policy.Subject{})
			if err != nil {
				return err
			}
			d, err := view.Decide(nil)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(a.out, "ok: %s\n", d.Summary())
			return err
		},
	}
	flags.add(cmd.Flags())
	return cmd
}
