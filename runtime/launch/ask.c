#include "runtime/launch/ask.h"

#include "compiler/base/sys/fileio.h"
#include "compiler/base/json.h"
#include "compiler/base/sys/clock.h"
#include "runtime/launch/control.h"
#include "runtime/launch/session/local.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>

/* Only what the launcher does not know by itself. */
static struct str request_line(struct arena *a, uint32_t base,
			       const char *staged,
			       const struct change_log *what)
{
	static const char *const theirs[] = {"event", "time",	    "kind",
					     "who",   "generation", "ms"};
	struct change_log full = *what;
	cJSON *o;

	full.time = full.name = "";
	o = change_log_json(&full);
	for (size_t i = 0; i < ARRAY_LEN(theirs); i++)
		cJSON_DeleteItemFromObjectCaseSensitive(o, theirs[i]);
	cJSON_AddNumberToObject(o, "version", CONTROL_VERSION);
	cJSON_AddNumberToObject(o, "base", base);
	cJSON_AddStringToObject(o, "staged", staged);
	return arena_fmt(a, "%s\n", json_compact(a, o).p);
}

static int read_line(int fd, char line[4096], size_t *out_n, struct err *err)
{
	int64_t deadline = clock_ms() + ASK_WAIT_MS;
	size_t n = 0;

	while (n == 0 || line[n - 1] != '\n') {
		struct pollfd p = {.fd = fd, .events = POLLIN};
		int64_t left = deadline - clock_ms();
		ssize_t got;

		if (left <= 0 || poll(&p, 1, (int)left) == 0)
			return err_set(
				err, -ETIMEDOUT,
				"the session does not say what became of it: 'membrane ps' tells");
		got = read(fd, line + n, 4096 - n);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0 || n + (size_t)got == 4096)
			return err_set(err, -EPIPE,
				       "the session ended before it answered");
		n += (size_t)got;
	}
	*out_n = n - 1;
	return 0;
}

static int hear_answer(struct arena *a, int fd, struct ask_answer *out,
		       struct err *err)
{
	char line[4096];
	size_t n = 0;
	int rc = read_line(fd, line, &n, err);
	const cJSON *message, *ms;
	cJSON *o;

	if (rc < 0)
		return rc;
	o = cJSON_ParseWithLength(line, n);
	/* A change says how long it took; to a person's answer there is
	 * none. */
	ms = cJSON_GetObjectItemCaseSensitive(o, "ms");
	message = cJSON_GetObjectItemCaseSensitive(o, "message");
	*out = (struct ask_answer){
		.ok = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(o, "ok")),
		.stale = cJSON_IsTrue(
			cJSON_GetObjectItemCaseSensitive(o, "stale")),
		.generation = (uint32_t)json_find_u64(o, "generation",
						      UINT32_MAX),
		.ms = cJSON_IsNumber(ms) ? ms->valuedouble : 0,
		.message = arena_cstr(a, str_of(cJSON_IsString(message)
							? message->valuestring
							: "no reason")),
	};
	cJSON_Delete(o);
	return 0;
}

int ask_tell(struct arena *a, const struct session *s, uint32_t question,
	     enum questions_answer answer, struct ask_answer *out,
	     struct err *err)
{
	struct str line = arena_fmt(
		a, "{\"version\":%d,\"question\":%u,\"answer\":\"%s\"}\n",
		CONTROL_VERSION, question, questions_answer_word(answer));
	auto_fd int fd = -1;
	int rc = local_connect(s->dir, SESSION_CONTROL, &fd, err);

	signal(SIGPIPE, SIG_IGN);
	if (rc == 0)
		rc = fileio_write_all(fd, line, err);
	return rc == 0 || rc == -EPIPE ? hear_answer(a, fd, out, err) : rc;
}

int ask_change(struct arena *a, const struct session *s, uint32_t base,
	       const struct plan *plan, const struct change_log *what,
	       struct ask_answer *out, struct err *err)
{
	const char *staged =
		arena_fmt(a, CONTROL_STAGED "%ld", (long)getpid()).p;
	const char *dir = arena_fmt(a, "%s/%s", s->dir, staged).p;
	struct err ignored;
	auto_fd int fd = -1;
	int rc = local_connect(s->dir, SESSION_CONTROL, &fd, err);

	signal(SIGPIPE, SIG_IGN);
	if (rc == 0)
		rc = plan_write(dir, plan, err);
	if (rc == 0)
		rc = fileio_write_all(fd, request_line(a, base, staged, what),
				      err);
	/* Who is turned away at the door has an answer waiting all the same. */
	if (rc == 0 || rc == -EPIPE)
		rc = hear_answer(a, fd, out, err);
	/* Whoever took it has renamed or removed it. */
	if (fileio_remove_tree(AT_FDCWD, dir, &ignored) < 0)
		return rc; /* it goes with the session's folder */
	return rc;
}
