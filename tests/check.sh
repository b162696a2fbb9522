#!/bin/bash
# make check: everything, from a fresh checkout; ends with the total.
#
#   FUZZ_SECONDS   for each fuzz target, default 10
#   CHECK_SECONDS  for all of it: once they are over no step and no test of the
#                  live suites begins, and each of them says so
#   tests/check.sh [STEP...]   only these steps
source "$(dirname "$0")/../image/lib.sh"

passed=0 failed=0
jobs=$(nproc)
ends=
[[ -z ${CHECK_SECONDS-} ]] || ends=$(($(date +%s) + CHECK_SECONDS))
in_time() { [[ -z $ends ]] || (($(date +%s) < ends)); }
mkdir -p build/log

# step NAME WHAT COMMAND...: its last line counts when it is a total, else its
# status does; 77 is a skip. All but that line is shown as it comes.
wanted=("$@")
want() { [[ ${#wanted[@]} == 0 || " ${wanted[*]} " == *" $1 "* ]]; }
step() {
	local name=$1 what=$2 status=0 last good=0 bad=0 start=$SECONDS
	local log=build/log/check-$1
	shift 2
	want "$name" || return 0
	in_time || {
		say "$name: skipped: $CHECK_SECONDS s are over"
		return
	}
	say "$what"
	"$@" 2>&1 | tee "$log" |
		sed -u -E '/^[0-9]+ passed, [0-9]+ failed$/d' || status=$?
	last=$(tail -n 1 "$log" | tr -d '\0')
	if ((status == 77)); then
		say "$name: skipped: $last"
		return
	elif [[ $last =~ ^([0-9]+)' passed, '([0-9]+)' failed'$ ]]; then
		good=${BASH_REMATCH[1]} bad=${BASH_REMATCH[2]}
		((status == 0 || bad > 0)) || bad=1
	else
		good=$((status == 0)) bad=$((status != 0))
	fi
	passed=$((passed + good)) failed=$((failed + bad))
	say "$name: $good passed, $bad failed ($((SECONDS - start)) s)"
}

# begin NAME COMMAND...: run it beside the steps that follow, until that step
# NAME whose command is `finish NAME`. It ends when this script does.
declare -A begun=()
begin() {
	local name=$1 said=build/log/beside-$1
	shift
	want "$name" || return 0
	rm -f "$said.status"
	set -m
	{
		"$@" && echo 0 >"$said.status" || echo $? >"$said.status"
	} >"$said" 2>&1 </dev/null &
	set +m
	begun[$name]=$!
}

# What it has said, what it goes on to say, its status.
finish() {
	local said=build/log/beside-$1
	tail -n +1 -f --pid="${begun[$1]}" "$said"
	return "$(<"$said.status")"
}

abandon() {
	local name
	for name in "${!begun[@]}"; do
		[[ -e build/log/beside-$name.status ]] ||
			kill -- "-${begun[$name]}"
	done
}
trap abandon EXIT

# A build is quiet unless it fails, or warns.
build() {
	local log=build/log/build-$1
	shift
	quietly "$log" make -j"$jobs" "$@"
	! grep -E '(^|: )warning: ' "$log"
}

image/setup.sh build test package run docker prove
# A password is asked for now, not by something that runs beside others.
root true

step build "building (log: build/log/build-plain)" \
	build plain all units
# What no test reaches is not sanitized either, nor fuzzed: one build for all of
# it, by what processor the steps below leave.
aside() {
	renice -n 19 -p "$BASHPID" >/dev/null
	"$@"
}
begin counted aside build coverage \
	B=build/coverage SAN=1 COVERAGE=1 CC=clang all units fuzzers
# What waits for mirrors runs beside what needs processors, and fuzzing beside
# what waits for Docker.
begin images image/images.sh agent gate watch view
begin guest tests/guest/run.py
step layers "who includes whom" tests/check/layers
step references "what is cited of doc/ is there" tests/check/references
step contract "each rule of doc/semantics.md is held by a test" \
	tests/check/contract
step specification "each figure of doc/specification.md is measured" \
	tests/check/specification
step constants "what compiler and gate go by is said once" \
	tests/check/constants
step limits "the table of limits agrees with the headers" tests/check/limits
step warnings "each warning has a name" tests/check/warnings
step units "unit tests and oracles" tests/units build
step cases "golden cases" tests/run
step model "the decision, proved and asked (tests/model)" tests/model/run
step plans "plans do what their YAML says, by z3 (tests/model)" \
	tests/model/plans
step proofs "leaf functions, proved by Frama-C (tests/proofs)" tests/proofs/run
step presets "presets compile" tests/check/presets
step schema "the JSON Schema agrees with the binder" tests/check/schema
step jsonschema "outputs and their JSON Schemas" tests/check/jsonschema
step kubernetes "manifests of Pods, by keys, schema and kubelet's rules" \
	tests/check/kubernetes
step admission "Pods that admission.yaml admits, and attacks that it refuses" \
	tests/check/admission
step clusterstate "what a cluster has, against the plan" \
	tests/check/clusterstate -s 1
step networkpolicy "NetworkPolicies let through what their policies do" \
	tests/check/networkpolicy
step version "one version, wherever it is said" tests/check/version
step manpage "the man pages, installed" tests/check/manpage
step completions "bash, zsh and fish complete" tests/check/completions
step tables "tables of doc/ say what their sources say" tests/check/tables
step links "links of the pages lead somewhere" tests/check/links
step docs "what README.md and doc/ walk through" tests/check/docs
step promises "tests that hold what doc/security.md promises" tests/check/promises
step explain "edits that explain proposes, made" tests/check/explain
step suggest "policies that trace suggest writes, replayed" tests/check/suggest
step exports "exports of a trace, as others read them" tests/check/exports
step pages "pages of HTML, in a browser without a network" tests/check/pages
step ci "hooks and workflows of policies/ci" tests/check/ci
step mutants "what make mutants says of a small program" tests/check/mutants
step proof "plans do what their policies say, proved" tests/check/proof
step determinism "the same sources give the same bytes" tests/check/determinism
step guest "the tracer's back ends on Debian's kernel, emulated" finish guest
step images "images, since the build" finish images
# Its base is that of the agent's image.
begin deb tests/check/deb
begin clients tests/live/clients.sh
step counted "building with sanitizers and counters (log: build/log/build-coverage)" \
	finish counted
# With what nobody else wants of the processors.
begin fuzz aside tests/fuzz/run "${FUZZ_SECONDS:-10}"
step coverage "tests under sanitizers, and what of each folder they run" \
	tests/check/coverage
step deb "Debian packages, and a bare root with them, since the images" \
	finish deb
step clients "clients of live tests, since the images" finish clients
# They wait more than they work, each in network namespaces of its own; all at
# once they would wait for a processor, and some hold a time against a bound.
live=(tests/live/gate.py tests/live/*_live.py)
begin_live() {
	[[ -z ${live[$1]-} ]] ||
		begin "$(basename "${live[$1]}" .py)" root "${live[$1]}"
}
for ((i = 0; i < 2 * jobs; i++)); do
	begin_live "$i"
done
for i in "${!live[@]}"; do
	name=$(basename "${live[i]}" .py)
	step "$name" "live: ${live[i]}" finish "$name"
	begin_live $((i + 2 * jobs))
done
sessions=(tests/live/run ${ends:+--until "$ends"})
# What depends on the engine, and what is its own; all of it: make check-all.
step pod "live: Pods by their manifests, on Docker" \
	env MEMBRANE_ENGINE=pod "${sessions[@]}" pod. network.
step native-root "live: sessions without Docker that root launches" \
	env MEMBRANE_ENGINE=native-root "${sessions[@]}" \
	native. escape. desktop. view. protect. root. inside. trace.
step native "live: sessions without Docker, as an ordinary user" \
	env MEMBRANE_ENGINE=native "${sessions[@]}" \
	native. usertrace. desktop. escape. files. view. protect. inside. \
	life. host. home. root. roots. installed. upstream. ask. told. network.
step fuzz "fuzz targets, ${FUZZ_SECONDS:-10} s each, since they were built" \
	finish fuzz
step live "live: sessions in real Docker, behind a sealed internet" \
	"${sessions[@]}"

echo "$passed passed, $failed failed"
((failed == 0))
