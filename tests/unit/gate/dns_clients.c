/* The resolver by TCP: many questions in a connection, and how one ends. */
#include "tests/unit/gate/dns_rig.h"

#define GRANTS                                                                 \
	"ports 1 tcp/443\nname *.test 1 - g-0000000001\n"                      \
	"deny no.test d-0000000002\n"

static int connected(void)
{
	return rig_connect(SOCK_STREAM, rig.g.listeners[1]);
}

/* The question, behind its length. */
static size_t framed(const char *name, uint16_t id, uint8_t out[514])
{
	size_t n = rig_question(name, LDNS_RR_TYPE_A, id, out + 2);

	out[0] = (uint8_t)(n >> 8);
	out[1] = (uint8_t)n;
	return 2 + n;
}

static void ask_by(int fd, const char *name, uint16_t id)
{
	uint8_t wire[514];
	size_t n = framed(name, id, wire);

	CHECK(send(fd, wire, n, 0) == (ssize_t)n);
}

/* All bytes of it, as they come. */
static bool take_bytes(int fd, uint8_t *to, size_t n)
{
	for (size_t done = 0; done < n;) {
		ssize_t got = rig_step_until(fd) ? recv(fd, to + done, n - done,
							MSG_DONTWAIT)
						 : 0;

		if (got <= 0)
			return false;
		done += (size_t)got;
	}
	return true;
}

static const char *heard_by(int fd, uint16_t *out_id)
{
	static uint8_t wire[DNS_MSG_MAX];
	uint8_t size[2];
	size_t n;

	if (!take_bytes(fd, size, 2))
		return "closed";
	n = (size_t)(size[0] << 8 | size[1]);
	if (n < 12 || !take_bytes(fd, wire, n))
		return "not whole";
	*out_id = LDNS_ID_WIRE(wire);
	return rig_shown(wire, n);
}

static bool is_closed(int fd)
{
	char byte;

	return rig_step_until(fd) && recv(fd, &byte, 1, MSG_DONTWAIT) <= 0;
}

/* One after the other, in the order in which they came. */
static void many_questions(void)
{
	uint8_t wire[514];
	uint16_t id = 0;
	size_t n;
	int fd;

	rig_open("udp", GRANTS);
	fd = connected();
	ask_by(fd, "a.test", 1);
	ask_by(fd, "no.test", 2);
	SAID(rig_asked(), "a.test");
	rig_step();
	CHECK(rig_is_silent(fd) && rig.g.n_live == 1);
	rig_say("a.test 60 IN A 11.0.0.1");
	SAID(heard_by(fd, &id), "NOERROR 60 11.0.0.1");
	CHECK(id == 1);
	SAID(heard_by(fd, &id), "NXDOMAIN");
	CHECK(id == 2);
	CHECK(rig.n_told == 2 && rig.told[0].allow && !rig.told[1].allow);
	CHECK(rig.answered.tcp && rig.answered.rcode == LDNS_RCODE_NXDOMAIN &&
	      rig.answered.client_port == rig_port_of(fd) &&
	      rig.answered.server_port == rig_port_of(rig.g.listeners[1]));
	/* in pieces of one byte */
	n = framed("no.test", 3, wire);
	for (size_t i = 0; i < n; i++) {
		CHECK(rig_is_silent(fd) && send(fd, wire + i, 1, 0) == 1);
		CHECK(i == n - 1 || rig.g.clients[0].n_in == i);
		rig_step();
	}
	SAID(heard_by(fd, &id), "NXDOMAIN");
	CHECK(id == 3);
	CHECK(!rig.g.clients[0].busy && rig.g.clients[0].n_in == 0);
	close(fd);
	rig_step();
	CHECK(rig.g.clients[0].fd == -1);
	rig_close();
}

/* What is too long for a datagram comes whole. */
static void whole_answers(void)
{
	char records[4096];
	uint16_t id;
	size_t n = 0;
	int fd;

	rig_open("udp", GRANTS);
	for (unsigned i = 1; i <= 60; i++)
		n += (size_t)snprintf(records + n, sizeof(records) - n,
				      "a.test 60 IN A 11.0.0.%u;", i);
	fd = connected();
	ask_by(fd, "a.test", 1);
	SAID(rig_asked(), "a.test");
	rig_say(records);
	CHECK(strstr(heard_by(fd, &id), " 11.0.0.60"));
	CHECK(!rig.answered.cut && rig.answered.has_records &&
	      rig.answered.bytes > 60 * 16);
	close(fd);
	rig_close();
}

