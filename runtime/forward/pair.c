#include "runtime/forward/pair.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

void pair_begin(struct pair *p, int take_a, int take_b)
{
	p->end[0] = take_a;
	p->end[1] = take_b;
	for (int i = 0; i < 2; i++) {
		p->way[i].beg = p->way[i].n = 0;
		p->way[i].ended = p->way[i].told = false;
	}
}

void pair_reset(int take_fd)
{
	struct linger now = {.l_onoff = 1};

	(void)setsockopt(take_fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
	close(take_fd);
}

void pair_end(struct pair *p, bool broken)
{
	for (int i = 0; i < 2; i++) {
		if (broken)
			pair_reset(p->end[i]);
		else
			close(p->end[i]);
	}
	p->end[0] = p->end[1] = -1;
}

/* A way that waits to write waits for nothing to read. */
void pair_poll(const struct pair *p, struct pollfd out[2])
{
	for (int i = 0; i < 2; i++) {
		const struct pair_way *in = &p->way[i], *back = &p->way[1 - i];

		out[i] = (struct pollfd){.fd = p->end[i]};
		if (in->n == 0 && !in->ended)
			out[i].events |= POLLIN;
		if (back->n)
			out[i].events |= POLLOUT;
		/* An end that has hung up would be told all the time. */
		if (!out[i].events)
			out[i].fd = -1;
	}
}

static bool is_patience(ssize_t n)
{
	return n < 0 && (errno == EAGAIN || errno == EINTR);
}

/* False: a socket is broken. */
static bool read_way(struct pair *p, int i)
{
	struct pair_way *w = &p->way[i];
	ssize_t n;

	if (w->n || w->ended)
		return true;
	n = recv(p->end[i], w->buf, sizeof(w->buf), 0);
	if (n < 0)
		return is_patience(n);
	w->ended = n == 0;
	w->beg = 0;
	w->n = (size_t)n;
	return true;
}

static bool write_way(struct pair *p, int i)
{
	struct pair_way *w = &p->way[i];
	int to = p->end[1 - i];

	if (w->n) {
		ssize_t n = send(to, w->buf + w->beg, w->n, MSG_NOSIGNAL);

		if (n < 0)
			return is_patience(n);
		w->beg += (size_t)n;
		w->n -= (size_t)n;
	}
	if (w->n == 0 && w->ended && !w->told) {
		w->told = true;
		return shutdown(to, SHUT_WR) == 0;
	}
	return true;
}

bool pair_step(struct pair *p, const struct pollfd got[2])
{
	for (int i = 0; i < 2; i++) {
		bool ok = true;

		if (got[i].revents & (POLLIN | POLLHUP | POLLERR))
			ok = read_way(p, i);
		if (ok && (p->way[i].n || p->way[i].ended))
			ok = write_way(p, i);
		if (ok && got[i].revents & POLLOUT)
			ok = write_way(p, 1 - i);
		if (!ok || got[i].revents & POLLERR) {
			pair_end(p, true);
			return false;
		}
	}
	if (!p->way[0].told || !p->way[1].told)
		return true;
	pair_end(p, false);
	return false;
}
