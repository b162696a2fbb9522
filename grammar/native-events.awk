# From native-events.def and tracee-events.tsv, in this order, to the table
# that runtime/watch/events.c includes: of each event its number and arguments.
#
#	WATCH_ARG("pathname", "string")
#	WATCH_EVENT("mkdirat", 258, first, n)
#
# Arguments of an event stand before it; first counts over all arguments. The
# order of events is that of native-events.def.

FILENAME ~ /native-events\.def$/ {
	if (match($0, /^EVENT\([a-z0-9_]+/))
		order[++events] = substr($0, 7, RLENGTH - 6)
	if (split($0, word, /[(), ]+/) > 4 && word[1] == "ARG") {
		more_arg[word[2]] = word[3]
		more_type[word[2]] = word[4]
	}
	next
}

FNR == 1 {
	FS = "\t"
	$0 = $0
	next
}

{
	id[$1] = $2
	# Appended by an option, or gone from the newest release.
	if ($7 !~ /^[0-9]+$/ || $13 != "")
		next
	k = n[$1]++ + 0
	arg[$1, k] = $8
	type[$1, k] = $9
}

END {
	first = 0
	for (i = 1; i <= events; i++) {
		e = order[i]
		if (e in more_arg) {
			k = n[e]++
			arg[e, k] = more_arg[e]
			type[e, k] = more_type[e]
		}
		if (!(e in id)) {
			print "no event " e > "/dev/stderr"
			exit 1
		}
		for (k = 0; k < n[e]; k++)
			printf "WATCH_ARG(\"%s\", \"%s\")\n", arg[e, k], type[e, k]
		printf "WATCH_EVENT(\"%s\", %d, %d, %d)\n", e, id[e], first, n[e]
		first += n[e]
	}
}
