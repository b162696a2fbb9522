#!/bin/sh
# Installs the packages of membrane that lie beside this script, on Debian or
# Ubuntu, as root. Dev containers call it while their image is built; lima.yaml
# and anybody else may, too. _REMOTE_USER, where it is set, may then speak to
# Docker.
set -eu
here=$(cd "$(dirname "$0")" && pwd)

for name in membrane membrane-images; do
	set -- "$here/$name"_*.deb
	[ $# -eq 1 ] && [ -f "$1" ] || {
		echo "membrane: one ${name}_*.deb has to be in $here:" \
			"copy those of build/deb, which 'make deb' leaves" >&2
		exit 1
	}
done
command -v apt-get >/dev/null || {
	echo "membrane: the packages are for Debian and Ubuntu: no apt-get here" >&2
	exit 1
}
export DEBIAN_FRONTEND=noninteractive
apt-get -q update
apt-get -q -y --no-install-recommends install \
	"$here"/membrane_*.deb "$here"/membrane-images_*.deb

if [ -n "${_REMOTE_USER-}" ] && [ "$_REMOTE_USER" != root ]; then
	usermod -a -G docker "$_REMOTE_USER"
fi
if [ -f "$here/entrypoint.sh" ]; then
	install -D -m 755 "$here/entrypoint.sh" \
		/usr/local/share/membrane-devcontainer/entrypoint.sh
fi
