#include "runtime/launch/tell/hook.h"

#include "compiler/base/buf.h"
#include "compiler/base/sys/clock.h"
#include "compiler/base/sys/proc.h"
#include "compiler/base/xml.h"
#include "runtime/launch/tell/webhook.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define LATE_MS 2000 /* what was told to end, and does not */

void hook_init(struct hook *h, struct arena *a, enum hook_kind kind)
{
	memset(h, 0, sizeof(*h));
	h->in = h->out = -1;
	h->kind = kind;
	if (kind == HOOK_NONE)
		return;
	h->queue = arena_alloc(a, HOOK_QUEUE * sizeof(*h->queue));
	h->event = arena_alloc(a, sizeof(*h->event));
}

bool hook_has_room(struct hook *h)
{
	if (h->n < HOOK_QUEUE)
		return true;
	h->dropped++;
	return false;
}

void hook_add(struct hook *h, struct str text)
{
	if (text.n > HOOK_TEXT) {
		h->dropped++;
		return;
	}
	memcpy(h->queue[h->n].p, text.p, text.n);
	h->queue[h->n++].n = text.n;
	h->dropped = 0;
}

/* --- the process ---------------------------------------------------------- */

/* A desktop's programs find it by these, and a script its tools. */
static char **minimal_environment(struct arena *a, const struct hook *h)
{
	static const char *const names[] = {"PATH",
					    "HOME",
					    "USER",
					    "LOGNAME",
					    "LANG",
					    "TZ",
					    "DISPLAY",
					    "XAUTHORITY",
					    "WAYLAND_DISPLAY",
					    "XDG_RUNTIME_DIR",
					    "DBUS_SESSION_BUS_ADDRESS"};
	char **env = arena_alloc(a, (ARRAY_LEN(names) + 2) * sizeof(*env));
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		const char *value = getenv(names[i]);

		if (value)
			env[n++] = arena_cstr(
				a, arena_fmt(a, "%s=%s", names[i], value));
	}
	env[n++] =
		arena_cstr(a, arena_fmt(a, "MEMBRANE_SESSION=%s", h->session));
	env[n] = NULL;
	return env;
}

/* What it would begin with is no place that an agent writes to. */
static int run_program(void *ctx, char *const *argv)
{
	const struct hook *h = ctx;
	struct arena *a = arena_new();

	proc_close_others(-1, -1);
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || chdir("/") < 0)
		return 126;
	execve(argv[0], argv, minimal_environment(a, h));
	return errno == ENOENT ? 127 : 126;
}

static int start_program(struct hook *h, char *const *argv, struct err *err)
{
	auto_fd int null = open("/dev/null", O_RDWR | O_CLOEXEC), in = -1;
	struct proc_opts o = {.argv = argv,
			      .group = PROC_SESSION,
			      .in = null,
			      .out = null,
			      .err = null,
			      .keep = -1,
			      .run = run_program,
			      .ctx = h};
	int rc = null < 0 ? err_errno(err, "/dev/null") : 0;

	if (rc == 0 && h->kind == HOOK_COMMAND) {
		rc = proc_pipe(&in, &h->in, err);
		if (rc == 0)
			rc = proc_nonblock(h->in, err);
		o.in = in;
	}
	return rc < 0 ? rc : proc_spawn(&o, &h->pid, err);
}

/* Two words of the event: the second may be read as markup, and holds none. */
static int start_desktop(struct hook *h, struct err *err)
{
	struct arena *a = arena_new();
	struct str body = {h->event->p, h->event->n}, title;
	char *argv[] = {h->argv[0], h->argv[1], h->argv[2], NULL, NULL, NULL};
	struct buf b;
	int rc;

	str_line(&body, &title);
	buf_init(&b, a);
	xml_escape(&b, body);
	argv[3] = arena_cstr(a, title);
	argv[4] = b.p;
	rc = start_program(h, argv, err);
	arena_free(a);
	return rc;
}

/* It speaks TLS and waits: not with what the session holds. */
static void become_caller(const struct hook *h, uint32_t n, int out,
			  pid_t parent)
{
	struct webhook_call call = {
		.url = h->url, .key = h->key, .session = h->session, .n = n};
	struct arena *a = arena_new();
	struct err err;

	for (uint32_t i = 0; i < n; i++)
		call.events[i] = (struct str){h->queue[i].p, h->queue[i].n};
	proc_close_others(out, -1);
	proc_leave_terminal();
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != parent)
		_exit(1);
	if (webhook_post(a, &call, &err) == 0)
		_exit(0);
	if (write(out, err.text, strlen(err.text)) < 0)
		_exit(2);
	_exit(1);
}

