#include "runtime/launch/kubernetes/stream.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

#define CHUNK		65536
#define CHUNKS_PER_PUMP 16u /* others have their turn */

void stream_init(struct stream *s, struct arena *a, lines_fn *on_line,
		 void *ctx)
{
	*s = (struct stream){.out = -1, .err = -1};
	lines_init(&s->lines, a, on_line, ctx);
	buf_init(&s->complaint, a);
}

int stream_start(struct stream *s, struct arena *a, const struct kubectl *k,
		 const char *const *words, struct err *err)
{
	struct proc_opts o = {.group = PROC_GROUP,
			      .in = -1,
			      .out = -1,
			      .err = -1,
			      .keep = -1};
	int in = -1, rc;

	/* of the last one, whose end was that of its output */
	fd_close(&s->err);
	s->out = s->err = -1;
	lines_reset(&s->lines);
	buf_cut(&s->complaint, 0);
	s->said = false;
	rc = proc_pipes(&o, &in, &s->out, &s->err, err);
	if (rc == 0)
		rc = kubectl_start(a, k, words, &o, &s->pid, err);
	proc_pipes_done(&o);
	fd_close(&in);
	return rc;
}

size_t stream_fds(const struct stream *s, struct pollfd *out)
{
	out[0] = (struct pollfd){.fd = s->out, .events = POLLIN};
	out[1] = (struct pollfd){.fd = s->err, .events = POLLIN};
	return STREAM_FDS;
}

static void take_complaint(struct stream *s)
{
	char room[KUBECTL_COMPLAINT_MAX];
	size_t n = proc_read(&s->err, room, sizeof(room));

	kubectl_complain(&s->complaint, (struct str){room, n});
}

int stream_pump(struct stream *s, struct err *err)
{
	char room[CHUNK];
	int rc = 0;

	for (unsigned i = 0; i < CHUNKS_PER_PUMP && rc == 0; i++) {
		size_t n = proc_read(&s->out, room, sizeof(room));

		if (n == 0)
			break;
		s->said = true;
		rc = lines_take(&s->lines, (struct str){room, n}, err);
	}
	if (s->err >= 0)
		take_complaint(s);
	return rc;
}

bool stream_is_over(const struct stream *s)
{
	return s->pid == 0 && s->out < 0;
}

struct str stream_last_words(const struct stream *s)
{
	return kubectl_last_line(buf_str(&s->complaint));
}

bool stream_ended(struct stream *s, pid_t pid, int status)
{
	if (s->pid != pid)
		return false;
	s->pid = 0;
	s->status = proc_status(status);
	return true;
}

void stream_end(struct stream *s)
{
	if (s->pid) {
		kill(s->pid, SIGKILL);
		while (waitpid(s->pid, NULL, 0) < 0 && errno == EINTR)
			;
		s->pid = 0;
	}
	fd_close(&s->out);
	fd_close(&s->err);
	s->out = s->err = -1;
}
