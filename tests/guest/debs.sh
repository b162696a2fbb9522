#!/bin/bash
# Debian packages of this tree, built on the suite that they are for, where no
# network is: tests/guest/debs.sh SUITE, into build/guest/SUITE-debs. What builds
# them is a root of debootstrap's, made once. Needs root.
source "$(dirname "$0")/../../image/lib.sh"

suite=$1
at=$PWD/build/guest
root=$at/$suite-build
mirror=${MEMBRANE_MIRROR:-http://deb.debian.org/debian}
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH

needs() {
	sed -n '/^Build-Depends/,/^[A-RT-Z]/s/^ \([^ ,]*\).*/\1/p' debian/control
}

# With dependencies as apt finds them: debootstrap knows nothing of what is
# provided by another name.
install() {
	debootstrap --variant=buildd "$suite" "$root" "$mirror"
	cp /etc/resolv.conf "$root/etc/resolv.conf"
	# shellcheck disable=SC2046  # one word each
	chroot "$root" env DEBIAN_FRONTEND=noninteractive apt-get -q -y install \
		--no-install-recommends debhelper $(needs)
}

make_root() {
	local stamp
	stamp=$(needs | sha256sum)
	[[ $(cat "$root.needs" 2>/dev/null) != "$stamp" ]] || return 0
	say "making a root of Debian $suite to build in (two minutes)"
	rm -rf "$root" "$root.needs"
	mkdir -p "$root"
	quietly "build/log/guest-$suite-build" install
	echo "$stamp" >"$root.needs"
}

# A warning of the compiler's is a failure, as in tests/check.sh.
build() {
	local log=build/log/guest-$suite-debs
	rm -rf "$root/build"
	mkdir -p "$root/build/membrane"
	git ls-files -z | tar -c --null -T - | tar -C "$root/build/membrane" -x
	debian/changelog.sh <CHANGELOG.md \
		>"$root/build/membrane/debian/changelog"
	# shellcheck disable=SC2016  # "$0" is that shell's
	quietly "$log" unshare --mount --net --pid --fork --kill-child sh -ec '
		mount -t proc none "$0/proc"
		exec chroot "$0" env -i -C /build/membrane LC_ALL=C.UTF-8 \
			PATH=/usr/sbin:/usr/bin:/sbin:/bin \
			SOURCE_DATE_EPOCH="$SOURCE_DATE_EPOCH" \
			DEB_BUILD_OPTIONS="parallel=$1" \
			dpkg-buildpackage -us -uc -b' "$root" "$(nproc)"
	! grep -E ':[0-9]+: warning: ' "$log" || die "warnings: $log"
}

((EUID == 0)) || die "needs root"
make_root
say "building Debian packages of this tree on $suite"
build
rm -rf "$at/$suite-debs"
mkdir -p "$at/$suite-debs"
mv "$root"/build/*.deb "$at/$suite-debs/"
rm -rf "$root/build"
