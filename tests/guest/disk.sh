#!/bin/bash
# A stock Debian host as a disk: tests/guest/disk.sh SUITE AGENT, into
# build/guest/SUITE: disk (raw, ext4, 6 GB with holes), vmlinuz and initrd. The
# suite's own kernel, systemd and Docker, as its packages configure them, what
# tests/live needs, and in Docker the image AGENT of this machine, as
# membrane-agent:stock. Needs root. Made once, and anew when this file or the
# image changes; it has to be booted with `prepare` (stock.sh) then.
source "$(dirname "$0")/../../image/lib.sh"

suite=$1 agent=$2
at=$PWD/build/guest/$suite
mirror=${MEMBRANE_MIRROR:-http://deb.debian.org/debian}
packages=(linux-image-amd64 initramfs-tools systemd systemd-sysv dbus udev kmod
	apparmor iproute2 iptables nftables procps docker.io ca-certificates
	curl git gcc libc6-dev openssl python3 python3-h2 python3-yaml
	libyaml-0-2 libcjson1 libidn2-0 libyajl2)
[[ $suite == bookworm ]] || packages+=(docker-cli)

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
	# The group of the user that tests/live/world.sh has.
	chroot "$root" groupmod -g 61001 docker
	cat >"$root/etc/systemd/system/stock.service" <<-'END'
		[Unit]
		After=multi-user.target docker.service
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
	configure "$root"
	quietly "build/log/guest-$suite-agent" give_agent "$root"
	rm -rf "$root"/var/cache/apt/archives/*.deb \
		"$root"/var/lib/apt/lists/*
	cp "$root"/boot/vmlinuz-* "$at/vmlinuz"
	cp "$root"/boot/initrd.img-* "$at/initrd"
	rm -f "$at/disk"
	quietly "build/log/guest-$suite-disk" mke2fs -t ext4 -d "$root" \
		"$at/disk" 6G
}

inputs=$(
	sha256sum <"$0"
	docker image inspect -f '{{.Id}}' "$agent"
)
[[ $(cat "$at/inputs" 2>/dev/null) != "$inputs" ]] || exit 0
((EUID == 0)) || die "needs root"
say "making a disk of Debian $suite with its kernel and Docker (two minutes)"
rm -f "$at/inputs" "$at/prepared"
make_disk
echo "$inputs" >"$at/inputs"
