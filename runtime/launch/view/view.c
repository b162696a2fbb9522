#include "runtime/launch/view/view.h"

#include "compiler/base/json.h"
#include "compiler/base/sys/clock.h"
#include "compiler/base/sys/fileio.h"
#include "runtime/launch/session/summary.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#define HOST_CONFIG_MAX (1u << 20)

int view_start(struct view *v, struct engine *e, char *const *argv, int keep_fd,
	       struct err *err)
{
	return engine_start_piped(e, ENGINE_VIEW, argv, keep_fd, &v->pid,
				  &v->in, &v->out, &v->err, err);
}

/* --- to it ---------------------------------------------------------------- */

void view_tell(struct view *v, struct str hello)
{
	v->hello = hello;
	v->said = 0;
}

bool view_has_to_say(const struct view *v)
{
	return v->in >= 0 && v->said < v->hello.n;
}

/* As much as the pipe takes now. One that does not listen has ended. */
static void say_more(struct view *v)
{
	while (view_has_to_say(v)) {
		ssize_t n = write(v->in, v->hello.p + v->said,
				  v->hello.n - v->said);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno != EAGAIN)
			view_close_stdin(v);
		if (n <= 0)
			return;
		v->said += (size_t)n;
	}
}

void view_detach(struct view *v)
{
	struct err ignored;

	v->is_told = true;
	/* one that does not listen has ended, which the session sees */
	if (v->in >= 0 &&
	    fileio_write_all(v->in, STR(VIEW_HELLO_DETACH "\n"), &ignored) < 0)
		view_close_stdin(v);
}

/* --- from it -------------------------------------------------------------- */

static void tell_newest(const struct view *v, const cJSON *o)
{
	struct arena *a = arena_new();
	struct refusal r;

	refusals_newest(v->refusals, a, o, &r);
	v->on_refusal(v->refusal_ctx, &r);
	arena_free(a);
}

/* The view knows lines of mounts.plan alone: those of the policy come here. */
static int add_decision(struct view *v, cJSON *o, bool is_new, struct err *err)
{
	struct arena *a = arena_new();
	struct str source, text;
	uint64_t line;
	char *printed;
	int rc;

	if (refusals_place(v->refusals, o, &source, &line)) {
		json_put_str(o, "source", source);
		json_put_u64(o, "line", line);
	}
	printed = cJSON_PrintUnformatted(o);
	text = arena_fmt(a, "%s\n", printed ? printed : "");
	cJSON_free(printed);
	rc = decisions_add(v->decisions, text,
			   is_new ? DECISIONS_REFUSED_NEW : DECISIONS_REFUSED,
			   err);
	if (rc == 0 && is_new && v->on_refusal)
		tell_newest(v, o);
	cJSON_Delete(o);
	arena_free(a);
	return rc;
}

static int on_decision(struct view *v, const cJSON *o, struct err *err)
{
	bool is_new;
	int rc = refusals_add(v->refusals, o, &is_new, err);

	return rc < 0 ? rc
		      : add_decision(v, cJSON_Duplicate(o, true), is_new, err);
}

/* Of a repository elsewhere, the workspace's .git is no folder. */
static int read_host(const struct view *v, struct arena *a, struct str path,
		     struct str *out, struct err *err)
{
	static const struct str git = STR_INIT(".git/");
	int rc;

	if (!v->linked || !str_starts(path, git))
		return fileio_read_inside(a, v->root, path, HOST_CONFIG_MAX,
					  out, err);
	path = arena_fmt(a, "%.*s/%.*s", STR_ARG(v->linked->common),
			 STR_ARG(str_slice(path, git.n, path.n)));
	rc = fileio_read(a, AT_FDCWD, path.p, HOST_CONFIG_MAX, out, err);
	/* what the session had to begin with */
	if (rc == 0 && v->linked->kind == GITLINKED_MODULE &&
	    str_ends(path, STR("/config")))
		*out = arena_fmt(a, "%.*s%.*s", STR_ARG(*out),
				 STR_ARG(gitlinked_files(a, v->inside)));
	return rc;
}

