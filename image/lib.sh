# Sourced by the scripts beside it and by tests: strict mode, messages, and what
# needs root. The caller's folder becomes that of the repository, or, where this
# was installed, PREFIX/share/membrane.
# shellcheck shell=bash
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Where the programs are, and where what is made of them may lie with its logs.
# shellcheck disable=SC2034  # for those who source this
if [[ -e image/setup.sh ]]; then
	programs=$PWD/build/bin made=$PWD/build
else
	programs=$(realpath -m ../../libexec/membrane)
	made=${XDG_CACHE_HOME:-${HOME:?is not set}/.cache}/membrane
fi

say() { printf '== %s\n' "$*" >&2; }
die() { printf '%s: %s\n' "${0##*/}" "$*" >&2; exit 1; }

# Whether root COMMAND can be tried.
may_root() { ((EUID == 0)) || command -v sudo >/dev/null; }

# root COMMAND...: as root, through sudo when that is not us.
root() {
	if ((EUID == 0)); then
		"$@"
	else
		command -v sudo >/dev/null || die "needs root or sudo: $*"
		sudo -- "$@"
	fi
}

# within SECONDS COMMAND...: until it succeeds; its last status when it never
# does. The command itself must not block.
within() {
	local until=$((SECONDS + $1))
	shift
	until "$@"; do
		((SECONDS < until)) || return
		sleep 0.05
	done
}

# quietly LOG COMMAND...: the output into LOG, shown only when it failed; in a
# shell of its own, so that a die in there is seen, too.
quietly() {
	local log=$1
	shift
	mkdir -p "$(dirname "$log")"
	("$@") >"$log" 2>&1 || {
		local status=$?
		tail -n 40 "$log" >&2
		die "failed with status $status: $* (all of it: $log)"
	}
}
