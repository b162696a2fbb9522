#!/bin/bash
# make deb: Debian packages of what git tracks here, in build/deb or the folder
# that is named: debian/build.sh [FOLDER]. They are built in a copy, so that
# nothing is written beside the sources, and twice the same sources give the same
# bytes: the last commit's date is the only one there is in them.
set -euo pipefail
cd "$(dirname "$0")/.."

to=$(realpath -m "${1:-build/deb}")
version=$(make -s version)
source=$to/membrane-$version
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}

command -v dh >/dev/null || {
	echo "${0##*/}: there is no debhelper: image/setup.sh build package" >&2
	exit 1
}
rm -rf "$source"
mkdir -p "$source"
rm -f "$to"/*.{deb,changes,buildinfo}
git ls-files -z | tar -c --null -T - | tar -C "$source" -x
debian/changelog.sh <CHANGELOG.md >"$source/debian/changelog"
cd "$source"
[[ $(dpkg-parsechangelog -S Version) == "$version" ]] || {
	echo "${0##*/}: the newest of CHANGELOG.md is not $version" >&2
	exit 1
}
# Not what the make around it was told: that is about this folder.
env -u MAKEFLAGS -u MAKEOVERRIDES -u MFLAGS \
	DEB_BUILD_OPTIONS="parallel=$(nproc) ${DEB_BUILD_OPTIONS-}" \
	dpkg-buildpackage -us -uc -b
cd "$to"
rm -rf "$source"
printf '%s\n' *.deb