/* A length that no question has; a message that is none. */
static void refused_lengths(void)
{
	static const struct {
		size_t n;
		bool closes;
	} cases[] = {{0, true},
		     {1, true},
		     {DNS_MSG_QUERY_MAX, false},
		     {DNS_MSG_QUERY_MAX + 1, true},
		     {65535, true}};

	rig_open("udp", GRANTS);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		uint8_t text[2 + DNS_MSG_QUERY_MAX] = {
			(uint8_t)(cases[i].n >> 8), (uint8_t)cases[i].n};
		size_t n = cases[i].n > DNS_MSG_QUERY_MAX ? 2 : 2 + cases[i].n;
		uint32_t generation = rig.g.clients[0].generation;
		uint16_t id;
		int fd = connected();

		CHECK(send(fd, text, n, 0) == (ssize_t)n);
		if (cases[i].closes) {
			CHECK(is_closed(fd));
			CHECK(rig.g.clients[0].generation == generation + 1);
		} else {
			SAID(heard_by(fd, &id), "FORMERR");
		}
		close(fd);
		rig_step();
		rig_step();
	}
	CHECK(rig.n_told == 1);
	rig_close();
}

/* One that says nothing is closed, but for one that waits for its answer. */
static void idle_ones(void)
{
	uint16_t id;
	int idle, busy;

	rig_open("udp", GRANTS);
	idle = connected();
	busy = connected();
	ask_by(busy, "a.test", 1);
	SAID(rig_asked(), "a.test");
	rig.now_ms += DNS_CLIENT_IDLE_MS - 1;
	rig.g.flights[0].up.deadline_ms = INT64_MAX;
	rig_step();
	CHECK(rig.g.clients[0].fd >= 0 && rig.g.clients[1].fd >= 0);
	rig.now_ms++;
	rig_step();
	CHECK(rig.g.clients[0].fd == -1 && rig.g.clients[1].fd >= 0);
	CHECK(is_closed(idle));
	close(idle);
	/* from the last that it said or heard on */
	idle = connected();
	ask_by(idle, "no.test", 2);
	SAID(heard_by(idle, &id), "NXDOMAIN");
	rig.now_ms += DNS_CLIENT_IDLE_MS - 1;
	ask_by(idle, "b.test", 3);
	SAID(rig_asked(), "b.test");
	rig.now_ms += DNS_CLIENT_IDLE_MS - 1;
	rig_say("b.test 60 IN A 11.0.0.1");
	SAID(heard_by(idle, &id), "NOERROR 60 11.0.0.1");
	CHECK(rig.g.clients[0].deadline_ms == rig.now_ms + DNS_CLIENT_IDLE_MS);
	close(idle);
	close(busy);
	rig_close();
}

/* It is gone before its answer is here: nobody else gets that. */
static void gone_clients(void)
{
	uint16_t id;
	int first, second;

	rig_open("udp", GRANTS);
	first = connected();
	ask_by(first, "a.test", 1);
	SAID(rig_asked(), "a.test");
	close(first);
	rig_step();
	CHECK(rig.g.clients[0].fd == -1);
	second = connected();
	ask_by(second, "no.test", 2);
	SAID(heard_by(second, &id), "NXDOMAIN");
	CHECK(rig.g.clients[0].fd >= 0 && rig.g.n_live == 1);
	rig_say("a.test 60 IN A 11.0.0.1");
	ask_by(second, "no.test", 3);
	SAID(heard_by(second, &id), "NXDOMAIN");
	CHECK(id == 3 && rig.g.n_live == 0);
	/* likewise of a slot that is free */
	ask_by(second, "b.test", 4);
	SAID(rig_asked(), "b.test");
	close(second);
	rig_step();
	rig_say("b.test 60 IN A 11.0.0.1");
	SAID(rig_ask("no.test", LDNS_RR_TYPE_A), "NXDOMAIN");
	CHECK(rig.g.n_live == 0 && !rig.answered.tcp && rig.n_answered == 3);
	rig_close();
}

