#include "runtime/launch/control.h"

#include "compiler/base/sys/fileio.h"
#include "compiler/base/json.h"
#include "compiler/base/sys/clock.h"
#include "compiler/base/sys/proc.h"
#include "runtime/launch/prepare.h"
#include "runtime/launch/session/local.h"
#include "runtime/launch/session/summary.h"
#include "runtime/launch/parts.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/socket.h>

static void on_generation(void *ctx, uint32_t number, bool ok,
			  const char *message);

int control_open(struct control *c, struct arena *a, const struct session *s,
		 struct gate *g, struct questions *q, const struct plan *plan,
		 struct err *err)
{
	c->a = a;
	c->session = s;
	c->gate = g;
	c->questions = q;
	c->now = plan;
	c->listen = c->client = -1;
	g->on_generation = on_generation;
	g->ctx = c;
	return local_listen(s->dir, SESSION_CONTROL, CONTROL_BACKLOG,
			    &c->listen, err);
}

static uint32_t current_generation(const struct control *c)
{
	return c->done.n + 1;
}

/* --- answers -------------------------------------------------------------- */

/* The line fits into what a socket takes at once; a client that is gone, or
 * does not read, has no need of it. */
static void answer_client(struct control *c, cJSON *o)
{
	struct str line = arena_fmt(c->a, "%s\n", json_compact(c->a, o).p);
	struct err ignored;

	if (c->client >= 0 && fileio_write_all(c->client, line, &ignored) < 0)
		c->n = 0;
	fd_close(&c->client);
	c->client = -1;
	c->n = 0;
	c->deadline = 0;
}

static void refuse_client(struct control *c, bool stale, const char *message)
{
	cJSON *o = cJSON_CreateObject();

	cJSON_AddBoolToObject(o, "ok", false);
	cJSON_AddBoolToObject(o, "stale", stale);
	cJSON_AddStringToObject(o, "message", message);
	answer_client(c, o);
}

static void forget_next(struct control *c)
{
	struct err ignored;

	if (c->staged && fileio_remove_tree(AT_FDCWD, c->staged, &ignored) < 0)
		c->staged = NULL; /* it goes with the session's folder */
	if (c->next_a)
		arena_free(c->next_a);
	c->next_a = NULL;
	c->staged = NULL;
	c->busy = false;
	c->deadline = 0;
}

/* --- what a plan may change ----------------------------------------------- */

static bool may_change(struct str name, bool native)
{
	static const char *const names[] = CONTROL_MAY_CHANGE;

	if (str_is(name, native ? PLAN_DOCKER : PLAN_NATIVE))
		return true;
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (str_is(name, names[i]))
			return true;
	return false;
}

const char *control_forbidden(struct arena *a, const struct plan *old,
			      const struct plan *now, bool native)
{
	struct plan_delta *all;
	uint32_t n = plan_compare(a, old, now, &all);

	for (uint32_t i = 0; i < n; i++)
		if (!may_change(all[i].name, native))
			return arena_cstr(a, all[i].name);
	return NULL;
}

/* --- the folder that the gate has mounted --------------------------------- */

/*
 * The folder stays the same one: the gate's mount is of it. Nothing reads it
 * meanwhile, but who is told to.
 */
static int put_plan(struct control *c, const struct plan *old,
		    const struct plan *now, struct err *err)
{
	const char *dir = arena_fmt(c->a, "%s/plan", c->session->dir).p;
	auto_fd int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int rc = fd < 0 ? err_set(err, -errno, "%s: %s", dir, strerror(errno))
			: 0;

	vec_each(f, &now->files)
		if (rc == 0)
			rc = fileio_write(fd, arena_cstr(c->a, f->name),
					  f->data, 0644, err);
	vec_each(f, &old->files) {
		const char *name = arena_cstr(c->a, f->name);

		if (rc == 0 && !plan_file(now, name) &&
		    unlinkat(fd, name, 0) < 0 && errno != ENOENT)
			rc = err_set(err, -errno, "%s: %s", name,
				     strerror(errno));
	}
	if (rc == 0)
		rc = fileio_write(fd, "manifest.json", plan_manifest(c->a, now),
				  0644, err);
	return rc < 0 ? rc : prepare_readable(c->a, dir, now, err);
}

