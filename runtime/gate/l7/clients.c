#include "runtime/gate/l7/clients.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define BACKLOG 64

int clients_bind(int type, const char *path, struct err *err)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX};
	auto_fd int fd = -1;
	int got;

	snprintf(sa.sun_path, sizeof(sa.sun_path), "%s", path);
	/* A Pod's folder outlives its sandbox, and has the last gate's. */
	unlink(path);
	fd = socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0 || bind(fd, (struct sockaddr *)&sa, sizeof(sa)) < 0 ||
	    chmod(path, 0666) < 0)
		return err_set(err, -errno, "%s: %s", path, strerror(errno));
	got = fd;
	fd = -1;
	return got;
}

int clients_open(struct clients *s, const char *path, struct err *err)
{
	auto_fd int fd = clients_bind(SOCK_STREAM, path, err);

	if (fd < 0)
		return fd;
	if (listen(fd, BACKLOG) < 0)
		return err_set(err, -errno, "%s: %s", path, strerror(errno));
	for (size_t i = 0; i < s->size; i++)
		s->v[i].fd = -1;
	s->listener = fd;
	fd = -1;
	return 0;
}

void clients_drop(struct client *c)
{
	close(c->fd);
	c->fd = -1;
}

static void read_client(const struct clients *s, struct client *c,
			clients_fn *fn, void *data)
{
	/* Of one that says too much it reads nothing. */
	ssize_t n = recv(c->fd, c->text + c->n, s->room - c->n, MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		clients_drop(c);
		return;
	}
	c->n += (size_t)n;
	fn(data, c);
}

static void take_client(struct clients *s, int64_t now_ms)
{
	int fd = accept4(s->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd < 0)
		return;
	for (size_t i = 0; i < s->size; i++) {
		struct client *c = &s->v[i];

		if (c->fd >= 0)
			continue;
		c->fd = fd;
		c->id = 0;
		c->n = 0;
		c->deadline_ms = now_ms + s->wait_ms;
		return;
	}
	close(fd);
}

void clients_poll(const struct clients *s, struct pollfd *p)
{
	bool room = false;

	for (size_t i = 0; i < s->size; i++) {
		p[1 + i] = (struct pollfd){s->v[i].fd, POLLIN, 0};
		room |= s->v[i].fd < 0;
	}
	p[0] = (struct pollfd){room ? s->listener : -1, POLLIN, 0};
}

void clients_step(struct clients *s, const struct pollfd *p, int64_t now_ms,
		  clients_fn *fn, void *data)
{
	for (size_t i = 0; i < s->size; i++) {
		struct client *c = &s->v[i];

		if (c->fd < 0 || p[1 + i].fd != c->fd)
			continue;
		if (p[1 + i].revents)
			read_client(s, c, fn, data);
		else if (now_ms >= c->deadline_ms)
			clients_drop(c);
	}
	if (p[0].revents)
		take_client(s, now_ms);
}