static void more_than_there_is_room_for(void)
{
	int fds[DNS_GATE_CLIENTS + 1];
	uint16_t id;

	rig_open("udp", GRANTS);
	for (size_t i = 0; i < DNS_GATE_CLIENTS; i++) {
		fds[i] = connected();
		ask_by(fds[i], "no.test", (uint16_t)i);
		SAID(heard_by(fds[i], &id), "NXDOMAIN");
		CHECK(id == i);
	}
	fds[DNS_GATE_CLIENTS] = connected();
	CHECK(is_closed(fds[DNS_GATE_CLIENTS]));
	for (size_t i = 0; i < ARRAY_LEN(fds); i++)
		close(fds[i]);
	rig_close();
}

/* Descriptor 0 is one like any other: a client's, and upstream's. */
static void without_input(void)
{
	uint16_t id;
	int fd, second;

	rig_open("udp", GRANTS);
	fd = connected();
	CHECK(close(STDIN_FILENO) == 0);
	rig_step();
	CHECK(rig.g.clients[0].fd == STDIN_FILENO);
	second = connected();
	ask_by(second, "no.test", 1);
	SAID(heard_by(second, &id), "NXDOMAIN");
	ask_by(fd, "a.test", 2);
	SAID(rig_asked(), "a.test");
	rig_say("a.test 60 IN A 11.0.0.1");
	SAID(heard_by(fd, &id), "NOERROR 60 11.0.0.1");
	close(fd);
	rig_step();
	CHECK(rig.g.clients[0].fd == -1 && rig.g.clients[1].fd > 0);
	CHECK(fcntl(STDIN_FILENO, F_GETFD) == -1);
	ask_by(second, "b.test", 3);
	SAID(rig_asked(), "b.test");
	CHECK(rig.g.flights[0].up.fd == STDIN_FILENO);
	rig_say("b.test 60 IN A 11.0.0.2");
	SAID(heard_by(second, &id), "NOERROR 60 11.0.0.2");
	CHECK(open("/dev/null", O_RDONLY) == STDIN_FILENO);
	close(second);
	rig_close();
}

/* --- a client by itself ------------------------------------------------- */

static struct dns_client_room room;

/* What it says is read as far as there is room, and is written bit by bit. */
static void without_a_resolver(void)
{
	static uint8_t wire[DNS_MSG_QUERY_MAX], read[2 + DNS_MSG_MAX];
	const struct sockaddr_storage peer = {.ss_family = AF_INET};
	struct dns_client c = {.generation = 7};
	int pair[2], small = 1;
	size_t n = 0;

	dns_client_init(&c, &room);
	CHECK(c.fd == -1 && dns_client_asks(&c) == 0 &&
	      dns_client_poll(&c).fd == -1);
	CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
	dns_client_open(&c, pair[0], &peer, 5);
	CHECK(c.deadline_ms == 5 + DNS_CLIENT_IDLE_MS &&
	      c.peer.ss_family == AF_INET && c.generation == 7);
	CHECK(dns_client_poll(&c).events == POLLIN);
	memset(room.in, 1, sizeof(room.in));
	CHECK(send(pair[1], "\0\2ab\0\1c", 7, 0) == 7);
	dns_client_step(&c, POLLIN, 6);
	CHECK(c.n_in == 7 && c.deadline_ms == 6 + DNS_CLIENT_IDLE_MS);
	CHECK(dns_client_asks(&c) == 2);
	dns_client_take(&c, wire, 2);
	CHECK(memcmp(wire, "ab", 2) == 0 && c.busy && c.n_in == 3);
	CHECK(dns_client_asks(&c) == 0);
	/* while it waits, the next is read, up to what one question may be */
	CHECK(send(pair[1], wire, sizeof(wire), 0) == sizeof(wire));
	dns_client_step(&c, POLLIN, 7);
	CHECK(c.n_in == sizeof(room.in) && dns_client_poll(&c).events == 0);
	/* an answer that its socket does not take at once */
	CHECK(setsockopt(pair[0], SOL_SOCKET, SO_SNDBUF, &small,
			 sizeof(small)) == 0);
	memset(dns_client_room(&c), 'x', DNS_MSG_MAX);
	dns_client_answer(&c, DNS_MSG_MAX);
	CHECK(!c.busy && c.n_out == 2 + DNS_MSG_MAX && c.fd >= 0);
	CHECK(dns_client_poll(&c).events == POLLOUT && !dns_client_asks(&c));
	for (unsigned i = 0; i < 1000 && c.n_out; i++) {
		ssize_t got;

		/* the second time there may be no room */
		dns_client_step(&c, POLLOUT, 100 + i);
		if (c.n_out)
			dns_client_step(&c, POLLOUT, 100 + i);
		CHECK(c.fd >= 0);
		CHECK(c.deadline_ms <= 100 + i + DNS_CLIENT_IDLE_MS);
		got = recv(pair[1], read + n, sizeof(read) - n, MSG_DONTWAIT);
		n += got > 0 ? (size_t)got : 0;
	}
	CHECK(n == sizeof(read) && read[0] == 0xff && read[1] == 0xff &&
	      read[2] == 'x' && read[n - 1] == 'x');
	CHECK(c.sent == 0 && dns_client_asks(&c) == 1);
	/* nothing to read is no end */
	dns_client_take(&c, wire, 1);
	dns_client_step(&c, POLLIN, 8);
	CHECK(c.fd >= 0 && wire[0] == 'c');
	dns_client_answer(&c, 0);
	CHECK(c.fd == -1 && c.generation == 8);
	close(pair[1]);
}

