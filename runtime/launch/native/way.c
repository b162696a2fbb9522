/*
 * Whether a network namespace has a way out by now: a route to everywhere, much
 * as the gate waits for it.
 */
#include "runtime/launch/native/parts.h"

#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* All that there is, by one question and by what comes after it. */
static int ask_routes(struct err *err)
{
	struct sockaddr_nl at = {.nl_family = AF_NETLINK,
				 .nl_groups = RTMGRP_IPV4_ROUTE |
					      RTMGRP_IPV6_ROUTE};
	struct {
		struct nlmsghdr head;
		struct rtmsg route;
	} all = {.head = {.nlmsg_len = sizeof(all),
			  .nlmsg_type = RTM_GETROUTE,
			  .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP,
			  .nlmsg_seq = 1},
		 .route = {.rtm_family = AF_UNSPEC}};
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);

	if (fd >= 0 &&
	    bind(fd, (const struct sockaddr *)&at, sizeof(at)) == 0 &&
	    send(fd, &all, sizeof(all), 0) == sizeof(all))
		return fd;
	err_errno(err, "a network's routes");
	if (fd >= 0)
		close(fd);
	return err->code;
}

static bool leads_everywhere(const struct nlmsghdr *h)
{
	const struct rtmsg *route = NLMSG_DATA(h);

	return h->nlmsg_type == RTM_NEWROUTE &&
	       h->nlmsg_len >= NLMSG_LENGTH(sizeof(*route)) &&
	       route->rtm_dst_len == 0 && route->rtm_type == RTN_UNICAST;
}

static int refuse_routes(const struct nlmsghdr *h, struct err *err)
{
	const struct nlmsgerr *refusal = NLMSG_DATA(h);

	return h->nlmsg_len >= NLMSG_LENGTH(sizeof(*refusal)) &&
			       refusal->error < 0
		       ? err_set(err, refusal->error, "a network's routes: %s",
				 strerror(-refusal->error))
		       : err_set(err, -EPROTO, "a network's routes");
}

int way_await(struct err *err)
{
	_Alignas(struct nlmsghdr) char room[16384];
	auto_fd int fd = ask_routes(err);

	if (fd < 0)
		return err->code;
	for (;;) {
		ssize_t got = recv(fd, room, sizeof(room), 0);
		int left = (int)got;

		if (got < 0 && errno != EINTR)
			return err_errno(err, "a network's routes");
		for (struct nlmsghdr *h = (struct nlmsghdr *)room;
		     NLMSG_OK(h, left); h = NLMSG_NEXT(h, left)) {
			if (h->nlmsg_type == NLMSG_ERROR)
				return refuse_routes(h, err);
			if (leads_everywhere(h))
				return 0;
		}
	}
}
