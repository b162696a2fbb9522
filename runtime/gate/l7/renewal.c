#include "runtime/gate/l7/renewal.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

/* --- what is asked ---------------------------------------------------------
 */

static bool parse_head(struct str line, struct renewal_ask *ask, uint64_t *size)
{
	struct str number = STR(""), addr = STR(""), kind = STR("");
	uint64_t n = 0;

	/* What is not there is empty, and no number is 0. */
	str_field(&line, ' ', &number);
	str_field(&line, ' ', &addr);
	str_field(&line, ' ', &kind);
	ignore(str_u64(number, 9999, &n));
	if (n == 0 || !addr_parse(addr, &ask->addr) ||
	    !str_u64(line, RENEWAL_ASK_MAX, size))
		return false;
	ask->n = (uint32_t)n;
	ask->is_form = str_is(kind, "form");
	return ask->is_form || str_is(kind, "json");
}

int renewal_parse(struct str text, struct renewal_ask *out)
{
	size_t head = str_find(text, '\n', 0);
	size_t agent = str_find(text, '\n', head + 1);
	struct renewal_ask ask = {0};
	uint64_t size;

	if (head >= text.n)
		return 0;
	if (!parse_head(str_slice(text, 0, head), &ask, &size))
		return -1;
	if (agent >= text.n || text.n - agent - 1 < size)
		return 0;
	ask.agent = str_slice(text, head + 1, agent);
	ask.body = str_slice(text, agent + 1, text.n);
	if (ask.body.n != size || memchr(ask.body.p, '\0', ask.body.n))
		return -1;
	*out = ask;
	return 1;
}

/* --- clients ---------------------------------------------------------------
 */

int renewal_open(struct renewal *r, const char *path, struct err *err)
{
	for (size_t i = 0; i < RENEWAL_CLIENTS; i++)
		r->slots[i].text = r->texts[i];
	r->clients.v = r->slots;
	r->clients.size = RENEWAL_CLIENTS;
	r->clients.room = sizeof(r->texts[0]);
	r->clients.wait_ms = RENEWAL_WAIT_MS;
	return clients_open(&r->clients, path, err);
}

static void send_answer(struct client *c, unsigned status, struct str body)
{
	char head[32];
	int n = snprintf(head, sizeof(head), "%u %zu\n", status, body.n);
	struct iovec parts[] = {{head, (size_t)n},
				{(void *)(uintptr_t)body.p, body.n}};
	struct msghdr m = {.msg_iov = parts, .msg_iovlen = ARRAY_LEN(parts)};

	/* A socket takes that at once, or its client is none. */
	ignore(sendmsg(c->fd, &m, MSG_DONTWAIT | MSG_NOSIGNAL));
	clients_drop(c);
}

struct step {
	struct renewal *renewal;
	renewal_fn *tell;
	void *data;
};

static void ask_launcher(const struct step *step, struct client *c,
			 struct renewal_ask *ask)
{
	struct renewal *r = step->renewal;

	if (++r->last_id == 0)
		r->last_id = 1;
	c->id = ask->id = r->last_id;
	if (ask->body.n > RENEWAL_BODY_MAX || !step->tell(step->data, ask))
		send_answer(
			c, 413,
			STR("{\"error\":\"invalid_request\",\"error_description\":\"membrane: too long\"}"));
}

static void hear_client(void *data, struct client *c)
{
	struct renewal_ask ask;
	/* One that has asked, and says more, has said too much. */
	int rc = renewal_parse((struct str){c->text, c->n}, &ask);

	if (rc < 0)
		clients_drop(c);
	else if (rc > 0)
		ask_launcher(data, c, &ask);
}

void renewal_poll(const struct renewal *r, struct pollfd *p)
{
	clients_poll(&r->clients, p);
}

void renewal_step(struct renewal *r, const struct pollfd *p, int64_t now_ms,
		  renewal_fn *tell, void *data)
{
	struct step step = {.renewal = r, .tell = tell, .data = data};

	clients_step(&r->clients, p, now_ms, hear_client, &step);
}

void renewal_answer(struct renewal *r, uint32_t id, unsigned status,
		    struct str body)
{
	for (size_t i = 0; i < RENEWAL_CLIENTS; i++)
		if (r->slots[i].fd >= 0 && r->slots[i].id == id)
			send_answer(&r->slots[i], status, body);
}
