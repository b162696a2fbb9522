/*
 * A network namespace of an oracle's own, as root or through a user namespace.
 */
#ifndef TESTS_ORACLE_NAMESPACE_H
#define TESTS_ORACLE_NAMESPACE_H

#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

static inline bool namespace_map(const char *name, const char *text)
{
	FILE *f = fopen(name, "w");
	bool ok = f && fputs(text, f) >= 0;

	return f && fclose(f) == 0 && ok;
}

static inline bool namespace_enter(void)
{
	char map[64];
	unsigned uid = getuid(), gid = getgid();

	if (unshare(CLONE_NEWNET) == 0)
		return true;
	if (unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0)
		return false;
	snprintf(map, sizeof(map), "0 %u 1\n", uid);
	if (!namespace_map("/proc/self/setgroups", "deny") ||
	    !namespace_map("/proc/self/uid_map", map))
		return false;
	snprintf(map, sizeof(map), "0 %u 1\n", gid);
	return namespace_map("/proc/self/gid_map", map);
}

#endif