static void ends_of_a_client(void)
{
	const struct sockaddr_storage peer = {.ss_family = AF_INET};
	static const struct {
		short revents;
		bool gone, closed;
	} cases[] = {{POLLIN, true, true},   {POLLHUP, true, true},
		     {POLLERR, false, true}, {POLLNVAL, false, true},
		     {POLLOUT, true, true},  {0, true, false},
		     {POLLIN, false, false}, {POLLOUT | POLLIN, true, true}};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct dns_client c = {.fd = -1};
		int pair[2];

		dns_client_init(&c, &room);
		CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
		dns_client_open(&c, pair[0], &peer, 0);
		dns_client_answer(&c, 12);
		if (cases[i].gone)
			close(pair[1]);
		dns_client_step(&c, cases[i].revents, 1);
		CHECK_MSG((c.fd == -1) == cases[i].closed, "%zu", i);
		CHECK(c.generation == cases[i].closed);
		if (!cases[i].closed)
			dns_client_close(&c);
		if (!cases[i].gone)
			close(pair[1]);
	}
}

/* It had not read all when it went: an end like any other. */
static void reset_client(void)
{
	const struct sockaddr_storage peer = {.ss_family = AF_INET};
	struct dns_client c = {.fd = -1};
	int pair[2];

	dns_client_init(&c, &room);
	CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
	dns_client_open(&c, pair[0], &peer, 0);
	CHECK(send(pair[0], "x", 1, 0) == 1 && close(pair[1]) == 0);
	dns_client_step(&c, POLLIN, 1);
	CHECK(c.fd == -1 && c.generation == 1);
}

/* What it said before it went is no question any more. */
static void closed_client(void)
{
	const struct sockaddr_storage peer = {.ss_family = AF_INET};
	struct dns_client c = {.fd = -1};
	int pair[2];

	dns_client_init(&c, &room);
	CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
	dns_client_open(&c, pair[0], &peer, 0);
	CHECK(send(pair[1], "\0\2ab", 4, 0) == 4);
	dns_client_step(&c, POLLIN, 1);
	CHECK(dns_client_asks(&c) == 2);
	dns_client_step(&c, POLLERR, 1);
	CHECK(c.fd == -1 && dns_client_asks(&c) == 0 && c.generation == 1);
	close(pair[1]);
}

/* What is no message is not answered; to a connection that is an end, and no
 * other is that connection's. */
static void no_messages(void)
{
	static const char bad[13] = {0, 11};
	uint16_t id;
	int fd;

	rig_open("udp", GRANTS);
	fd = connected();
	ask_by(fd, "no.test", 1);
	SAID(heard_by(fd, &id), "NXDOMAIN");
	CHECK(send(rig.agent, bad, 11, 0) == 11);
	SAID(rig_ask("no.test", LDNS_RR_TYPE_A), "NXDOMAIN");
	ask_by(fd, "no.test", 2);
	SAID(heard_by(fd, &id), "NXDOMAIN");
	CHECK(id == 2 && send(fd, bad, 13, 0) == 13 && is_closed(fd));
	close(fd);
	rig_close();
}

int main(void)
{
	many_questions();
	whole_answers();
	refused_lengths();
	idle_ones();
	gone_clients();
	more_than_there_is_room_for();
	without_input();
	without_a_resolver();
	ends_of_a_client();
	reset_client();
	closed_client();
	no_messages();
	return check_status();
}
