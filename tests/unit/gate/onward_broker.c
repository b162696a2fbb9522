/*
 * The way out by a proxy where a broker makes the sockets, which this test is:
 * in a network of its own.
 */
#include "compiler/base/sys/fdpass.h"
#include "runtime/broker/broker.h"
#include "tests/unit/gate/onward_ends.h"

static struct broker_ask asked_of(int channel)
{
	struct broker_ask ask = {.word = 0};
	int fd;

	CHECK(comes(channel) &&
	      fdpass_take(channel, &ask, sizeof(ask), &fd, 0) == sizeof(ask));
	return ask;
}

/* fd -1: none, for that reason. It is given away. */
static void give(int channel, int error, int fd)
{
	struct broker_answer answer = {.error = error};

	CHECK(fdpass_send(channel, &answer, sizeof(answer), fd, 0));
	if (fd >= 0)
		close(fd);
}

/* A channel of a connection's own: this test's end. */
static int open_channel(int broker)
{
	int pair[2];

	CHECK(asked_of(broker).word == BROKER_CHANNEL);
	CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) == 0);
	give(broker, 0, pair[1]);
	return pair[0];
}

static int socket_to(const char *addr, uint16_t port)
{
	struct sockaddr_storage sa;
	struct addr a;
	socklen_t n;
	int fd;

	CHECK(addr_parse(str_of(addr), &a));
	n = sockaddr_put(&a, port, &sa);
	fd = socket(sa.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC,
		    0);
	CHECK(connect(fd, (struct sockaddr *)&sa, n) == 0 ||
	      errno == EINPROGRESS);
	return fd;
}

static void by_broker(int broker, uint16_t port)
{
	int client = call("192.0.2.1", 443, 3000, "first"),
	    channel = open_channel(broker), far;

	CHECK(asked_of(channel).word == BROKER_PROXY);
	give(channel, 0, socket_to("127.0.0.1", port));
	far = take(proxy);
	CHECK(hear(far, "\r\n\r\n") &&
	      strncmp(said, "CONNECT a.test:443 HTTP/1.1\r\n", 29) == 0);
	say(far, "HTTP/1.1 200 yes\r\n\r\n");
	/* asked once, and gone */
	CHECK(hears_end(channel));
	talk(client, far);
	close(channel);
}

/* 'direct': the broker makes that one, too, to where the client called. */
static void past_by_broker(int broker)
{
	uint16_t port = 0;
	int server = listen_at("127.7.7.7", &port),
	    client = call("127.7.7.7", port, 3001, "first"),
	    channel = open_channel(broker);
	struct broker_ask ask = asked_of(channel);
	struct sockaddr_in *to = (void *)&ask.to;

	CHECK(ask.word == BROKER_TCP && ask.size == sizeof(*to) &&
	      to->sin_addr.s_addr == htonl(0x7f070707) &&
	      to->sin_port == htons(port));
	give(channel, 0, socket_to("127.7.7.7", port));
	talk(client, take(server));
	close(server);
	close(channel);
}

/* But the machine's ports are at an address of the gate's own. */
static void machine_beside_broker(int broker)
{
	uint16_t port = 0;
	int server = listen_at(LINK_MACHINE_V4, &port),
	    client = call(LINK_MACHINE_V4, port, 3002, "first"),
	    channel = open_channel(broker);

	talk(client, take(server));
	close(server);
	close(channel);
}

static void refused_by_broker(int broker, uint16_t closed)
{
	int client = call("192.0.2.1", 443, 3003, "x"),
	    channel = open_channel(broker);

	CHECK(asked_of(channel).word == BROKER_PROXY);
	give(channel, EACCES, -1);
	fails(client, 3003,
	      "the\\ proxy\\ cannot\\ be\\ reached:\\ Permission\\ denied");
	close(channel);
	client = call("192.0.2.1", 443, 3004, "x");
	channel = open_channel(broker);
	CHECK(asked_of(channel).word == BROKER_PROXY);
	give(channel, 0, socket_to("127.0.0.1", closed));
	fails(client, 3004,
	      "the\\ proxy\\ cannot\\ be\\ reached:\\ Connection\\ refused");
	close(channel);
}

/* No channel, and so no way: not even one of the gate's own. */
static void no_channel(int broker)
{
	int client = call("192.0.2.1", 443, 3005, "x");

	CHECK(asked_of(broker).word == BROKER_CHANNEL);
	give(broker, EMFILE, -1);
	fails(client, 3005, "the\\ proxy\\ cannot\\ be\\ reached:");
	client = call("127.7.7.7", 1, 3006, "x");
	CHECK(asked_of(broker).word == BROKER_CHANNEL);
	give(broker, EMFILE, -1);
	fails(client, 3006, "past\\ the\\ proxy:\\ Broken\\ pipe");
}

static void with_broker(void)
{
	struct onward_proxy p = proxy_at("127.0.0.1", "");
	uint16_t closed = 0;
	struct onward o;
	int pair[2];

	close(listen_at("127.0.0.1", &closed));
	CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) == 0);
	p.broker = pair[1];
	CHECK(onward_start(&p, names, &o, &err) == 0);
	close(pair[1]);
	by_broker(pair[0], p.port);
	privileges(&o);
	past_by_broker(pair[0]);
	machine_beside_broker(pair[0]);
	refused_by_broker(pair[0], closed);
	no_channel(pair[0]);
	close(pair[0]);
	close(proxy);
	end_server(&o);
}

int main(void)
{
	if (!begin_ends())
		return NOT_HERE;
	CHECK(link_machine_up(&err) == 0);
	with_broker();
	return check_status();
}
