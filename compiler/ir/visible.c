#include "compiler/ir/visible.h"

#include "compiler/ir/docker_mount.h"

#include <stdlib.h>
#include <string.h>

#define READ  "read "
#define WRITE "write "

struct kept {
	const char *path;
	bool below; /* and all that is in it */
	const char *why;
};

static const struct kept machine[] = {
	{"/proc", true, "holds the host's processes"},
	{"/sys", true, "holds the host's kernel settings"},
	{"/dev", true, "holds the host's devices"},
	{"/run", true, "holds the sockets of the host's services"},
	{"/var/run", true, "holds the sockets of the host's services"},
	{"/boot", true, "holds the host's kernel"},
	{"/var/lib/docker", true, "holds every container's files"},
	{"/var/lib/containerd", true, "holds every container's files"},
	{"/etc/membrane", true, "is membrane's own place"},
	{"/etc/resolv.conf", true, "is membrane's own place"},
	{"/workspace", true, "is membrane's own place"},
	{"/home/agent", true, "is membrane's own place"},
	{"/etc", false, "holds the host's settings and their secrets"},
	{"/usr", false, "holds the programs of the system"},
	{"/bin", false, "holds the programs of the system"},
	{"/sbin", false, "holds the programs of the system"},
	{"/lib", false, "holds the programs of the system"},
	{"/lib64", false, "holds the programs of the system"},
	{"/home", false, "holds every user's files"},
	{"/root", false, "is a user's whole home"},
	{"/tmp", false, "holds sockets and files of the host's programs"},
	{"/var", false, "holds what the host's services keep"},
	{"/var/tmp", false, "holds files of the host's programs"},
	{"/var/lib", false, "holds what the host's services keep"},
	{"/var/spool", false, "holds what the host's services will run"},
};

/* "/home/NAME" */
static bool is_home(struct str path)
{
	static const struct str homes = STR_INIT("/home/");

	return str_starts(path, homes) &&
	       str_find(path, '/', homes.n) == path.n;
}

static const char *place_fault(struct str path)
{
	if (is_home(path) && !str_is(path, "/home/agent"))
		return "is a user's whole home";
	for (size_t i = 0; i < ARRAY_LEN(machine); i++) {
		struct str at = str_of(machine[i].path);

		if (machine[i].below ? docker_mount_within(path, at)
				     : str_eq(path, at))
			return machine[i].why;
	}
	return NULL;
}

/* What the value of --mount divides by, and what no path of a person has. */
static bool is_writable_char(char c)
{
	unsigned char u = (unsigned char)c;

	return u >= 0x20 && u != 0x7f && c != ',' && c != '"';
}

static const char *segment_fault(struct str rest)
{
	struct str part;

	while (str_field(&rest, '/', &part)) {
		if (part.n == 0 || str_is(part, ".") || str_is(part, ".."))
			return "has a segment that is empty, '.' or '..'";
		for (size_t i = 0; i < part.n; i++)
			if (!is_writable_char(part.p[i]))
				return "has a comma, a quote or a control character";
	}
	return NULL;
}

static struct str without_slash(struct str path)
{
	return str_slice(path, 0,
			 path.n - (path.n > 1 && str_ends(path, STR("/"))));
}

const char *visible_fault(struct str path)
{
	struct str s = without_slash(path), membrane = STR("~/.membrane");
	const char *fault;

	if (str_is(s, "/"))
		return "is the whole machine";
	if (str_is(s, "~"))
		return "is your whole home";
	if (!str_starts(s, STR("/")) && !str_starts(s, STR("~/")))
		return "is neither absolute nor below '~/'";
	fault = segment_fault(str_slice(s, s.p[0] == '~' ? 2 : 1, s.n));
	if (fault)
		return fault;
	if (docker_mount_within(s, membrane))
		return "holds membrane's own folder, and the policy of the next session";
	return s.p[0] == '/' ? place_fault(s) : NULL;
}

struct str visible_text(struct arena *a, struct str path, bool write)
{
	return arena_fmt(a, "%s%.*s", write ? WRITE : READ,
			 STR_ARG(without_slash(path)));
}

struct ir_visible visible_of(struct str text)
{
	struct ir_visible v = {.write = str_starts(text, STR(WRITE))};

	v.path =
		str_slice(text, v.write ? strlen(WRITE) : strlen(READ), text.n);
	v.in_home = str_starts(v.path, STR("~"));
	if (v.in_home)
		v.path = str_slice(v.path, 1, v.path.n);
	return v;
}

unsigned visible_at(const ir_texts *list, const struct ir_visible *at)
{
	unsigned mode = 0;
	size_t longest = 0;

	vec_each(t, list) {
		struct ir_visible v = visible_of(t->s);

		if (v.in_home != at->in_home || v.path.n < longest ||
		    !docker_mount_within(at->path, v.path))
			continue;
		longest = v.path.n;
		mode = v.write ? 2 : 1;
	}
	return mode;
}
