package cli

import (
	"os"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// newMan is for packagers: it writes the manual pages, which are made from the
// same texts as --help.
func newMan() *cobra.Command {
	return &cobra.Command{
		Use:    "man DIRECTORY",
		Short:  "Write manual pages into a directory",
		Hidden: true,
		Args:   cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return err
			}
			root := cmd.Root()
			root.DisableAutoGenTag = true
			// A fixed date: two builds give the same bytes.
			date := time.Unix(0, 0).UTC()
			return doc.GenManTree(root, &doc.GenManHeader{Section: "1", Source: "envscrub", Manual: "envscrub", Date: &date}, args[0])
		},
	}
}