static int start_caller(struct hook *h, uint32_t *out_n, struct err *err)
{
	uint32_t n = h->n < WEBHOOK_BATCH ? h->n : WEBHOOK_BATCH;
	pid_t parent = getpid();
	int out = -1, rc = proc_pipe(&h->out, &out, err);

	if (rc == 0)
		rc = proc_nonblock(h->out, err);
	if (rc < 0)
		return rc;
	fflush(stderr);
	h->pid = fork();
	if (h->pid == 0)
		become_caller(h, n, out, parent);
	fd_close(&out);
	*out_n = n;
	if (h->pid > 0)
		return 0;
	h->pid = 0;
	return err_errno(err, "fork");
}

static void forget_first(struct hook *h, uint32_t n)
{
	h->n -= n;
	memmove(h->queue, h->queue + n, h->n * sizeof(*h->queue));
}

static void note_failure(struct hook *h, const char *how)
{
	if (!h->failed && h->why_n == 0)
		h->why_n = (size_t)snprintf(h->why, sizeof(h->why), "%s", how);
	h->failed = true;
}

static void start_next(struct hook *h)
{
	uint32_t n = 1;
	struct err err;
	int rc = 0;

	*h->event = h->queue[0];
	h->sent = 0;
	if (!h->failed)
		h->why_n = 0;
	h->until_ms = clock_ms() + (h->kind == HOOK_WEBHOOK ? WEBHOOK_TIME_MS
							       : HOOK_TIME_MS);
	switch (h->kind) {
	case HOOK_NONE:
		break;
	case HOOK_COMMAND:
		rc = start_program(h, h->argv, &err);
		break;
	case HOOK_WEBHOOK:
		rc = start_caller(h, &n, &err);
		break;
	case HOOK_DESKTOP:
		rc = start_desktop(h, &err);
		break;
	}
	forget_first(h, n);
	if (rc < 0)
		note_failure(h, err.text);
}

/* --- while it runs -------------------------------------------------------- */

static void close_pipes(struct hook *h)
{
	fd_close(&h->in);
	fd_close(&h->out);
	h->in = h->out = -1;
}

static void write_event(struct hook *h)
{
	while (h->in >= 0 && h->sent < h->event->n) {
		ssize_t n = write(h->in, h->event->p + h->sent,
				  h->event->n - h->sent);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return;
		if (n <= 0) /* it does not want to know */
			break;
		h->sent += (size_t)n;
	}
	fd_close(&h->in);
	h->in = -1;
}

static void read_why(struct hook *h)
{
	char some[HOOK_WHY];
	size_t n;

	while (h->out >= 0 && (n = proc_read(&h->out, some, sizeof(some))))
		if (!h->failed && n < sizeof(h->why) - h->why_n) {
			memcpy(h->why + h->why_n, some, n);
			h->why_n += n;
			h->why[h->why_n] = '\0';
		}
}

static void note_end(struct hook *h, int wait_status)
{
	char how[PROC_STATUS_TEXT_MAX];
	int status = proc_status(wait_status);

	h->pid = 0;
	read_why(h);
	close_pipes(h);
	if (status)
		note_failure(h, proc_status_text(status, how));
}

/* All of its session of processes, which it leads. */
static void end_late(struct hook *h)
{
	if (!h->pid || clock_ms() < h->until_ms)
		return;
	note_failure(h, "it took too long");
	kill(h->kind == HOOK_WEBHOOK ? h->pid : -h->pid, SIGKILL);
	h->until_ms = clock_ms() + LATE_MS;
}

size_t hook_fds(const struct hook *h, struct pollfd *out)
{
	out[0] = (struct pollfd){.fd = h->in, .events = POLLOUT};
	out[1] = (struct pollfd){.fd = h->out, .events = POLLIN};
	return HOOK_FDS;
}

int64_t hook_deadline(const struct hook *h)
{
	return h->pid ? h->until_ms : 0;
}

void hook_pump(struct hook *h)
{
	int status;

	if (h->kind == HOOK_NONE)
		return;
	write_event(h);
	read_why(h);
	end_late(h);
	if (h->pid && waitpid(h->pid, &status, WNOHANG) == h->pid)
		note_end(h, status);
	if (!h->pid && h->n)
		start_next(h);
}

bool hook_is_idle(const struct hook *h)
{
	return h->kind == HOOK_NONE || (!h->pid && !h->n);
}

const char *hook_failure(struct hook *h)
{
	if (!h->failed || h->was_told)
		return NULL;
	h->was_told = true;
	return h->why;
}

void hook_done(struct hook *h)
{
	if (h->pid) {
		kill(h->kind == HOOK_WEBHOOK ? h->pid : -h->pid, SIGKILL);
		waitpid(h->pid, NULL, 0);
		h->pid = 0;
	}
	close_pipes(h);
	h->n = 0;
}
