#include "runtime/gate/dns/dns_client.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

void dns_client_init(struct dns_client *c, struct dns_client_room *room)
{
	c->fd = -1;
	c->room = room;
}

void dns_client_open(struct dns_client *c, int fd,
		     const struct sockaddr_storage *peer, int64_t now_ms)
{
	c->fd = fd;
	c->peer = *peer;
	c->busy = false;
	c->n_in = c->n_out = c->sent = 0;
	c->deadline_ms = now_ms + DNS_CLIENT_IDLE_MS;
}

void dns_client_close(struct dns_client *c)
{
	close(c->fd);
	c->fd = -1;
	c->generation++;
}

struct pollfd dns_client_poll(const struct dns_client *c)
{
	bool full = c->n_in == sizeof(c->room->in);

	return (struct pollfd){
		c->fd, (short)((c->n_out ? POLLOUT : 0) | (full ? 0 : POLLIN)),
		0};
}

static void write_out(struct dns_client *c, int64_t now_ms)
{
	ssize_t n = send(c->fd, c->room->out + c->sent, c->n_out - c->sent,
			 MSG_DONTWAIT | MSG_NOSIGNAL);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		dns_client_close(c);
		return;
	}
	c->sent += (size_t)n;
	if (c->sent == c->n_out)
		c->n_out = c->sent = 0;
	c->deadline_ms = now_ms + DNS_CLIENT_IDLE_MS;
}

static void read_in(struct dns_client *c, int64_t now_ms)
{
	ssize_t n = recv(c->fd, c->room->in + c->n_in,
			 sizeof(c->room->in) - c->n_in, MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		dns_client_close(c);
		return;
	}
	c->n_in += (size_t)n;
	c->deadline_ms = now_ms + DNS_CLIENT_IDLE_MS;
}

void dns_client_step(struct dns_client *c, short revents, int64_t now_ms)
{
	if (revents & (POLLERR | POLLNVAL) ||
	    (!c->busy && now_ms >= c->deadline_ms)) {
		dns_client_close(c);
		return;
	}
	if (revents & POLLOUT)
		write_out(c, now_ms);
	if (c->fd >= 0 && revents & (POLLIN | POLLHUP))
		read_in(c, now_ms);
}

size_t dns_client_asks(struct dns_client *c)
{
	size_t n;

	if (c->fd < 0 || c->n_in < 2 || c->busy || c->n_out)
		return 0;
	n = (size_t)(c->room->in[0] << 8 | c->room->in[1]);
	if (n == 0 || n > DNS_MSG_QUERY_MAX) {
		dns_client_close(c);
		return 0;
	}
	return c->n_in < 2 + n ? 0 : n;
}

void dns_client_take(struct dns_client *c, uint8_t *wire, size_t n)
{
	memcpy(wire, c->room->in + 2, n);
	c->n_in -= 2 + n;
	memmove(c->room->in, c->room->in + 2 + n, c->n_in);
	c->busy = true;
}

uint8_t *dns_client_room(struct dns_client *c)
{
	return c->room->out + 2;
}

void dns_client_answer(struct dns_client *c, size_t n)
{
	c->room->out[0] = (uint8_t)(n >> 8);
	c->room->out[1] = (uint8_t)n;
	c->n_out = n + 2;
	c->sent = 0;
	c->busy = false;
	if (n == 0)
		dns_client_close(c);
}
