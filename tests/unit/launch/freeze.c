/* Other sessions' agents, stopped and let go, in a Docker of canned answers. */
#include "runtime/launch/mounts/freeze.h"

#include "compiler/base/sys/fileio.h"
#include "tests/check.h"
#include "tests/unit/docker_standin.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#define AGENT(id, session, state)                                              \
	"{\"Id\":\"" id "\",\"State\":\"" state "\",\"Labels\":{"              \
	"\"membrane.session\":\"" session "\",\"membrane.role\":\"agent\"}}"

static const struct standin_answer table[] = {
	{"GET /_ping", 200, "OK"},
	{"POST /v1.48/containers/up/pause", 204, ""},
	{"POST /v1.48/containers/up/unpause", 204, ""},
	{"POST /v1.48/containers/shared/unpause", 204, ""},
	{"POST /v1.48/containers/gone/", 404, "{\"message\":\"none\"}"},
	/* Docker does not say which of several it is: the container does */
	{"POST /v1.48/containers/was/", 409, "{\"message\":\"no\"}"},
	{"GET /v1.48/containers/was/json", 200,
	 "{\"State\":{\"Running\":true,\"Paused\":true}}"},
	{"POST /v1.48/containers/ended/", 500, "{\"message\":\"no\"}"},
	{"GET /v1.48/containers/ended/json", 200,
	 "{\"State\":{\"Running\":false}}"},
	{"POST /v1.48/containers/stuck/", 500, "{\"message\":\"no\"}"},
	{"GET /v1.48/containers/stuck/json", 200,
	 "{\"State\":{\"Running\":true}}"},
	{"POST /v1.48/containers/deaf/", 500, "{\"message\":\"no\"}"},
	{"GET /v1.48/containers/json?filters=", 200,
	 "[" AGENT("up", "0aa", "paused") "," AGENT(
		 "stuck", "0bb", "running") "," AGENT("other", "0cc",
						      "running") "]"},
};

static struct err err;
static struct arena *a;
static struct docker *d;
static const char *state;

static struct session new_session(void)
{
	struct session s = {0};

	CHECK(session_new(a, state, &s, &err) == 0);
	return s;
}

static int freeze(const struct session *s, const char *id, const char *how)
{
	struct docker_container c = {.id = id, .state = how};

	return freeze_agent(a, d, state, s, &c, &err);
}

static bool is_recorded(const struct session *s, const char *lines)
{
	struct str text = STR("");

	return fileio_read(a, AT_FDCWD, arena_fmt(a, "%s/frozen", s->dir).p,
			   4096, &text, &err) == 0
		       ? str_is(text, lines)
		       : !*lines;
}

static void check_stopping(void)
{
	struct session s = new_session(), other = new_session();

	CHECK(!freeze_has_any(a, &s) &&
	      freeze_thaw(a, d, state, &s, &err) == 0);
	CHECK(freeze_check(a, d, &s, &err) == 0);
	/* a person has paused it */
	CHECK(freeze(&s, "mine", "paused") == 0 && is_recorded(&s, ""));
	CHECK(freeze(&s, "up", "running") == 0 && is_recorded(&s, "up\n"));
	CHECK(freeze_has_any(a, &s) && freeze_check(a, d, &s, &err) == 0);
	CHECK(freeze(&s, "up", "running") == 0 && is_recorded(&s, "up\n"));
	/* one that has ended, or that somebody was quicker to stop */
	CHECK(freeze(&s, "gone", "running") == 0);
	CHECK(freeze(&s, "ended", "running") == 0);
	CHECK(freeze(&s, "was", "running") == 0);
	/* recorded before it is tried: Docker may have done it all the same */
	CHECK(freeze(&other, "stuck", "running") == -EREMOTEIO);
	CHECK(freeze(&other, "deaf", "running") == -EREMOTEIO);
	CHECK(is_recorded(&other, "stuck\ndeaf\n"));
	CHECK(freeze_check(a, d, &other, &err) == -EBUSY &&
	      strstr(err.text, "session 0bb went on"));
	/* what another session has stopped, and not a person */
	CHECK(freeze(&other, "up", "paused") == 0);
	CHECK(is_recorded(&other, "stuck\ndeaf\nup\n"));
	CHECK(freeze_thaw(a, d, state, &s, &err) == -EREMOTEIO &&
	      strstr(err.text, "letting other sessions go on"));
	CHECK(freeze_has_any(a, &s)); /* to be tried again */
	CHECK(freeze_thaw(a, d, state, &other, &err) == -EREMOTEIO);
	session_release(&s, true);
	session_release(&other, true);
	CHECK(fileio_remove_tree(AT_FDCWD, s.dir, &err) == 0 &&
	      fileio_remove_tree(AT_FDCWD, other.dir, &err) == 0);
}

/* In another process: locks of one's own do not count. */
static bool rescued_elsewhere(const char *container)
{
	int status;
	pid_t pid = fork();

	if (pid == 0)
		_exit(freeze_rescue(NULL, state, container));
	waitpid(pid, &status, 0);
	return WEXITSTATUS(status) == 1;
}

static void check_letting_go(void)
{
	struct session s = new_session(), dead = new_session();

	CHECK(freeze(&s, "up", "running") == 0);
	CHECK(freeze_thaw(a, d, state, &s, &err) == 0 &&
	      !freeze_has_any(a, &s));
	CHECK(fileio_write(AT_FDCWD, arena_fmt(a, "%s/frozen", dead.dir).p,
			   STR("shared\n"), 0600, &err) == 0);
	CHECK(rescued_elsewhere("shared") && !rescued_elsewhere("up"));
	/* its launcher is gone: nobody wants that any more */
	session_release(&dead, false);
	CHECK(freeze(&s, "shared", "paused") == 0);
	CHECK(!freeze_rescue(d, state, "up") && !freeze_has_any(a, &dead));
	CHECK(is_recorded(&s, "shared\n"));
	CHECK(freeze_thaw(a, d, state, &s, &err) == 0);
	session_release(&s, true);
}

int main(void)
{
	char dir[] = "/tmp/membrane-freeze-XXXXXX";
	struct endpoint at = {.base = "http://localhost"};
	pid_t server;

	signal(SIGPIPE, SIG_IGN);
	unsetenv("DOCKER_API_VERSION");
	a = arena_new();
	CHECK(mkdtemp(dir) != NULL);
	state = dir;
	at.socket = arena_fmt(a, "%s/sock", dir).p;
	server = standin_start(at.socket, table, ARRAY_LEN(table));
	CHECK(docker_open(a, &at, &d, &err) == 0);
	if (d) {
		check_stopping();
		check_letting_go();
	}
	docker_close(d);
	kill(server, SIGKILL);
	waitpid(server, NULL, 0);
	CHECK(fileio_remove_tree(AT_FDCWD, dir, &err) == 0);
	arena_free(a);
	return check_status();
}
