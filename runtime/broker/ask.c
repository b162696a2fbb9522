/*
 * Who asks the broker: the gate, and the reader in HAProxy's process.
 */
#include "runtime/broker/broker.h"

#include "compiler/base/sys/fdpass.h"

#include <errno.h>
#include <string.h>

/* The answer's errno, as one; the caller alone is on its channel. */
static bool ask_broker(int channel, const struct broker_ask *ask,
		       struct broker_answer *answer, int *out_fd)
{
	*out_fd = -1;
	if (!fdpass_send(channel, ask, sizeof(*ask), -1, 0) ||
	    fdpass_take(channel, answer, sizeof(*answer), out_fd, 0) !=
		    sizeof(*answer)) {
		errno = EPIPE;
		return false;
	}
	errno = answer->error;
	return answer->error == 0;
}

int broker_connect(int channel, int type, const struct sockaddr *to,
		   socklen_t size)
{
	struct broker_ask ask = {.word = type == SOCK_DGRAM ? BROKER_UDP
							    : BROKER_TCP,
				 .size = size};
	struct broker_answer answer;
	int fd;

	if (size > sizeof(ask.to)) {
		errno = EINVAL;
		return -1;
	}
	memcpy(&ask.to, to, size);
	return ask_broker(channel, &ask, &answer, &fd) ? fd : -1;
}

static int ask_for(int channel, enum broker_word word)
{
	struct broker_ask ask = {.word = word};
	struct broker_answer answer;
	int fd;

	return ask_broker(channel, &ask, &answer, &fd) ? fd : -1;
}

int broker_to_proxy(int channel)
{
	return ask_for(channel, BROKER_PROXY);
}

int broker_channel(int channel)
{
	return ask_for(channel, BROKER_CHANNEL);
}

bool broker_ipv6(int channel, bool *out)
{
	struct broker_ask ask = {.word = BROKER_FACTS};
	struct broker_answer answer;
	int fd;

	if (!ask_broker(channel, &ask, &answer, &fd))
		return false;
	*out = answer.ipv6;
	return true;
}
