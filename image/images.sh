#!/bin/bash
# Build the images that are missing or whose inputs changed:
#   image/images.sh agent|gate|watch|view|claude|codex|opencode|pi|hermes...
#   image/images.sh --remove IMAGE...
#   image/images.sh --update [AGENT...]   newer versions of what is pinned
# `make images` runs it in a source tree; `membrane images` there, and where it
# was installed. The label membrane.inputs is a digest of what went in.
# MEMBRANE_TAG: another tag than `latest`, for a tree that shares its daemon
# with others (tests/live hands the images on under their own names).
source "$(dirname "$0")/lib.sh"

tag=${MEMBRANE_TAG:-latest}

# fresh TAG DIGEST: is this image there, and made of this?
fresh() {
	[[ $(docker image inspect -f \
		'{{index .Config.Labels "membrane.inputs"}}' "$1" \
		2>/dev/null) == "$2" ]]
}

# Lines of a build, the last one on the terminal, where there is one.
passing() {
	local line width
	[[ -t 2 ]] || { cat >/dev/null; return; }
	read -r _ width < <(stty size <&2 2>/dev/null) || width=80
	while IFS= read -r line; do
		printf '\r\033[K   %s' \
			"$(tr -cd '[:print:]' <<<"$line" | cut -c "1-$((width - 4))")" >&2
	done
	printf '\r\033[K' >&2
}

# What programs say that find no way out.
offline='Temporary failure (in name resolution|resolving)|Could not resolve|'
offline+='EAI_AGAIN|ENOTFOUND|ENETUNREACH|EHOSTUNREACH|ECONNREFUSED|ETIMEDOUT|'
offline+='[Nn]etwork is unreachable|Could not connect to|Connection timed out|'
offline+='Failed to connect to|Connection refused'

# built_by LOG COMMAND...: run it, with a line that says how far it is.
built_by() {
	local log=$1 why
	shift
	mkdir -p "$(dirname "$log")"
	"$@" 2>&1 | tee "$log" | passing && return
	why=$(grep -E -m 1 -o ".{0,80}($offline).{0,80}" "$log" |
		tr -cd '[:print:]') || {
		tail -n 40 "$log" | tr -cd '[:print:]\n\t' >&2
		die "failed: $* (all of it: $log)"
	}
	die "an image is built over this machine's network, and there is no way" \
		"out ($why); once there is, the same command goes on where this" \
		"ended (all of it: $log)"
}

# replace TAG COMMAND...: build; the image that had the tag goes.
replace() {
	local tag=$1 old
	shift
	old=$(docker image inspect -f '{{.Id}}' "$tag" 2>/dev/null) || old=
	built_by "$made/log/image-$tag" "$@"
	# It stays while a session runs from it, or under another tag: to
	# remove it by its digest would remove all of its tags.
	[[ -z $old || $(docker image inspect -f '{{len .RepoTags}}' \
		"$old") != 0 ]] || docker rmi "$old" >/dev/null 2>&1 || true
}

digest() { sha256sum | cut -c1-64; }

built() { [[ -e $programs/$1 ]] || die "there is no $programs/$1"; }

