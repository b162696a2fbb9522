#!/bin/bash
# From the installed docker client to grammar/docker-run.def, the names,
# letters and types of the options of `docker run`:
#
#	grammar/docker-options.sh > new && mv new grammar/docker-run.def
#
# No daemon is asked: with one, the client's help leaves out what that daemon
# is too old for. Options that the help hides are listed here, and options of
# other releases are kept from the file that is there; both are tried on the
# client, which says whether it knows them and whether they take a value.
# What each may do is said by hand: compiler/passes/args/docker_options.def.
set -euo pipefail
cd "$(dirname "$0")/.."
export DOCKER_HOST=unix:///nonexistent LC_ALL=C

table=grammar/docker-run.def
# Deprecated spellings: cli/command/container/opts.go calls MarkHidden.
hidden=(dns-opt net net-alias)

version=$(docker --version | sed -E 's/^Docker version ([^,]+),.*/\1/')

# NAME LETTER TYPE of each option that the help shows.
shown() {
	docker run --help | awk '
		match($0, /^  (   |-.,) --[a-z0-9-]+/) {
			letter = substr($0, 3, 1) == "-" ? substr($0, 4, 1) : "-"
			name = substr($0, 9, RLENGTH - 8)
			rest = substr($0, RLENGTH + 1)
			type = "bool"
			if (match(rest, /^ [a-z][a-z0-9-]*/))
				type = substr(rest, 2, RLENGTH - 1)
			print name, letter, type
		}'
}

# The type of an option that the help does not show; nothing when the client
# does not know it.
tried() {
	local said
	said=$(docker run "--$1" 2>&1 || true)
	case $said in
	*"unknown flag"*) ;;
	*"flag needs an argument"*) echo string ;;
	*) echo bool ;;
	esac
}

declare -A line=()
while read -r name letter type; do
	case $type in
	bool) kind=FLAG ;;
	int | int64 | uint | uint16 | uint64) kind=NUMBER ;;
	*) kind=WORD ;;
	esac
	[[ $letter != - ]] && letter="'$letter'" || letter=0
	line[$name]="\"$name\", $letter, $kind)"
done < <(shown)
((${#line[@]} > 80)) || {
	echo "only ${#line[@]} options in the help of docker run" >&2
	exit 1
}
for name in "${hidden[@]}"; do
	type=$(tried "$name")
	case $type in
	string) line[$name]="\"$name\", 0, WORD) /* hidden */" ;;
	bool) line[$name]="\"$name\", 0, FLAG) /* hidden */" ;;
	esac
done
# What this client does not know may be what another one does.
while read -r name syntax; do
	[[ ! ${line[$name]-} ]] || continue
	line[$name]="$syntax /* not in $version */"
done < <([[ ! -e $table ]] ||
	sed -nE 's/^DOCKER_RUN\([a-z0-9_]+, ("([^"]+)"[^)]*\)).*/\2 \1/p' $table)

mapfile -t names < <(printf '%s\n' "${!line[@]}" | sort)
cat <<END
/*
 * DOCKER_RUN(id, "name", letter, TYPE): the options of \`docker run\`. FLAG takes
 * no word, NUMBER a whole number, WORD anything. Generated; do not edit:
 * grammar/docker-options.sh, with the docker client $version.
 */
END
echo "#define DOCKER_RUN_VERSION \"$version\""
for name in "${names[@]}"; do
	echo "DOCKER_RUN(${name//-/_}, ${line[$name]}"
done
