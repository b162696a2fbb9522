#!/bin/bash
# Build the images that are missing or whose inputs changed: image/images.sh
# [--remove] agent|gate|watch|view|claude|codex|opencode|pi... `make images` runs it in a source tree; `membrane images`
# there, and where it was installed. The label membrane.inputs is a digest of
# what went in.
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

# replace TAG COMMAND...: build; the image that had the tag goes.
replace() {
	local tag=$1 old
	shift
	old=$(docker image inspect -f '{{.Id}}' "$tag" 2>/dev/null) || old=
	quietly "$made/log/image-$tag" "$@"
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

# pinned NAME: its npm package and version, of image/agents/versions.
pinned() {
	awk -v name="$1" '$1 == name { print $2, $3; found = 1 }
		END { exit !found }' image/agents/versions ||
		die "image/agents/versions does not name $1"
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
agents_inputs() { cat image/agents/base/* image/agent/* <(pinned node) <(pinned npm); }

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
	local name=$1 inputs package version
	read -r package version < <(pinned "$name")
	inputs=$( (agents_inputs; cat "image/agents/$name"/* \
		image/agents/sbom.py; echo "$package $version") | digest)
	! fresh "membrane-agent-$name:$tag" "$inputs" || return 0
	agents_base
	say "building the image membrane-agent-$name: $package $version (a minute)"
	replace "membrane-agent-$name:$tag" docker build --network host \
		--build-arg BASE="membrane-agent-base:$tag" \
		--build-arg PACKAGE="$package" --build-arg VERSION="$version" \
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
	local haproxy root=$1
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
	libraries "$root" "$programs/membrane-gate" "$haproxy"
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

command -v docker >/dev/null || die "there is no docker command: install it"
docker version >/dev/null 2>&1 || die "Docker does not answer: membrane doctor"
mkdir -p "$made/image"
exec 9>"$made/image/lock"
flock 9
removing=
for image; do
	[[ $image != --remove ]] || { removing=1; continue; }
	[[ $image == @(agent|gate|watch|view|claude|codex|opencode|pi) ]] ||
		die "no such image: $image"
	[[ ! $removing ]] || { remove "$image"; continue; }
	case $image in
	agent | gate | watch | view) "$image" ;;
	claude | codex | opencode | pi) of_agent "$image" ;;
	esac
done
