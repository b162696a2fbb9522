#include "runtime/launch/mounts/mounts.h"

#include "compiler/base/sys/clock.h"
#include "compiler/base/sys/moves.h"
#include "compiler/plan/view_hello.h"
#include "runtime/launch/mounts/freeze.h"
#include "runtime/launch/workspace/wspath.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

/* Looks at a workspace whose files are moved meanwhile, before that is said. */
#define LOOKS_MAX 8

/* Made by us, and under a name that no other session has. */
#define OWN_MOUNT "/etc/resolv.conf"

void mounts_init(struct mounts *m, struct arena *a, const char *state,
		 const struct session *s, bool quiet)
{
	*m = (struct mounts){
		.a = a,
		.state = state,
		.session = s,
		.root = -1,
		.moves = -1,
		.view = -1,
		.home_view = -1,
		.quiet = quiet,
		.overlap = {.a = a, .state = state, .session = s, .reach = -1},
	};
}

int mounts_open(struct mounts *m, const char *workspace, struct err *err)
{
	m->workspace = workspace;
	if (place_open(workspace, O_RDONLY | O_DIRECTORY, &m->root, err) < 0)
		return err_while(err, "the workspace");
	return 0;
}

/* --- looking ---------------------------------------------------------------
 */

/* Does the view show it at that place? */
static bool is_repository(const struct mounts *m, const struct bind *b)
{
	return m->view >= 0 && m->linked &&
	       str_is(gitlinked_shown(m->linked), b->target);
}

/* The workspace; at its own path, once more. */
static bool is_workspace(const struct mounts *m, const struct bind *b)
{
	return str_is(m->target, b->target) ||
	       (m->own && strcmp(m->own, b->target) == 0);
}

/* What is mounted besides masks: as `docker run` will be told. */
static int find_binds(struct mounts *m, const struct vector *v,
		      const struct vectors_values *all, struct err *err)
{
	static char *const no_command[] = {NULL};
	struct vectors_values values = *all;
	char **argv;
	int rc;

	values.masks = NULL;
	values.n_masks = 0;
	values.command = no_command;
	m->binds.n = 0;
	rc = vectors_expand(m->a, v, &values, &argv, err);
	if (rc < 0)
		return rc;
	binds_read(m->a, argv, &m->binds);
	/* what the agent can write through a view is the workspace, or home */
	vec_each(b, &m->binds) {
		if (m->view >= 0 && is_workspace(m, b))
			b->source = m->workspace;
		else if (is_repository(m, b))
			b->source = arena_cstr(m->a, m->linked->common);
		if (m->home_view >= 0 && strcmp(b->target, m->home_at) == 0)
			b->source = m->home;
	}
	return 0;
}

/* Is the workspace still at its path, now that nobody can move it? */
static int check_workspace(const struct mounts *m, struct err *err)
{
	struct place_id held = {0, 0}, now = {0, 0};
	auto_fd int fd = -1;
	int rc = place_open(m->workspace, O_PATH | O_DIRECTORY, &fd, err);

	if (rc == 0)
		rc = place_id(fd, &now, err);
	if (rc == 0)
		rc = place_id(m->root, &held, err);
	if (rc == 0 && place_same(&now, &held))
		return 0;
	return err_set(
		err, -ESTALE,
		"the workspace %s was replaced while the session started",
		m->workspace);
}

void mounts_say(const struct mounts *m, const looked_notes *notes,
		bool readonly)
{
	if (m->quiet)
		return;
	if (readonly)
		fputs("membrane: you cannot write to the workspace's folder, so all of it is read-only for the command\n",
		      stderr);
	vec_each(note, notes)
		fprintf(stderr, "membrane: %.*s\n", STR_ARG(*note));
}

static int find_masks(struct mounts *m, struct str plan, bool readonly,
		      struct err *err)
{
	struct masks_opts o = {.state = m->state,
			       .session = m->session->id,
			       .workspace = m->workspace,
			       .root = m->root,
			       .plan = plan,
			       .readonly = readonly,
			       .moves = m->moves >= 0 ? &m->moves : NULL};

