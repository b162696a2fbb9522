#!/bin/bash
# A Docker host and an internet that nothing can leave; needs root.
#
#   tests/live/world.sh up       raise it; at once when it already stands
#   tests/live/world.sh down     take it down, whatever state it is in
#   tests/live/world.sh images   hand over images that changed
#   tests/live/world.sh env      what tests need to know, as shell assignments
#   tests/live/world.sh user COMMAND...   run as the unprivileged user of the
#                                Docker host, in its network and mounts
#   tests/live/world.sh host COMMAND...   the same as root
#   tests/live/world.sh inet COMMAND...   as root, out there
#
# Two network namespaces and one link. `inet` owns every address there is and
# answers for all of them (inet.py). `host` holds a Docker daemon of its own,
# and that link is its only way out: no packet can reach the real network.
# Names carry a digest of this folder, so that two trees can do this at once,
# and MEMBRANE_WORLD (a letter or digit), so that one tree can have several.
# With MEMBRANE_DOCKER=none there is no daemon, and no image: for sessions of the
# native engine on a machine without Docker (demo.sh).
# With MEMBRANE_HOST=machine, the Docker host is this machine as it is, and its
# own daemon is used: for one that has no other network (tests/guest).
source "$(dirname "$0")/../../image/lib.sh"

[[ ${MEMBRANE_WORLD-} =~ ^[a-z0-9]?$ ]] ||
	die "MEMBRANE_WORLD is a letter or a digit, not '$MEMBRANE_WORLD'"
id=$(printf %s "$PWD" | sha256sum | cut -c1-6)${MEMBRANE_WORLD-}
inet=membrane-$id-inet
host=membrane-$id-host
state=$PWD/build/live${MEMBRANE_WORLD-}
run=/run/membrane-live-$id
docker_sock=$run/docker.sock
cgroup=membrane-live-$id
# No such user or group is made: numbers are enough for the kernel.
user=61000 group=61001
machine=${MEMBRANE_HOST-}
# The daemon, or who keeps the mounts in its place.
bare=
[[ ${MEMBRANE_DOCKER-} != none ]] || bare=1
[[ -z $machine ]] || docker_sock=/run/docker.sock

tag() { docker image inspect -f '{{.Id}}' "$1" 2>/dev/null; }
sealed() { docker -H "unix://$docker_sock" "$@"; }

# --- the two namespaces ----------------------------------------------------

links() {
	ip netns add "$inet"
	if [[ $machine ]]; then
		[[ -z $(ip -4 route show default; ip -6 route show default) ]] ||
			die "this machine has a network of its own"
		ip netns attach "$host" $$
	else
		ip netns add "$host"
	fi
	ip -n "$inet" link add wire type veth peer name uplink netns "$host"
	ip -n "$inet" link set lo up
	ip -n "$inet" link set wire up
	ip -n "$inet" addr add 198.18.0.2/30 dev wire
	ip -n "$inet" addr add fd18::2/64 dev wire nodad
	# Every address is local, but for those on the other side. All in the
	# table that is asked first, where the longest prefix wins.
	ip -n "$inet" route add 198.18.0.1/32 dev wire table local
	ip -n "$inet" route add local 0.0.0.0/0 dev lo table local
	ip -n "$inet" route add fd18::1/128 dev wire table local
	ip -n "$inet" route add fd06::/16 via fd18::1 dev wire table local
	ip -n "$inet" route add local ::/0 dev lo table local
	ip netns exec "$inet" sysctl -qw net.ipv4.ip_nonlocal_bind=1 \
		net.ipv6.ip_nonlocal_bind=1 net.core.somaxconn=1024 \
		net.ipv4.conf.all.rp_filter=0 net.ipv4.conf.wire.rp_filter=0 \
		net.ipv4.icmp_ratelimit=0

	ip -n "$host" link set lo up
	ip -n "$host" link set uplink up
	ip -n "$host" addr add 198.18.0.1/30 dev uplink
	ip -n "$host" addr add fd18::1/64 dev uplink nodad
	ip -n "$host" route add default via 198.18.0.2
	# Docker's bridge has no IPv6 unless a network of the policy's has.
	[[ ${MEMBRANE_ENGINE-} == native ]] ||
		ip -n "$host" route add default via fd18::2
	# What a cloud's host has: it must be out of reach from within.
	ip -n "$host" addr add 169.254.169.254/32 dev lo
	ip netns exec "$host" sysctl -qw net.ipv6.conf.all.forwarding=1
}

