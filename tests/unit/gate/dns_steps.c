/* What the resolver asks of the kernel to begin, and that none of it goes wrong
 * without a word. */
#include "runtime/gate/dns/dns_gate.h"

#include "tests/unit/gate/rooms.h"
#include "tests/unit/steps.h"

static struct dns_gate gate;

static bool new_network(void)
{
	return unshare(CLONE_NEWNET) == 0 && loopback_up();
}

static int open_both(struct err *err)
{
	const struct dns_gate_ends v4 = {"127.0.0.1", "127.0.0.2"},
				   v6 = {"::1", "::1"};

	return dns_gate_open(&gate, &v4, &v6, err);
}

static int open_door(struct err *err)
{
	const struct dns_gate_ends v4 = {"127.0.0.1", NULL};

	gate.n_door = 1;
	gate.proxy_port = 5353;
	return dns_gate_open(&gate, &v4, NULL, err);
}

/* Bursts are what comes by UDP; called where the gate is asked about. */
static bool is_widening(const struct seccomp_notif *ask)
{
	static uint64_t type;

	if (ask->data.nr == SYS_socket)
		type = ask->data.args[1] & ~(SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (strcmp(step_name(&ask->data), "widen") != 0)
		return false;
	CHECK(type == SOCK_DGRAM);
	return true;
}

/* It says no more than that it could not. */
static int ask_upstream(struct err *err)
{
	const struct addr server = {ADDR_V4, {127, 0, 0, 1}};
	static struct upstream u;
	struct dns_query q;

	upstream_init(&u, 0);
	if (!dns_msg_query_for("a.test", LDNS_RR_TYPE_A, &q))
		return err_set(err, -EINVAL, "no question");
	return upstream_ask(&u, &server, 53, &q, 0) == UPSTREAM_WAIT
		       ? 0
		       : err_set(err, -STEP_ERROR, "%s", strerror(STEP_ERROR));
}

int main(void)
{
	static const struct steps_of all[] = {
		{"dns_gate_open", new_network, open_both, " widen ", 0, NULL},
		{"dns_gate_open, a door", new_network, open_door, " widen ", 0,
		 NULL},
		{"dns_gate_open, its queues", new_network, open_both, " widen ",
		 0, is_widening},
		{"upstream_ask", new_network, ask_upstream, NULL, 0, NULL},
	};

	if (!steps_are_asked() || !enter_room())
		return NOT_HERE;
	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		steps_check(&all[i]);
	return check_status();
}
