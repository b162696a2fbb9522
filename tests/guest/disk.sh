#!/bin/bash
# A stock Debian host as a disk (raw, ext4, 6 GB with holes), vmlinuz and initrd,
# with the suite's own kernel and systemd as its packages configure them, and
# what tests/live needs:
#
#   tests/guest/disk.sh SUITE docker AGENT   with Docker, in it the image AGENT of
#                 this machine as membrane-agent:stock, into build/guest/SUITE; it
#                 has to be booted with `prepare` (stock.sh) then
#   tests/guest/disk.sh SUITE native   with the package membrane (debs.sh) and what
#                 that recommends, and a user, into build/guest/SUITE-native
#
# Needs root. Made once, and anew when this file, the image or what the package
# depends on changes; the package itself is a newer one at each boot.
source "$(dirname "$0")/../../image/lib.sh"

suite=$1 kind=$2 agent=${3-}
at=$PWD/build/guest/$suite
debs=$PWD/build/guest/$suite-debs
mirror=${MEMBRANE_MIRROR:-http://deb.debian.org/debian}
packages=(linux-image-amd64 initramfs-tools systemd systemd-sysv dbus udev kmod
	apparmor iproute2 nftables procps ca-certificates curl git gcc libc6-dev
	openssl python3 python3-h2 python3-yaml)
case $kind in
docker)
	packages+=(iptables docker.io libyaml-0-2 libcjson1 libidn2-0 libyajl2 libnettle8)
	[[ $suite == bookworm ]] || packages+=(docker-cli)
	;;
native)
	at+=-native
	# As where somebody logs in: user@.service has groups for its user.
	packages+=(dbus-user-session libpam-systemd)
	;;
esac

# The tree of this repository, a folder for what comes out, and what is done
# when all else is up: stock.sh, with a word of the kernel's command line.
configure() { # ROOT
	local root=$1
	echo stock >"$root/etc/hostname"
	echo '127.0.0.1 localhost stock' >"$root/etc/hosts"
	# Nothing of the machine that this was made on; tests/live/world.sh
	# answers at this address.
	rm -f "$root/etc/resolv.conf"
	echo 'nameserver 8.8.8.8' >"$root/etc/resolv.conf"
	cat >"$root/etc/fstab" <<-'END'
		/dev/vda / ext4 rw,relatime 0 1
		tree /tree 9p ro,trans=virtio,version=9p2000.L,cache=loose 0 0
		out /out 9p rw,trans=virtio,version=9p2000.L 0 0
	END
	mkdir "$root/tree" "$root/out"
	cat >"$root/etc/systemd/system/stock.service" <<-'END'
		[Unit]
		After=multi-user.target docker.service user@61000.service
		[Service]
		Type=oneshot
		ExecStart=/bin/bash /tree/tests/guest/stock.sh
		ExecStopPost=/bin/systemctl poweroff
		StandardOutput=file:/out/said
		StandardError=inherit
	END
	cat >"$root/etc/systemd/system/stock.target" <<-'END'
		[Unit]
		Requires=multi-user.target
		After=multi-user.target
		Wants=stock.service
	END
}

# That which has Docker, of the user that tests/live/world.sh has.
give_docker() { # ROOT
	chroot "$1" groupmod -g 61001 docker
	quietly "build/log/guest-$suite-agent" give_agent "$1"
}

# By apt, with all that it recommends; and that user, as an administrator makes
# one: with subordinate numbers, and a manager that lasts.
give_package() { # ROOT
	mkdir "$1/debs"
	cp "$debs"/membrane_*.deb "$1/debs/"
	cp /etc/resolv.conf "$1/etc/resolv.conf"
	chroot "$1" sh -ec '
		export DEBIAN_FRONTEND=noninteractive
		apt-get -q update
		apt-get -q -y install /debs/*.deb
		groupadd -g 61001 kept
		useradd -m -u 61000 -g 61001 -s /bin/bash kept
		mkdir -p /var/lib/systemd/linger
		touch /var/lib/systemd/linger/kept'
	rm -r "$1/debs"
}

# By the suite's own dockerd, with nothing around it: in an emulated machine
# this takes minutes.
give_agent() { # ROOT
	docker tag "$agent" membrane-agent:stock
	docker save membrane-agent:stock >"$1/agent.tar"
	# shellcheck disable=SC2016  # "$0" is that shell's
	unshare --mount --net --pid --fork --kill-child sh -ec '
		mount --bind "$0" "$0"
		cd "$0"
		mount --rbind /sys sys
		mount -t proc none proc
		mount -t tmpfs none run
		exec chroot . sh -e' "$1" <<-'END' || return
		dockerd --bridge=none --iptables=false --ip6tables=false \
			>/var/log/dockerd 2>&1 &
		n=0
		until docker version >/dev/null 2>&1; do
			sleep 0.1
			n=$((n + 1))
			[ $n -lt 600 ] || { cat /var/log/dockerd; exit 1; }
		done
		docker load -q </agent.tar
		kill $!
		wait $! || true
	END
	rm "$1/agent.tar" "$1/var/log/dockerd"
}

make_disk() {
	local root
	mkdir -p "$at"
	root=$(mktemp -d "$at/root.XXXXXX")
	# shellcheck disable=SC2064  # now, not when it runs
	trap "rm -rf '$root'" EXIT
	quietly "build/log/guest-$suite" debootstrap --variant=minbase \
		--include="$(IFS=,; echo "${packages[*]}")" \
		"$suite" "$root" "$mirror"
	if [[ $kind == docker ]]; then
		give_docker "$root"
	else
		quietly "build/log/guest-$suite-native" give_package "$root"
	fi
	configure "$root"
	rm -rf "$root"/var/cache/apt/archives/*.deb \
		"$root"/var/lib/apt/lists/*
	cp "$root"/boot/vmlinuz-* "$at/vmlinuz"
	cp "$root"/boot/initrd.img-* "$at/initrd"
	rm -f "$at/disk"
	quietly "build/log/guest-$suite-disk" mke2fs -t ext4 -d "$root" \
		"$at/disk" 6G
}

what_it_has() {
	if [[ $kind == docker ]]; then
		docker image inspect -f '{{.Id}}' "$agent"
	else
		dpkg-deb -f "$debs"/membrane_*.deb Depends Recommends
	fi
}

inputs=$(
	sha256sum <"$0"
	what_it_has
)
[[ $(cat "$at/inputs" 2>/dev/null) != "$inputs" ]] || exit 0
((EUID == 0)) || die "needs root"
say "making a disk of Debian $suite with its kernel, for $kind (two minutes)"
rm -f "$at/inputs" "$at/prepared"
make_disk
echo "$inputs" >"$at/inputs"
