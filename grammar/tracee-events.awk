# From tracee-events.tsv, the schema of Tracee's events over its releases, to
# the table that compiler/ir/tracee.c includes:
#
#	TRACEE_ARG("pathname", STRING, flags, since, last)
#	TRACEE_EVENT("openat", SYSCALL, ",syscalls,fs,", first, n, since, last)
#
# Arguments of an event stand before it; first counts over all arguments.
# Releases are numbers: 0.24.1 is 2401; since is 0 for "always", last 99999 for
# "still". Columns: see the first line of the table.

function release(s, part)
{
	if (s == "")
		return 99999
	if (s ~ /^<=/)
		return 0
	split(s, part, ".")
	return part[1] * 10000 + part[2] * 100 + part[3]
}

function shape(s)
{
	if (s ~ /^number/)
		return "NUMBER"
	if (s == "string")
		return "STRING"
	if (s == "array<string>")
		return "STRINGS"
	if (s == "bool")
		return "BOOL"
	return "OBJECT"
}

function flags(index_, notes, f)
{
	f = "0"
	if (notes ~ /no \*x\*/)
		f = f " | TRACEE_KERNEL_SIDE"
	if (notes ~ /mount prefix missing/)
		f = f " | TRACEE_NO_MOUNT"
	if (index_ == "+" || notes ~ /appended only/)
		f = f " | TRACEE_UNDECLARED"
	return f
}

function flush()
{
	if (name != "")
		printf "TRACEE_EVENT(\"%s\", %s, \",%s,\", %d, %d, %d, %d)\n",
			name, toupper(kind), sets, first, n, since, last
	first += n
	n = 0
}

BEGIN { FS = "\t" }
NR == 1 { next }
$1 != name {
	flush()
	name = $1
	kind = $3
	sets = $6
	since = 99999
	last = 0
}
{
	if (release($12) < since)
		since = release($12)
	if (release($13) > last)
		last = release($13)
}
$8 != "-" && $7 != "*" {
	printf "TRACEE_ARG(\"%s\", %s, %s, %d, %d)\n", $8, shape($10),
		flags($7, $14), release($12), release($13)
	n++
}
END { flush() }