/* What the host has there may not be read, or be none: then all is new. */
static int on_kept(struct view *v, const cJSON *o, struct err *err)
{
	const char *path = kept_config(o);
	struct arena *a = arena_new();
	struct str host = STR("");
	struct err ignored;
	int rc;

	if (path && read_host(v, a, str_of(path), &host, &ignored) < 0)
		host = STR("");
	rc = kept_add(v->kept, o, host, err);
	arena_free(a);
	return rc;
}

static int on_event(void *ctx, const char *name, const cJSON *o,
		    struct str line, struct err *err)
{
	struct view *v = ctx;

	(void)line; /* what is on record says more */
	if (strcmp(name, VIEW_SAYS_DECISION) == 0)
		return on_decision(v, o, err);
	if (strcmp(name, VIEW_SAYS_KEPT) == 0)
		return on_kept(v, o, err);
	if (strcmp(name, VIEW_SAYS_READY) == 0)
		v->ready = true;
	else if (strcmp(name, VIEW_SAYS_DETACHED) == 0)
		v->is_hidden = true;
	else if (strcmp(name, VIEW_SAYS_UNSEALED) == 0)
		v->is_unsealed = true;
	else
		return says_unknown(&v->says, name, err);
	return 0;
}

#define NO_VIEW "; or 'masks: start' in the policy, which needs no view"

/* What Docker says of a mount that does not pass on or of a device that is not
 * there, with the next step. */
static void on_words(void *ctx, struct str line)
{
	static const struct str device = STR_INIT(" custom device "),
				on = STR_INIT(" is mounted on "),
				end = STR_INIT(" but it is not a shared mount");
	struct view *v = ctx;
	const char *from = memmem(line.p, line.n, on.p, on.n);
	const char *to = memmem(line.p, line.n, end.p, end.n);
	struct arena *a = arena_new();

	if (from && to && from + on.n < to)
		line = arena_fmt(
			a,
			"what a container mounts does not appear below %.*s: mount --make-rshared %.*s" NO_VIEW,
			(int)(to - from - (int)on.n), from + on.n,
			(int)(to - from - (int)on.n), from + on.n);
	else if (memmem(line.p, line.n, device.p, device.n))
		line = STR("the host has no /dev/fuse: modprobe fuse" NO_VIEW);
	says_words(&v->says, line);
	arena_free(a);
}

void view_init(struct view *v, struct refusals *refusals, struct kept *kept,
	       int root, struct decisions *decisions)
{
	v->in = v->out = v->err = -1;
	v->refusals = refusals;
	v->kept = kept;
	v->root = root;
	v->decisions = decisions;
	v->says.who = "view";
	v->says.line_max = VIEW_SAYS_LINE_MAX;
	v->says.words_max = SAYS_WORDS_MAX;
	v->says.on_event = on_event;
	v->says.on_line = on_words;
	v->says.ctx = v;
}

int view_pump(struct view *v, struct err *err)
{
	say_more(v);
	return says_pump(&v->says, &v->out, &v->err, err);
}

bool view_has_failed(struct view *v)
{
	int64_t until_ms = clock_ms() + VIEW_WORDS_MS, left;
	struct err ignored;

	do {
		struct pollfd p[2];

		if (view_pump(v, &ignored) < 0 || v->says.words_done)
			return true;
		if (v->out < 0 && v->err < 0)
			return false;
		p[0] = (struct pollfd){v->out, POLLIN, 0};
		p[1] = (struct pollfd){v->err, POLLIN, 0};
		left = until_ms - clock_ms();
		if (left > 0)
			poll(p, ARRAY_LEN(p), (int)left);
	} while (left > 0);
	return false;
}

/* --- its end -------------------------------------------------------------- */

void view_close_stdin(struct view *v)
{
	fd_close(&v->in);
	v->in = -1;
}

void view_done(struct view *v)
{
	view_close_stdin(v);
	fd_close(&v->out);
	fd_close(&v->err);
	v->out = v->err = -1;
}

const char *view_last_words(const struct view *v)
{
	return says_last_words(&v->says);
}
