#include "runtime/launch/sshagent.h"

#include "compiler/base/sys/fileio.h"
#include "compiler/base/sys/proc.h"
#include "compiler/plan/docker_json.h"
#include "runtime/launch/session/local.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

/* Message numbers of draft-ietf-sshm-ssh-agent. */
#define MESSAGE_FAILURE		   5u
#define MESSAGE_REQUEST_IDENTITIES 11u
#define MESSAGE_IDENTITIES_ANSWER  12u
#define MESSAGE_SIGN_REQUEST	   13u
#define MESSAGE_SIGN_RESPONSE	   14u

/* A message with its length before it: four bytes, the highest first. */
struct frame {
	uint32_t n; /* without these four */
	uint8_t bytes[4 + SSHAGENT_BYTES_MAX];
};

struct client {
	int fd, agent; /* agent: -1 until it is asked */
	const char *path;
	struct sshagent_counts *counts;
	struct frame frame;
};

/* --- frames --------------------------------------------------------------- */

static bool read_all(int fd, uint8_t *to, size_t n)
{
	while (n > 0) {
		ssize_t got = read(fd, to, n);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		to += got;
		n -= (size_t)got;
	}
	return true;
}

static bool read_frame(int fd, struct frame *f)
{
	const uint8_t *b = f->bytes;

	if (!read_all(fd, f->bytes, 4))
		return false;
	f->n = (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 |
	       (uint32_t)b[2] << 8 | b[3];
	return f->n > 0 && f->n <= SSHAGENT_BYTES_MAX &&
	       read_all(fd, f->bytes + 4, f->n);
}

static bool write_frame(int fd, const struct frame *f)
{
	const uint8_t *from = f->bytes;
	size_t n = 4 + f->n;

	while (n > 0) {
		ssize_t put = send(fd, from, n, MSG_NOSIGNAL);

		if (put < 0 && errno == EINTR)
			continue;
		if (put <= 0)
			return false;
		from += put;
		n -= (size_t)put;
	}
	return true;
}

static uint8_t type_of(const struct frame *f)
{
	return f->bytes[4];
}

static void set_failure(struct frame *f)
{
	static const uint8_t failure[] = {0, 0, 0, 1, MESSAGE_FAILURE};

	f->n = 1;
	memcpy(f->bytes, failure, sizeof(failure));
}

static void set_request(struct frame *f)
{
	static const uint8_t request[] = {0, 0, 0, 1,
					  MESSAGE_REQUEST_IDENTITIES};

	f->n = 1;
	memcpy(f->bytes, request, sizeof(request));
}

/* --- one connection ------------------------------------------------------- */

/* ms: how long each step may take; 0: as long as it does. */
static int connect_agent(const char *path, int ms, struct err *err)
{
	struct timeval wait = {.tv_sec = ms / 1000,
			       .tv_usec = ms % 1000 * 1000};
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	int fd;

	if (strlen(path) >= sizeof(at.sun_path))
		return err_set(err, -ENAMETOOLONG,
			       "%s: longer than a socket's name can be", path);
	strcpy(at.sun_path, path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return err_errno(err, "socket");
	if (setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof(wait)) == 0 &&
	    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait)) == 0 &&
	    connect(fd, (const struct sockaddr *)&at, sizeof(at)) == 0)
		return fd;
	err_errno(err, path);
	close(fd);
	return err->code;
}

/* Ask the user's; what it does not answer as it should is a failure. */
static bool ask_agent(struct client *c, uint8_t wanted)
{
	struct err ignored;

	if (c->agent < 0)
		c->agent = connect_agent(c->path, 0, &ignored);
	if (c->agent >= 0 && write_frame(c->agent, &c->frame) &&
	    read_frame(c->agent, &c->frame))
		return type_of(&c->frame) == wanted;
	c->counts->unanswered++;
	fd_close(&c->agent);
	c->agent = -1;
	return false;
}

/* The answer takes the request's place. */
static void answer_request(struct client *c)
{
	uint8_t type = type_of(&c->frame);
	bool ok = false;

	if (type == MESSAGE_REQUEST_IDENTITIES) {
		ok = ask_agent(c, MESSAGE_IDENTITIES_ANSWER);
	} else if (type == MESSAGE_SIGN_REQUEST) {
		c->counts->asked++;
		ok = ask_agent(c, MESSAGE_SIGN_RESPONSE);
		c->counts->signatures += ok;
	} else {
		c->counts->refused++;
	}
	if (!ok)
		set_failure(&c->frame);
}

void sshagent_serve(int client, const char *path, struct sshagent_counts *n)
{
	struct client *c = calloc(1, sizeof(*c));

	if (!c)
		return;
	c->fd = client;
	c->agent = -1;
	c->path = path;
	c->counts = n;
	while (read_frame(c->fd, &c->frame)) {
		answer_request(c);
		if (!write_frame(c->fd, &c->frame))
			break;
	}
	fd_close(&c->agent);
	free(c);
}

/* --- the processes -------------------------------------------------------- */

/* With whoever made it, whatever becomes of that one. */
static bool end_with(pid_t parent)
{
	return prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == parent;
}

/* False: nobody serves it. */
static bool take_connection(int listen, const char *path,
			    struct sshagent_counts *n)
{
	pid_t self = getpid(), pid;
	int fd = accept4(listen, NULL, NULL, SOCK_CLOEXEC);