/* The first is kept when there is to be a second. */
static int keep_first(struct control *c, struct err *err)
{
	if (c->done.n)
		return 0;
	return plan_write(arena_fmt(c->a, "%s/plan.1", c->session->dir).p,
			  c->now, err);
}

/* --- a request ------------------------------------------------------------ */

/* "next-4711": a folder beside the socket, and nothing else. */
static const char *staged_folder(struct control *c, const cJSON *o)
{
	const cJSON *m = cJSON_GetObjectItemCaseSensitive(o, "staged");
	struct str name = str_of(cJSON_IsString(m) ? m->valuestring : "");
	struct str head = STR(CONTROL_STAGED);
	uint64_t number;

	if (!str_starts(name, head) ||
	    !str_u64(str_slice(name, head.n, name.n), INT32_MAX, &number))
		return NULL;
	return arena_fmt(c->a, "%s/%.*s", c->session->dir, STR_ARG(name)).p;
}

/* The record, as far as it is known before the gate has answered. */
static int read_change(struct control *c, cJSON *o, struct err *err)
{
	/* Who it is the kernel says, and not the request. */
	who_add(c->a, o);
	cJSON_AddNumberToObject(o, "generation", current_generation(c) + 1);
	cJSON_AddNumberToObject(o, "ms", 0);
	return change_log_parse(c->a, o, &c->change, err);
}

static int check_request(struct control *c, const cJSON *o, struct err *err)
{
	const cJSON *v = cJSON_GetObjectItemCaseSensitive(o, "version");
	const cJSON *base = cJSON_GetObjectItemCaseSensitive(o, "base");

	if (!cJSON_IsNumber(v) || v->valuedouble != CONTROL_VERSION ||
	    !cJSON_IsNumber(base) || !c->staged ||
	    cJSON_HasObjectItem(o, "who") || cJSON_HasObjectItem(o, "time") ||
	    cJSON_HasObjectItem(o, "generation") ||
	    cJSON_HasObjectItem(o, "ms"))
		return err_set(err, -EPROTO,
			       "no request that this launcher understands");
	if (base->valuedouble != current_generation(c))
		return err_set(err, -ESTALE,
			       "the session was changed meanwhile");
	if (c->done.n >= CHANGE_LOG_MAX)
		return err_set(err, -ENOSPC,
			       "this session was changed %u times: no more",
			       c->done.n);
	return 0;
}

/* The staged plan, whole and sealed, which changes what may be changed. */
static int read_next(struct control *c, struct err *err)
{
	const char *what;
	int rc;

	c->next_a = arena_new();
	c->next = (struct plan){0};
	rc = plan_read(c->next_a, c->staged, &c->next, err);
	if (rc < 0)
		return err_while(err, "the new plan");
	what = control_forbidden(c->next_a, c->now, &c->next,
				 session_is_native(c->session));
	if (what)
		return err_set(
			err, -EPERM,
			"the new plan has another %s: only what the gate enforces may change",
			what);
	return 0;
}

static int begin_change(struct control *c, cJSON *o, struct err *err)
{
	struct err why;
	int rc;

	c->staged = staged_folder(c, o);
	rc = check_request(c, o, err);
	if (rc == 0)
		rc = read_change(c, o, err);
	if (rc == 0)
		rc = read_next(c, err);
	if (rc == 0)
		rc = keep_first(c, err);
	if (rc < 0)
		return rc;
	c->busy = true;
	c->began = clock_ms();
	c->deadline = c->began + CONTROL_GATE_MS;
	rc = put_plan(c, c->now, &c->next, err);
	if (rc == 0)
		rc = gate_change(c->gate, current_generation(c) + 1,
				 c->change.cut, err);
	/* Best effort: what is in force is in the gate already. */
	if (rc < 0 && put_plan(c, &c->next, c->now, &why) < 0)
		err_while(err, "%s, after", why.text);
	return rc;
}

