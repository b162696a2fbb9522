/* Runs of kubectl, against a script in its place: once, and going on. */
#include "runtime/launch/kubernetes/kubectl.h"

#include "compiler/base/sys/fileio.h"
#include "runtime/launch/kubernetes/objects.h"
#include "runtime/launch/kubernetes/stream.h"
#include "tests/check.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>

static char folder[64]; /* first in PATH, with what was asked beside it */
static struct err err;

static void kubectl_is(const char *script)
{
	char path[80], text[2048];

	snprintf(path, sizeof(path), "%s/kubectl", folder);
	snprintf(text, sizeof(text),
		 "#!/bin/sh\nD=%s\necho \"$@\" >>$D/asked\n%s\n", folder,
		 script);
	CHECK(fileio_write(AT_FDCWD, path, str_of(text), 0700, &err) == 0);
}

/* A file beside it, which goes; empty where there is none. */
static struct str take_file(struct arena *a, const char *name)
{
	const char *path = arena_fmt(a, "%s/%s", folder, name).p;
	struct str text = {"", 0};

	if (fileio_read(a, AT_FDCWD, path, 1 << 20, &text, &err) == 0)
		unlink(path);
	return text;
}

/* --- one that is waited for ------------------------------------------------ */

static const char *const words[] = {"get", "pods", NULL};

static void check_answer(struct arena *a)
{
	struct kubectl k = {STR("prod"), STR("agents")};
	struct kubectl_call c = {
		.words = words, .input = STR("given"), .timeout_ms = 60000};

	kubectl_is("cat >$D/input; printf 'an answer'; echo 'a warning' >&2");
	CHECK(kubectl_do(a, &k, &c, &err) == 0 && c.status == 0);
	CHECK(str_is(c.text, "an answer"));
	CHECK(str_is(c.complaint, "a warning\n"));
	CHECK(str_is(take_file(a, "asked"),
		     "--context prod --namespace agents get pods\n"));
	CHECK(str_is(take_file(a, "input"), "given"));
}

static void check_faults(struct arena *a)
{
	struct kubectl k = {0};
	struct kubectl_call c = {.words = words, .timeout_ms = 60000};

	kubectl_is("printf 'Warning: old\\nError: no rights\\n \\n' >&2; exit 3");
	CHECK(kubectl_run(a, &k, &c, &err) == 0 && c.status == 3);
	CHECK(kubectl_do(a, &k, &c, &err) == -EREMOTEIO);
	CHECK(str_is(str_of(err.text), "kubectl: Error: no rights"));
	kubectl_is("exit 4");
	CHECK(kubectl_do(a, &k, &c, &err) == -EREMOTEIO);
	CHECK(str_is(str_of(err.text), "kubectl get failed with status 4"));
	/* exec: nobody else has its pipes, so the run ends with it */
	kubectl_is("exec sleep 60");
	c.timeout_ms = 50;
	CHECK(kubectl_run(a, &k, &c, &err) == -ETIMEDOUT);
	CHECK(c.status == 128 + SIGKILL);
	take_file(a, "asked");
}

static int on_line(void *ctx, struct str line, struct err *why)
{
	struct buf *told = ctx;

	buf_addf(told, "[%.*s]", STR_ARG(line));
	return str_is(line, "end") ? err_set(why, -ECANCELED, "enough") : 0;
}

static void check_lines(struct arena *a)
{
	struct kubectl k = {0};
	struct buf told;
	struct kubectl_call c = {.words = words,
				 .timeout_ms = 60000,
				 .on_line = on_line,
				 .ctx = &told};

	buf_init(&told, a);
	kubectl_is("printf 'one\\ntwo'");
	CHECK(kubectl_run(a, &k, &c, &err) == 0 && c.text.n == 0);
	CHECK(str_is(buf_str(&told), "[one][two]"));
	kubectl_is("echo end; exec sleep 60");
	CHECK(kubectl_run(a, &k, &c, &err) == -ECANCELED);
	CHECK(str_is(str_of(err.text), "enough"));
	CHECK(c.status == 128 + SIGKILL);
	take_file(a, "asked");
}