	return masks_prepare(m->a, &o, &m->masks, err);
}

static void take_masks(struct mounts *m, struct vectors_values *values)
{
	values->masks = m->masks.words.v;
	values->n_masks = m->masks.words.n;
}

static void hold_masks(struct mounts *m, struct str target)
{
	vec_each(one, &m->masks.list)
		*vec_push(m->a, &m->meant) = (struct expected_mount){
			.target = arena_fmt(m->a, "%.*s/%.*s", STR_ARG(target),
					    STR_ARG(one->path)),
			.fd = one->fd,
			.below = true,
		};
}

/* Other worktrees' agents write there, and Docker follows links. */
static bool is_of_repository(const struct mounts *m, const struct bind *b)
{
	struct str source = str_of(b->source);

	return m->linked && (str_eq(source, m->linked->common) ||
			     wspath_below(source, m->linked->common));
}

/* As open(2) says it. */
static int open_unlinked(const char *path)
{
	struct err err;
	int fd = -1, rc = place_open(path, O_PATH, &fd, &err);

	if (rc == 0)
		return fd;
	errno = -rc;
	return -1;
}

static int open_bind(const struct mounts *m, const struct bind *b)
{
	if (is_workspace(m, b))
		return fcntl(m->view >= 0 ? m->view : m->root, F_DUPFD_CLOEXEC,
			     0);
	if (m->home_view >= 0 && strcmp(b->target, m->home_at) == 0)
		return fcntl(m->home_view, F_DUPFD_CLOEXEC, 0);
	if (is_repository(m, b))
		return openat(m->view,
			      m->linked->kind == GITLINKED_PART
				      ? VIEW_HELLO_BESIDE
				      : VIEW_HELLO_BESIDE "/.git",
			      O_PATH | O_CLOEXEC);
	if (is_of_repository(m, b))
		return open_unlinked(b->source);
	return open(b->source, O_PATH | O_CLOEXEC);
}

/* Open from here until the container has started. */
static int hold_mounts(struct mounts *m, struct err *err)
{
	vec_each(b, &m->binds) {
		struct str target = str_of(b->target);
		int fd = open_bind(m, b);

		/* Docker's to refuse, or to make; or out of our reach */
		if (fd < 0 && (errno == ENOENT || errno == EACCES))
			continue;
		if (fd < 0)
			return err_errno(err, b->source);
		*vec_push(m->a, &m->meant) =
			(struct expected_mount){.target = target, .fd = fd};
		if (str_eq(target, m->target))
			hold_masks(m, target);
	}
	return 0;
}

void mounts_made(struct mounts *m)
{
	fd_close(&m->moves);
	m->moves = -1;
}

static void let_go(struct mounts *m)
{
	vec_each(one, &m->meant)
		if (!one->below)
			fd_close(&one->fd);
	m->meant.n = 0;
	masks_close(&m->masks);
	mounts_made(m);
	fd_close(&m->view);
	fd_close(&m->home_view);
	m->view = m->home_view = -1;
}

/* Of the plan, and of the agent's words. */
static int read_places(struct mounts *m, const struct vector *v,
		       const struct vectors_values *values, struct str plan,
		       struct err *err)
{
	struct mountsplan read;
	int rc = mountsplan_read(m->a, plan, &read, err);

	if (rc < 0)
		return rc;
	m->target = read.target;
	return find_binds(m, v, values, err);
}

int mounts_prepare(struct mounts *m, struct docker *d, const struct vector *v,
		   struct vectors_values *values, struct str plan,
		   bool may_stop, char ***out_argv, struct err *err)
{
	int rc = read_places(m, v, values, plan, err);

	m->overlap.views = m->view >= 0;
	if (rc == 0)
		rc = overlap_begin(&m->overlap, d, &m->binds, may_stop, err);
	if (rc != 0)
		return rc;
	m->alone_at = clock_ms();
	rc = check_workspace(m, err);
	if (rc == 0 && m->view < 0) {
		rc = find_masks(m, plan, values->readonly, err);
		if (rc == 0)
			mounts_say(m, &m->masks.notes, values->readonly);
	}
	if (rc == 0)
		rc = hold_mounts(m, err);
	if (rc < 0)
		return rc;
	take_masks(m, values);
	return vectors_expand(m->a, v, values, out_argv, err);
}