/* An answer to a question, and who asks for nothing else has it at once. */
static int take_answer(struct control *c, const cJSON *o, struct err *err)
{
	const cJSON *v = cJSON_GetObjectItemCaseSensitive(o, "version");
	const cJSON *word = cJSON_GetObjectItemCaseSensitive(o, "answer");
	enum questions_answer answer;
	cJSON *said;
	int rc;

	if (!cJSON_IsNumber(v) || v->valuedouble != CONTROL_VERSION ||
	    !cJSON_IsString(word) || cJSON_GetArraySize(o) != 3 ||
	    !questions_answer_parse(word->valuestring, &answer))
		return err_set(err, -EPROTO,
			       "no answer that this launcher understands");
	rc = questions_answer(c->questions,
			      (uint32_t)json_find_u64(o, "question",
						      UINT32_MAX),
			      answer, err);
	if (rc < 0)
		return rc;
	said = cJSON_CreateObject();
	cJSON_AddBoolToObject(said, "ok", true);
	answer_client(c, said);
	return 0;
}

static void take_request(struct control *c)
{
	const char *end = NULL;
	cJSON *o = cJSON_ParseWithLengthOpts(c->line, c->n, &end, false);
	struct err err = {0};
	int rc;

	if (cJSON_IsObject(o) && end == c->line + c->n - 1)
		rc = cJSON_HasObjectItem(o, "question")
			     ? take_answer(c, o, &err)
			     : begin_change(c, o, &err);
	else
		rc = err_set(&err, -EPROTO, "the request is no line of JSON");
	cJSON_Delete(o);
	if (rc == 0)
		return;
	forget_next(c);
	refuse_client(c, rc == -ESTALE, err.text);
}

/* --- the gate's answer ---------------------------------------------------- */

static int record_change(struct control *c, struct err *err)
{
	const char *path =
		arena_fmt(c->a, "%s/" CHANGE_LOG_FILE, c->session->dir).p;
	struct str line =
		arena_fmt(c->a, "%s\n",
			  json_compact(c->a, change_log_json(&c->change)).p);
	auto_fd int fd =
		fileio_create(AT_FDCWD, path, O_WRONLY | O_APPEND, 0600);
	int rc = fd < 0 ? err_set(err, -errno, "%s: %s", path, strerror(errno))
			: fileio_write_all(fd, line, err);

	if (rc == 0)
		rc = gate_note(c->gate, line, err);
	return rc;
}

/* It is in force: from here on it is what the session runs. */
static void on_applied(struct control *c)
{
	const char *kept = arena_fmt(c->a, "%s/plan.%u", c->session->dir,
				     c->change.generation)
				   .p;
	cJSON *o = cJSON_CreateObject();
	struct plan *now = arena_new_of(c->a, struct plan);
	struct err err;

	c->change.ms = (double)(clock_ms() - c->began);
	*vec_push(c->a, &c->done) = c->change;
	if (rename(c->staged, kept) == 0)
		c->staged = NULL;
	if (record_change(c, &err) < 0)
		c->gate->decisions.unwritten++;
	*now = c->next;
	c->now = now;
	if (c->now_a)
		arena_free(c->now_a);
	c->now_a = c->next_a;
	c->next_a = NULL;
	forget_next(c);
	cJSON_AddBoolToObject(o, "ok", true);
	cJSON_AddNumberToObject(o, "generation", c->change.generation);
	cJSON_AddNumberToObject(o, "ms", c->change.ms);
	answer_client(c, o);
}

