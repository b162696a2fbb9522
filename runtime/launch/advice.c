/*
 * What Docker says when the host lacks something, in words that say the next
 * step. Docker's own stay in the session's logs.
 */
#include "runtime/launch/parts.h"

#include <string.h>

static const struct {
	const char *part; /* of the line, whatever Docker's release */
	const char *words;
} table[] = {
	{"open /proc/sys/net/ipv6/",
	 "this kernel is without IPv6, whose switches are set in the gate: start it without 'ipv6.disable=1' ('sysctl net.ipv6.conf.all.disable_ipv6=1' may be)"},
};

struct str advice_for(struct str line)
{
	for (size_t i = 0; i < ARRAY_LEN(table); i++)
		if (memmem(line.p, line.n, table[i].part,
			   strlen(table[i].part)))
			return str_of(table[i].words);
	return line;
}
