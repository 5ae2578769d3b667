#!/bin/sh
set -e
# deb: remove|upgrade|…; rpm: 0 for the last removal.
case ${1-} in
upgrade | deconfigure | failed-upgrade | 1) exit 0 ;;
esac
# An engine that still calls us could start nothing once we are gone, nor stop what runs.
left=""
for f in /var/lib/envscrub/install/*.json /root/.local/state/envscrub/install/*.json /home/*/.local/state/envscrub/install/*.json; do
	if [ ! -e "$f" ]; then continue; fi
	engine=$(basename "$f" .json)
	case $f in
	/var/*) left="$left
  envscrub uninstall $engine" ;;
	*) left="$left
  envscrub uninstall $engine --rootless   (as $(stat -c %U "$f"))" ;;
	esac
done
if [ -n "$left" ]; then
	echo "envscrub is still registered with engines, which would start and stop nothing without it; first:$left" >&2
	exit 1
fi
# The same holds for containers that were started through us before an uninstall --force:
# those with a record whose bundle is still there.
live=0
for r in /run/envscrub/*/record-*; do
	bundle=$(sed -n 's/^bundle "\(.*\)"$/\1/p' "$r" 2>/dev/null || true)
	if [ -n "$bundle" ] && [ -d "$bundle" ]; then live=$((live + 1)); fi
done
if [ "$live" -gt 0 ]; then
	echo "envscrub: $live containers that were started through it are still there, and their engine needs it to stop them; stop them first (envscrub status lists them)" >&2
	exit 1
fi
if [ -d /run/systemd/system ]; then
	systemctl disable --now envscrub-nri.service || true
fi
exit 0
