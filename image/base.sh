#!/bin/bash
# The base of the agent image: prints the name of an image that is there.
# Debian's own where it is present or can be pulled, else one made here.
source "$(dirname "$0")/lib.sh"

official=debian:bookworm-slim
ours=membrane-base:bookworm
mirror=${MEMBRANE_MIRROR:-http://deb.debian.org/debian}

present() { docker image inspect "$1" >/dev/null 2>&1; }

# No registry may answer, or only swallow packets: a short bound.
pull() {
	say "pulling $official (at most 60 s)"
	timeout -k 5 60 docker pull -q "$official" >/dev/null 2>&1
}

bootstrap() {
	local dir
	[[ ! -e image/setup.sh ]] || image/setup.sh base
	PATH=$PATH:/usr/sbin:/sbin command -v debootstrap >/dev/null ||
		die "no registry has $official for us, and debootstrap, which" \
		    "would make the like of it, is not installed"
	may_root || die "no registry has $official for us, and the like of it is" \
		"made by root: run this once as root, or install sudo"
	say "no registry: making $ours with debootstrap (a minute)"
	mkdir -p "$made/image"
	dir=$(mktemp -d "$made/image/base.XXXXXX")
	# shellcheck disable=SC2064  # now, not when it runs
	trap "root rm -rf '$dir'" EXIT
	quietly "$made/log/debootstrap" root debootstrap --variant=minbase \
		bookworm "$dir" "$mirror"
	root tee "$dir/etc/apt/sources.list" >/dev/null <<-END
		deb $mirror bookworm main
		deb $mirror bookworm-updates main
		deb ${mirror}-security bookworm-security main
	END
	root tar -C "$dir" -c --exclude='./var/cache/apt/*' \
		--exclude='./var/lib/apt/lists/*' --exclude='./usr/share/man/*' \
		--exclude='./dev/*' --exclude='./usr/share/doc/*' . |
		docker import -c 'CMD ["bash"]' - "$ours" >/dev/null
}

if present "$official"; then
	echo "$official"
elif present "$ours"; then
	echo "$ours"
elif pull; then
	echo "$official"
else
	bootstrap
	echo "$ours"
fi
