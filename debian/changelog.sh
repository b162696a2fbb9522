#!/bin/bash
# debian/changelog, from the versions of CHANGELOG.md and what is listed there
# of each: debian/changelog.sh <CHANGELOG.md. SOURCE_DATE_EPOCH is the date of
# one that is not released.
set -euo pipefail

maintainer=$(sed -n 's/^Maintainer: //p' "$(dirname "$0")/control")
version='' date=''

# A line that begins with "- ", or goes on with one that does.
entry=
flush() {
	[[ -z $entry ]] || fold -s -w 74 <<<"$entry" |
		sed '1s/^/  * /; 2,$s/^/    /; s/ *$//'
	entry=
}
finish() {
	flush
	[[ -z $version ]] ||
		printf '\n -- %s  %s\n' "$maintainer" "$(date -uR -d "$date")"
}

while IFS= read -r line; do
	case $line in
	'## '[0-9]*)
		finish
		[[ -z $version ]] || echo
		version=${line#'## '} version=${version%%,*}
		date=${line#*, }
		[[ $date != unreleased ]] || date=@$SOURCE_DATE_EPOCH
		printf 'membrane (%s) unstable; urgency=medium\n\n' "$version"
		;;
	'- '*)
		flush
		entry=${line#- }
		;;
	'  '*) [[ -z $entry ]] || entry+=" ${line#  }" ;;
	*) flush ;;
	esac
done
finish
