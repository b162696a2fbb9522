#include "runtime/gate/uplink.h"

#include "runtime/broker/broker.h"
#include "runtime/gate/packet/link.h"

#include <errno.h>

#define AWAIT_MS 10000

int uplink_leave(struct uplink *u, struct err *err)
{
	return u->kind == UPLINK_POD ? podlink_leave(&u->pod, err) : 0;
}

/* Nothing leaves by it; what is refused needs a route to be refused on. */
static int make_sink(int broker, struct link_facts *out, bool *ipv6,
		     struct err *err)
{
	int rc;

	if (!broker_ipv6(broker, ipv6))
		return err_errno(err, "the broker of sockets");
	rc = link_sink_up(ipv6, err);
	return rc < 0 ? rc : link_facts_read(out, err);
}

static int find_facts(struct uplink *u, struct link_facts *out, bool *ipv6,
		      struct err *err)
{
	int rc = 0;

	switch (u->kind) {
	case UPLINK_SOCKETS:
		return make_sink(u->broker, out, ipv6, err);
	case UPLINK_AWAITED:
		rc = link_await_uplink(out, AWAIT_MS, err);
		break;
	case UPLINK_POD:
		rc = podlink_take(&u->pod, err);
		if (rc == 0)
			rc = link_facts_read(out, err);
		break;
	case UPLINK_THERE:
	case UPLINK_APART:
		rc = link_facts_read(out, err);
		break;
	}
	*ipv6 = rc == 0 && link_facts_ipv6(out);
	return rc;
}

int uplink_find(struct uplink *u, struct link_facts *out,
		struct names_hosts *hosts, bool *out_ipv6, struct err *err)
{
	int rc = find_facts(u, out, out_ipv6, err);

	if (rc < 0)
		return rc;
	if (!link_facts_uplink(out))
		return err_set(err, -ENETUNREACH, "no default route");
	for (uint32_t i = 0; i < out->n_gateways; i++)
		if (!names_hosts_add(hosts, &out->gateways[i]))
			return err_set(err, -E2BIG,
				       "too many addresses of the host");
	/* Nothing is forwarded, where HAProxy takes each connection. */
	return u->kind == UPLINK_APART ? 0 : link_forwarding(out_ipv6, err);
}

int uplink_return(struct uplink *u, struct err *err)
{
	return podlink_return(&u->pod, err); /* where one was taken */
}