	if (fd < 0)
		return false;
	pid = fork();
	if (pid == 0) {
		close(listen);
		if (end_with(self))
			sshagent_serve(fd, path, n);
		_exit(0);
	}
	close(fd);
	return pid > 0;
}

/* Until it is killed. */
static void take_connections(int listen, const char *path,
			     struct sshagent_counts *n)
{
	struct pollfd p = {.fd = listen, .events = POLLIN};
	int served = 0;

	for (;;) {
		while (served > 0 &&
		       waitpid(-1, NULL,
			       served < SSHAGENT_CLIENTS_MAX ? WNOHANG : 0) > 0)
			served--;
		if (poll(&p, 1, -1) <= 0)
			continue;
		served += take_connection(listen, path, n);
	}
}

static void run_agent(int listen, const char *path, pid_t parent,
		      struct sshagent_counts *n)
{
	proc_leave_terminal();
	proc_close_others(listen, -1);
	if (end_with(parent))
		take_connections(listen, path, n);
	_exit(1);
}

int sshagent_check(const char *path, struct err *err)
{
	int fd;

	if (!path || !path[0])
		return err_set(
			err, -ENOENT,
			"the policy asks for your ssh-agent ('ssh_agent: true'), and SSH_AUTH_SOCK is not set: eval \"$(ssh-agent)\" starts one, ssh-add gives it a key");
	fd = connect_agent(path, 0, err);
	if (fd < 0)
		return err_while(
			err,
			"the policy asks for your ssh-agent ('ssh_agent: true'), and nobody answers where SSH_AUTH_SOCK says");
	close(fd);
	return 0;
}

int sshagent_keys(const char *path, int ms, uint32_t *out, struct err *err)
{
	struct frame *f;
	const uint8_t *n;
	int fd = connect_agent(path, ms, err), rc = 0;

	if (fd < 0)
		return fd;
	f = calloc(1, sizeof(*f));
	if (!f) {
		close(fd);
		return err_set(err, -ENOMEM, "no memory");
	}
	set_request(f);
	errno = 0;
	if (!write_frame(fd, f) || !read_frame(fd, f))
		rc = errno == EAGAIN
			     ? err_set(err, -ETIMEDOUT,
				       "%s: nothing answers within %d ms", path,
				       ms)
			     : err_set(err, -EPROTO,
				       "%s: what listens there is no ssh-agent",
				       path);
	else if (type_of(f) != MESSAGE_IDENTITIES_ANSWER || f->n < 5)
		rc = err_set(err, -EPROTO, "%s: the ssh-agent lists no keys",
			     path);
	n = f->bytes + 5;
	if (rc == 0)
		*out = (uint32_t)n[0] << 24 | (uint32_t)n[1] << 16 |
		       (uint32_t)n[2] << 8 | n[3];
	free(f);
	close(fd);
	return rc;
}

int sshagent_start(const char *dir, const char *path, struct sshagent *out,
		   struct err *err)
{
	struct sshagent s = {0};
	auto_fd int listen = -1, folder = -1;
	pid_t self = getpid();
	int rc = local_listen(dir, DOCKER_JSON_SSH_SOCKET, SSHAGENT_CLIENTS_MAX,
			      &listen, err);

	if (rc < 0)
		return rc;
	/* The folder is the user's alone; inside, whoever the command is. */
	folder = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (folder < 0 || fchmodat(folder, DOCKER_JSON_SSH_SOCKET, 0666, 0) < 0)
		return err_errno(err, dir);
	s.counts = mmap(NULL, sizeof(*s.counts), PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (s.counts == MAP_FAILED)
		return err_errno(err, "mmap");
	s.pid = fork();
	if (s.pid == 0)
		run_agent(listen, path, self, s.counts);
	if (s.pid < 0) {
		munmap(s.counts, sizeof(*s.counts));
		return err_errno(err, "fork");
	}
	*out = s;
	return 0;
}

static void say_counts(const struct sshagent_told *n)
{
	uint32_t made = n->signatures, refused = n->refused,
		 lost = n->unanswered;

	if (made + refused + lost == 0)
		return;
	fprintf(stderr, "membrane: your ssh-agent made %u signature%s", made,
		made == 1 ? "" : "s");
	if (refused)
		fprintf(stderr, "; %u request%s for something else %s refused",
			refused, refused == 1 ? "" : "s",
			refused == 1 ? "was" : "were");
	if (lost)
		fprintf(stderr, "; it did not answer %u request%s", lost,
			lost == 1 ? "" : "s");
	fputc('\n', stderr);
}

bool sshagent_stop(struct sshagent *s, bool quiet, struct sshagent_told *out)
{
	if (s->pid == 0)
		return false;
	kill(s->pid, SIGKILL);
	while (waitpid(s->pid, NULL, 0) < 0 && errno == EINTR)
		;
	*out = (struct sshagent_told){
		.asked = s->counts->asked,
		.signatures = s->counts->signatures,
		.refused = s->counts->refused,
		.unanswered = s->counts->unanswered,
	};
	if (!quiet)
		say_counts(out);
	munmap(s->counts, sizeof(*s->counts));
	*s = (struct sshagent){0};
	return true;
}
