#!/bin/bash
# What a fresh Debian or Ubuntu machine lacks: image/setup.sh GROUP...
#
#   build   compile membrane and the programs of its images
#   native  run sandboxes by the native engine
#   run     run sandboxes by Docker, and what makes images without a registry
#   package Debian packages, and what looks at them: make deb
#   demo    the internet of the demonstration (make run)
#   test    unit tests, fuzz targets, live tests
#   bench   what the measurements compare with
#   mutants what reads the sources for make mutants
#   prove   what proves leaf functions for make prove
#   docker  not a package: a Docker daemon that answers
#   arm64   cross-compile, and run what comes of it in emulated machines;
#           Debian's libraries for it go into build/arm64 (image/sysroot.sh)
#
# Only what is missing is installed. `package/command` is there when the
# command is, whoever packaged it; `?package` only where apt knows of it.
source "$(dirname "$0")/lib.sh"

build=(gcc/gcc make/make bison/bison flex/flex pkg-config/pkg-config
	libc6-dev libyaml-dev libcjson-dev libcurl4-openssl-dev libidn2-dev
	libssl-dev libnftables-dev libnftnl-dev libmnl-dev libldns-dev nettle-dev
	libarchive-dev libcap-dev clang/clang llvm/llvm-strip libbpf-dev libelf-dev zlib1g-dev
	libdeflate-dev libyajl-dev libseccomp-dev libfuse3-dev)
native=(haproxy/haproxy ?passt/pasta uidmap/newuidmap ca-certificates)
# From Debian 13 on, the command is a package of its own.
run=(docker.io/dockerd ?docker-cli/docker iptables/iptables haproxy/haproxy
	?passt/pasta ca-certificates)
# Only where debian:bookworm-slim cannot be pulled; image/base.sh asks.
base=(debootstrap/debootstrap)
package=(debhelper/dh dpkg-dev/dpkg-buildpackage lintian/lintian)
demo=(iproute2/ip python3/python3 python3-h2 openssl/openssl
	util-linux/unshare procps/ps curl/curl)
# netbase has /etc/protocols, by which libnftables names what it lists where a
# test asks it on the machine's own root.
test=(?libclang-rt-dev lld/ld.lld libhttp-parser-dev llvm/llvm-symbolizer nftables/nft netbase iproute2/ip
	openssh-client/ssh-agent ?dbus-daemon/dbus-daemon ?libnotify-bin/notify-send ?python3-dbus ?python3-gi
	gpg-agent/gpg-agent
	python3/python3 python3-h2 python3-jsonschema python3-yaml openssl/openssl strace/strace
	util-linux/unshare procps/ps git/git passwd/useradd zsh/zsh
	fish/fish mandoc/mandoc jq/jq uidmap/newuidmap ?rootlesskit/rootlesskit
	?slirp4netns/slirp4netns ?passt/pasta dosfstools/mkfs.vfat ?fusefat/fusefat
	?ntfs-3g/lowntfs-3g rsync/rsync ?chromium/chromium ?qemu-system-x86 ?busybox-static
	?podman/podman ?netavark ?aardvark-dns ?catatonit/catatonit
	?coq/coqc ?ocaml-nox/ocamlopt ?python3-z3)
bench=(bubblewrap/bwrap ?mitmproxy/mitmdump ?hey nginx-light/nginx)
mutants=(python3-clang)
prove=(?frama-c-base/frama-c ?why3/why3 ?cvc4/cvc4 python3/python3)
arm64=(gcc-aarch64-linux-gnu/aarch64-linux-gnu-gcc debian-archive-keyring
	gcc-arm-linux-gnueabihf/arm-linux-gnueabihf-gcc libc6-dev-armhf-cross
	qemu-system-arm/qemu-system-aarch64)

missing() {
	local entry package
	local -A installed=()
	while read -r status package; do
		[[ $status != ii ]] || installed[${package%%:*}]=1
	done < <(dpkg-query -W -f='${db:Status-Abbrev} ${Package}\n')
	for entry; do
		package=${entry%/*} package=${package#\?}
		[[ -z ${installed[$package]-} ]] || continue
		[[ $entry != */* ]] || ! PATH=$PATH:/usr/sbin:/sbin \
			command -v "${entry#*/}" >/dev/null || continue
		[[ $entry != \?* || $(apt-cache policy "$package") ]] || continue
		echo "$package"
	done
}

packages() {
	local -a want
	mapfile -t want < <(missing "$@")
	((${#want[@]})) || return 0
	command -v apt-get >/dev/null ||
		die "please install, there is no apt-get here: ${want[*]}"
	may_root || die "packages are missing, and this is neither root nor is" \
		"there sudo. Install them once, then go on as you are:
  su -c 'apt-get update && apt-get install --no-install-recommends ${want[*]}'"
	say "installing ${want[*]}"
	quietly build/log/apt-update root apt-get -q update
	# Debian's docker.io would start a daemon by itself; let it.
	quietly build/log/apt-install root env DEBIAN_FRONTEND=noninteractive \
		apt-get -q -y install --no-install-recommends "${want[@]}"
}

answers() { docker version >/dev/null 2>&1; }

daemon() {
	! answers || return 0
	may_root || die "no Docker daemon answers you, and only root can start" \
		"one. Start it once, and be in the group docker:
  su -c 'systemctl start docker; usermod -aG docker $(id -un)'"
	if [[ -d /run/systemd/system ]]; then
		say "starting the Docker daemon (systemctl start docker)"
		root systemctl start docker
	else
		say "starting the Docker daemon (log: build/log/dockerd)"
		mkdir -p build/log
		# Not ours to stop afterwards: it is the machine's daemon.
		root setsid dockerd >build/log/dockerd 2>&1 </dev/null &
	fi
	within 60 answers || {
		((EUID == 0)) || ! root docker version >/dev/null 2>&1 ||
			die "Docker runs, but not for you: add yourself to the" \
			    "group docker, or use sudo"
		die "the Docker daemon does not answer: see build/log/dockerd"
	}
}

# Of all groups at once: whoever installs by hand is told once.
wanted=()
for group; do
	case $group in
	build) wanted+=("${build[@]}") ;;
	native) wanted+=("${native[@]}") ;;
	run) wanted+=("${run[@]}") ;;
	demo) wanted+=("${demo[@]}") ;;
	base) wanted+=("${base[@]}") ;;
	package) wanted+=("${package[@]}") ;;
	test) wanted+=("${test[@]}") ;;
	bench) wanted+=("${bench[@]}") ;;
	mutants) wanted+=("${mutants[@]}") ;;
	prove) wanted+=("${prove[@]}") ;;
	arm64) wanted+=("${arm64[@]}") ;;
	docker) ;;
	*) die "no such group: $group" ;;
	esac
done
packages "${wanted[@]}"
for group; do
	case $group in
	arm64)
		mapfile -t libraries < <(printf '%s\n' "${build[@]}" | grep -v /)
		image/sysroot.sh arm64 "${libraries[@]}" busybox-static
		;;
	docker) daemon ;;
	esac
done
