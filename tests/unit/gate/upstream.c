/* One question on its way to the upstream and back: by UDP, by TCP, again. */
#include "runtime/gate/dns/upstream.h"

#include "compiler/base/sys/fdpass.h"
#include "runtime/broker/broker.h"
#include "tests/unit/gate/dns_rig.h"

#include <errno.h>
#include <sys/syscall.h>

/* So much of what is sent the kernel takes at once. */
static size_t takes = SIZE_MAX;

/* In libc's place in all of this program. */
ssize_t send(int fd, const void *p, size_t n, int flags)
{
	return syscall(SYS_sendto, fd, p, n < takes ? n : takes, flags, NULL,
		       0);
}

static struct upstream u;
static struct dns_query q;
static struct dns_answer a;
static const struct addr loopback = {ADDR_V4, {127, 0, 0, 1}};
static uint16_t port;

static enum upstream_event ask(int64_t now_ms)
{
	return upstream_ask(&u, &loopback, port, &q, now_ms);
}

/* An error of earlier is none of its own. */
static enum upstream_event step(bool ready, int64_t now_ms)
{
	errno = EAGAIN;
	return upstream_step(&u, &loopback, port, &q, ready, now_ms, &a);
}

/* Once it can go on; what it then says. */
static enum upstream_event wait_step(int64_t now_ms)
{
	struct pollfd p = upstream_poll(&u);

	CHECK(poll(&p, 1, RIG_WAIT_MS) == 1);
	return step(true, now_ms);
}

static bool is_idle(void)
{
	return u.fd == -1 && !u.tcp && u.tries == 0;
}

static void begin(void)
{
	rig_open_upstream();
	port = rig_port_of(rig.up);
	upstream_init(&u, 0);
	CHECK(is_idle() && u.broker == 0);
	CHECK(dns_msg_query_for("a.test", LDNS_RR_TYPE_A, &q));
}

static void end(void)
{
	upstream_stop(&u);
	close(rig.up);
	close(rig.up_tcp);
}

/* What it asks by UDP. */
static void take_question(void)
{
	socklen_t n_asker = sizeof(rig.asker);
	struct pollfd p = {rig.up, POLLIN, 0};
	uint8_t wire[512];
	ldns_pkt_rcode rcode;
	ssize_t n;

	CHECK(poll(&p, 1, RIG_WAIT_MS) == 1);
	n = recvfrom(rig.up, wire, sizeof(wire), 0,
		     (struct sockaddr *)&rig.asker, &n_asker);
	CHECK(n > 12 && dns_msg_query(wire, (size_t)n, &rig.asked, &rcode) ==
				DNS_MSG_ASK);
	CHECK(strcmp(rig.asked.name, "a.test") == 0 && rig.asked.id == u.id);
}

static void answered_by_udp(void)
{
	uint8_t junk = 0;

	begin();
	CHECK(ask(5) == UPSTREAM_WAIT && u.fd >= 0 && u.tries == 1);
	CHECK(u.deadline_ms == 5 + UPSTREAM_WAIT_MS);
	CHECK(upstream_poll(&u).fd == u.fd &&
	      upstream_poll(&u).events == POLLIN);
	take_question();
	/* nothing is there, or nothing of ours */
	CHECK(step(true, 6) == UPSTREAM_WAIT &&
	      step(false, 6) == UPSTREAM_WAIT);
	CHECK(sendto(rig.up, &junk, 1, 0, (struct sockaddr *)&rig.asker,
		     sizeof(rig.asker)) == 1);
	CHECK(wait_step(7) == UPSTREAM_WAIT && u.tries == 1);
	CHECK(sendto(rig.up, &junk, 0, 0, (struct sockaddr *)&rig.asker,
		     sizeof(rig.asker)) == 0);
	CHECK(wait_step(7) == UPSTREAM_WAIT && u.tries == 1);
	rig.asked.id++;
	rig_say("a.test 60 IN A 11.0.0.2");
	CHECK(wait_step(7) == UPSTREAM_WAIT && u.tries == 1);
	rig.asked.id--;
	rig_say("a.test 60 IN A 11.0.0.1");
	CHECK(wait_step(8) == UPSTREAM_ANSWER && is_idle());
	CHECK(a.n_addrs == 1 && a.addrs[0].addr.b[3] == 1);
	dns_msg_done(&a);
	end();
}

