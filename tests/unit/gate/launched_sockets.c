/*
 * membrane-gate --sockets: no way out but what a broker makes, which this test
 * is. Each has a network of its own.
 */
#include "compiler/base/sys/fdpass.h"
#include "compiler/plan/gate.h"
#include "runtime/broker/broker.h"
#include "tests/unit/gate/sessions.h"

#define WORDS "--sockets --plan " PLAN

/* At the number that the gate has it by; this test's end. */
static int start_sockets(struct gate *g)
{
	int pair[2], broker;

	new_network(false);
	CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) == 0);
	broker = fcntl(pair[0], F_DUPFD_CLOEXEC, 10);
	close(pair[0]);
	if (pair[1] == GATE_BROKER_FD)
		CHECK(fcntl(pair[1], F_SETFD, 0) == 0);
	else
		CHECK(dup2(pair[1], GATE_BROKER_FD) == GATE_BROKER_FD &&
		      close(pair[1]) == 0);
	*g = start(WORDS);
	close(GATE_BROKER_FD);
	tell(g, HELLO);
	return broker;
}

/* It asks what there is. */
static void say_facts(int broker, bool ipv6)
{
	struct broker_answer facts = {.ipv6 = ipv6};
	struct broker_ask ask = {0};

	CHECK(comes(broker) &&
	      recv(broker, &ask, sizeof(ask), 0) == sizeof(ask) &&
	      ask.word == BROKER_FACTS);
	CHECK(fdpass_send(broker, &facts, sizeof(facts), -1, 0));
}

static bool is_in_network(pid_t pid, const char *name)
{
	int here = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC), there;
	char path[64];
	bool yes;

	snprintf(path, sizeof(path), "/proc/%d/ns/net", (int)pid);
	there = open(path, O_RDONLY | O_CLOEXEC);
	CHECK(setns(there, CLONE_NEWNET) == 0);
	yes = if_nametoindex(name) != 0;
	CHECK(setns(here, CLONE_NEWNET) == 0);
	close(here);
	close(there);
	return yes;
}

static void session(bool ipv6)
{
	struct gate g;
	int broker = start_sockets(&g);
	char what[64];

	say_facts(broker, ipv6);
	CHECK(says(&g, "\"event\":\"ready\""));
	if (!ipv6)
		CHECK(strstr(g.line, "\"ipv6\":false"));
	CHECK(is_in_network(child_of(g.pid), LINK_SINK_IF) &&
	      !is_in_network(g.pid, LINK_SINK_IF));
	/* the worker's alone */
	read_file(child_of(g.pid), GATE_BROKER_FD, what);
	CHECK(strstr(what, "socket:") && !has_file(g.pid, what));
	CHECK(end_of(&g) == 0);
	close(broker);
}

/* Nobody answers: no session. */
static void no_broker(void)
{
	struct gate g;
	int broker = start_sockets(&g);
	bool ipv6 = false;

	close(broker);
	CHECK(says(&g, "\"event\":\"error\"") &&
	      strstr(g.line, "the broker of sockets"));
	CHECK(end_of(&g) == 1);
	/* nor where there is a way out already, of whoever's */
	broker = start_sockets(&g);
	CHECK(link_sink_up(&ipv6, &err) == 0);
	say_facts(broker, false);
	CHECK(says(&g, "\"event\":\"error\"") && end_of(&g) == 1);
	close(broker);
	/* nor where it was begun without a broker */
	new_network(false);
	g = start(WORDS);
	tell(&g, HELLO);
	CHECK(says(&g, "\"event\":\"error\"") &&
	      strstr(g.line, "the broker of sockets"));
	CHECK(end_of(&g) == 1);
}

int main(void)
{
	if (!enter_room())
		return NOT_HERE;
	find_program();
	put_whole_plan();
	/* nobody else is to have that number */
	CHECK(fcntl(GATE_BROKER_FD, F_GETFD) < 0 || close(GATE_BROKER_FD) == 0);
	session(false);
	session(true);
	no_broker();
	return check_status();
}
