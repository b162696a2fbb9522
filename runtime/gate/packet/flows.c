#include "runtime/gate/packet/flows.h"

#include "compiler/plan/gate.h"
#include "runtime/gate/packet/nfnl.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_conntrack.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define ACCT	  "/proc/sys/net/netfilter/nf_conntrack_acct"
#define GROUP_BIT (1u << (NFNLGRP_CONNTRACK_DESTROY - 1))

struct reader {
	flows_fn *fn;
	void *data;
};

static int take_message(const struct nlmsghdr *h, void *data)
{
	const struct reader *r = data;
	struct flow flow;

	if (flow_msg_parse(h, &flow) && flow.mark == GATE_MARK_FLOW)
		r->fn(r->data, &flow);
	return MNL_CB_OK;
}

/*
 * Flows without a mark, which are most of them where HAProxy works, do not wake
 * anybody: the kernel looks for the attribute.
 */
static int put_filter(int fd)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_IMM,
			 NLMSG_LENGTH(sizeof(struct nfgenmsg))),
		BPF_STMT(BPF_LDX | BPF_IMM, CTA_MARK),
		BPF_STMT(BPF_LD | BPF_B | BPF_ABS, SKF_AD_OFF + SKF_AD_NLATTR),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, 0),
		BPF_STMT(BPF_RET | BPF_K, UINT32_MAX),
	};
	struct sock_fprog program = {sizeof(code) / sizeof(*code), code};

	return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program,
			  sizeof(program));
}

static int set_up(struct mnl_socket *nl)
{
	int fd = mnl_socket_get_fd(nl), on = 1;

	nfnl_widen(nl);
	return setsockopt(fd, SOL_NETLINK, NETLINK_BROADCAST_ERROR, &on,
			  sizeof(on)) < 0 ||
			       put_filter(fd) < 0
		       ? -errno
		       : 0;
}

int flows_open(struct flows *f, struct err *err)
{
	int rc;

	f->asked = nfnl_open(0);
	f->events = f->asked ? nfnl_open(GROUP_BIT) : NULL;
	rc = f->events ? set_up(f->events) : -errno;
	if (rc < 0)
		return err_set(err, rc, "netlink sockets for flows: %s",
			       strerror(-rc));
	return 0;
}

int flows_fd(const struct flows *f)
{
	return f->events ? mnl_socket_get_fd(f->events) : -1;
}

int flows_read(struct flows *f, flows_fn *fn, void *data, struct err *err)
{
	struct reader r = {fn, data};
	uint64_t lost; /* none is: the kernel keeps them, and tries again */
	int rc = nfnl_read(f->events, FLOWS_READS_MAX, take_message, &r, &lost);

	return rc < 0 ? err_set(err, rc, "flows: %s", strerror(-rc)) : 0;
}

static struct nlmsghdr *flows_question(void *room)
{
	struct nlmsghdr *h = nfnl_begin(room, NFNL_SUBSYS_CTNETLINK,
					IPCTNL_MSG_CT_GET, NLM_F_DUMP, 1);

	mnl_attr_put_u32(h, CTA_MARK, htonl(GATE_MARK_FLOW));
	mnl_attr_put_u32(h, CTA_MARK_MASK, htonl(UINT32_MAX));
	return h;
}

int flows_rest(struct flows *f, flows_fn *fn, void *data, struct err *err)
{
	struct reader r = {fn, data};
	uint64_t room[4096];
	const struct nlmsghdr *h = flows_question(room);
	unsigned port = mnl_socket_get_portid(f->asked);
	int rc = MNL_CB_OK;

	if (mnl_socket_sendto(f->asked, h, h->nlmsg_len) < 0)
		return err_set(err, -errno, "asking for flows: %s",
			       strerror(errno));
	while (rc > MNL_CB_STOP) {
		ssize_t n = mnl_socket_recvfrom(f->asked, room, sizeof(room));

		rc = n < 0 ? -1
			   : mnl_cb_run(room, (size_t)n, 1, port, take_message,
					&r);
		if (rc < 0)
			return err_set(err, -errno,
				       "the flows that are left: %s",
				       strerror(errno));
	}
	return 0;
}

bool flows_counted(void)
{
	auto_fd int fd = open(ACCT, O_RDONLY | O_CLOEXEC);
	char c = '0';

	return read(fd, &c, 1) == 1 && c == '1';
}