static void check_complaint(struct arena *a)
{
	char part[1000];
	struct buf b;

	buf_init(&b, a);
	memset(part, 'a', sizeof(part));
	for (int i = 0; i < 5; i++)
		kubectl_complain(&b, (struct str){part, sizeof(part)});
	kubectl_complain(&b, STR("\n the end \n"));
	CHECK(b.n <= KUBECTL_COMPLAINT_MAX);
	CHECK(str_is(kubectl_last_line(buf_str(&b)), "the end"));
	CHECK(kubectl_last_line(STR("\n \n")).n == 0);
}

static void check_absent(struct arena *a)
{
	struct kubectl k = {0};
	struct kubectl_call c = {.words = words, .timeout_ms = 60000};
	const char *path = arena_cstr(a, str_of(getenv("PATH")));

	setenv("PATH", "/nonexistent", 1);
	CHECK(kubectl_run(a, &k, &c, &err) == -ENOENT);
	setenv("PATH", path, 1);
}

/* --- one that goes on ------------------------------------------------------ */

/* Until it is over; what the pumping said. */
static int follow(struct stream *s)
{
	int rc = 0;

	while (rc == 0 && s->out >= 0) {
		struct pollfd fds[STREAM_FDS];
		size_t n = stream_fds(s, fds);

		if (poll(fds, n, 60000) <= 0)
			return -ETIMEDOUT;
		rc = stream_pump(s, &err);
	}
	return rc;
}

static void reap(struct stream *s)
{
	pid_t pid = s->pid;
	int status;

	CHECK(!stream_is_over(s));
	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK(!stream_ended(s, pid + 1, status));
	CHECK(stream_ended(s, pid, status));
	CHECK(stream_is_over(s));
}

static void check_stream(struct arena *a)
{
	struct kubectl k = {0};
	struct buf told;
	struct stream s;

	buf_init(&told, a);
	stream_init(&s, a, on_line, &told);
	CHECK(stream_is_over(&s));
	kubectl_is("printf 'one\\ntwo\\nhalf'; echo 'it was cut' >&2; exit 1");
	CHECK(stream_start(&s, a, &k, words, &err) == 0 && !s.said);
	CHECK(follow(&s) == 0 && s.said);
	reap(&s);
	CHECK(s.status == 1);
	CHECK(str_is(stream_last_words(&s), "it was cut"));
	/* half a line is nothing, and not the beginning of another's */
	kubectl_is("echo three");
	CHECK(stream_start(&s, a, &k, words, &err) == 0);
	CHECK(!s.said && stream_last_words(&s).n == 0);
	CHECK(follow(&s) == 0);
	reap(&s);
	CHECK(str_is(buf_str(&told), "[one][two][three]") && s.status == 0);
	take_file(a, "asked");
}

static void check_stream_ends(struct arena *a)
{
	struct kubectl k = {0};
	struct buf told;
	struct stream s;
	pid_t pid;

	buf_init(&told, a);
	stream_init(&s, a, on_line, &told);
	kubectl_is("printf 'end\\nmore\\n'; exec sleep 60");
	CHECK(stream_start(&s, a, &k, words, &err) == 0);
	CHECK(follow(&s) == -ECANCELED);
	CHECK(str_is(buf_str(&told), "[end]"));
	pid = s.pid;
	CHECK(getpgid(pid) == pid);
	stream_end(&s);
	CHECK(stream_is_over(&s));
	CHECK(kill(pid, 0) < 0 && errno == ESRCH);
	stream_end(&s);
	take_file(a, "asked");
}

/* --- what a session has there ---------------------------------------------- */

static void check_place(struct arena *a)
{
	static const struct {
		const char *script;
		struct kubectl given, found;
	} rows[] = {
		{"printf 'prod\\nagents'", {{0}, {0}},
		 {STR_INIT("prod"), STR_INIT("agents")}},
		{"printf 'prod\\n'", {{0}, {0}}, {STR_INIT("prod"), {0}}},
		{"printf 'prod\\nagents'", {{0}, STR_INIT("mine")},
		 {STR_INIT("prod"), STR_INIT("mine")}},
		{"exit 0", {{0}, {0}}, {{0}, {0}}},
		/* no kubeconfig, as inside a Pod */
		{"exit 1", {{0}, STR_INIT("mine")}, {{0}, STR_INIT("mine")}},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct kubectl at = rows[i].given;

		kubectl_is(rows[i].script);
		CHECK(objects_find(a, &at, &err) == 0);
		CHECK_MSG(str_eq(at.context, rows[i].found.context) &&
				  str_eq(at.ns, rows[i].found.ns),
			  "row %zu", i);
	}
	take_file(a, "asked");
}

