# Sourced by the scripts beside it and by tests/live: strict mode, messages,
# and what needs root. The caller's folder becomes that of the repository.
# shellcheck shell=bash
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

say() { printf '== %s\n' "$*" >&2; }
die() { printf '%s: %s\n' "${0##*/}" "$*" >&2; exit 1; }

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

# quietly LOG COMMAND...: the output into LOG, shown only when it failed.
quietly() {
	local log=$1
	shift
	mkdir -p "$(dirname "$log")"
	"$@" >"$log" 2>&1 || {
		local status=$?
		tail -n 40 "$log" >&2
		die "failed with status $status: $* (all of it: $log)"
	}
}
