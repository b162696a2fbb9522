/*
 * What the session has in the place of the machine's own lists: who there is,
 * and names of the network and of its protocols.
 */
#include "runtime/launch/native/native.h"

#include "compiler/base/sys/fileio.h"
#include "compiler/plan/gate.h"
#include "compiler/plan/native_json.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int write_file(struct arena *a, const char *dir, const char *name,
		      struct str text, struct err *err)
{
	const char *path = arena_fmt(a, "%s/%s", dir, name).p;
	int rc = fileio_write(AT_FDCWD, path, text, 0644, err);

	/* whatever our umask is, the agent reads it */
	if (rc == 0 && chmod(path, 0644) < 0)
		rc = err_errno(err, path);
	return rc;
}

static struct str users_text(struct arena *a, uid_t uid, gid_t gid)
{
	struct str agent =
		arena_fmt(a, "agent:x:%lu:%lu::/home/agent:/bin/sh\n",
			  (unsigned long)uid, (unsigned long)gid);

	return arena_fmt(
		a,
		"root:x:0:0::%s:/bin/sh\n%.*snobody:x:65534:65534::/:/bin/false\n",
		uid == 0 ? "/home/agent" : "/root", uid == 0 ? 0 : (int)agent.n,
		agent.p);
}

static struct str groups_text(struct arena *a, gid_t gid)
{
	struct str agent = arena_fmt(a, "agent:x:%lu:\n", (unsigned long)gid);

	return arena_fmt(a, "root:x:0:\n%.*stty:x:5:\nnogroup:x:65534:\n",
			 gid == 0 ? 0 : (int)agent.n, agent.p);
}

/* Line by line, each a string: see the Makefile. */
static const char protocols[] =
#include "image/gate/protocols.inc"
	;

int native_write_files(struct arena *a, const char *dir, uid_t uid, gid_t gid,
		       struct err *err)
{
	const struct {
		const char *name;
		struct str text;
	} files[] = {
		{NATIVE_JSON_USERS, users_text(a, uid, gid)},
		{NATIVE_JSON_GROUPS, groups_text(a, gid)},
		{NATIVE_JSON_HOSTS, STR("127.0.0.1 localhost\n"
					"::1 localhost ip6-localhost\n"
					LINK_AGENT_V4 " " GATE_AGENT_HOST
					"\n")},
		{NATIVE_JSON_PROTOCOLS, str_of(protocols)},
	};
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < ARRAY_LEN(files); i++)
		rc = write_file(a, dir, files[i].name, files[i].text, err);
	return rc;
}

static bool has_gate(struct arena *a, const char *folder)
{
	return access(arena_fmt(a, "%s/" NATIVE_JSON_GATE, folder).p, X_OK) ==
	       0;
}

int native_programs_folder(struct arena *a, const char **out, struct err *err)
{
	static const char *const from[] = {"", "/../libexec/membrane"};
	char self[PATH_MAX], real[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (n < 0)
		return err_errno(err, "/proc/self/exe");
	self[n] = '\0';
	*strrchr(self, '/') = '\0';
	for (size_t i = 0; i < ARRAY_LEN(from); i++) {
		const char *at = arena_fmt(a, "%s%s", self, from[i]).p;

		if (!has_gate(a, at) || !realpath(at, real))
			continue;
		*out = arena_cstr(a, str_of(real));
		return 0;
	}
	return err_set(
		err, -ENOENT,
		"the native engine's programs are not here: " NATIVE_JSON_GATE
		" lies neither beside membrane nor in ../libexec/membrane");
}
