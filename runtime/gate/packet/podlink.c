#include "runtime/gate/packet/podlink.h"

#include "runtime/gate/packet/link.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/rtnetlink.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

#define OWN_NETNS "/proc/self/ns/net"

static int take_fact(const struct nlmsghdr *h, void *facts)
{
	link_facts_add(facts, h);
	return MNL_CB_OK;
}

static int take_copy(const struct nlmsghdr *h, void *copy)
{
	link_copy_add(copy, h);
	return MNL_CB_OK;
}

int podlink_netns(struct err *err)
{
	int fd = open(OWN_NETNS, O_RDONLY | O_CLOEXEC);

	return fd < 0 ? err_errno(err, OWN_NETNS) : fd;
}

/* By its name, as the kernel says there; NULL: it is not. */
static const struct link_if *find_there(struct rtnl *rt, const char *name,
					struct link_facts *facts,
					struct err *err)
{
	*facts = (struct link_facts){0};
	if (rtnl_dump(rt, RTM_GETLINK, sizeof(struct ifinfomsg), take_fact,
		      facts, err) < 0)
		return NULL;
	for (uint32_t i = 0; i < facts->n_ifs; i++)
		if (strcmp(facts->ifs[i].name, name) == 0)
			return &facts->ifs[i];
	err_set(err, -ENODEV, "there is no interface %s", name);
	return NULL;
}

/* --- taking --------------------------------------------------------------- */

static int copy_link(struct podlink *l, struct err *err)
{
	struct rtnl *pod = &l->pod;
	int rc;

	if ((rc = rtnl_dump(pod, RTM_GETADDR, sizeof(struct ifaddrmsg),
			    take_copy, &l->copy, err)) < 0 ||
	    (rc = rtnl_dump(pod, RTM_GETROUTE, sizeof(struct rtmsg), take_copy,
			    &l->copy, err)) < 0 ||
	    (rc = rtnl_dump(pod, RTM_GETNEIGH, sizeof(struct ndmsg), take_copy,
			    &l->copy, err)) < 0)
		return rc;
	return l->copy.full
		       ? err_set(err, -E2BIG,
				 "the Pod's interface has too much to take along")
		       : 0;
}

static int find_wire(struct podlink *l, struct err *err)
{
	const struct link_if *found;
	const struct addr agent = link_addr(LINK_AGENT_V4);
	struct link_facts facts;
	int rc;

	found = find_there(&l->pod, LINK_AGENT_IF, &facts, err);
	if (!found && err->code != -ENODEV)
		return err->code;
	if (found) { /* one that is down has no routes */
		l->copy.index = found->index;
		if ((rc = copy_link(l, err)) < 0)
			return rc;
	}
	if (!l->copy.has_default || link_copy_has(&l->copy, &agent))
		return err_set(
			err, -ENODEV,
			"no wire here: this Pod's " LINK_AGENT_IF
			" is gone, down, or another gate's; a gate that is started again finds none, the Pod has to be made anew");
	return 0;
}

int podlink_leave(struct podlink *l, struct err *err)
{
	auto_rtnl struct rtnl rt = {0};
	int rc;

	l->netns = podlink_netns(err);
	if (l->netns < 0)
		return l->netns;
	if ((rc = rtnl_open(&l->pod, 0, err)) < 0 ||
	    (rc = find_wire(l, err)) < 0)
		return rc;
	if (unshare(CLONE_NEWNET) < 0)
		return err_errno(err, "a network for the gate");
	if ((rc = rtnl_open(&rt, 0, err)) < 0)
		return rc;
	return rtnl_set_up(&rt, if_nametoindex("lo"), true, err);
}

/* What there is of a kind; the kernel may have made it by itself. */
static int restore_kind(struct rtnl *rt, const struct link_copy *c,
			enum link_copy_kind kind, uint32_t index,
			struct err *err)
{
	static const char *const what[] = {
		[LINK_COPY_ADDRESS] = "address",
		[LINK_COPY_DIRECT] = "route",
		[LINK_COPY_ROUTE] = "route through a gateway",
		[LINK_COPY_NEIGHBOUR] = "neighbour",
	};
	const struct nlmsghdr *kept = NULL;

	while ((kept = link_copy_next(c, kind, kept))) {
		struct nlmsghdr *h = (void *)rt->room;
		int rc;

		link_copy_write(kept, index, h);
		h->nlmsg_flags = NLM_F_REQUEST | NLM_F_CREATE | NLM_F_REPLACE |
				 NLM_F_ACK;
		h->nlmsg_seq = ++rt->seq;
		rc = rtnl_talk(rt, h, NULL, NULL);
		if (rc < 0)
			return err_set(err, rc, "the Pod's interface: %s: %s",
				       what[kind], strerror(-rc));
	}
	return 0;
}