agent() {
	local base inputs
	inputs=$(cat image/agent/* | digest)
	! fresh "membrane-agent:$tag" "$inputs" || return 0
	base=$(image/base.sh)
	say "building the image membrane-agent on $base (a minute or two)"
	# The machine's own network: apt needs its mirror, nothing else does.
	replace membrane-agent docker build --network host \
		--build-arg BASE="$base" --label membrane.inputs="$inputs" \
		-t "membrane-agent:$tag" image/agent
}

# Where versions are pinned. Installed, that of --update, which is the user's
# own, until a newer membrane brings newer ones.
pins=image/agents/versions
[[ ! $made/versions -nt $pins ]] || pins=$made/versions

# pinned NAME: its npm package and version, or a repository, tag and commit.
pinned() {
	awk -v name="$1" '$1 == name { $1 = ""; print substr($0, 2); found = 1 }
		END { exit !found }' "$pins" || die "$pins does not name $1"
}

# staged_agent NAME: its context, with the roots that npm is to trust.
stage_agent() {
	local context=$made/image/agents/$1
	rm -rf "$context"
	mkdir -p "$context"
	cp "image/agents/$1"/* image/agents/sbom.py "$context/"
	install -m 644 /etc/ssl/certs/ca-certificates.crt "$context/roots"
	echo "$context"
}

# What the images of agents share; its inputs are part of theirs.
agents_inputs() {
	cat image/agents/base/* image/agent/*
	pinned node
	pinned npm
}

agents_base() {
	local inputs base node npm context
	inputs=$(agents_inputs | digest)
	! fresh "membrane-agent-base:$tag" "$inputs" || return 0
	agent
	base=$(image/base.sh)
	read -r _ node < <(pinned node)
	read -r _ npm < <(pinned npm)
	context=$(stage_agent base)
	say "building the image membrane-agent-base on $base, which those of" \
		"agents share (some minutes, once)"
	replace "membrane-agent-base:$tag" docker build --network host \
		--build-arg BASE="$base" --build-arg FETCH="membrane-agent:$tag" \
		--build-arg NODE="$node" --build-arg NPM="$npm" \
		--label membrane.inputs="$inputs" \
		-t "membrane-agent-base:$tag" "$context"
}

# One agent's own: its package, on what they share.
of_agent() {
	local name=$1 inputs package version commit
	read -r package version commit < <(pinned "$name")
	inputs=$( (agents_inputs; cat "image/agents/$name"/* \
		image/agents/sbom.py; echo "$package $version${commit:+ $commit}") | digest)
	! fresh "membrane-agent-$name:$tag" "$inputs" || return 0
	agents_base
	say "building the image membrane-agent-$name: $package $version (a minute)"
	replace "membrane-agent-$name:$tag" docker build --network host \
		--build-arg BASE="membrane-agent-base:$tag" \
		--build-arg PACKAGE="$package" --build-arg VERSION="$version" \
		${commit:+--build-arg COMMIT="$commit"} \
		--label membrane.inputs="$inputs" \
		--label membrane.version="$version" \
		-t "membrane-agent-$name:$tag" "$(stage_agent "$name")"
}

# libraries ROOT PROGRAM...: what ldd says they load, and the loader, at their
# own paths.
libraries() {
	local root=$1
	shift
	ldd "$@" |
		awk '$2 == "=>" && $3 ~ /^\// { print $3 }
			NF == 2 && $1 ~ /^\// && $1 !~ /:$/ { print $1 }
			/ not found/ { exit 1 }' |
		sort -u | while read -r library; do
		install -D -m 755 "$library" "$root$library"
	done
}

# staged FOLDER DOCKERFILE: a digest of what stands there.
staged() {
	(cat "$2" && cd "$1" && find . -type f -print0 | sort -z |
		xargs -0 sha256sum) | digest
}

stage_gate() {
	local haproxy curl root=$1
	haproxy=$(PATH=$PATH:/usr/sbin:/sbin command -v haproxy) ||
		die "there is no haproxy, which the gate is made of: install it"
	rm -rf "$root"
	mkdir -p "$root"
	install -m 755 "$programs/membrane-gate" "$root/membrane-gate"
	install -D -m 755 "$haproxy" "$root/usr/sbin/haproxy"
	install -D -m 755 "$programs/membrane-reader.so" \
		"$root/membrane-reader.so"
	# libnftables names protocols by it when it lists the rules.
	install -D -m 644 image/gate/protocols "$root/etc/protocols"
	# By these it verifies servers.
	install -D -m 644 /etc/ssl/certs/ca-certificates.crt \
		"$root/etc/ssl/certs/ca-certificates.crt"
	# The gate opens it where a policy has it go out by a proxy. A user's
	# PATH has none of the system's folders.
	curl=$(PATH=$PATH:/usr/sbin:/sbin ldconfig -p | awk '$1 ~ /^libcurl(-gnutls)?\.so\.4$/ && !found++ { print $NF }')
	[[ $curl ]] || die "there is no libcurl, by which the gate speaks to proxies: install it"
	install -D -m 755 "$curl" "$root$curl"
	libraries "$root" "$programs/membrane-gate" "$haproxy" "$curl"
}

gate() {
	local inputs context=$made/image/gate
	built membrane-gate
	built membrane-reader.so
	mkdir -p "$context"
	stage_gate "$context/rootfs"
	inputs=$(staged "$context/rootfs" image/gate/Dockerfile)
	! fresh "membrane-gate:$tag" "$inputs" || return 0
	say "building the image membrane-gate"
	replace membrane-gate docker build --network none \
		--label membrane.inputs="$inputs" -f image/gate/Dockerfile \
		-t "membrane-gate:$tag" "$context"
}

watch() {
	local inputs context=$made/image/watch
	built membrane-watch
	mkdir -p "$context"
	install -m 755 "$programs/membrane-watch" "$context/membrane-watch"
	# One that was installed is without them, on a machine without strip.
	[[ $made != "$PWD/build" ]] || strip "$context/membrane-watch"
	inputs=$(cat image/watch/Dockerfile "$context/membrane-watch" | digest)
	! fresh "membrane-watch:$tag" "$inputs" || return 0
	say "building the image membrane-watch"
	replace membrane-watch docker build --network none \
		--label membrane.inputs="$inputs" -f image/watch/Dockerfile \
		-t "membrane-watch:$tag" "$context"
}

view() {
	local inputs context=$made/image/view
	built membrane-view
	rm -rf "$context"
	mkdir -p "$context"
	install -D -m 755 "$programs/membrane-view" \
		"$context/rootfs/membrane-view"
	[[ $made != "$PWD/build" ]] || strip "$context/rootfs/membrane-view"
	libraries "$context/rootfs" "$programs/membrane-view"
	inputs=$(staged "$context/rootfs" image/view/Dockerfile)
	! fresh "membrane-view:$tag" "$inputs" || return 0
	say "building the image membrane-view"
	replace membrane-view docker build --network none \
		--label membrane.inputs="$inputs" -f image/view/Dockerfile \
		-t "membrane-view:$tag" "$context"
}

# remove NAME: this tree's; what runs from one keeps it.
remove() {
	local name=membrane-$1
	[[ $1 == @(agent|gate|watch|view) ]] || name=membrane-agent-$1
	! docker image inspect "$name:$tag" >/dev/null 2>&1 || {
		docker rmi "$name:$tag" >/dev/null || die "$name is in use"
		say "removed $name"
	}
}

# --- newer versions --------------------------------------------------------

# newest SPEC: of an npm package the version that npm would install.
newest() {
	local found
	found=$(docker run --rm -i --network host --entrypoint sh \
		"membrane-agent-base:$tag" -c 'cat >/tmp/roots
		export HOME=/tmp NODE_EXTRA_CA_CERTS=/tmp/roots \
			npm_config_cafile=/tmp/roots
		npm view "$1" version --json | jq -r "[.] | flatten | .[]" |
			sort -V | tail -n 1' sh "$1" \
		</etc/ssl/certs/ca-certificates.crt 2>"$made/log/newest") ||
		found=
	[[ $found =~ ^[0-9]+(\.[0-9]+)*(-[0-9A-Za-z.-]+)?$ ]] ||
		die "npm names no version of $1 (all of it: $made/log/newest)"
	echo "$found"
}

# raise NAME...: what they are pinned to, to what is newest now, in a file of its
# own; Node and npm within their major version.
raise() {
	local name package version now
	cp "$pins" "$made/raising"
	for name; do
		read -r package version < <(pinned "$name")
		now=$package
		[[ $name != @(node|npm) ]] || now+=@${version%%.*}
		now=$(newest "$now")
		[[ $(printf '%s\n' "$version" "$now" | sort -V | tail -n 1) != \
			"$version" ]] || continue
		say "$name: $version -> $now"
		awk -v name="$name" -v now="$now" \
			'$1 == name { $3 = now } { print }' "$made/raising" \
			>"$made/raised"
		mv "$made/raised" "$made/raising"
	done
}

# software NAME: of an agent's image, a line each.
software() {
	docker run --rm --network none --entrypoint jq \
		"membrane-agent-$1:$tag" -r \
		'.packages[] | .name + " " + .versionInfo' \
		/opt/agent/sbom.spdx.json | sort
}

is_built() { docker image inspect "membrane-agent-$1:$tag" >/dev/null 2>&1; }

# update [NAME...]: of all, without a word. Images that are there are built anew,
# and what came and went in them is said.
update() {
	local name before was=$pins to=$made/versions
	[[ ! -e image/setup.sh ]] || to=image/agents/versions
	agents_base
	if (($#)); then raise "$@"; else
		# shellcheck disable=SC2046  # names are words
		raise $(awk '/^[^#]/ && NF == 3 { print $1 }' "$pins")
		set -- claude codex opencode pi
	fi
	pins=$made/raising
	for name; do
		is_built "$name" || continue
		before=$(software "$name")
		of_agent "$name"
		diff <(echo "$before") <(software "$name") |
			sed -n "s/^</  - $name:/p; s/^>/  + $name:/p" >&2 || true
	done
	# All are built, and so are they pinned. Where nothing is other no file is:
	# it would be newer than one of a newer membrane.
	cmp -s "$pins" "$was" || cp "$pins" "$to"
	rm "$pins"
}

command -v docker >/dev/null || die "there is no docker command: install it"
docker version >/dev/null 2>&1 || die "Docker does not answer: membrane doctor"
mkdir -p "$made/image" "$made/log"
exec 9>"$made/image/lock"
flock 9
task=
[[ ${1-} != --@(remove|update) ]] || { task=${1#--}; shift; }
for image; do
	[[ $task != update || $image != hermes ]] ||
		die "hermes is raised by a newer membrane"
	[[ $image == @(claude|codex|opencode|pi|hermes) ||
		($task != update && $image == @(agent|gate|watch|view)) ]] ||
		die "no such image: $image"
done
[[ $task != update ]] || { update "$@"; exit; }
for image; do
	[[ ! $task ]] || { remove "$image"; continue; }
	case $image in
	agent | gate | watch | view) "$image" ;;
	claude | codex | opencode | pi | hermes) of_agent "$image" ;;
	esac
done
