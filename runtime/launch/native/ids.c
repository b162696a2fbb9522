/*
 * Whose numbers a session's user namespace has.
 *
 * One user alone can be mapped without any privilege: oneself. Who has numbers
 * of their own (subuid(5)) gets these by newuidmap(1): then gate, HAProxy and
 * the command are three users of the host, too. Root maps each number to
 * itself, and has its privileges in the namespace alone.
 */
#include "runtime/launch/native/parts.h"

#include "compiler/base/sys/fileio.h"
#include "compiler/base/sys/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define RANGE_MIN   65536u /* numbers: those that programs use */
#define RANGES_MAX  (1u << 20)
#define MAP_WORDS   12
#define NEW_USERS   "/usr/bin/newuidmap"
#define NEW_GROUPS  "/usr/bin/newgidmap"
#define RANGE_USERS "/etc/subuid"

/* --- which there are ------------------------------------------------------ */

/* "NAME:FIRST:COUNT", of which NAME may be a number. */
static bool is_range(struct str line, struct str name, struct str number,
		     uint32_t *out_first)
{
	struct str who, first;
	uint64_t from, count;

	if (!str_field(&line, ':', &who) || !str_field(&line, ':', &first) ||
	    !str_u64(first, UINT32_MAX, &from) ||
	    !str_u64(line, UINT32_MAX, &count) || count < RANGE_MIN ||
	    (!str_eq(who, name) && !str_eq(who, number)))
		return false;
	*out_first = (uint32_t)from;
	return from > 0 && from <= UINT32_MAX - RANGE_MIN;
}

bool ids_range(struct str text, struct str name, struct str number,
	       uint32_t *out_first)
{
	struct str line;

	while (str_line(&text, &line))
		if (is_range(line, name, number, out_first))
			return true;
	return false;
}

static bool find_range(struct arena *a, const char *file, uint32_t *out_first)
{
	const struct passwd *user = getpwuid(geteuid());
	struct err ignored;
	struct str text;

	return fileio_read(a, AT_FDCWD, file, RANGES_MAX, &text, &ignored) ==
		       0 &&
	       ids_range(text, str_of(user ? user->pw_name : ""),
			 arena_fmt(a, "%lu", (unsigned long)geteuid()),
			 out_first);
}

struct ids ids_own(struct arena *a)
{
	struct ids ids = {.kind = IDS_ONE, .uid = geteuid(), .gid = getegid()};

	if (ids.uid == 0)
		ids.kind = IDS_ALL;
	else if (access(NEW_USERS, X_OK) == 0 &&
		 access(NEW_GROUPS, X_OK) == 0 &&
		 find_range(a, RANGE_USERS, &ids.users) &&
		 find_range(a, "/etc/subgid", &ids.groups))
		ids.kind = IDS_SUBORDINATE;
	return ids;
}

/* --- the maps ------------------------------------------------------------- */

static int fail_map(struct err *err, const char *what)
{
	return err_set(err, -errno, "the session's user namespace (%s): %s",
		       what, strerror(errno));
}

/* A map is taken whole, in one write. */
static int write_map(int dir, const char *name, struct str text,
		     struct err *err)
{
	auto_fd int fd = openat(dir, name, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, text.p, text.n) != (ssize_t)text.n)
		return fail_map(err, name);
	return 0;
}

static int map_directly(const struct ids *ids, int dir, struct err *err)
{
	static const struct str all = STR_INIT("0 0 4294967295\n");
	char users[64], groups[64];
	int rc = 0;

	snprintf(users, sizeof(users), "%lu %lu 1\n", (unsigned long)ids->uid,
		 (unsigned long)ids->uid);
	snprintf(groups, sizeof(groups), "%lu %lu 1\n", (unsigned long)ids->gid,
		 (unsigned long)ids->gid);
	/* the kernel wants to know that no group is ever left */
	if (ids->kind == IDS_ONE)
		rc = write_map(dir, "setgroups", STR("deny"), err);
	if (rc == 0)
		rc = write_map(dir, "uid_map",
			       ids->kind == IDS_ALL ? all : str_of(users), err);
	return rc < 0 ? rc
		      : write_map(dir, "gid_map",
				  ids->kind == IDS_ALL ? all : str_of(groups),
				  err);
}

/* Three runs: what is below one's own number, that itself, and the rest. */
void ids_words(const char *program, pid_t process, uint32_t own, uint32_t first,
	       char text[MAP_WORDS][IDS_WORD_MAX])
{
	bool is_within = own < RANGE_MIN;
	uint32_t below = is_within ? own : RANGE_MIN;
	const uint32_t n[] = {0,
			      first,
			      below,
			      own,
			      own,
			      1,
			      own + 1,
			      first + own + 1,
			      RANGE_MIN - own - 1};

	memset(text, 0, MAP_WORDS * IDS_WORD_MAX);
	snprintf(text[0], IDS_WORD_MAX, "%s", program);
	snprintf(text[1], IDS_WORD_MAX, "%ld", (long)process);
	for (size_t i = 0, w = 2; i < ARRAY_LEN(n); i += 3) {
		if (n[i + 2] == 0 || (i == 6 && !is_within))
			continue;
		for (size_t k = 0; k < 3; k++)
			snprintf(text[w++], IDS_WORD_MAX, "%lu",
				 (unsigned long)n[i + k]);
	}
}

static int start_program(const char *program, pid_t process, uint32_t own,
			 uint32_t first, pid_t *out, struct err *err)
{
	char text[MAP_WORDS][IDS_WORD_MAX], *argv[MAP_WORDS + 1] = {NULL};
	struct proc_opts o = {
		.argv = argv, .in = -1, .out = -1, .err = -1, .keep = -1};

	ids_words(program, process, own, first, text);
	for (size_t i = 0; i < MAP_WORDS && text[i][0]; i++)
		argv[i] = text[i];
	return proc_spawn(&o, out, err);
}

static int wait_for(pid_t pid, const char *program, struct err *err)
{
	int status = 0;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (status == 0)
		return 0;
	return err_set(
		err, -EPERM,
		"the session's user namespace: %s failed, as it says above (chmod u+s %s; or take the line of this user out of " RANGE_USERS
		")",
		program, program);
}

/* Both at once: each takes a millisecond. */
static int map_by_programs(const struct ids *ids, pid_t process,
			   struct err *err)
{
	pid_t users, groups;
	int rc = start_program(NEW_USERS, process, ids->uid, ids->users, &users,
			       err),
	    other;

	if (rc < 0)
		return rc;
	other = start_program(NEW_GROUPS, process, ids->gid, ids->groups,
			      &groups, err);
	rc = wait_for(users, NEW_USERS, err);
	if (other == 0)
		other = wait_for(groups, NEW_GROUPS, err);
	return rc < 0 ? rc : other;
}

int ids_map(const struct ids *ids, pid_t process, struct err *err)
{
	auto_fd int dir = -1;
	char path[32];

	if (ids->kind == IDS_SUBORDINATE)
		return map_by_programs(ids, process, err);
	snprintf(path, sizeof(path), "/proc/%ld", (long)process);
	dir = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return dir < 0 ? err_errno(err, path) : map_directly(ids, dir, err);
}

uid_t ids_user(const struct ids *ids, uid_t uid)
{
	return ids->kind == IDS_ONE ? ids->uid : uid;
}

gid_t ids_group(const struct ids *ids, gid_t gid)
{
	return ids->kind == IDS_ONE ? ids->gid : gid;
}
