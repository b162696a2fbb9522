#!/bin/bash
# What live tests mount into the agent's image to see real clients at work:
#
#   build/clients/npm   agents, and a Node for them: clients/package.json
#   build/clients/prefix   agents, as 'npm install -g' leaves them in a prefix
#   build/clients/usr   a /usr that has Go, Ruby, cargo, Java, make, debuggers,
#                       bubblewrap and Redis too
#
# and the images membrane-agent-browser and membrane-agent-cargo, as doc/agents.md
# makes them (sections "A browser" and "How one is installed"). Fetched once, by npm
# and apt-get in a container of the agent's image, on the machine's own network; 77
# when that does not lead to their servers. The tests themselves reach nothing but
# the fake internet, and are skipped without these.
source "$(dirname "$0")/../../image/lib.sh"

to=$PWD/build/clients
tag=${MEMBRANE_TAG:-latest}
agent=membrane-agent:$tag
roots=/etc/ssl/certs/ca-certificates.crt
owner=$(id -u):$(id -g)

# fetched NAME USER SCRIPT: run it in a container where /to is the folder NAME,
# when neither it nor the image has changed since the last time.
fetched() {
	local name=$1 user=$2 script=$3 stamp
	stamp=$(cat tests/live/clients.sh tests/live/clients/package.json - <<<"$(
		docker image inspect -f '{{.Id}}' "$agent")" | sha256sum)
	[[ ! -e $to/$name.stamp || $(<"$to/$name.stamp") != "$stamp" ]] ||
		return 0
	say "fetching clients: $name (once; log: build/log/clients-$name)"
	rm -rf "${to:?}/$name" "$to/$name.stamp"
	mkdir -p "$to/$name" build/log
	docker run --rm --network host --user "$user" \
		--mount "type=bind,source=$to/$name,target=/to" \
		--mount "type=bind,source=$PWD/tests/live/clients,target=/from,readonly" \
		--mount "type=bind,source=$roots,target=/roots,readonly" \
		-e HOME=/tmp -e NODE_EXTRA_CA_CERTS=/roots \
		-e npm_config_cafile=/roots -e OWNER="$owner" -w /to \
		"$agent" timeout 500 sh -ec "$script" \
		>"build/log/clients-$name" 2>&1 || {
		tail -n 5 "build/log/clients-$name"
		return 77
	}
	echo "$stamp" >"$to/$name.stamp"
}

# layer NAME IMAGE: the image membrane-agent-NAME, of the lines on IMAGE that the
# page has for people; Docker knows what of it is there.
layer() {
	local name=$1 image=$2 lines
	docker image inspect "$image:$tag" >/dev/null 2>&1 || {
		say "no image membrane-agent-$name: there is no $image"
		return 0
	}
	lines=$(awk -v from="FROM $image" -v to="FROM $image:$tag" '
		/^```dockerfile$/ { getline; on = $0 == from; $0 = to }
		/^```$/ { on = 0 }
		on' doc/agents.md)
	[[ $lines ]] || die "doc/agents.md has no layer on $image"
	say "building the image membrane-agent-$name (log: build/log/$name)"
	docker build --network host -t "membrane-agent-$name:$tag" - \
		<<<"$lines" >"build/log/$name" 2>&1 || {
		tail -n 5 "build/log/$name"
		return 77
	}
}

# shellcheck disable=SC2016  # the scripts are for the shells inside
fetched npm "$owner" '
	cp /from/package.json .
	npm install --no-audit --no-fund --loglevel=error \
		--fetch-retries=1 --fetch-timeout=30000
	# Half of it: what its installation has copied elsewhere.
	rm -rf node_modules/@anthropic-ai/claude-code-linux-* \
		node_modules/opencode-linux-*' &
npm=$! status=0
# shellcheck disable=SC2016
fetched prefix "$owner" '
	npm install -g --prefix /to --no-audit --no-fund --loglevel=error \
		--fetch-retries=1 --fetch-timeout=30000 $(
		sed -nE "s/^\t\t\"(.*)\": \"(.*)\",?$/\1@\2/p" \
			/from/package.json | grep -Ev "^(node|playwright)")' ||
	status=$?
# shellcheck disable=SC2016
fetched usr 0:0 '
	apt-get -o Acquire::http::Timeout=20 update
	DEBIAN_FRONTEND=noninteractive apt-get install -y \
		--no-install-recommends golang-go ruby cargo bubblewrap \
		default-jre-headless gdb make strace redis-server
	rm -rf /usr/share/doc /usr/share/man /usr/share/locale
	cp -a /usr/. /to
	# Its settings are links into /etc; some links of its lead nowhere.
	rm -rf /to/lib/jvm
	cp -aL "$(readlink -f /usr/lib/jvm/default-java)" /to/lib/jvm ||
		test -e /to/lib/jvm/conf/security/java.security
	chown -R "$OWNER" /to' || status=$?
wait "$npm" || status=$?
layer browser membrane-agent || status=$?
layer cargo membrane-agent-claude || status=$?
((status == 0)) || echo "npm or apt-get failed in a container (see above)"
exit "$status"