/* All that there was, at an interface that has nothing yet. */
static int restore_link(struct rtnl *rt, const struct link_copy *c,
			uint32_t index, struct err *err)
{
	int rc;

	/* Its link-local address is one of those that it had. */
	if ((rc = rtnl_no_link_local(rt, index, err)) < 0 ||
	    (rc = rtnl_set_up(rt, index, true, err)) < 0)
		return rc;
	for (unsigned kind = 0; rc == 0 && kind < LINK_COPY_KINDS; kind++)
		rc = restore_kind(rt, c, (enum link_copy_kind)kind, index, err);
	return rc;
}

int podlink_take(struct podlink *l, struct err *err)
{
	auto_fd int own = podlink_netns(err);
	auto_rtnl struct rtnl rt = {0};
	int rc;

	if (own < 0)
		return own;
	if ((rc = rtnl_open(&rt, 0, err)) < 0 ||
	    (rc = rtnl_move(&l->pod, l->copy.index, own, err)) < 0)
		return rc;
	l->taken = true;
	return restore_link(&rt, &l->copy, if_nametoindex(LINK_AGENT_IF), err);
}

int podlink_twin(const struct podlink *l, const char *near, const char *far,
		 struct rtnl *there, int netns, struct err *err)
{
	struct rtnl_pair pair = {.name = near, .other = far};
	auto_rtnl struct rtnl rt = {0};
	const struct link_if *found;
	struct link_facts facts;
	int rc = rtnl_open(&rt, 0, err);

	if (rc < 0)
		return rc;
	found = find_there(&rt, LINK_AGENT_IF, &facts, err);
	if (!found)
		return err->code;
	pair.mtu = found->mtu;
	pair.other_mac = found->mac;
	if ((rc = rtnl_make_pair(&rt, &pair, err)) < 0 ||
	    (rc = rtnl_no_link_local(&rt, if_nametoindex(near), err)) < 0 ||
	    (rc = rtnl_set_up(&rt, if_nametoindex(near), true, err)) < 0 ||
	    (rc = rtnl_move(&rt, if_nametoindex(far), netns, err)) < 0)
		return rc;
	found = find_there(there, far, &facts, err);
	return found ? restore_link(there, &l->copy, found->index, err)
		     : err->code;
}

/* --- giving back ---------------------------------------------------------- */

/* With it goes its other end, which has the name in P. */
static int remove_pair(struct rtnl *rt, struct err *err)
{
	uint32_t index = if_nametoindex(LINK_GATE_IF);
	struct nlmsghdr *h;
	struct ifinfomsg *ifi;
	int rc;

	if (!index) /* it did not come to that */
		return 0;
	h = rtnl_begin(rt, RTM_DELLINK, NLM_F_ACK);
	ifi = mnl_nlmsg_put_extra_header(h, sizeof(*ifi));
	ifi->ifi_index = (int)index;
	rc = rtnl_talk(rt, h, NULL, NULL);
	if (rc < 0)
		return err_set(err, rc, "removing " LINK_GATE_IF ": %s",
			       strerror(-rc));
	return 0;
}

int podlink_return(struct podlink *l, struct err *err)
{
	auto_rtnl struct rtnl rt = {0};
	const struct link_if *back;
	struct link_facts facts;
	uint32_t index;
	int rc;

	if (!l->taken)
		return 0;
	index = if_nametoindex(LINK_AGENT_IF);
	if ((rc = rtnl_open(&rt, 0, err)) < 0 ||
	    (rc = remove_pair(&rt, err)) < 0 ||
	    (rc = rtnl_set_up(&rt, index, false, err)) < 0 ||
	    (rc = rtnl_move(&rt, index, l->netns, err)) < 0)
		return rc;
	l->taken = false;
	back = find_there(&l->pod, LINK_AGENT_IF, &facts, err);
	if (!back)
		return err->code;
	return restore_kind(&l->pod, &l->copy, LINK_COPY_ADDRESS, back->index,
			    err);
}

int podlink_alone(struct err *err)
{
	struct link_facts facts;
	int rc = link_facts_read(&facts, err);

	for (uint32_t i = 0; rc == 0 && i < facts.n_ifs; i++) {
		const struct link_if *c = &facts.ifs[i];

		if (c->up && !c->loopback && strcmp(c->name, LINK_AGENT_IF))
			rc = err_set(
				err, -EBUSY,
				"the Pod has another interface, %s, which no policy is held on",
				c->name);
	}
	if (rc == 0 && facts.n_ifs == LINK_IFS_MAX)
		rc = err_set(err, -E2BIG, "the Pod has too many interfaces");
	return rc;
}