/* Twice at most, each time with another port and number. */
static void asked_again(void)
{
	struct sockaddr_in first;

	begin();
	CHECK(ask(0) == UPSTREAM_WAIT);
	take_question();
	first = rig.asker;
	CHECK(step(false, UPSTREAM_WAIT_MS - 1) == UPSTREAM_WAIT);
	/* its socket is open until the other one is: a port of its own */
	CHECK(step(false, UPSTREAM_WAIT_MS) == UPSTREAM_WAIT && u.tries == 2);
	CHECK(u.deadline_ms == 2 * UPSTREAM_WAIT_MS);
	take_question();
	rig.asker = first;
	rig_say("a.test 60 IN A 11.0.0.2"); /* nobody is there any more */
	CHECK(step(false, 2 * UPSTREAM_WAIT_MS) == UPSTREAM_FAILED &&
	      is_idle());
	/* likewise where upstream says that it cannot */
	CHECK(ask(0) == UPSTREAM_WAIT);
	take_question();
	rig_say_code("", LDNS_RCODE_REFUSED);
	CHECK(wait_step(1) == UPSTREAM_WAIT && u.tries == 2 && !u.tcp);
	take_question();
	rig_say("a.test 60 IN A 11.0.0.3");
	CHECK(wait_step(2) == UPSTREAM_ANSWER && a.addrs[0].addr.b[3] == 3);
	dns_msg_done(&a);
	end();
}

/* Nobody listens there: the kernel says so. */
static void nobody_there(void)
{
	begin();
	close(rig.up);
	CHECK(ask(0) == UPSTREAM_WAIT);
	CHECK(wait_step(0) == UPSTREAM_WAIT && u.tries == 2);
	CHECK(wait_step(0) == UPSTREAM_FAILED && is_idle());
	/* nor could anybody: no such address, no such name */
	CHECK(upstream_ask(&u, &(struct addr){ADDR_V4, {255, 255, 255, 255}},
			   port, &q, 0) == UPSTREAM_FAILED &&
	      is_idle());
	rig.up = -1;
	end();
}

/* --- by TCP ------------------------------------------------------------- */

/* It asks by UDP, hears that the answer is cut, and connects. */
static int until_tcp(void)
{
	uint8_t wire[512];
	size_t n;

	begin();
	CHECK(ask(0) == UPSTREAM_WAIT);
	take_question();
	n = rig_answer_of("", LDNS_RCODE_NOERROR, wire, sizeof(wire));
	wire[2] |= 2;
	CHECK(sendto(rig.up, wire, n, 0, (struct sockaddr *)&rig.asker,
		     sizeof(rig.asker)) == (ssize_t)n);
	CHECK(wait_step(1) == UPSTREAM_WAIT && u.tcp && u.tries == 2);
	CHECK(upstream_poll(&u).events == POLLOUT);
	CHECK(u.deadline_ms == 1 + UPSTREAM_WAIT_MS);
	return accept(rig.up_tcp, NULL, NULL);
}

static void take_framed(int fd)
{
	uint8_t wire[512];
	ldns_pkt_rcode rcode;
	size_t n;

	CHECK(recv(fd, wire, 2, MSG_WAITALL) == 2);
	n = (size_t)(wire[0] << 8 | wire[1]);
	CHECK(n > 12 && n < sizeof(wire) &&
	      recv(fd, wire, n, MSG_WAITALL) == (ssize_t)n);
	CHECK(dns_msg_query(wire, n, &rig.asked, &rcode) == DNS_MSG_ASK &&
	      rig.asked.id == u.id);
	/* and no more than that */
	CHECK(recv(fd, wire, 1, MSG_DONTWAIT) == -1);
}

static void answered_by_tcp(void)
{
	uint8_t wire[512];
	size_t n;
	int fd = until_tcp();

	CHECK(wait_step(2) == UPSTREAM_WAIT && !u.sending &&
	      upstream_poll(&u).events == POLLIN);
	take_framed(fd);
	CHECK(step(true, 3) == UPSTREAM_WAIT);
	n = rig_answer_of("a.test 60 IN A 11.0.0.4", LDNS_RCODE_NOERROR,
			  wire + 2, sizeof(wire) - 2);
	wire[0] = (uint8_t)(n >> 8);
	wire[1] = (uint8_t)n;
	/* byte by byte */
	for (size_t i = 0; i < n + 2; i++) {
		CHECK(send(fd, wire + i, 1, 0) == 1);
		CHECK(wait_step(4) ==
		      (i < n + 1 ? UPSTREAM_WAIT : UPSTREAM_ANSWER));
		/* how long it is both of the first say together */
		CHECK(u.want == (i == 0 ? 2 : n + 2));
	}
	CHECK(is_idle() && a.n_addrs == 1 && a.addrs[0].addr.b[3] == 4);
	dns_msg_done(&a);
	close(fd);
	end();
}

