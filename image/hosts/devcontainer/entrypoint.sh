#!/bin/sh
# The first process of a dev container: lets mounts reach the containers that
# are made here, starts a Docker daemon unless one answers, and goes on as the
# command. What is not to be had is said by 'membrane doctor'.
#
# A group of processes that hands controllers on may have none itself
# (cgroups(7), "no internal processes"): those that are here move below.
groups=/sys/fs/cgroup

own_group() {
	mkdir -p $groups/init || return
	while read -r pid; do
		echo "$pid" >$groups/init/cgroup.procs
	done <$groups/cgroup.procs
	for controller in $(cat $groups/cgroup.controllers); do
		echo "+$controller" >$groups/cgroup.subtree_control
	done
}

mount --make-rshared /
if [ -f $groups/cgroup.controllers ]; then
	own_group
fi
if ! docker version >/dev/null 2>&1; then
	# Of a daemon that was killed with its container.
	rm -f /var/run/docker.pid
	setsid dockerd >/var/log/dockerd.log 2>&1 &
fi
exec "$@"
