/*
 * The tap devices of a network go, and with each the program that has it open:
 * what a signal of ours may not reach ends so.
 *
 * By rtnetlink(7): a dump of the links, then RTM_DELLINK of each whose kind is
 * "tun".
 */
#include "runtime/launch/native/parts.h"

#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <sched.h>
#include <string.h>

#define TAPS_MAX 8 /* a gate has one */

struct taps {
	int index[TAPS_MAX];
	size_t n;
};

static int take_kind(const struct nlattr *attribute, void *is_tap)
{
	if (mnl_attr_get_type(attribute) == IFLA_INFO_KIND &&
	    mnl_attr_validate(attribute, MNL_TYPE_NUL_STRING) >= 0)
		*(bool *)is_tap = strcmp(mnl_attr_get_str(attribute), "tun") ==
				  0;
	return MNL_CB_OK;
}

static int take_attribute(const struct nlattr *attribute, void *is_tap)
{
	return mnl_attr_get_type(attribute) == IFLA_LINKINFO
		       ? mnl_attr_parse_nested(attribute, take_kind, is_tap)
		       : MNL_CB_OK;
}

static int take_link(const struct nlmsghdr *h, void *ctx)
{
	const struct ifinfomsg *link = mnl_nlmsg_get_payload(h);
	struct taps *taps = ctx;
	bool is_tap = false;

	if (mnl_attr_parse(h, sizeof(*link), take_attribute, &is_tap) < 0)
		return MNL_CB_ERROR;
	if (is_tap && taps->n < TAPS_MAX)
		taps->index[taps->n++] = link->ifi_index;
	return MNL_CB_OK;
}

/* index: 0: a dump of all. */
static int ask(struct mnl_socket *socket, uint16_t type, uint16_t flags,
	       int index, struct taps *out)
{
	_Alignas(struct nlmsghdr) char room[32768];
	struct nlmsghdr *h = mnl_nlmsg_put_header(room);
	struct ifinfomsg *link;
	ssize_t got;
	int rc;

	h->nlmsg_type = type;
	h->nlmsg_flags = (uint16_t)(NLM_F_REQUEST | flags);
	link = mnl_nlmsg_put_extra_header(h, sizeof(*link));
	link->ifi_index = index;
	if (mnl_socket_sendto(socket, h, h->nlmsg_len) < 0)
		return -errno;
	do {
		got = mnl_socket_recvfrom(socket, room, sizeof(room));
		rc = got < 0 ? MNL_CB_ERROR
			     : mnl_cb_run(room, (size_t)got, 0,
					  mnl_socket_get_portid(socket),
					  take_link, out);
	} while (rc > MNL_CB_STOP);
	return rc < 0 ? -errno : 0;
}

static int remove_all(struct mnl_socket *socket)
{
	struct taps taps = {.n = 0};
	int rc = ask(socket, RTM_GETLINK, NLM_F_DUMP, 0, &taps);

	for (size_t i = 0; rc == 0 && i < taps.n; i++) {
		rc = ask(socket, RTM_DELLINK, NLM_F_ACK, taps.index[i], &taps);
		if (rc == -ENODEV) /* with its program by now */
			rc = 0;
	}
	return rc;
}

int tap_remove(int users, int network)
{
	struct mnl_socket *socket;
	int rc;

	if (setns(users, CLONE_NEWUSER) < 0 ||
	    setns(network, CLONE_NEWNET) < 0 ||
	    !(socket = mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC)))
		return -errno;
	rc = mnl_socket_bind(socket, 0, MNL_SOCKET_AUTOPID) < 0
		     ? -errno
		     : remove_all(socket);
	mnl_socket_close(socket);
	return rc;
}