/* The question goes out as it is taken, byte by byte. */
static void asked_in_pieces(void)
{
	int fd = until_tcp(), on = 1;
	size_t n = u.want;

	CHECK(setsockopt(u.fd, SOL_TCP, TCP_NODELAY, &on, sizeof(on)) == 0);
	takes = 1;
	for (size_t i = 1; i < n; i++)
		CHECK(wait_step(2) == UPSTREAM_WAIT && u.sending && u.n == i &&
		      u.want == n);
	takes = SIZE_MAX;
	CHECK(wait_step(2) == UPSTREAM_WAIT && !u.sending && u.n == 0);
	take_framed(fd);
	close(fd);
	end();
}

/* One that ends before it is whole, though of another there is more. */
static void cut_by_tcp(void)
{
	uint8_t wire[512];
	size_t n;
	int fd = until_tcp();

	CHECK(wait_step(2) == UPSTREAM_WAIT);
	take_framed(fd);
	n = rig_answer_of("a.test 60 IN A 11.0.0.6", LDNS_RCODE_NOERROR,
			  wire + 2, sizeof(wire) - 2);
	wire[0] = 0;
	wire[1] = (uint8_t)(n - 1);
	CHECK(send(fd, wire, n + 2, 0) == (ssize_t)n + 2);
	CHECK(wait_step(3) == UPSTREAM_WAIT && u.want == n + 1);
	CHECK(wait_step(3) == UPSTREAM_FAILED && is_idle());
	close(fd);
	end();
}

/* What comes behind the message is not read. */
static void more_than_a_message(void)
{
	uint8_t wire[512] = {0};
	size_t n;
	int fd = until_tcp();

	CHECK(wait_step(2) == UPSTREAM_WAIT);
	take_framed(fd);
	n = rig_answer_of("a.test 60 IN A 11.0.0.5", LDNS_RCODE_NOERROR,
			  wire + 2, sizeof(wire) - 2);
	wire[1] = (uint8_t)n;
	CHECK(send(fd, wire, sizeof(wire), 0) == sizeof(wire));
	CHECK(wait_step(3) == UPSTREAM_WAIT && u.want == n + 2);
	CHECK(wait_step(3) == UPSTREAM_ANSWER && u.n == n + 2);
	dns_msg_done(&a);
	close(fd);
	end();
}

/* By TCP there is no second time. */
static void failed_by_tcp(void)
{
	static const struct {
		const char *bytes;
		size_t n;
	} cases[] = {
		{"", 0},
		{"\0", 1},
		{"\0\0", 2},
		{"\0\14abc", 5},
		{"\0\14abcdefghijkl", 14},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		enum upstream_event said = UPSTREAM_WAIT;
		int fd = until_tcp();

		CHECK(wait_step(2) == UPSTREAM_WAIT);
		take_framed(fd);
		CHECK(send(fd, cases[i].bytes, cases[i].n, 0) ==
		      (ssize_t)cases[i].n);
		close(fd);
		for (unsigned k = 0; k < 20 && said == UPSTREAM_WAIT; k++)
			said = wait_step(3);
		CHECK(said == UPSTREAM_FAILED && is_idle());
		end();
	}
}

static void silent_by_tcp(void)
{
	int fd = until_tcp();

	CHECK(wait_step(2) == UPSTREAM_WAIT);
	CHECK(step(false, UPSTREAM_WAIT_MS) == UPSTREAM_WAIT && u.tcp);
	CHECK(step(false, 1 + UPSTREAM_WAIT_MS) == UPSTREAM_FAILED &&
	      is_idle());
	close(fd);
	end();
}

/* A cut answer is no failure: it may be the second that was asked for. */
static void cut_the_second_time(void)
{
	uint8_t wire[512];
	size_t n;
	int fd;

	begin();
	CHECK(ask(0) == UPSTREAM_WAIT);
	take_question();
	CHECK(step(false, UPSTREAM_WAIT_MS) == UPSTREAM_WAIT);
	take_question();
	n = rig_answer_of("", LDNS_RCODE_NOERROR, wire, sizeof(wire));
	wire[2] |= 2;
	CHECK(sendto(rig.up, wire, n, 0, (struct sockaddr *)&rig.asker,
		     sizeof(rig.asker)) == (ssize_t)n);
	CHECK(wait_step(1) == UPSTREAM_WAIT && u.tcp && u.tries == 3);
	fd = accept(rig.up_tcp, NULL, NULL);
	CHECK(fd >= 0 && wait_step(2) == UPSTREAM_WAIT);
	take_framed(fd);
	close(fd);
	end();
}

