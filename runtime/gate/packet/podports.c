#include "runtime/gate/packet/podports.h"

#include "compiler/base/limits.h"
#include "runtime/gate/packet/link.h"
#include "runtime/gate/packet/ruleset.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/rtnetlink.h>
#include <netinet/in.h>
#include <sched.h>
#include <string.h>
#include <sys/socket.h>

#define NAME	  "ports"
#define NEAR_IF	  "ports0" /* in the gate's namespace */
#define FAR_IF	  "ports1"
#define BACKLOG	  128
#define FLOWS_LOW 1024u /* what flows from inside may have out there */

/* --- the tables ----------------------------------------------------------- */

static void add_ports(const char *before, const uint16_t *ports, uint32_t n,
		      const char *behind, struct buf *out)
{
	buf_adds(out, before);
	if (n > 1)
		buf_adds(out, "{ ");
	for (uint32_t i = 0; i < n; i++)
		buf_addf(out, "%s%u", i ? ", " : "", ports[i]);
	buf_adds(out, n > 1 ? " } " : " ");
	buf_adds(out, behind);
	buf_addc(out, '\n');
}

/* Both sides ask who has an address, and hear it by the same interface. */
void podports_frames(const uint16_t *ports, uint32_t n, struct buf *out)
{
	buf_adds(
		out,
		"table netdev " NAME " {\n"
		"	chain in {\n"
		"		type filter hook ingress device \"" LINK_AGENT_IF
		"\" priority filter; policy accept;\n");
	add_ports("		tcp dport ", ports, n, "fwd to \"" NEAR_IF "\"",
		  out);
	buf_adds(
		out,
		"		arp operation reply dup to \"" NEAR_IF "\"\n"
		"		icmp type destination-unreachable dup to \"" NEAR_IF
		"\"\n"
		"		icmpv6 type { packet-too-big, nd-neighbor-advert } dup to \"" NEAR_IF
		"\"\n"
		"	}\n"
		"\n"
		"	chain out {\n"
		"		type filter hook ingress device \"" NEAR_IF
		"\" priority filter; policy drop;\n");
	add_ports("		tcp sport ", ports, n,
		  "fwd to \"" LINK_AGENT_IF "\"", out);
	buf_adds(
		out,
		"		arp operation request fwd to \"" LINK_AGENT_IF
		"\"\n"
		"		icmpv6 type nd-neighbor-solicit fwd to \"" LINK_AGENT_IF
		"\"\n"
		"	}\n"
		"}\n");
}

/* The widest range without any of them; there is always one. */
static void find_range(const uint16_t *ports, uint32_t n, uint32_t *out_from,
		       uint32_t *out_to)
{
	uint32_t from = FLOWS_LOW, widest = 0;

	for (uint32_t i = 0; i <= n; i++) {
		uint32_t to = i < n ? ports[i] - 1u : UINT16_MAX;

		if (to + 1u > from + widest) {
			widest = to + 1u - from;
			*out_from = from;
			*out_to = to;
		}
		if (i < n && ports[i] >= FLOWS_LOW)
			from = ports[i] + 1u;
	}
}

/* What begins inside with such a port has another one out there: an answer to
 * it would be taken for somebody who wants in. */
void podports_flows(const uint16_t *ports, uint32_t n, struct buf *out)
{
	uint32_t from = 0, to = 0;

	find_range(ports, n, &from, &to);
	buf_adds(
		out,
		"table inet " NAME " {\n"
		"	chain postrouting {\n"
		"		type nat hook postrouting priority srcnat - 10; policy accept;\n"
		"		oifname != \"" LINK_AGENT_IF "\" accept\n");
	add_ports("		tcp sport ", ports, n, "", out);
	out->n -= 2; /* the blank, and the line's end */
	buf_addf(out, " masquerade to :%u-%u\n	}\n}\n", from, to);
}

static int load_tables(const uint16_t *ports, uint32_t n, struct err *err)
{
	struct arena *a = arena_new();
	struct buf frames, flows;
	int rc;

	buf_init(&frames, a);
	buf_init(&flows, a);
	podports_frames(ports, n, &frames);
	podports_flows(ports, n, &flows);
	rc = ruleset_put("netdev " NAME,
			 str_of(arena_cstr(a, buf_str(&frames))), err);
	if (rc == 0)
		rc = ruleset_put("inet " NAME,
				 str_of(arena_cstr(a, buf_str(&flows))), err);
	arena_free(a);
	return rc;
}

/* --- the third namespace -------------------------------------------------- */

/* Both families, where there are two. */
static int listen_on(uint16_t port, int *out, struct err *err)
{
	union {
		struct sockaddr any;
		struct sockaddr_in four;
		struct sockaddr_in6 six;
	} at = {.six = {.sin6_family = AF_INET6, .sin6_port = htons(port)}};
	auto_fd int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int off = 0;

	if (fd < 0) {
		fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		at.four.sin_family = AF_INET; /* the port is in one place */
	} else if (setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off,
			      sizeof(off)) < 0) {
		return err_errno(err, "a port of the Pod");
	}
	if (fd < 0 || bind(fd, &at.any, sizeof(at)) < 0 ||
	    listen(fd, BACKLOG) < 0)
		return err_set(err, -errno, "port %u of the Pod: %s", port,
			       strerror(errno));
	*out = fd;
	fd = -1;
	return 0;
}

/* The namespace lives as long as a socket of it does. */
static int listen_beside(const uint16_t *ports, uint32_t n, int *out_fds,
			 struct rtnl *there, int *out_netns, struct err *err)
{
	auto_fd int own = podlink_netns(err);
	uint32_t made = 0;
	int rc;

	if (own < 0)
		return own;
	if (unshare(CLONE_NEWNET) < 0)
		return err_errno(err, "a network for ports of the Pod");
	rc = *out_netns = podlink_netns(err);
	if (rc >= 0)
		rc = rtnl_open(there, 0, err);
	for (; rc == 0 && made < n; made += rc == 0)
		rc = listen_on(ports[made], &out_fds[made], err);
	while (rc < 0 && made)
		close(out_fds[--made]);
	/* Anywhere else nothing of this process may go on. */
	if (setns(own, CLONE_NEWNET) < 0)
		return err_errno(err, "back from the network for ports");
	return rc;
}

int podports_open(const struct podlink *l, const uint16_t *ports, uint32_t n,
		  int *out_fds, struct err *err)
{
	auto_rtnl struct rtnl there = {0};
	auto_fd int netns = -1;
	int rc;

	if (n == 0)
		return 0;
	if (n > LIMIT_PUBLISHED)
		return err_set(err, -EPROTO, "too many published ports");
	rc = listen_beside(ports, n, out_fds, &there, &netns, err);
	if (rc < 0)
		return rc;
	rc = podlink_twin(l, NEAR_IF, FAR_IF, &there, netns, err);
	if (rc == 0)
		rc = load_tables(ports, n, err);
	for (uint32_t i = 0; rc < 0 && i < n; i++)
		close(out_fds[i]);
	return rc;
}
