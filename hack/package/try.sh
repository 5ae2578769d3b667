#!/bin/sh
# try.sh DEB: what an administrator does with the package, on an overlay of this
# machine in a mount namespace of its own. hack/release --try calls it.
set -eu
t=$(mktemp -d)
# The namespace takes the mounts with it; the directory itself is empty outside.
trap 'umount -R "$t"; rmdir "$t"' EXIT
mount -t tmpfs none "$t"
mkdir "$t/up" "$t/work" "$t/root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$t/up,workdir=$t/work" "$t/root"
mount -t proc proc "$t/root/proc"
cp "$1" "$t/root/tmp/envscrub.deb"
chroot "$t/root" sh -eu <<'INSIDE'
say() { echo "try: $*"; }
files() { find /etc /usr -xdev -name '*envscrub*' 2>/dev/null | sort; }
before=$(files)
dpkg -i /tmp/envscrub.deb >/dev/null
envscrub version
envscrub check
for p in envscrub-hook envscrub-runtime envscrub-shim envscrub-nri; do
	test -x "/usr/libexec/envscrub/$p" || { say "$p is missing"; exit 1; }
done
/usr/libexec/envscrub/envscrub-nri -check
say "a registered package is not removed"
mkdir -p /etc/containers
envscrub install podman --via runtime >/dev/null 2>&1
if dpkg -r envscrub >/dev/null 2>&1; then say "removed although Podman calls it"; exit 1; fi
test -x /usr/libexec/envscrub/envscrub-shim
envscrub uninstall podman
if command -v containerd >/dev/null; then
	say "containerd reads its new handler, and has its file back afterwards"
	mkdir -p /etc/containerd
	touch /etc/containerd/config.toml
	cp /etc/containerd/config.toml /tmp/before
	envscrub install containerd --default
	containerd config dump | grep -q 'BinaryName = "/usr/libexec/envscrub/envscrub-runc"'
	envscrub uninstall containerd
	cmp /etc/containerd/config.toml /tmp/before
fi
say "an edited policy survives an upgrade and a removal"
echo "# edited" >>/etc/envscrub/policy.toml
dpkg -i /tmp/envscrub.deb >/dev/null
grep -q '^# edited' /etc/envscrub/policy.toml
dpkg -r envscrub >/dev/null
test ! -e /usr/libexec/envscrub
grep -q '^# edited' /etc/envscrub/policy.toml
dpkg -P envscrub >/dev/null
for f in $(files); do
	case " $(echo $before) " in
	*" $f "*) ;;
	*) say "left behind: $f" && exit 1 ;;
	esac
done
INSIDE
