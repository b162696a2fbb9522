#include "runtime/gate/l7/admin.h"

#include "compiler/base/sys/clock.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

static int dial_socket(const char *path, int *out, struct err *err)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX};
	auto_fd int fd = -1;

	if (strlen(path) >= sizeof(sa.sun_path))
		return err_set(err, -ENAMETOOLONG, "%s: too long", path);
	snprintf(sa.sun_path, sizeof(sa.sun_path), "%s", path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0 || connect(fd, (struct sockaddr *)&sa, sizeof(sa)) < 0)
		return err_set(err, -errno, "%s: %s", path, strerror(errno));
	*out = fd;
	fd = -1;
	return 0;
}

static struct {
	int fd;
	bool (*step)(void *data);
	void *data;
} meanwhile = {.fd = -1};

void admin_meanwhile(int fd, bool (*step)(void *data), void *data)
{
	meanwhile.fd = fd;
	meanwhile.step = step;
	meanwhile.data = data;
}

static int wait_for(int fd, short events, int64_t deadline_ms, struct err *err)
{
	struct pollfd p[] = {{fd, events, 0}, {meanwhile.fd, POLLIN, 0}};

	while (!p[0].revents) {
		int64_t left_ms = deadline_ms - clock_ms();

		if (left_ms <= 0)
			return err_set(err, -ETIMEDOUT,
				       "HAProxy does not answer");
		(void)poll(p, ARRAY_LEN(p), (int)left_ms);
		if (p[1].revents && !meanwhile.step(meanwhile.data))
			p[1].fd = -1;
	}
	return 0;
}

static int put_command(int fd, struct str text, int64_t deadline_ms,
		       struct err *err)
{
	while (text.n) {
		ssize_t n = send(fd, text.p, text.n, MSG_NOSIGNAL);
		int rc;

		if (n > 0)
			text = str_slice(text, (size_t)n, text.n);
		else if (n < 0 && errno != EAGAIN && errno != EINTR)
			return err_set(err, -errno, "asking HAProxy: %s",
				       strerror(errno));
		else if ((rc = wait_for(fd, POLLOUT, deadline_ms, err)) < 0)
			return rc;
	}
	return 0;
}

/* -EMSGSIZE: there is more, and *out_n is all that there is room for. */
static int get_answer(int fd, char answer[ADMIN_ANSWER_MAX], size_t *out_n,
		      int64_t deadline_ms, struct err *err)
{
	for (size_t n = 0;;) {
		int rc = wait_for(fd, POLLIN, deadline_ms, err);
		ssize_t got;

		if (rc < 0)
			return rc;
		if (n == ADMIN_ANSWER_MAX) {
			*out_n = n;
			return err_set(err, -EMSGSIZE,
				       "HAProxy's answer is too long");
		}
		got = recv(fd, answer + n, ADMIN_ANSWER_MAX - n, 0);
		if (got < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (got < 0)
			return err_set(err, -errno, "HAProxy's answer: %s",
				       strerror(errno));
		if (got == 0) {
			*out_n = n;
			return 0;
		}
		n += (size_t)got;
	}
}

int admin_ask(const char *path, struct str text, char answer[ADMIN_ANSWER_MAX],
	      size_t *out_n, struct err *err)
{
	int64_t deadline_ms = clock_ms() + ADMIN_WAIT_MS;
	auto_fd int fd = -1;
	int rc;

	if (text.n > ADMIN_BATCH_MAX)
		return err_set(err, -EMSGSIZE, "a batch of %zu bytes", text.n);
	if ((rc = dial_socket(path, &fd, err)) < 0 ||
	    (rc = put_command(fd, text, deadline_ms, err)) < 0)
		return rc;
	return get_answer(fd, answer, out_n, deadline_ms, err);
}

int admin_ask_some(const char *path, struct str text,
		   char answer[ADMIN_ANSWER_MAX], size_t *out_n,
		   struct err *err)
{
	int rc = admin_ask(path, text, answer, out_n, err);

	return rc == -EMSGSIZE && *out_n ? 0 : rc;
}

bool admin_done(struct str answer, unsigned n, const char *fine,
		struct str *out_line)
{
	unsigned blank = 0;
	struct str line;

	*out_line = STR("");
	if (answer.n && answer.p[answer.n - 1] != '\n') {
		*out_line = answer;
		return false;
	}
	while (str_line(&answer, &line)) {
		if (line.n == 0) {
			blank++;
		} else if (!fine || !str_is(line, fine)) {
			*out_line = line;
			return false;
		}
	}
	return blank == n;
}

int admin_do(const char *path, struct str text, unsigned n, const char *fine,
	     struct err *err)
{
	char answer[ADMIN_ANSWER_MAX];
	struct str said;
	size_t got = 0;
	int rc = admin_ask(path, text, answer, &got, err);

	if (rc < 0)
		return rc;
	if (admin_done((struct str){answer, got}, n, fine, &said))
		return 0;
	return err_set(err, -EPROTO, "HAProxy says '%.*s'",
		       STR_ARG(str_slice(said, 0, 200)));
}
