/*
 * Whether a network namespace has a packet filter that takes rules.
 *
 * One table, as nf_tables wants it: a batch of three messages, and an answer to
 * the second. What a gate loads it loads by libnftables; membrane itself is not
 * linked with that.
 */
#include "runtime/launch/native/parts.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netlink.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#define NAME "membrane"

struct message {
	struct nlmsghdr head;
	struct nfgenmsg generic;
};

struct batch {
	struct message begin;
	struct message table;
	struct nlattr attribute;
	char name[(sizeof(NAME) + NLA_ALIGNTO - 1) / NLA_ALIGNTO * NLA_ALIGNTO];
	struct message end;
};

static struct message message_of(uint16_t type, uint16_t flags, uint32_t length,
				 uint8_t family, uint16_t id)
{
	return (struct message){
		.head = {.nlmsg_len = length,
			 .nlmsg_type = type,
			 .nlmsg_flags = (uint16_t)(NLM_F_REQUEST | flags),
			 .nlmsg_seq = 1},
		.generic = {.nfgen_family = family,
			    .version = NFNETLINK_V0,
			    .res_id = htons(id)}};
}

static struct batch batch_of_table(void)
{
	struct batch b = {
		.begin = message_of(NFNL_MSG_BATCH_BEGIN, 0,
				    sizeof(struct message), AF_UNSPEC,
				    NFNL_SUBSYS_NFTABLES),
		.table = message_of(
			NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_NEWTABLE,
			NLM_F_CREATE | NLM_F_ACK,
			sizeof(b.table) + sizeof(b.attribute) + sizeof(b.name),
			NFPROTO_INET, 0),
		.attribute = {sizeof(b.attribute) + sizeof(NAME),
			      NFTA_TABLE_NAME},
		.name = NAME,
		.end = message_of(NFNL_MSG_BATCH_END, 0, sizeof(struct message),
				  AF_UNSPEC, NFNL_SUBSYS_NFTABLES),
	};

	return b;
}

int table_try(struct err *err)
{
	auto_fd int fd =
		socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_NETFILTER);
	struct timeval wait = {2, 0};
	struct batch b = batch_of_table();
	struct {
		struct nlmsghdr head;
		struct nlmsgerr answer;
		char rest[512];
	} got;

	if (fd < 0)
		return err_errno(err, "nf_tables");
	if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait)) < 0 ||
	    send(fd, &b, sizeof(b), 0) != sizeof(b))
		return err_errno(err, "nf_tables");
	if (recv(fd, &got, sizeof(got), 0) <
	    (ssize_t)(sizeof(got.head) + sizeof(got.answer)))
		return err_set(err, -EPROTO, "nf_tables: no answer");
	if (got.head.nlmsg_type != NLMSG_ERROR || got.answer.error)
		return err_set(
			err, got.answer.error < 0 ? got.answer.error : -EPROTO,
			"a table of nf_tables: %s",
			strerror(-got.answer.error));
	return 0;
}
