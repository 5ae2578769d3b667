#!/bin/sh
# Puts envscrub on a Kubernetes node, keeps it as the policy says, and takes it back.
#   installer.sh install|remove|run
#
# ROOT      the node's / as this container sees it (below it only what is mounted)
# PROGRAMS  where the image has the programs
# POLICY    the policy file to bring to the node
# VIA       runtime or nri
# RESTART   signal or none
# ON_END    remove or keep (for run)
set -eu

ROOT=${ROOT-/host}
PROGRAMS=${PROGRAMS-/envscrub}
POLICY=${POLICY-/policy/policy.toml}
VIA=${VIA-runtime}
RESTART=${RESTART-signal}
ON_END=${ON_END-remove}
INTERVAL=${INTERVAL-30}
READY=${READY-/tmp/ready}

# As the node sees them.
BIN=/opt/envscrub/bin
POLICY_D=/etc/envscrub/policy.d
NODE_POLICY=$POLICY_D/50-kubernetes.toml

say() { echo "envscrub-installer: $*" >&2; }
die() { say "$*"; exit 1; }

# put FILE TARGET MODE: by a rename beside the target, of the whole file or not at all.
# 1 says that it is there already. Every step is asked for its result: within a
# condition set -e is off.
put() {
	if [ -L "$2" ]; then die "$2: is a symlink, refused"; fi
	if [ -f "$2" ] && cmp -s "$1" "$2"; then return 1; fi
	rm -f "$2".new.*
	if ! { cp "$1" "$2.new.$$" && chmod "$3" "$2.new.$$" && cmp -s "$1" "$2.new.$$" && mv -f "$2.new.$$" "$2"; }; then
		rm -f "$2.new.$$"
		die "$2: could not be written; is the disk full?"
	fi
}

# A policy that does not load would stop every agent: the old one stays.
put_policy() {
	if [ ! -f "$POLICY" ]; then die "$POLICY: not there; is the ConfigMap envscrub-policy mounted?"; fi
	# One look at a file that the kubelet may exchange.
	if ! cp "$POLICY" "$READY.policy"; then die "$READY.policy: could not be written; is its disk full?"; fi
	if ! "$PROGRAMS/envscrub" check --policy "$READY.policy" >/dev/null; then
		say "the policy was not taken over"
		return 1
	fi
	mkdir -p "$ROOT$POLICY_D"
	if put "$READY.policy" "$ROOT$NODE_POLICY" 0644; then say "policy written to $NODE_POLICY"; fi
}

# SELinux lets containers execute the shim only under a label of theirs.
label() {
	if [ ! -e /sys/fs/selinux/enforce ]; then return; fi
	chcon -t container_ro_file_t "$ROOT$BIN/envscrub-shim" 2>/dev/null ||
		say "could not label $BIN/envscrub-shim: run chcon -t container_ro_file_t $BIN/envscrub-shim on the node"
}

put_programs() {
	mkdir -p "$ROOT$BIN"
	# The shim first: a wrapper without its shim refuses containers.
	for p in envscrub-shim envscrub-hook envscrub-runtime envscrub-nri envscrub; do
		put "$PROGRAMS/$p" "$ROOT$BIN/$p" 0755 || true
	done
	for r in runc crun; do
		if [ ! -L "$ROOT$BIN/envscrub-$r" ]; then ln -s envscrub-runtime "$ROOT$BIN/envscrub-$r"; fi
	done
	label
}

# node_pids NAME: the processes of that name that are the node's own. A pod may call one of
# its own containerd too; that has more numbers than one, here and in the pod.
node_pids() {
	for p in $(pidof "$1" || true); do
		if grep -q '^NSpid:[[:space:]]*[0-9]*$' "/proc/$p/status"; then echo "$p"; fi
	done
}

# The one that runs; where this cannot be seen, the one that has a configuration.
engine() {
	if [ -n "${ENGINE-}" ]; then echo "$ENGINE"; return; fi
	crio=$(node_pids crio)
	containerd=$(node_pids containerd)
	if [ -z "$crio$containerd" ]; then
		crio=$(ls -A "$ROOT/etc/crio" 2>/dev/null || true)
		containerd=$(ls -A "$ROOT/etc/containerd" 2>/dev/null || true)
	fi
	if [ -n "$crio" ] && [ -z "$containerd" ]; then echo crio; return; fi
	if [ -n "$containerd" ] && [ -z "$crio" ]; then echo containerd; return; fi
	die "which engine does this node use? set ENGINE to containerd or crio"
}

# register install|uninstall: says on standard output whether anything changed.
register() {
	e=$(engine) || exit 1
	via=""
	if [ "$1" = install ]; then via="--via $VIA"; fi
	# shellcheck disable=SC2086
	out=$("$PROGRAMS/envscrub" "$1" "$e" --root "$ROOT" --bin-dir "$BIN" $via --json) || exit 1
	case $out in
	*'"action": "created"'* | *'"action": "edited"'* | *'"action": "removed"'* | *'"action": "restored"'* | \
		*'"action":"created"'* | *'"action":"edited"'* | *'"action":"removed"'* | *'"action":"restored"'*) echo "$e" ;;
	esac
}

# containerd has no way to read its configuration again but to start again, which
# its unit does; CRI-O reads handlers on SIGHUP.
restart() {
	case $1 in
	"") return ;;
	containerd) signal=TERM ;;
	crio) signal=HUP ;;
	*) return ;;
	esac
	if [ "$RESTART" != signal ]; then
		say "restart $1 on this node: its configuration has changed"
		return
	fi
	pid=$(node_pids "$1")
	if [ -z "$pid" ]; then say "$1 does not run, or this pod cannot see it (hostPID)"; return; fi
	# shellcheck disable=SC2086
	kill -s "$signal" $pid && say "$1 was told to read its configuration (SIG$signal)"
}

# Records are private; a kubelet that makes this directory for us makes it 0755.
put_run() {
	mkdir -p "$ROOT/run/envscrub"
	chmod 0700 "$ROOT/run/envscrub"
}

install() {
	put_run
	put_policy
	put_programs
	changed=$(register install)
	restart "$changed"
	say "installed"
}

# agents names the containers on this node that were started through us.
agents() {
	for d in "$ROOT"/run/envscrub/*/; do
		if [ -d "$d" ]; then basename "$d"; fi
	done
}

remove() {
	live=$(agents)
	if [ -n "$live" ]; then
		# Without the handler the engine could not stop them.
		say "agents still run here, nothing is taken back:" $live
		return
	fi
	changed=$(register uninstall)
	rm -f "$ROOT$NODE_POLICY"
	rmdir "$ROOT$POLICY_D" 2>/dev/null || true
	restart "$changed"
	for p in envscrub envscrub-nri envscrub-runtime envscrub-runc envscrub-crun envscrub-hook envscrub-shim; do
		rm -f "$ROOT$BIN/$p"
	done
	rmdir "$ROOT$BIN" 2>/dev/null || true
	say "taken back"
}

run() {
	ended=""
	trap 'ended=yes' TERM INT
	install
	: >"$READY"
	while [ -z "$ended" ]; do
		sleep "$INTERVAL" &
		wait $! || true
		if [ -z "$ended" ]; then put_policy || true; fi
	done
	rm -f "$READY"
	if [ "$ON_END" = remove ]; then remove; fi
}

case ${1-} in
install | remove | run) "$1" ;;
*) die "usage: installer.sh install|remove|run" ;;
esac
