#!/bin/sh
set -e
# deb: remove|upgrade|…; rpm: 0 for the last removal.
case ${1-} in
upgrade | deconfigure | failed-upgrade | 1) exit 0 ;;
esac
# An engine that still calls us could start nothing once we are gone, nor stop what runs.
left=""
for f in /var/lib/envscrub/install/*.json; do
	if [ -e "$f" ]; then left="$left $(basename "$f" .json)"; fi
done
if [ -n "$left" ]; then
	echo "envscrub is still registered with:$left" >&2
	for e in $left; do echo "  envscrub uninstall ${e%-rootless}" >&2; done
	exit 1
fi
if [ -d /run/systemd/system ]; then
	systemctl disable --now envscrub-nri.service || true
fi
exit 0