# root NAME SUBJECT: an authority of this internet; with what RFC 5280, 4.2.1.3
# asks for, which Python 3.13 looks at.
root() {
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes \
		-keyout "$state/ca/$1.key" -out "$state/ca/$1.crt" -days 3650 \
		-subj "/CN=$2" -addext keyUsage=critical,keyCertSign,cRLSign \
		2>/dev/null
}

# One that everybody here trusts, and a company's, which nobody does yet.
authority() {
	local ca=$state/ca
	mkdir -p "$ca"
	[[ -e $ca/corp.key ]] || root corp "a company"
	[[ ! -e $ca/leaf.key ]] || return 0
	root ca "the fake internet"
	openssl ecparam -name prime256v1 -genkey -noout -out "$ca/leaf.key"
}

# server NAME NAMESPACE ARGUMENT...: start inet.py; wait for its first line.
server() {
	local name=$1 ns=$2 line=
	shift 2
	local python
	# The one that has Debian's python3-h2, when there are several.
	for python in "$(command -v python3)" /usr/bin/python3; do
		! "$python" -c 'import h2' 2>/dev/null || break
	done
	mkfifo "$run/$name.ready"
	setsid ip netns exec "$ns" "$python" -u tests/live/inet.py "$@" \
		>"$run/$name.ready" 2>"$state/log/$name.err" </dev/null &
	echo $! >"$run/$name.pid"
	read -r -t $((20 * ${MEMBRANE_SLOW:-1})) line <"$run/$name.ready" || true
	[[ $line == ready ]] || {
		cat "$state/log/$name.err" >&2
		die "the $name server did not start"
	}
}

# --- the Docker host -------------------------------------------------------

# As udev has them where there is one: for every user.
devices() {
	local node
	for node in "fuse 10 229" "net/tun 10 200"; do
		set -- $node
		rm -f "$state/${1#*/}"
		mknod -m 666 "$state/${1#*/}" c "$2" "$3"
		mount --bind "$state/${1#*/}" "/dev/$1"
	done
}

# Runs inside a private mount namespace and the host's network namespace.
daemon_inside() {
	local cg resolv
	# /sys of this network namespace, with the cgroup tree of the machine.
	cg=$(mktemp -d)
	mount --rbind /sys/fs/cgroup "$cg"
	mount -t sysfs sysfs /sys
	mount --rbind "$cg" /sys/fs/cgroup
	umount -l "$cg"
	rmdir "$cg"
	resolv=$(readlink -f /etc/resolv.conf)
	mount --bind "$run/resolv.conf" "$resolv"
	# By which programs of this host verify servers, the fake ones too.
	cat /etc/ssl/certs/ca-certificates.crt "$state/ca/ca.crt" >"$run/roots"
	mount --bind "$run/roots" /etc/ssl/certs/ca-certificates.crt
	# The machine's containerd is not ours to use.
	mkdir -p /run/containerd
	mount -t tmpfs -o mode=711 tmpfs /run/containerd
	# As systemd has it: what a container mounts in a folder that is shared
	# with it appears here. Nothing of it leaves this namespace.
	mount --make-rshared /
	[[ ${MEMBRANE_ENGINE-} != native && ! ${MEMBRANE_DEVICES-} ]] || devices
	if [[ $bare ]]; then
		echo $$ >"$run/dockerd.pid"
		exec sleep infinity
	fi
	# Not Sysbox, but its name: it brings out the bridge link.
	exec dockerd -H "unix://$docker_sock" --group "$group" \
		--data-root "$state/docker" --exec-root "$run/exec" \
		--pidfile "$run/dockerd.pid" --cgroup-parent "/$cgroup" \
		--add-runtime sysbox-runc="$(command -v runc)" \
		--shutdown-timeout 2
}

# The machine's, in place of one that is started.
daemon_of_machine() {
	ln -s /run/docker.pid "$run/dockerd.pid"
	within 30 sealed version >/dev/null
}

