package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/envscrub/envscrub/harden/order"
)

func newVersion(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return a.version()
		},
	}
}

func (a *app) version() error {
	_, err := fmt.Fprintf(a.out, "envscrub %s (shim protocol %s)\n", buildVersion(), order.Protocol)
	return err
}