/* One look, from its first folder on with an ear for what is moved. */
static int look_once(struct mounts *m, struct str plan, bool readonly,
		     struct err *err)
{
	int rc = moves_open(&m->moves, err);

	if (rc == 0)
		rc = check_workspace(m, err);
	return rc == 0 ? find_masks(m, plan, readonly, err) : rc;
}

/* What that look left, before another one. */
static int forget_look(struct mounts *m, struct err *err)
{
	masks_close(&m->masks);
	mounts_made(m);
	return masks_release(m->state, m->session->id, err);
}

static int look_settled(struct mounts *m, struct str plan, bool readonly,
			struct err *err)
{
	int rc = 0;

	for (unsigned i = 0; rc == 0 && i < LOOKS_MAX; i++) {
		rc = look_once(m, plan, readonly, err);
		if (rc == 0 && !moves_any(m->moves))
			return 0;
		if (rc == 0)
			rc = forget_look(m, err);
	}
	return rc < 0 ? rc
		      : err_set(
				err, -EAGAIN,
				"files of the workspace are moved all the time, so that what was found to be masked may be elsewhere by now: end the session that does it ('membrane ps'), or start this one later");
}

int mounts_note(struct mounts *m, const struct vector *v,
		struct vectors_values *values, struct str plan,
		struct err *err)
{
	int rc = read_places(m, v, values, plan, err);

	if (rc == 0)
		rc = overlap_note(&m->overlap, &m->binds, err);
	if (rc != 0 || m->view >= 0)
		return rc;
	rc = look_settled(m, plan, values->readonly, err);
	if (rc < 0)
		return rc;
	mounts_say(m, &m->masks.notes, values->readonly);
	take_masks(m, values);
	return 0;
}

/* --- comparing -------------------------------------------------------------
 */

/* A process of that number may be another machine's. */
static bool is_ours(const struct mounts *m, const mountinfo_list *have)
{
	vec_each(one, &m->meant)
		if (!one->below && str_is(one->target, OWN_MOUNT))
			return expected_is_in(one, have);
	return false;
}

static int compare_mounts(struct mounts *m, struct docker *d,
			  const char *container, const char *runtime,
			  struct err *err)
{
	mountinfo_list have = {0};
	struct err ignored;
	int64_t pid = 0;
	int rc = docker_pid(d, container, &pid, err);

	if (rc < 0 || pid == 0)
		return rc;
	/* one that is just ending has none any more */
	if (place_mounts(m->a, arena_fmt(m->a, "%lld", (long long)pid).p, &have,
			 &ignored) < 0)
		return 0;
	if (strcmp(runtime, "kata") != 0 &&
	    expected_locate(m->a, &m->meant, &ignored) == 0 &&
	    is_ours(m, &have))
		return expected_compare(m->a, &m->meant, &have, err);
	if (!m->quiet)
		fprintf(stderr,
			"membrane: the container's mounts cannot be compared with what was looked at: its processes are not to be seen from here\n");
	return 0;
}

int mounts_check(struct mounts *m, struct docker *d, const char *container,
		 const char *runtime, struct err *err)
{
	int rc = compare_mounts(m, d, container, runtime, err);

	let_go(m);
	if (rc == 0)
		rc = freeze_check(m->a, d, m->session, err);
	return rc == 0 ? overlap_end(&m->overlap, d, err) : rc;
}

int mounts_end(struct mounts *m, struct docker *d, struct err *err)
{
	let_go(m);
	fd_close(&m->root);
	m->root = -1;
	return overlap_end(&m->overlap, d, err);
}
