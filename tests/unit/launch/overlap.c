/*
 * Whose agent is in the way of a session that starts, and which session comes
 * first: on the disk, with a Docker of canned answers.
 */
#include "runtime/launch/mounts/overlap.h"

#include "compiler/base/sys/fileio.h"
#include "tests/check.h"
#include "tests/unit/docker_standin.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

static struct err err;
static struct arena *a;
static const char *top, *state;

/* --- a Docker that has some agents ---------------------------------------- */

struct fake {
	struct docker *d;
	pid_t server;
};

static struct fake open_fake(const char *agents)
{
	const struct standin_answer table[] = {
		{"GET /_ping", 200, "OK"},
		{"GET /v1.48/containers/json?filters=", 200, agents},
		{"POST /v1.48/containers/stuck/", 500, "{\"message\":\"no\"}"},
		{"GET /v1.48/containers/stuck/json", 200,
		 "{\"State\":{\"Running\":true}}"},
	};
	struct endpoint *at =
		arena_new_of(a, struct endpoint); /* is borrowed */
	struct fake f = {0};

	at->base = "http://localhost";
	at->socket = arena_fmt(a, "%s/sock", top).p;
	f.server = standin_start(at->socket, table, ARRAY_LEN(table));
	CHECK(docker_open(a, at, &f.d, &err) == 0);
	return f;
}

static void close_fake(struct fake *f)
{
	docker_close(f->d);
	kill(f->server, SIGKILL);
	waitpid(f->server, NULL, 0);
	CHECK(unlink(arena_fmt(a, "%s/sock", top).p) == 0);
}

/* It has this folder of the host to write. */
static const char *agent(const char *session, const char *folder)
{
	return arena_fmt(a,
			 "[{\"Id\":\"stuck\",\"State\":\"running\","
			 "\"Labels\":{\"membrane.session\":\"%s\","
			 "\"membrane.role\":\"agent\"},\"Mounts\":[{\"Type\":"
			 "\"bind\",\"RW\":true,\"Source\":\"%s/%s\","
			 "\"Destination\":\"/data\"}]}]",
			 session, top, folder)
		.p;
}

/* --- a session that starts ------------------------------------------------ */

struct start {
	struct session session;
	struct overlap o;
};

static struct start *new_start(void)
{
	struct start *s = arena_new_of(a, struct start);

	CHECK(session_new(a, state, &s->session, &err) == 0);
	s->o = (struct overlap){
		.a = a, .state = state, .session = &s->session, .reach = -1};
	return s;
}

static int begin_in(struct start *s, struct docker *d, const char *folder,
		    bool may_stop)
{
	bind_list binds = {0};

	*vec_push(a, &binds) = (struct bind){
		arena_fmt(a, "%s/%s", top, folder).p, "/workspace", false};
	/* nobody can change what nobody can reach */
	*vec_push(a, &binds) = (struct bind){
		arena_fmt(a, "%s/missing/file", top).p, "/etc/x", true};
	return overlap_begin(&s->o, d, &binds, may_stop, &err);
}

static void end_start(struct start *s, struct docker *d)
{
	CHECK(overlap_end(&s->o, d, &err) == 0 && s->o.reach < 0);
	CHECK(overlap_end(&s->o, NULL, &err) == 0);
	session_release(&s->session, true);
}

static void make_folder(const char *name)
{
	CHECK(mkdir(arena_fmt(a, "%s/%s", top, name).p, 0700) == 0);
}

/* --- what is held --------------------------------------------------------- */

static void check_record(struct docker *d)
{
	struct start *s = new_start(), *later = new_start();
	struct str text = STR(""), head;

	CHECK_MSG(begin_in(s, d, "to-ws", true) == 0, "%s", err.text);
	CHECK(fileio_read(a, AT_FDCWD,
			  arena_fmt(a, "%s/reach", s->session.dir).p, 4096,
			  &text, &err) == 0);
	CHECK(str_line(&text, &head) && str_is(head, "membrane-reach 1"));
	/* the link on the way counts, and the folder */
	CHECK_MSG(str_starts(text, STR("ro name ")) && s->o.roots.n == 2, "%s",
		  text.p);
	CHECK(strstr(text.p, "\nrw tree ") && strstr(text.p, "/ws\n"));
	/* made later: its name */
	CHECK(begin_in(later, d, "none", true) == 0 && later->o.roots.n == 1 &&
	      later->o.roots.v[0].kind == OVERLAP_NAME);
	end_start(later, d);
	end_start(s, d);
}

