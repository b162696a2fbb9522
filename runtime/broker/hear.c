/*
 * Who a socket hears: a filter of its own, locked (socket(7)). At TCP's sockets
 * the bytes that it reads begin with the header of a segment.
 */
#include "runtime/broker/parts.h"

#include <errno.h>
#include <linux/filter.h>
#include <sys/socket.h>

/* of the source: RFC 791, 3.1; RFC 8200, 3 */
enum { V4_FROM = 12, V6_FROM = 8, WORD = 4 };

struct code {
	struct sock_filter v[2 * (1 + 16 / WORD) + 2];
	uint16_t n, end; /* at end: yes; behind it: no */
};

static void must_have(struct code *c, uint16_t size, uint32_t at,
		      uint32_t value)
{
	c->v[c->n++] = (struct sock_filter)BPF_STMT(BPF_LD | size | BPF_ABS, at);
	c->v[c->n] = (struct sock_filter)BPF_JUMP(
		BPF_JMP | BPF_JEQ | BPF_K, value, 0, (uint8_t)(c->end - c->n));
	c->n++;
}

static uint32_t word_at(const uint8_t *b)
{
	return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 |
	       (uint32_t)b[2] << 8 | b[3];
}

bool hear_only(int fd, const struct broker_proxy *from)
{
	bool six = from->addr.family == ADDR_V6;
	uint32_t at = (uint32_t)SKF_NET_OFF + (six ? V6_FROM : V4_FROM),
		 words = addr_bits(from->addr.family) / 8u / WORD;
	struct code c = {.end = (uint16_t)(2 * (1 + words))};
	struct sock_fprog program = {(uint16_t)(c.end + 2), c.v};
	int on = 1;

	/* a segment begins with the port of its source: RFC 9293, 3.1 */
	must_have(&c, BPF_H, 0, from->port);
	for (uint32_t i = 0; i < words; i++)
		must_have(&c, BPF_W, at + WORD * i,
			  word_at(from->addr.b + WORD * i));
	c.v[c.n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, UINT32_MAX);
	c.v[c.n] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, 0);
	if (setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program,
		       sizeof(program)) < 0)
		return errno == EPERM;
	return setsockopt(fd, SOL_SOCKET, SO_LOCK_FILTER, &on, sizeof(on)) == 0;
}
