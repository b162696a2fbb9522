#!/bin/bash
# Debian's packages of another architecture, below build/ARCH: what a cross
# compiler links with, and what the emulated machine of tests/guest runs.
# image/sysroot.sh ARCH PACKAGE... : build/ARCH/root holds those and what they
# need, build/ARCH/apt is an apt of its own, for kernels, too. Nothing is
# installed here, and nothing asks for root.
source "$(dirname "$0")/lib.sh"

arch=$1
shift
mirror=${MEMBRANE_MIRROR:-http://deb.debian.org/debian}
at=$PWD/build/$arch root=$PWD/build/$arch/root
keys=/usr/share/keyrings/debian-archive-keyring.gpg

configure() {
	mkdir -p "$at"/apt/{lists,cache/archives}/partial "$at/apt/etc"
	: >"$at/apt/status"
	cat >"$at/apt/apt.conf" <<-END
		APT::Architecture "$arch";
		APT::Architectures { "$arch"; };
		APT::Sandbox::User "";
		Acquire::Languages "none";
		Dir::State "$at/apt";
		Dir::State::status "$at/apt/status";
		Dir::Cache "$at/apt/cache";
		Dir::Etc::sourcelist "$at/apt/etc/sources.list";
		Dir::Etc::sourceparts "-";
		Dir::Etc::preferences "$at/apt/etc/preferences";
		Dir::Etc::preferencesparts "$at/apt/etc";
	END
	for suite in bookworm bookworm-updates bookworm-backports; do
		echo "deb [signed-by=$keys] $mirror $suite main"
	done >"$at/apt/etc/sources.list"
	echo "deb [signed-by=$keys] $mirror-security bookworm-security main" \
		>>"$at/apt/etc/sources.list"
}

# As programs find it: /lib in /usr, and no link out of it.
unpack() {
	local deb link to
	rm -rf "$root"
	mkdir -p "$root/usr/lib"
	ln -s usr/lib "$root/lib"
	for deb in "$at"/apt/cache/archives/*.deb; do
		dpkg-deb --fsys-tarfile "$deb" |
			tar -C "$root" -x --keep-directory-symlink \
				--no-same-owner
	done
	find "$root" -type l -lname '/*' -printf '%P %l\n' |
		while read -r link to; do
			ln -srf "$root$to" "$root/$link"
		done
}

# Made once for a list; its kernels change, and are looked up each time.
configure
export APT_CONFIG=$at/apt/apt.conf
quietly "build/log/apt-update-$arch" apt-get -q update
[[ "$*" != "$(cat "$at/packages" 2>/dev/null)" ]] || exit 0
say "Debian's libraries for $arch, into build/$arch/root"
rm -f "$at"/apt/cache/archives/*.deb
quietly "build/log/apt-install-$arch" apt-get -q -y install --download-only \
	--no-install-recommends "$@"
unpack
rm -f "$at"/apt/cache/archives/*.deb
echo "$*" >"$at/packages"
