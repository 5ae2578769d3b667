#!/bin/sh
set -e
# deb: remove|purge|upgrade|…; rpm: 0 for the last removal.
case ${1-} in
remove | purge | 0) ;;
*) exit 0 ;;
esac
if [ -e /sys/fs/selinux/enforce ] && command -v semanage >/dev/null 2>&1; then
	semanage fcontext -d /usr/libexec/envscrub/envscrub-shim 2>/dev/null || true
fi
if [ -d /run/systemd/system ]; then
	systemctl daemon-reload || true
fi
exit 0