/* Where they could harm each other, one after the other. */
static void check_order(struct docker *d)
{
	struct start *first = new_start(), *second = new_start(),
		     *apart = new_start();

	CHECK(begin_in(first, d, "ws", true) == 0);
	CHECK(begin_in(second, d, "ws", true) == 1 && second->o.reach < 0);
	CHECK(begin_in(second, d, "ws/inner", true) == 1);
	CHECK(begin_in(apart, d, "apart", true) == 0);
	end_start(first, d);
	CHECK(begin_in(second, d, "ws/inner", true) == 0);
	end_start(second, d);
	end_start(apart, d);
}

/* A record that cannot be read is one of everything. */
static void check_unreadable(struct docker *d)
{
	struct start *other = new_start(), *s = new_start();
	static const char *const bad[] = {"", "membrane-reach 2\n",
					  "membrane-reach 1\nrw\n",
					  "membrane-reach 1\nrw tree 1 x /\n"};

	CHECK(begin_in(other, d, "apart", true) == 0);
	CHECK(begin_in(s, d, "ws", true) == 0);
	end_start(s, d);
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		s = new_start();
		CHECK(ftruncate(other->o.reach, 0) == 0 &&
		      pwrite(other->o.reach, bad[i], strlen(bad[i]), 0) ==
			      (ssize_t)strlen(bad[i]));
		CHECK_MSG(begin_in(s, d, "ws", true) == 1, "%s", bad[i]);
		session_release(&s->session, true);
	}
	end_start(other, d);
}

/* An agent of a session that this state folder does not know. */
static void check_running(void)
{
	struct fake f = open_fake(agent("0bb", "ws"));
	struct start *s = new_start();

	CHECK(begin_in(s, f.d, "ws", false) == 1);
	CHECK(begin_in(s, f.d, "apart", false) == 0);
	end_start(s, f.d);
	s = new_start();
	CHECK(begin_in(s, f.d, "ws/inner", true) == -EREMOTEIO &&
	      strstr(err.text, "session 0bb works in the same folders"));
	session_release(&s->session, true);
	close_fake(&f);
	/* moved away: it may be anywhere */
	f = open_fake(agent("0bb", "moved"));
	s = new_start();
	CHECK(begin_in(s, f.d, "apart", false) == 1);
	session_release(&s->session, true);
	close_fake(&f);
}

/* One of a session that is on record: by that, not by its mounts. */
static void check_known(void)
{
	struct start *other = new_start(), *s = new_start();
	struct fake f = open_fake("[]");

	CHECK(begin_in(other, f.d, "ws", true) == 0);
	CHECK(overlap_end(&other->o, f.d, &err) == 0); /* it runs */
	close_fake(&f);
	f = open_fake(agent(other->session.id, "apart"));
	CHECK(begin_in(s, f.d, "apart", false) == 0);
	CHECK(overlap_end(&s->o, NULL, &err) == 0);
	CHECK(begin_in(s, f.d, "ws/inner", false) == 1);
	CHECK(begin_in(other, f.d, "ws", false) == 0); /* its own */
	end_start(other, f.d);
	session_release(&s->session, true);
	close_fake(&f);
}

int main(void)
{
	char dir[] = "/tmp/membrane-overlap-XXXXXX";
	struct fake f;

	signal(SIGPIPE, SIG_IGN);
	unsetenv("DOCKER_API_VERSION");
	a = arena_new();
	CHECK(mkdtemp(dir) != NULL);
	top = dir;
	state = arena_fmt(a, "%s/state", dir).p;
	make_folder("state");
	make_folder("ws");
	make_folder("ws/inner");
	make_folder("apart");
	CHECK(symlink("ws", arena_fmt(a, "%s/to-ws", dir).p) == 0);
	f = open_fake("[]");
	check_record(f.d);
	check_order(f.d);
	check_unreadable(f.d);
	close_fake(&f);
	check_running();
	check_known();
	CHECK(fileio_remove_tree(AT_FDCWD, dir, &err) == 0);
	arena_free(a);
	return check_status();
}