/* By TCP there is no way to it. */
static void unreachable_by_tcp(void)
{
	const struct addr nowhere = {ADDR_V4, {255, 255, 255, 255}};
	struct pollfd p;
	uint8_t wire[512];
	size_t n;

	begin();
	CHECK(ask(0) == UPSTREAM_WAIT);
	take_question();
	n = rig_answer_of("", LDNS_RCODE_NOERROR, wire, sizeof(wire));
	wire[2] |= 2;
	CHECK(sendto(rig.up, wire, n, 0, (struct sockaddr *)&rig.asker,
		     sizeof(rig.asker)) == (ssize_t)n);
	p = upstream_poll(&u);
	CHECK(poll(&p, 1, RIG_WAIT_MS) == 1);
	CHECK(upstream_step(&u, &nowhere, port, &q, true, 1, &a) ==
		      UPSTREAM_FAILED &&
	      is_idle());
	end();
}

/* Nobody listens by TCP. */
static void refused_by_tcp(void)
{
	uint8_t wire[512];
	size_t n;

	begin();
	close(rig.up_tcp);
	CHECK(ask(0) == UPSTREAM_WAIT);
	take_question();
	n = rig_answer_of("", LDNS_RCODE_NOERROR, wire, sizeof(wire));
	wire[2] |= 2;
	CHECK(sendto(rig.up, wire, n, 0, (struct sockaddr *)&rig.asker,
		     sizeof(rig.asker)) == (ssize_t)n);
	CHECK(wait_step(1) == UPSTREAM_WAIT && u.tcp);
	CHECK(wait_step(2) == UPSTREAM_FAILED && is_idle());
	rig.up_tcp = -1;
	end();
}

/* --- by a broker -------------------------------------------------------- */

/* Where there is no way out but its sockets: that one it takes, and no other.
 */
static void by_a_broker(void)
{
	struct broker_answer answer = {0};
	struct broker_ask said;
	int channel[2], made;
	uint8_t wire[512];
	size_t n;

	begin();
	CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, channel) == 0);
	made = rig_connect(SOCK_DGRAM, rig.up);
	upstream_init(&u, channel[0]);
	CHECK(fdpass_send(channel[1], &answer, sizeof(answer), made, 0));
	/* whichever number its descriptor has */
	CHECK(close(STDIN_FILENO) == 0);
	CHECK(ask(0) == UPSTREAM_WAIT && u.fd == STDIN_FILENO);
	take_question();
	CHECK(ntohs(rig.asker.sin_port) == rig_port_of(made));
	CHECK(recv(channel[1], &said, sizeof(said), 0) == sizeof(said) &&
	      said.word == BROKER_UDP &&
	      said.size == sizeof(struct sockaddr_in) &&
	      rig_port_in(&said.to) == port);
	/* it goes nowhere, or is gone; by TCP alone, too */
	answer.error = EACCES;
	CHECK(fdpass_send(channel[1], &answer, sizeof(answer), -1, 0));
	n = rig_answer_of("", LDNS_RCODE_NOERROR, wire, sizeof(wire));
	wire[2] |= 2;
	CHECK(sendto(rig.up, wire, n, 0, (struct sockaddr *)&rig.asker,
		     sizeof(rig.asker)) == (ssize_t)n);
	CHECK(wait_step(1) == UPSTREAM_FAILED && is_idle());
	CHECK(recv(channel[1], &said, sizeof(said), 0) == sizeof(said) &&
	      said.word == BROKER_TCP);
	answer.error = 0;
	CHECK(fdpass_send(channel[1], &answer, sizeof(answer), made, 0));
	CHECK(ask(0) == UPSTREAM_WAIT && u.fd == STDIN_FILENO);
	take_question();
	answer.error = EACCES;
	CHECK(fdpass_send(channel[1], &answer, sizeof(answer), -1, 0));
	CHECK(step(false, UPSTREAM_WAIT_MS) == UPSTREAM_FAILED && is_idle());
	CHECK(u.broker == channel[0]);
	CHECK(open("/dev/null", O_RDONLY) == STDIN_FILENO);
	close(channel[1]);
	CHECK(ask(0) == UPSTREAM_FAILED);
	close(channel[0]);
	close(made);
	end();
}

int main(void)
{
	answered_by_udp();
	asked_again();
	nobody_there();
	answered_by_tcp();
	asked_in_pieces();
	cut_by_tcp();
	more_than_a_message();
	failed_by_tcp();
	silent_by_tcp();
	cut_the_second_time();
	refused_by_tcp();
	unreachable_by_tcp();
	by_a_broker();
	return check_status();
}
