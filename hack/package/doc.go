// Package packaging has what hack/release puts into the packages, and tests of it:
// the default policy, the systemd unit, the maintainer scripts, nfpm's list.
package packaging