host_answers() {
	if [[ $bare ]]; then
		alive dockerd
	else
		sealed version >/dev/null 2>&1
	fi
}

daemon_of_its_own() {
	# What a killed daemon left; images and layers stay.
	rm -rf "$state"/docker/{containers,network,containerd,runtimes,tmp}
	printf 'nameserver 8.8.8.8\n' >"$run/resolv.conf"
	mkdir -p "$state/docker"
	setsid nsenter --net="/run/netns/$host" unshare -m --propagation slave \
		"$PWD/tests/live/world.sh" daemon_inside \
		>"$state/log/dockerd" 2>&1 </dev/null &
	within $((30 * ${MEMBRANE_SLOW:-1})) host_answers || {
		tail -n 20 "$state/log/dockerd" >&2
		die "the sealed Docker daemon does not answer"
	}
	[[ ! $bare ]] || return 0
	# Clients that do not read DOCKER_HOST shall not find the machine's own.
	[[ ! -S /run/docker.sock ]] ||
		enter mount --bind "$docker_sock" /run/docker.sock
}

daemon() {
	if [[ $machine ]]; then
		daemon_of_machine
	else
		daemon_of_its_own
	fi
	# The user may not be allowed into the folder that this tree is in.
	mkdir -p "$run/tree"
	enter mount --bind "$PWD" "$run/tree"
	[[ $bare ]] || sealed network inspect six >/dev/null 2>&1 ||
		sealed network create --ipv6 --subnet fd06:1::/64 six >/dev/null
}

# enter COMMAND...: root, in the network and mounts of the sealed daemon.
enter() {
	nsenter -t "$(<"$run/dockerd.pid")" -m -n -- "$@"
}

# --- images ----------------------------------------------------------------

# hand IMAGE: give it to the sealed daemon, when that has another or none.
hand() {
	local image=$1 mark=$state/handed-$1 now
	now=$(tag "$image:${MEMBRANE_TAG:-latest}") ||
		die "there is no image $image: make images"
	[[ -e $mark && $(<"$mark") == "$now" ]] &&
		sealed image inspect "$image" >/dev/null 2>&1 &&
		return 0
	say "handing $image over to the sealed daemon"
	[[ $machine ]] || docker save "$now" | sealed load -q >/dev/null
	sealed tag "$now" "$image"
	echo "$now" >"$mark"
}

# trusting IMAGE: an agent's, which also trusts the certificates of this internet.
trusting() {
	local stamp image=$1 plain=membrane-agent-plain
	[[ $image == membrane-agent ]] || plain=$image-plain
	stamp=$(cat "$state/ca/ca.crt" "$state/handed-$image" |
		sha256sum | cut -c1-64)
	[[ $(sealed image inspect -f '{{index .Config.Labels "live"}}' \
		"$image" 2>/dev/null) != "$stamp" ]] || return 0
	say "adding the certificate of the fake internet to $image"
	docker -H "unix://$docker_sock" tag \
		"$(<"$state/handed-$image")" "$plain"
	mkdir -p "$state/trusting"
	cp "$state/ca/ca.crt" "$state/trusting/"
	cat >"$state/trusting/Dockerfile" <<-END
		FROM $plain
		COPY ca.crt /usr/local/share/ca-certificates/fake.crt
		RUN update-ca-certificates
		ENV NODE_EXTRA_CA_CERTS=/usr/local/share/ca-certificates/fake.crt
	END
	quietly "$state/log/trusting" sealed build --network none \
		--label live="$stamp" -t "$image" "$state/trusting"
}

# The gate's, made here of what image/images.sh staged: its tag on the machine
# is any tree's. It shall trust the same certificates when it verifies.
gate() {
	local context=$PWD/build/image/gate
	[[ -d $context/rootfs ]] || die "there is no image gate: make images"
	quietly "$state/log/gate" sealed build --network none \
		-f image/gate/Dockerfile -t membrane-gate-plain "$context"
	mkdir -p "$state/trusting-gate"
	cat /etc/ssl/certs/ca-certificates.crt "$state/ca/ca.crt" \
		>"$state/trusting-gate/roots"
	cat >"$state/trusting-gate/Dockerfile" <<-'END'
		FROM membrane-gate-plain
		COPY roots /etc/ssl/certs/ca-certificates.crt
	END
	quietly "$state/log/trusting" sealed build --network none \
		-t membrane-gate "$state/trusting-gate"
}

