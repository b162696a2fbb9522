#!/bin/bash
# A Docker that a user runs without root, beside the sealed one of the world
# that stands (world.sh), in the same network; needs root.
#
#   tests/live/rootless.sh up      raise it, with the sealed one's images; 77,
#                                  and why, where this machine cannot have it
#   tests/live/rootless.sh down    take it down, whatever state it is in
#   tests/live/rootless.sh user COMMAND...   run as its user, on its host
#   tests/live/rootless.sh inside COMMAND... as root, in the daemon's mounts
#   tests/live/rootless.sh env     what tests need to know
#
# Its user has a name and subordinate ids in a copy of /etc that these mounts
# alone have, and so it is with device nodes that udev would have opened to all.
# All of it is one namespace of processes, and ends with that.
source "$(dirname "$0")/../../image/lib.sh"

eval "$(tests/live/world.sh env)"
# shellcheck disable=SC2154  # of that
data=$state/rootless pidfile=$run/rootless.pid
at=/tmp/${run##*/}-rootless
self=$PWD/tests/live/rootless.sh
name=rootless begin=165536

script() {
	local path
	for path in "$(command -v dockerd-rootless.sh)" \
		/usr/share/docker.io/contrib/dockerd-rootless.sh; do
		[[ ! -e $path ]] || { echo "$path" && return; }
	done
	return 1
}

cannot() { printf '%s\n' "$*" && exit 77; }
able() {
	local need
	script >/dev/null || cannot "there is no dockerd-rootless.sh"
	for need in rootlesskit slirp4netns newuidmap; do
		command -v "$need" >/dev/null || cannot "there is no $need"
	done
	for need in /dev/fuse /dev/net/tun; do
		[[ -c $need ]] || cannot "there is no $need"
	done
	(($(</proc/sys/user/max_user_namespaces) > 0)) ||
		cannot "there are no namespaces of users"
}

alive() { [[ -e $pidfile ]] && kill -0 "$(<"$pidfile")" 2>/dev/null; }
gone() { ! alive; }
# Its first process, in whose namespaces the host is.
first() { pgrep -P "$(<"$pidfile")"; }

as_user() {
	setpriv --reuid "$user" --regid "$group" --clear-groups -- env -i \
		PATH="$PATH" HOME="$at/home" XDG_RUNTIME_DIR="$at/run" \
		DOCKER_HOST="unix://$at/run/docker.sock" TERM=xterm \
		MEMBRANE_ENGINE=docker \
		LC_ALL=C.UTF-8 "$@"
}
on_host() { nsenter -t "$(first)" -m -n -p -- "$self" within "$@"; }

node() {
	local at=$data/dev-${1##*/}
	rm -f "$at"
	# shellcheck disable=SC2046  # two numbers
	mknod -m 666 "$at" c $(stat -c '%Hr %Lr' "$1")
	mount --bind "$at" "$1"
}

# The first process, in mounts of its own.
host() {
	mount --bind "$data" "$at"
	mkdir -p "$at/tree"
	mount --bind "$PWD" "$at/tree"
	rm -rf "${data:?}/etc"
	cp -aL --no-preserve=links /etc "$data/etc" 2>/dev/null || true
	echo "$name:x:$user:$group::$at/home:/bin/sh" >>"$data/etc/passwd"
	echo "$name:x:$group:" >>"$data/etc/group"
	echo "$name:$begin:65536" | tee "$data/etc/subuid" >"$data/etc/subgid"
	mount --bind "$data/etc" /etc
	node /dev/fuse
	node /dev/net/tun
	# as systemd has it
	mount --make-rshared /
	# what rootlesskit leaves there when it is killed goes with the rest
	as_user TMPDIR="$at/run" "$(script)" --data-root "$at/home/docker" \
		-H "unix://$at/run/docker.sock" &
	wait
}

images() {
	local image now
	now=$(for image in gate agent view watch; do
		docker -H "$docker_host" image inspect -f '{{.Id}}' \
			"membrane-$image"
	done)
	[[ ! -e $data/handed || $(<"$data/handed") != "$now" ]] || return 0
	docker -H "$docker_host" save membrane-{gate,agent,view,watch} |
		on_host docker load -q >/dev/null
	echo "$now" >"$data/handed"
}

up() {
	able
	down
	mkdir -p "$data"/{home,run} "$at"
	rm -rf "$data"/home/docker/{containers,network,containerd,runtimes,tmp} \
		"$data"/run/* "$data"/home/.membrane
	chmod 755 "$data" "$at"
	chown "$user:$group" "$data"/{home,run}
	# shellcheck disable=SC2154  # of the world's
	setsid nsenter -t "$(<"$run/dockerd.pid")" -m -n -- unshare --mount \
		--pid --fork --kill-child --mount-proc "$self" host \
		>"$state/log/rootless" 2>&1 </dev/null &
	echo $! >"$pidfile"
	within 30 on_host docker version >/dev/null 2>&1 || {
		tail -n 20 "$state/log/rootless" >&2
		die "the rootless Docker daemon does not answer"
	}
	images
}

down() {
	if alive; then
		# unshare waits for the first of them, and passes nothing on
		kill -KILL "$(first)" "$(<"$pidfile")"
		within 10 gone || die "its first process does not end"
	fi
	rm -f "$pidfile"
	[[ ! -d $at ]] || rmdir "$at"
}

((EUID == 0)) || die "needs root"
export PATH=$PATH:/usr/sbin:/sbin
case ${1-} in
up | down | host) "$1" ;;
within)
	shift
	as_user "$@"
	;;
user)
	shift
	on_host "$@"
	;;
inside)
	shift
	exec nsenter -t "$(first)" -m -n -p -- \
		nsenter -t "$(<"$data/run/docker.pid")" -m -- "$@"
	;;
env) printf '%s=%q\n' at "$at" data "$data" ;;
*) die "usage: up|down|user|inside|env" ;;
esac
