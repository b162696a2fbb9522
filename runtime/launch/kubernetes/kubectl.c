#include "runtime/launch/kubernetes/kubectl.h"

#include "compiler/base/buf.h"
#include "compiler/base/sys/clock.h"
#include "compiler/base/sys/fileio.h"
#include "compiler/base/sys/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

struct call {
	struct kubectl_call *c;
	pid_t pid;
	int out, err; /* our ends of its pipes, -1 at their end */
	struct buf text, complaint;
	struct lines lines; /* when they are wanted */
};

char **kubectl_vector(struct arena *a, const struct kubectl *k,
		      const char *const *words)
{
	char **argv = arena_array(a, KUBECTL_WORDS_MAX + 6, sizeof(*argv));
	size_t n = 0;

	argv[n++] = arena_cstr(a, STR("kubectl"));
	if (k->context.n) {
		argv[n++] = arena_cstr(a, STR("--context"));
		argv[n++] = arena_cstr(a, k->context);
	}
	if (k->ns.n) {
		argv[n++] = arena_cstr(a, STR("--namespace"));
		argv[n++] = arena_cstr(a, k->ns);
	}
	for (size_t i = 0; words[i] && i < KUBECTL_WORDS_MAX; i++)
		argv[n++] = arena_cstr(a, str_of(words[i]));
	return argv;
}

static int open_input(struct str input, struct err *err)
{
	int fd;

	if (input.n == 0) {
		fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
		return fd < 0 ? err_errno(err, "/dev/null") : fd;
	}
	fd = memfd_create("kubectl", MFD_CLOEXEC);
	if (fd < 0)
		return err_errno(err, "memory for kubectl's input");
	if (fileio_write_all(fd, input, err) == 0 &&
	    lseek(fd, 0, SEEK_SET) == 0)
		return fd;
	fd_close(&fd);
	return err_set(err, -EIO, "memory for kubectl's input: not written");
}

int kubectl_start(struct arena *a, const struct kubectl *k,
		  const char *const *words, struct proc_opts *o, pid_t *out_pid,
		  struct err *err)
{
	int rc;

	o->argv = kubectl_vector(a, k, words);
	rc = proc_spawn(o, out_pid, err);
	if (rc == -ENOENT)
		return err_set(
			err, -ENOENT,
			"there is no kubectl: install it, and see that 'kubectl version' finds the cluster");
	return rc;
}

static int spawn_kubectl(struct arena *a, const struct kubectl *k,
			 struct call *r, struct err *err)
{
	auto_fd int in = open_input(r->c->input, err);
	auto_fd int out = -1, complaint = -1;
	struct proc_opts o = {.group = PROC_SAME, .keep = -1};

	if (in < 0)
		return err->code;
	if (proc_pipe(&r->out, &out, err) < 0 ||
	    proc_pipe(&r->err, &complaint, err) < 0)
		return err->code;
	o.in = in;
	o.out = out;
	o.err = complaint;
	return kubectl_start(a, k, r->c->words, &o, &r->pid, err);
}

static int take_output(struct call *r, struct err *err)
{
	char room[65536];
	struct str got = {room, proc_read(&r->out, room, sizeof(room))};

	if (r->c->on_line)
		return lines_take(&r->lines, got, err);
	if (r->text.n + got.n > KUBECTL_TEXT_MAX)
		return err_set(err, -EFBIG, "kubectl %s: its answer is too long",
			       r->c->words[0]);
	buf_add(&r->text, got);
	return 0;
}

static void take_complaint(struct call *r)
{
	char room[KUBECTL_COMPLAINT_MAX];
	size_t n = proc_read(&r->err, room, sizeof(room));

	kubectl_complain(&r->complaint, (struct str){room, n});
}

static int collect_output(struct call *r, struct err *err)
{
	int64_t deadline = clock_ms() + r->c->timeout_ms;

	while (r->out >= 0 || r->err >= 0) {
		struct pollfd p[2] = {{.fd = r->out, .events = POLLIN},
				      {.fd = r->err, .events = POLLIN}};
		int64_t left = deadline - clock_ms();
		int rc = r->c->timeout_ms < 0 ? poll(p, 2, -1)
			 : left > 0	      ? poll(p, 2, (int)left)
					      : 0;

		if (rc < 0 && errno != EINTR)
			return err_errno(err, "waiting for kubectl");
		if (rc == 0)
			return err_set(err, -ETIMEDOUT, "kubectl %s: %s",
				       r->c->words[0], strerror(ETIMEDOUT));
		if (rc < 0)
			continue;
		rc = p[0].revents ? take_output(r, err) : 0;
		if (rc < 0)
			return rc;
		if (p[1].revents)
			take_complaint(r);
	}
	return r->c->on_line ? lines_end(&r->lines, err) : 0;
}

static int reap_kubectl(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return 128;
	return proc_status(status);
}

int kubectl_run(struct arena *a, const struct kubectl *k,
		struct kubectl_call *c, struct err *err)
{
	struct call r = {.c = c, .out = -1, .err = -1};
	int rc;

	*err = (struct err){0};
	buf_init(&r.text, a);
	buf_init(&r.complaint, a);
	lines_init(&r.lines, a, c->on_line, c->ctx);
	rc = spawn_kubectl(a, k, &r, err);
	if (rc == 0) {
		rc = collect_output(&r, err);
		if (rc < 0)
			kill(r.pid, SIGKILL);
		c->status = reap_kubectl(r.pid);
	}
	fd_close(&r.out);
	fd_close(&r.err);
	c->text = buf_str(&r.text);
	c->complaint = buf_str(&r.complaint);
	return rc;
}

int kubectl_do(struct arena *a, const struct kubectl *k,
	       struct kubectl_call *c, struct err *err)
{
	int rc = kubectl_run(a, k, c, err);

	return rc == 0 && c->status != 0 ? kubectl_fault(c, err) : rc;
}

void kubectl_complain(struct buf *complaint, struct str part)
{
	if (complaint->n + part.n > KUBECTL_COMPLAINT_MAX)
		buf_cut(complaint, 0);
	buf_add(complaint, part);
}

struct str kubectl_last_line(struct str complaint)
{
	struct str line, last = {0};

	while (str_line(&complaint, &line))
		if (str_trim(line).n)
			last = str_trim(line);
	return last;
}

int kubectl_fault(const struct kubectl_call *c, struct err *err)
{
	struct str last = kubectl_last_line(c->complaint);

	if (last.n == 0)
		return err_set(err, -EREMOTEIO,
			       "kubectl %s failed with status %d", c->words[0],
			       c->status);
	return err_set(err, -EREMOTEIO, "kubectl: %.*s", STR_ARG(last));
}
