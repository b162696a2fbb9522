/*
 * Clients of a socket of the gate's: who is taken, heard and dropped, to the
 * last place and the lowest descriptor, and what is behind them stays as it is.
 */
#include "runtime/gate/l7/clients.h"

#include "tests/check.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#define SIZE 2u
#define ROOM 8u
#define WAIT 50

static struct err err;
static char path[] = "/tmp/membrane-clients-XXXXXX";
/* one more than are theirs */
static struct client slots[SIZE + 1];
static struct pollfd polled[1 + SIZE + 1];
static char texts[SIZE + 1][ROOM];
static struct clients s;
static unsigned heard;
static bool closes_nothing;

/* What of the gate is closed comes here first: it has to be open. */
int close(int fd)
{
	closes_nothing |= fd < 0;
	return (int)syscall(SYS_close, fd);
}

static void on_text(void *data, struct client *c)
{
	CHECK(data == &heard && c->text == texts[c - slots]);
	heard++;
}

static void step(int64_t now_ms)
{
	clients_step(&s, polled, now_ms, on_text, &heard);
}

static void turn(int64_t now_ms)
{
	clients_poll(&s, polled);
	CHECK(poll(polled, 1 + SIZE, 0) >= 0);
	step(now_ms);
}

static int dial(void)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	/* the lowest ones are for who is tested */
	if (fd < 10) {
		int low = fd;

		fd = fcntl(low, F_DUPFD_CLOEXEC, 10);
		close(low);
	}
	snprintf(sa.sun_path, sizeof(sa.sun_path), "%s", path);
	CHECK(connect(fd, (struct sockaddr *)&sa, sizeof(sa)) == 0);
	return fd;
}

/* Its other end is closed. */
static bool ended(int fd)
{
	char c;
	bool yes = recv(fd, &c, 1, MSG_DONTWAIT) == 0;

	close(fd);
	return yes;
}

/* The first descriptor is one like any other. */
static void first_one(void)
{
	int fd = -1, other = -1;

	close(0);
	CHECK(clients_bind(SOCK_DGRAM, path, &err) == 0 && close(0) == 0);
	/* what the last one has left there is no obstacle */
	CHECK(clients_open(&s, path, &err) == 0 && s.listener == 0);
	CHECK(slots[0].fd == -1 && slots[SIZE - 1].fd == -1 &&
	      slots[SIZE].fd == 7);
	s.listener = fcntl(0, F_DUPFD_CLOEXEC, 20);
	close(0);
	fd = dial();
	turn(0);
	CHECK(slots[0].fd == 0);
	/* it has its place: the next one has another */
	other = dial();
	turn(0);
	CHECK(slots[0].fd == 0 && slots[1].fd > 0);
	clients_poll(&s, polled);
	CHECK(polled[0].fd == -1);
	CHECK(send(fd, "x", 1, 0) == 1);
	turn(1);
	CHECK(heard == 1 && slots[0].n == 1 && slots[0].fd == 0);
	CHECK(close(fd) == 0);
	turn(1);
	CHECK(slots[0].fd == -1 && fcntl(0, F_GETFD) < 0);
	turn(WAIT - 1);
	CHECK(slots[1].fd > 0);
	turn(WAIT);
	CHECK(slots[1].fd == -1 && ended(other));
	CHECK(open("/dev/null", O_RDWR | O_CLOEXEC) == 0);
}

/* Nobody is there, though it was said so. */
static void nobody(void)
{
	struct client before = {.fd = -1, .deadline_ms = 3, .id = 4, .n = 5};

	slots[0] = before;
	clients_poll(&s, polled);
	polled[0].revents = POLLIN;
	step(9);
	CHECK(memcmp(&slots[0], &before, sizeof(before)) == 0);
	slots[0].text = texts[0];
}

/* Who comes when all places are taken is sent away; what is behind them is
 * nobody's. */
static void crowded(void)
{
	int fds[SIZE + 1], pair[2];

	CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0);
	for (size_t i = 0; i < SIZE; i++) {
		fds[i] = dial();
		turn(0);
		CHECK(slots[i].fd >= 0 && slots[i].id == 0 && slots[i].n == 0);
	}
	slots[SIZE].fd = -1;
	fds[SIZE] = dial();
	clients_poll(&s, polled);
	polled[0].revents = POLLIN;
	polled[0].fd = s.listener;
	step(0);
	CHECK(slots[SIZE].fd == -1 && ended(fds[SIZE]));
	slots[SIZE].fd = pair[0];
	CHECK(write(pair[1], "x", 1) == 1);
	clients_poll(&s, polled);
	polled[1 + SIZE] = (struct pollfd){pair[0], POLLIN, POLLIN};
	step(0);
	CHECK(slots[SIZE].n == 0 && slots[SIZE].fd == pair[0]);
	slots[SIZE].fd = -1;
	for (size_t i = 0; i < SIZE; i++)
		clients_drop(&slots[i]);
	for (size_t i = 0; i < SIZE; i++)
		CHECK(ended(fds[i]));
	close(pair[0]);
	close(pair[1]);
}

/* As much as there is room for, however it comes; more is nobody's. */
static void too_much(void)
{
	int fd = dial();

	turn(0);
	memset(texts, '-', sizeof(texts));
	CHECK(send(fd, "abc", 3, 0) == 3);
	turn(0);
	CHECK(send(fd, "0123456789", 10, 0) == 10);
	turn(0);
	CHECK(slots[0].n == ROOM && memcmp(texts[0], "abc01234", ROOM) == 0 &&
	      texts[1][0] == '-');
	turn(0);
	CHECK(slots[0].fd == -1 && fcntl(fd, F_GETFD) >= 0);
	close(fd);
}

/* What was said to be there and is not is waited for; a failure ends it. */
static void reading(void)
{
	int fd = dial();

	turn(0);
	heard = 0;
	clients_poll(&s, polled);
	polled[1].revents = POLLIN;
	errno = 0;
	step(0);
	CHECK(slots[0].fd >= 0 && heard == 0);
	/* it goes without having read what it was told */
	CHECK(send(slots[0].fd, "x", 1, 0) == 1 && close(fd) == 0);
	turn(0);
	CHECK(slots[0].fd == -1 && heard == 0);
	/* a place that is free has no time that runs out */
	turn(10 * WAIT);
}

int main(void)
{
	CHECK(close(mkstemp(path)) == 0);
	s = (struct clients){
		.v = slots, .size = SIZE, .room = ROOM, .wait_ms = WAIT};
	for (size_t i = 0; i <= SIZE; i++)
		slots[i] = (struct client){.fd = 7, .text = texts[i]};
	first_one();
	nobody();
	crowded();
	too_much();
	reading();
	CHECK(!closes_nothing);
	unlink(path);
	return check_status();
}
