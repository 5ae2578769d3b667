#!/bin/sh
# try.sh DEB RPM: what an administrator does with the package, on an overlay of this
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
cp "$2" "$t/root/tmp/envscrub.rpm"
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
say "all programs are of one build, and the manual pages are in their sections"
builds=$(envscrub status --json | sed -n 's/^ *"version": "\(.*\)",\{0,1\}$/\1/p' | grep -c "^$(envscrub version | cut -d' ' -f2)$")
[ "$builds" = 5 ] || { envscrub status; exit 1; }
for page in man1/envscrub man1/envscrub-status man5/envscrub-policy man8/envscrub-hook man8/envscrub-runtime man8/envscrub-nri man8/envscrub-shim; do
	zcat /usr/share/man/$page.?.gz | grep -q '^\.TH' || { say "$page is missing"; exit 1; }
done
say "a registered package is neither removed nor purged"
mkdir -p /etc/containers
envscrub install podman --via runtime >/dev/null 2>&1
refused() { # COMMAND...: a removal that must not happen
	if "$@" >/tmp/out 2>&1; then say "removed all the same: $*"; exit 1; fi
	grep -q -- "$words" /tmp/out || { cat /tmp/out; exit 1; }
	test -x /usr/libexec/envscrub/envscrub-shim
}
words="envscrub uninstall podman" refused dpkg -r envscrub
words="envscrub uninstall podman" refused dpkg -P envscrub
envscrub uninstall podman
say "nor one that a user's own engine calls, or that a container was started with"
mkdir -p /home/made-up/.local/state/envscrub/install /run/envscrub/x /tmp/bundle
touch /home/made-up/.local/state/envscrub/install/podman.json
words="--rootless" refused dpkg -r envscrub
rm -r /home/made-up
echo 'bundle "/tmp/bundle"' >/run/envscrub/x/record-1
words="1 containers" refused dpkg -r envscrub
rmdir /tmp/bundle # gone without its runtime: nobody needs us for it
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
rm -r /run/envscrub /var/lib/envscrub 2>/dev/null || true

command -v rpm >/dev/null || DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends rpm >/dev/null 2>&1
say "the same with the rpm"
rpm -i --nodeps /tmp/envscrub.rpm
envscrub check >/dev/null
rpm -V --nodeps envscrub
envscrub install podman --via runtime >/dev/null 2>&1
words="envscrub uninstall podman" refused rpm -e envscrub
envscrub uninstall podman
echo "# edited" >>/etc/envscrub/policy.toml
rpm -U --nodeps --force /tmp/envscrub.rpm
grep -q '^# edited' /etc/envscrub/policy.toml
test -x /usr/libexec/envscrub/envscrub-shim
rpm -e envscrub
if [ -e /usr/libexec/envscrub ]; then say "the rpm left /usr/libexec/envscrub" && exit 1; fi
rm -r /etc/envscrub # an edited configuration stays, as .rpmsave
for f in $(files); do
	case " $(echo $before) " in
	*" $f "*) ;;
	*) say "the rpm left behind: $f" && exit 1 ;;
	esac
done
INSIDE
