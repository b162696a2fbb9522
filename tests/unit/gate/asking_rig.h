/*
 * What waits for a person, in this process: HAProxy's connections to the gate,
 * the launcher's answers and the resolver behind them (dns_rig.h) are the
 * test's, as is the time.
 */
#ifndef TESTS_UNIT_GATE_ASKING_RIG_H
#define TESTS_UNIT_GATE_ASKING_RIG_H

#include "runtime/gate/ask/asking.h"

#include "tests/unit/gate/dns_rig.h"

#include <sys/un.h>

static char asking_dir[] = "/tmp/membrane-asking-XXXXXX";

static struct {
	struct asking a;
	struct l7 l7;
	char path[64];
	bool tells; /* whether a question can be told */
	unsigned n_asked, n_ended;
	struct question last; /* that was told of, */
	uint16_t sport;	      /* whose connection waits, */
	uint32_t wait_s;      /* and for how long */
	uint32_t ended;
	enum asking_end end;
} asking;

static inline bool asking_take_question(void *data, const struct question *q,
					uint16_t sport, uint32_t wait_s)
{
	(void)data;
	asking.n_asked++;
	asking.last = *q;
	asking.sport = sport;
	asking.wait_s = wait_s;
	return asking.tells;
}

static inline void asking_take_end(void *data, uint32_t number,
				   enum asking_end end)
{
	(void)data;
	asking.n_ended++;
	asking.ended = number;
	asking.end = end;
}

static inline void asking_take_found(void *data, const char *name,
				     bool private_ok, const struct addr *addr)
{
	rig_take_found(data, name, private_ok, addr);
	asking_found(&asking.a, name, private_ok, addr);
}

/* profiles: the lines of profiles.map; the rest as rig_open(). */
static inline void asking_begin(const char *head, const char *rest,
				const char *profiles)
{
	struct err err;
	char text[512];
	int listener;

	if (!asking.path[0])
		CHECK(mkdtemp(asking_dir));
	rig_open(head, rest);
	rig.g.on_found = asking_take_found;
	CHECK(standins_new(&rig.g.standins, &err) == 0);
	memset(&asking.a, 0, sizeof(asking.a));
	asking.a.names = &rig.map;
	asking.a.dns = &rig.g;
	asking.a.l7 = &asking.l7;
	asking.a.on_question = asking_take_question;
	asking.a.on_answered = asking_take_end;
	asking.tells = true;
	asking.n_asked = asking.n_ended = 0;
	snprintf(text, sizeof(text), "membrane-profiles 1\n%s", profiles);
	CHECK(profiles_parse(str_of(text), &asking.l7.plan.profiles, &err) ==
	      0);
	snprintf(asking.path, sizeof(asking.path), "%s/ask", asking_dir);
	CHECK(asking_open(&asking.a, asking.path, &err) == 0);
	listener = asking.a.clients.listener;
	CHECK(asking_open(&asking.a, asking.path, &err) == 0 &&
	      asking.a.clients.listener == listener);
	asking_listens(&asking.a, true);
}

static inline void asking_finish(void)
{
	for (size_t i = 0; i < ASKING_CLIENTS; i++)
		clients_drop(&asking.a.slots[i]);
	close(asking.a.clients.listener);
	profiles_free(&asking.l7.plan.profiles);
	CHECK(unlink(asking.path) == 0);
	rig_close();
}

/* Steps of both until that can be read; with -1 one, of what is there. */
static inline bool asking_step_until(int fd)
{
	static struct pollfd p[ASKING_POLL + DNS_GATE_POLL + 1];
	struct pollfd *of_dns = p + ASKING_POLL;

	for (unsigned i = 0; i < RIG_STEPS; i++) {
		asking_poll(&asking.a, p);
		dns_gate_poll(&rig.g, of_dns);
		of_dns[DNS_GATE_POLL] = (struct pollfd){fd, POLLIN, 0};
		if (poll(p, ARRAY_LEN(p), fd < 0 ? 0 : RIG_WAIT_MS) <= 0 &&
		    fd >= 0)
			return false;
		if (of_dns[DNS_GATE_POLL].revents)
			return true;
		asking_step(&asking.a, p, rig.now_ms);
		dns_gate_step(&rig.g, of_dns, rig.now_ms);
		if (fd < 0)
			return true;
	}
	return false;
}

/* One is there, has been heard, and what follows of that. */
static inline void asking_settle(void)
{
	for (unsigned i = 0; i < 3; i++)
		(void)asking_step_until(-1);
}

static inline int asking_connect(void)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(sa.sun_path, sizeof(sa.sun_path), "%s", asking.path);
	CHECK(fd >= 0 && connect(fd, (struct sockaddr *)&sa, sizeof(sa)) == 0);
	return fd;
}

/* HAProxy asks that; its connection, which the caller closes. */
static inline int asking_says(const char *line)
{
	int fd = asking_connect();

	CHECK(send(fd, line, strlen(line), 0) == (ssize_t)strlen(line));
	asking_settle();
	return fd;
}

/* What it hears, lines and all; "" when it is closed without a word. */
static inline const char *asking_hears(int fd)
{
	static char text[256];
	ssize_t n;

	if (!asking_step_until(fd))
		return "nothing";
	n = recv(fd, text, sizeof(text) - 1, MSG_DONTWAIT);
	text[n > 0 ? n : 0] = '\0';
	return text;
}

/* And that this was the last. */
static inline const char *asking_ends(int fd)
{
	const char *said = asking_hears(fd);
	char byte;

	CHECK_MSG(asking_step_until(fd) &&
			  recv(fd, &byte, 1, MSG_DONTWAIT) == 0,
		  "more than %s", said);
	close(fd);
	return said;
}

/* One line and its answer. */
static inline const char *asking_asks(const char *line)
{
	return asking_ends(asking_says(line));
}

/* What upstream is asked for by now, and what it says. */
static inline void asking_resolves(const char *name, const char *records)
{
	CHECK(asking_step_until(rig.up));
	SAID(rig_asked(), name);
	rig_say(records);
}

/* The agent has asked for that name, which has this stand-in. */
static inline void asking_stands_in(const char *name, const char *addr)
{
	char text[ADDR_TEXT_MAX];
	struct addr a;

	CHECK(standins_take(rig.g.standins, str_of(name), rig.now_ms, &a));
	SAID(addr_text(&a, text), addr);
}

#endif