static void on_generation(void *ctx, uint32_t number, bool ok,
			  const char *message)
{
	struct control *c = ctx;
	struct err err;

	if (!c->busy || number != c->change.generation)
		return;
	if (ok) {
		on_applied(c);
		return;
	}
	err_set(&err, -ECANCELED,
		"the gate refuses it, and nothing has changed: %.300s",
		message);
	if (put_plan(c, &c->next, c->now, &(struct err){0}) < 0)
		err_while(&err, "the session's plan folder is not whole");
	forget_next(c);
	refuse_client(c, false, err.text);
}

/* --- the loop's side ------------------------------------------------------ */

size_t control_fds(const struct control *c, struct pollfd *out)
{
	size_t n = 0;

	if (c->client < 0)
		out[n++] = (struct pollfd){.fd = c->listen, .events = POLLIN};
	else if (!c->busy)
		out[n++] = (struct pollfd){.fd = c->client, .events = POLLIN};
	return n;
}

int64_t control_deadline(const struct control *c)
{
	return c->deadline;
}

static void let_in(struct control *c)
{
	int fd = c->listen < 0 ? -1 : accept(c->listen, NULL, NULL);
	struct stat st;
	struct err err;
	uid_t uid;

	if (fd < 0)
		return;
	c->client = fd;
	c->n = 0;
	c->deadline = clock_ms() + CONTROL_REQUEST_MS;
	if (fcntl(fd, F_SETFD, FD_CLOEXEC) < 0 || proc_nonblock(fd, &err) < 0 ||
	    local_peer(fd, &uid, &err) < 0)
		refuse_client(c, false, "nobody can be told who asks");
	else if (uid != geteuid() &&
		 (stat(c->session->dir, &st) < 0 || uid != st.st_uid))
		refuse_client(c, false, "this is the session of another user");
}

static void hear_client(struct control *c)
{
	ssize_t got;

	if (c->n == sizeof(c->line)) {
		refuse_client(c, false, "the request is too long");
		return;
	}
	got = read(c->client, c->line + c->n, sizeof(c->line) - c->n);
	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (got <= 0) {
		fd_close(&c->client);
		c->client = -1;
		c->deadline = 0;
		return;
	}
	c->n += (size_t)got;
	if (c->line[c->n - 1] == '\n')
		take_request(c);
}

int control_pump(struct control *c, struct err *err)
{
	if (c->deadline && clock_ms() >= c->deadline) {
		if (c->busy)
			return err_set(
				err, -ETIMEDOUT,
				"the gate did not say what became of a change of its policy");
		refuse_client(c, false, "nothing was asked for in time");
	}
	if (c->client < 0)
		let_in(c);
	if (c->client >= 0 && !c->busy)
		hear_client(c);
	return 0;
}

void control_close(struct control *c)
{
	if (c->listen >= 0)
		unlink(arena_fmt(c->a, "%s/" SESSION_CONTROL, c->session->dir)
			       .p);
	fd_close(&c->listen);
	c->listen = -1;
	if (c->client >= 0)
		refuse_client(c, false, "the session ends");
	if (c->busy)
		forget_next(c);
}

/* --- afterwards ----------------------------------------------------------- */

void control_words(const struct control *c, struct buf *out)
{
	if (c->done.n == 0)
		return;
	buf_addf(out, "membrane: this session's policy was changed%s:\n",
		 c->done.n > 1 ? arena_fmt(c->a, " %u times", c->done.n).p
			       : "");
	vec_each(x, &c->done) {
		buf_addf(out, "  %.8s  %s  (", x->time + 11,
			 change_log_text(c->a, x).p);
		summary_escape(out, str_of(x->name), 64);
		buf_adds(out, x->saved ? ", saved)\n" : ")\n");
	}
}

cJSON *control_json(const struct control *c)
{
	cJSON *list = cJSON_CreateArray();

	vec_each(x, &c->done)
		cJSON_AddItemToArray(list, change_log_json(x));
	return list;
}