# The tracer's, of what image/images.sh staged, too.
watch() {
	[[ -d $PWD/build/image/watch ]] ||
		die "there is no image watch: make images"
	quietly "$state/log/watch" sealed build --network none \
		-f image/watch/Dockerfile -t membrane-watch \
		"$PWD/build/image/watch"
}

# The view's likewise.
view() {
	[[ -d $PWD/build/image/view ]] ||
		die "there is no image view: make images"
	quietly "$state/log/view" sealed build --network none \
		-f image/view/Dockerfile -t membrane-view \
		"$PWD/build/image/view"
}

images() {
	[[ ! $bare ]] || return 0
	hand membrane-agent
	trusting membrane-agent
	gate
	watch
	view
	sealed image prune -f >/dev/null
}

# --- up and down -----------------------------------------------------------

up() {
	if stands; then
		images
		return
	fi
	down
	if [[ $bare ]]; then
		say "raising the fake internet and a host in it"
	else
		say "raising the fake internet and a sealed Docker host"
	fi
	trap 'down' EXIT
	mkdir -p "$run" "$state/log"
	chmod 755 "$run"
	: >"$state/log/inet.jsonl"
	: >"$state/log/host.jsonl"
	authority
	links
	server inet "$inet" "$state" wire
	server host "$host" --host "$state"
	daemon
	stands || die "the world did not come up"
	images
	trap - EXIT
}

# Who ends takes its file away, at any moment: $(<FILE) would end this script.
pid_of() { cat "$run/$1.pid" 2>/dev/null; }
alive() {
	local pid
	pid=$(pid_of "$1") && kill -0 "$pid" 2>/dev/null
}
stands() { alive inet && alive host && alive dockerd && host_answers; }

gone() { ! alive "$1"; }

# Containers have network namespaces of their own; their cgroup names them.
remains() {
	local ns
	for ns in "$inet" "$host"; do
		[[ $machine && $ns == "$host" ]] ||
			ip netns pids "$ns" 2>/dev/null || true
	done
	find /sys/fs/cgroup -path "*/$cgroup/*" -name cgroup.procs \
		-exec cat {} + 2>/dev/null || true
}

none_remain() {
	local pids
	pids=$(remains | sort -u)
	[[ -n $pids ]] || return 0
	# shellcheck disable=SC2086  # one word per pid
	kill -KILL $pids 2>/dev/null
	return 1
}

# What of it is in the machine's own namespaces.
leave_machine() {
	! alive host || kill "$(pid_of host)" || true
	umount -l "$run/tree" 2>/dev/null || true
}

down() {
	if [[ $machine ]]; then
		leave_machine
	else
		! alive dockerd || kill "$(pid_of dockerd)" || true
		within 15 gone dockerd || true
	fi
	within 10 none_remain || say "some processes of the world remain"
	ip netns del "$inet" 2>/dev/null || true
	ip netns del "$host" 2>/dev/null || true
	find /sys/fs/cgroup -depth -type d -path "*/$cgroup*" \
		-exec rmdir {} + 2>/dev/null || true
	rm -rf "$run"
}

((EUID == 0)) || die "needs root"
export PATH=$PATH:/usr/sbin:/sbin
case ${1-} in
up | down | images | daemon_inside) "$1" ;;
agent)
	# Large, so handed over where a test asks for it.
	hand "membrane-agent-$2"
	trusting "membrane-agent-$2"
	;;
env)
	printf '%s=%q\n' user "$user" group "$group" run "$run" \
		state "$state" inet "$inet" host "$host" \
		docker_host "unix://$docker_sock"
	;;
user)
	shift
	exec nsenter -t "$(<"$run/dockerd.pid")" -m -n -- \
		setpriv --reuid "$user" --regid "$group" --clear-groups -- "$@"
	;;
host)
	shift
	enter "$@"
	;;
inet)
	shift
	exec ip netns exec "$inet" "$@"
	;;
*) die "usage: up|down|images|agent|env|user|host|inet" ;;
esac