static void check_record(struct arena *a, struct session *s)
{
	struct objects o = {{STR("prod"), STR("agents")}, STR("agent-f00d")},
		       found;

	CHECK(objects_noted(a, s, &found, &err) == -ENOENT);
	CHECK(objects_note(a, s, &o, &err) == 0);
	CHECK(objects_noted(a, s, &found, &err) == 0);
	CHECK(str_is(found.at.context, "prod") && str_is(found.at.ns, "agents"));
	CHECK(str_is(found.name, "agent-f00d"));
}

static void check_record_refused(struct arena *a, struct session *s)
{
	static const char *const bad[] = {
		"", "{}", "[]",
		"{\"version\":2,\"context\":\"\",\"namespace\":\"\",\"name\":\"a\"}",
		"{\"version\":1,\"context\":\"\",\"namespace\":\"\"}",
		"{\"version\":1,\"context\":\"\",\"namespace\":7,\"name\":\"a\"}"};
	const char *path = arena_fmt(a, "%s/" SESSION_POD, s->dir).p;
	struct objects found;

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		CHECK(fileio_write(AT_FDCWD, path, str_of(bad[i]), 0600,
				   &err) == 0);
		CHECK_MSG(objects_noted(a, s, &found, &err) == -EPROTO, "%s",
			  bad[i]);
		CHECK(objects_reap(s, &err) == -EPROTO);
	}
	CHECK(take_file(a, "asked").n == 0);
}

#define AT "--context prod --namespace agents "

static void check_life(struct arena *a, struct session *s)
{
	struct objects o = {{STR("prod"), STR("agents")}, STR("agent-f00d")};

	kubectl_is("cat >$D/input");
	CHECK(objects_note(a, s, &o, &err) == 0);
	CHECK(objects_apply(a, &o, STR("kind: Pod\n"), &err) == 0);
	CHECK(str_is(take_file(a, "input"), "kind: Pod\n"));
	CHECK(str_is(take_file(a, "asked"),
		     AT "apply --server-side --field-manager=membrane "
			"--filename=-\n"));
	CHECK(objects_end(a, &o, 5, &err) == 0);
	CHECK(objects_end(a, &o, 0, &err) == 0);
	CHECK(str_is(take_file(a, "asked"),
		     AT "delete pod/agent-f00d --ignore-not-found "
			"--wait=false --grace-period=5\n" AT
			"delete pod/agent-f00d --ignore-not-found "
			"--wait=false --grace-period=0 --force\n"));
	CHECK(objects_reap(s, &err) == 0);
	CHECK(str_is(take_file(a, "asked"),
		     AT "delete pod/agent-f00d --ignore-not-found "
			"--wait=false --grace-period=1\n" AT
			"delete networkpolicy/agent-f00d "
			"--ignore-not-found --wait=false\n"));
	kubectl_is("echo 'Unable to connect' >&2; exit 1");
	CHECK(objects_reap(s, &err) == -EREMOTEIO);
	CHECK(str_is(str_of(err.text), "kubectl: Unable to connect"));
}

int main(void)
{
	struct arena *a = arena_new();
	struct session s = {.lock_fd = -1, .dir = folder};

	snprintf(folder, sizeof(folder), "/tmp/kubectl-XXXXXX");
	CHECK(mkdtemp(folder) != NULL);
	setenv("PATH", arena_fmt(a, "%s:%s", folder, getenv("PATH")).p, 1);
	check_answer(a);
	check_faults(a);
	check_lines(a);
	check_complaint(a);
	check_absent(a);
	check_stream(a);
	check_stream_ends(a);
	check_place(a);
	check_record(a, &s);
	check_record_refused(a, &s);
	check_life(a, &s);
	CHECK(fileio_remove_tree(AT_FDCWD, folder, &err) == 0);
	arena_free(a);
	return check_status();
}
