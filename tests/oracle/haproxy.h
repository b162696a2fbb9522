/*
 * The files of a plan as HAProxy takes them, and a network namespace in which
 * the live half of an oracle runs one: gate.py.
 */
#ifndef TESTS_ORACLE_HAPROXY_H
#define TESTS_ORACLE_HAPROXY_H

#include "compiler/emit/gate/gate_cfg.h"

#include "tests/oracle/namespace.h"
#include "tests/policy.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static inline void haproxy_text(const char *dir, const char *name,
				struct str text)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "w");
	if (!f || fwrite(text.p, 1, text.n, f) != text.n || fclose(f) != 0) {
		perror(path);
		exit(1);
	}
}

/* What of a plan is HAProxy's, of a policy that has such. */
static inline void haproxy_plan(const char *dir, struct test_policy *t)
{
	haproxy_text(dir, "gate.cfg", test_policy_emit(t, gate_cfg_emit));
	haproxy_text(dir, "gate.lua", test_policy_emit(t, gate_lua_emit));
	haproxy_text(dir, "hosts.map", test_policy_emit(t, gate_maps_hosts));
	haproxy_text(dir, "addr.map", test_policy_emit(t, gate_maps_addrs));
	haproxy_text(dir, "profiles.map",
		     test_policy_emit(t, gate_maps_profiles));
	if (gate_cfg_decrypts(&t->policy))
		haproxy_text(dir, "crt.lst",
			     test_policy_emit(t, gate_maps_leaves));
}

/* In a process of its own: a program, about a folder, in a namespace. */
static inline int haproxy_talk(const char *program, const char *dir)
{
	if (!namespace_enter()) {
		puts("no network namespace of our own");
		return 77;
	}
	execlp("python3", "python3", program, dir, NULL);
	return 1;
}

static inline bool haproxy_tools(void)
{
	return system("haproxy -v >/dev/null 2>&1 && "
		      "openssl version >/dev/null && "
		      "python3 --version >/dev/null && "
		      "nft --version >/dev/null && ip -V >/dev/null") == 0;
}

#endif
