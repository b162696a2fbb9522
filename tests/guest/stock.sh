#!/bin/bash
# What a stock host does (disk.sh), as its `guest=` on the kernel's command line
# says:
#
#   prepare         all that the live tests keep, for later boots
#   live:NAME,...   live tests whose name contains one of these, also those of
#                   t_stock.py
#   native:NAME,...   the same without Docker, of what the packages of this tree
#                   install
#   run:WORD,...    membrane with these words, as the user of those tests
#
# The machine has no network but the one that tests/live/world.sh makes in it.
set -euo pipefail
export HOME=/root MEMBRANE_HOST=machine MEMBRANE_TAG=stock MEMBRANE_SLOW=10

# A copy: what is built meanwhile is no part of this. What is kept of it from
# boot to boot (authority, images' marks) lies elsewhere.
tree() {
	rm -rf /opt/membrane
	mkdir -p /var/lib/stock/live /opt/membrane/build/live
	cd /opt/membrane
	tar -C /tree -c image policies grammar runtime tests/live tests/guest \
		tests/check.h build/bin | tar -x
	# What Docker's images are made of, where there are any.
	[[ ! -e /tree/build/image ]] || tar -C /tree -c build/image | tar -x
	mount --bind /var/lib/stock/live build/live
}

prepare() {
	tests/live/world.sh up
	tests/live/world.sh down
	echo prepared
}

# The packages over those that the disk has; in a world of its own.
natively() {
	dpkg -i /tree/build/guest/"$(. /etc/os-release && echo \
		"$VERSION_CODENAME")"-debs/membrane_*.deb >/tmp/dpkg 2>&1 ||
		cat /tmp/dpkg
	unset MEMBRANE_HOST
	MEMBRANE=/usr/bin/membrane MEMBRANE_ENGINE=native MEMBRANE_DOCKER=none \
		tests/live/run -v -j 1 --also tests/guest "$@"
}

# In a folder of its own.
as_user() {
	install -d -o 61000 -g 61001 /home/user/project
	chown 61000:61001 /home/user
	env -C /home/user/project HOME=/home/user setpriv --reuid 61000 \
		--regid 61001 --clear-groups -- "$@"
}

guest=$(tr ' ' '\n' </proc/cmdline | sed -n 's/^guest=//p')
tree
case $guest in
prepare) prepare ;;
live:*)
	IFS=, read -ra words <<<"${guest#live:}"
	tests/live/run -v -j 1 --also tests/guest "${words[@]}"
	;;
native:*)
	IFS=, read -ra words <<<"${guest#native:}"
	natively "${words[@]}"
	;;
run:*)
	IFS=, read -ra words <<<"${guest#run:}"
	as_user "$PWD/build/bin/membrane" "${words[@]}" && rc=0 || rc=$?
	echo "status $rc"
	;;
*) echo "no such thing to do: $guest" ;;
esac
