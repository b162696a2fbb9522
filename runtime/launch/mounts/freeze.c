#include "runtime/launch/mounts/freeze.h"

#include "compiler/base/buf.h"
#include "compiler/base/sys/fileio.h"
#include "runtime/launch/mounts/placeholders.h"

#include <errno.h>
#include <fcntl.h>

#define RECORD_BYTES (1u << 20)
/* Who waits for a file is not stopped before it has that: for 200 ms Docker
 * goes on trying, and a view, or a disk, can take longer. */
#define PAUSE_TRIES 5

typedef VEC(struct str) ids;

static const char *record_of(struct arena *a, const struct session *s)
{
	return arena_fmt(a, "%s/frozen", s->dir).p;
}

/* Nothing is recorded where there is no such file. */
static int read_record(struct arena *a, const struct session *s, ids *out,
		       struct err *err)
{
	struct str text, line;
	int rc = fileio_read(a, AT_FDCWD, record_of(a, s), RECORD_BYTES, &text,
			     err);

	if (rc < 0)
		return rc == -ENOENT ? 0 : rc;
	while (str_line(&text, &line))
		*vec_push(a, out) = line;
	return 0;
}

static bool has_id(const ids *list, struct str id)
{
	vec_each(one, list)
		if (str_eq(*one, id))
			return true;
	return false;
}

/* Does another session want it stopped, too? */
static bool is_held(struct arena *a, const char *state, const struct session *s,
		    struct str id)
{
	sessions all = {0};
	struct err ignored;

	if (session_list(a, state, &all, &ignored) < 0)
		return false;
	vec_each(other, &all) {
		ids theirs = {0};

		if (strcmp(other->id, s->id) != 0 &&
		    read_record(a, other, &theirs, &ignored) == 0 &&
		    has_id(&theirs, id))
			return true;
	}
	return false;
}

static int write_record(struct arena *a, const struct session *s,
			const ids *list, struct err *err)
{
	struct buf b;

	buf_init(&b, a);
	vec_each(id, list)
		buf_addf(&b, "%.*s\n", STR_ARG(*id));
	return fileio_write(AT_FDCWD, record_of(a, s), buf_str(&b), 0600, err);
}

int freeze_agent(struct arena *a, struct docker *d, const char *state,
		 const struct session *s, const struct docker_container *c,
		 struct err *err)
{
	bool paused = strcmp(c->state, "paused") == 0;
	struct str id = str_of(c->id);
	ids mine = {0};
	int rc;

	/* by a person, who will also want to say when it goes on */
	if (paused && !is_held(a, state, s, id))
		return 0;
	rc = read_record(a, s, &mine, err);
	if (rc < 0 || has_id(&mine, id))
		return rc;
	*vec_push(a, &mine) = id;
	rc = write_record(a, s, &mine, err);
	if (rc < 0 || paused)
		return rc;
	for (int i = 0; i == 0 || (i < PAUSE_TRIES && rc == -EREMOTEIO); i++)
		rc = docker_pause(d, c->id, err);
	return rc == -ENOENT || rc == -EALREADY ? 0 : rc;
}

bool freeze_has_any(struct arena *a, const struct session *s)
{
	struct err ignored;
	ids mine = {0};

	return read_record(a, s, &mine, &ignored) == 0 && mine.n > 0;
}

int freeze_check(struct arena *a, struct docker *d, const struct session *s,
		 struct err *err)
{
	docker_containers now = {0};
	ids mine = {0};
	int rc = read_record(a, s, &mine, err);

	if (rc < 0 || mine.n == 0)
		return rc;
	rc = docker_list_agents(d, &now, err);
	if (rc < 0)
		return rc;
	vec_each(c, &now)
		if (has_id(&mine, str_of(c->id)) &&
		    strcmp(c->state, "paused") != 0)
			return err_set(
				err, -EBUSY,
				"the agent of session %s went on while this one started in the same folders, and was to be stopped until then: start again",
				c->session);
	return 0;
}

static int thaw_agents(struct arena *a, struct docker *d, const char *state,
		       const struct session *s, struct err *err)
{
	ids mine = {0};
	int rc = read_record(a, s, &mine, err), first = 0;
	struct err one;

	if (rc < 0)
		return rc;
	vec_each(id, &mine) {
		if (is_held(a, state, s, *id))
			continue;
		rc = docker_unpause(d, arena_cstr(a, *id), &one);
		if (rc == 0 || rc == -ENOENT || rc == -EALREADY || first)
			continue;
		*err = one;
		first = rc;
	}
	if (first)
		return err_while(err, "letting other sessions go on");
	return unlink(record_of(a, s)) < 0 && errno != ENOENT
		       ? err_errno(err, record_of(a, s))
		       : 0;
}

int freeze_thaw(struct arena *a, struct docker *d, const char *state,
		const struct session *s, struct err *err)
{
	auto_fd int lock = -1;
	int rc;

	if (access(record_of(a, s), F_OK) < 0)
		return 0;
	rc = placeholders_lock_file(state, FREEZE_LOCK, &lock, err);
	return rc < 0 ? rc : thaw_agents(a, d, state, s, err);
}

bool freeze_rescue(struct docker *d, const char *state, const char *container)
{
	struct arena *a = arena_new();
	bool wanted = false;
	sessions all = {0};
	struct err ignored;

	if (session_list(a, state, &all, &ignored) < 0)
		all.n = 0;
	vec_each(s, &all) {
		ids theirs = {0};
		int rc;

		if (read_record(a, s, &theirs, &ignored) < 0 || theirs.n == 0)
			continue;
		rc = session_take(s, &ignored);
		wanted |= rc == SESSION_ALIVE &&
			  has_id(&theirs, str_of(container));
		/* what does not go now does in a second */
		if (rc == SESSION_DEAD &&
		    freeze_thaw(a, d, state, s, &ignored) < 0)
			wanted |= has_id(&theirs, str_of(container));
		session_release(s, false);
	}
	arena_free(a);
	return wanted;
}
