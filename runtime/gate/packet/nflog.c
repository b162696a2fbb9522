#include "runtime/gate/packet/nflog.h"

#include "runtime/gate/packet/nfnl.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_log.h>
#include <string.h>
#include <sys/socket.h>

struct message {
	struct str prefix;
	const uint8_t *payload;
	size_t n;
};

struct reader {
	nflog_fn *fn;
	void *data;
};

static struct nlmsghdr *begin_message(void *room, uint16_t group, uint32_t seq)
{
	struct nlmsghdr *h = nfnl_begin(room, NFNL_SUBSYS_ULOG,
					NFULNL_MSG_CONFIG, NLM_F_ACK, seq);
	struct nfgenmsg *g = mnl_nlmsg_get_payload(h);

	g->res_id = htons(group);
	return h;
}

static int talk_to_kernel(struct nflog *l, const struct nlmsghdr *h)
{
	uint64_t room[1024];
	const struct nlmsghdr *answer = (const void *)room;
	ssize_t n;

	if (mnl_socket_sendto(l->nl, h, h->nlmsg_len) < 0)
		return -errno;
	/* Records may come before the answer once the group is bound. */
	do {
		n = mnl_socket_recvfrom(l->nl, room, sizeof(room));
		if (n < 0)
			return -errno;
	} while (answer->nlmsg_type != NLMSG_ERROR);
	return mnl_cb_run(room, (size_t)n, h->nlmsg_seq,
			  mnl_socket_get_portid(l->nl), NULL, NULL) < 0
		       ? -errno
		       : 0;
}

static int configure_group(struct nflog *l, uint16_t group, struct err *err)
{
	struct nfulnl_msg_config_cmd cmd = {.command = NFULNL_CFG_CMD_BIND};
	struct nfulnl_msg_config_mode mode = {
		.copy_range = htonl(NFLOG_HEAD_BYTES),
		.copy_mode = NFULNL_COPY_PACKET,
	};
	uint64_t room[64];
	struct nlmsghdr *h = begin_message(room, group, 1);
	int rc;

	mnl_attr_put(h, NFULA_CFG_CMD, sizeof(cmd), &cmd);
	rc = talk_to_kernel(l, h);
	if (rc == 0) {
		h = begin_message(room, group, 2);
		mnl_attr_put(h, NFULA_CFG_MODE, sizeof(mode), &mode);
		mnl_attr_put_u32(h, NFULA_CFG_QTHRESH, htonl(1));
		rc = talk_to_kernel(l, h);
	}
	if (rc < 0)
		return err_set(err, rc, "nflog group %d: %s", group,
			       strerror(-rc));
	return 0;
}

int nflog_open(struct nflog *l, uint16_t group, struct err *err)
{
	int rc;

	l->nl = nfnl_open(0);
	if (!l->nl)
		return err_set(err, -errno, "netlink socket for nflog: %s",
			       strerror(errno));
	nfnl_widen(l->nl);
	rc = configure_group(l, group, err);
	if (rc < 0) {
		mnl_socket_close(l->nl);
		l->nl = NULL;
	}
	return rc;
}

int nflog_fd(const struct nflog *l)
{
	return l->nl ? mnl_socket_get_fd(l->nl) : -1;
}

static int take_attr(const struct nlattr *a, void *data)
{
	struct message *m = data;

	if (mnl_attr_get_type(a) == NFULA_PREFIX &&
	    mnl_attr_validate(a, MNL_TYPE_NUL_STRING) >= 0)
		m->prefix = str_of(mnl_attr_get_str(a));
	if (mnl_attr_get_type(a) == NFULA_PAYLOAD) {
		m->payload = mnl_attr_get_payload(a);
		m->n = mnl_attr_get_payload_len(a);
	}
	return MNL_CB_OK;
}

static int take_message(const struct nlmsghdr *h, void *data)
{
	struct reader *r = data;
	struct message m = {0};
	struct packet packet;

	if (h->nlmsg_type != (NFNL_SUBSYS_ULOG << 8 | NFULNL_MSG_PACKET) ||
	    mnl_attr_parse(h, sizeof(struct nfgenmsg), take_attr, &m) < 0)
		return MNL_CB_OK;
	if (packet_parse(m.payload, m.n, &packet))
		r->fn(r->data, m.prefix, &packet);
	return MNL_CB_OK;
}

int nflog_read(struct nflog *l, nflog_fn *fn, void *data, uint64_t *out_lost,
	       struct err *err)
{
	struct reader r = {fn, data};
	int rc = nfnl_read(l->nl, NFLOG_READS_MAX, take_message, &r, out_lost);

	return rc < 0 ? err_set(err, rc, "nflog: %s", strerror(-rc)) : 0;
}
