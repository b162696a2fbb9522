#!/bin/bash
# One command in the sandbox, against the internet of the live tests: a
# connection that the policy permits, one that it refuses, and the summary. By the
# native engine, which needs no Docker; where it does not work here, by Docker.
# shellcheck disable=SC2154  # user, group, run, state: from world.sh env
source "$(dirname "$0")/../../image/lib.sh"

((EUID == 0)) || exec sudo -E "$PWD/tests/live/demo.sh" "$@"

world=tests/live/world.sh
place=
finish() {
	rm -rf "$place"
	say "taking the fake internet down"
	"$world" down
}
trap finish EXIT
# membrane COMMAND...: as the user of that host, which has no other network.
membrane() {
	"$world" user env -i -C "$place/project" PATH="$PATH" HOME="$place" \
		LC_ALL=C.UTF-8 TERM="${TERM:-dumb}" DOCKER_HOST="$docker_host" \
		MEMBRANE_ENGINE="$MEMBRANE_ENGINE" MEMBRANE_HOME="$place/home" \
		"$run/tree/build/bin/membrane" "$@"
}
place=$(mktemp -d /tmp/membrane-demo.XXXXXX)
mkdir "$place/project" "$place/home"
cat >"$place/home/config.yaml" <<'END'
allow:
  - example.com:443
ignore:
  - .env
END
echo 'TOKEN=secret' >"$place/project/.env"
eval "$("$world" env)"
chown -R "$user:$group" "$place"
chmod 755 "$place"

export MEMBRANE_ENGINE=native MEMBRANE_DOCKER=none
"$world" down
"$world" up
if ! membrane doctor >"$place/doctor"; then
	docker version >/dev/null 2>&1 || {
		cat "$place/doctor" >&2
		die "the native engine does not work here, and there is no Docker"
	}
	say "the native engine does not work here: by Docker"
	"$world" down
	export MEMBRANE_ENGINE=docker MEMBRANE_DOCKER=
	"$world" up
fi

say "the policy:"
cat "$place/home/config.yaml"
script='set -x
curl -sS https://example.com/
curl -sS https://example.org/ || true
cat .env'
say "membrane run -- sh -c '$script'"
status=0
membrane run -- sh -c "$script" >"$place/out" || status=$?
cat "$place/out"
say "its status was $status"
[[ $(<"$place/out") == 'hello from example.com' ]] ||
	die "that is not what the policy says"
grep -q '"sni": "example.com"' "$state/log/inet.jsonl" ||
	die "the permitted connection did not arrive"
! grep -q 'example\.org' "$state/log/inet.jsonl" ||
	die "something of the refused connection arrived"
say "outside, example.com was reached and nothing asked for example.org"
