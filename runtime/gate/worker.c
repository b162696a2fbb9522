#include "runtime/gate/worker.h"

#include "compiler/base/sys/clock.h"
#include "compiler/plan/files.h"
#include "compiler/plan/gate.h"
#include "runtime/forward/forward.h"
#include "runtime/gate/apart.h"
#include "runtime/gate/parts.h"
#include "runtime/gate/l7/hello.h"
#include "runtime/gate/l7/haproxy_check.h"
#include "runtime/gate/l7/roots.h"
#include "runtime/gate/packet/machine.h"
#include "runtime/gate/packet/podports.h"
#include "runtime/gate/packet/ruleset.h"
#include "runtime/gate/report.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#define HELLO_WAIT_MS	   30000
#define SUPERVISOR_WAIT_MS 10000
#define ROOTS_WAIT_MS	   2000

enum slot {
	SLOT_SUPERVISOR,
	SLOT_PERMITTED,
	SLOT_REFUSED,
	SLOT_FLOWS,
	SLOT_OUT,
	SLOT_WAY,
	SLOT_L7,
	SLOT_ASKING = SLOT_L7 + L7_POLL,
	SLOT_DNS = SLOT_ASKING + ASKING_POLL,
};

/* One per process, and too large for a stack. */
static struct gate gate;

void worker_complain(const char *message)
{
	char line[RECORD_MAX];
	size_t n = record_error(message, line);

	ignore(write(STDOUT_FILENO, line, n));
}

/* --- set-up -------------------------------------------------------------- */

/* Where there is one: HAProxy asks for a channel when it starts. */
static int find_broker(struct gate *g, struct err *err)
{
	int broker = g->uplink.broker;

	if (broker && fcntl(broker, F_SETFD, FD_CLOEXEC) < 0)
		return err_errno(err, "the broker of sockets");
	/* by a proxy HAProxy itself reaches nobody */
	g->l7.ports.broker = g->now.names.proxied ? 0 : broker;
	g->dns.broker = broker;
	return 0;
}

/* Wait for one descriptor. */
static int wait_for(int fd, int64_t deadline_ms, struct err *err)
{
	struct pollfd p = {fd, POLLIN, 0};
	int64_t left_ms;
	int n;

	do {
		left_ms = deadline_ms - clock_ms();
		n = left_ms > 0 ? poll(&p, 1, (int)left_ms) : 0;
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return err_set(err, -errno, "poll: %s", strerror(errno));
	return n ? 0 : err_set(err, -ETIMEDOUT, "timed out");
}

static int hear_launcher(struct gate *g, struct err *err)
{
	int64_t deadline_ms = clock_ms() + HELLO_WAIT_MS;
	static char line[HELLO_BYTES_MAX];
	char last = '\0';
	size_t n = 0;
	int rc;

	while (last != '\n') {
		ssize_t got;

		if ((rc = wait_for(STDIN_FILENO, deadline_ms, err)) < 0)
			return err_while(err, "the launcher's line");
		got = read(STDIN_FILENO, line + n, sizeof(line) - n);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return err_set(err, -EPROTO,
				       "the launcher's line: no whole line");
		n += (size_t)got;
		last = line[n - 1];
	}
	rc = hello_parse((struct str){line, n - 1}, &g->hosts,
			 &g->l7.credentials, err);
	explicit_bzero(line, n);
	return rc < 0 ? err_while(err, "the launcher's line") : 0;
}

static int read_hello(struct gate *g, const struct worker_args *args,
		      struct err *err)
{
	return uplink_of_pod(args->uplink)
		       ? hello_pod(args->secrets, &g->hosts,
				   &g->l7.credentials, err)
		       : hear_launcher(g, err);
}

static int tell_supervisor(const struct worker_args *args,
			   enum worker_word word, bool ipv6, struct err *err)
{
	struct worker_msg m = {.word = (uint8_t)word, .ipv6 = ipv6};

	if (send(args->supervisor, &m, sizeof(m), MSG_NOSIGNAL) != sizeof(m))
		return err_set(err, -EPIPE, "the supervisor is gone");
	return 0;
}

static int hear_msg(const struct worker_args *args, enum worker_word word,
		    struct worker_msg *out, struct err *err)
{
	struct worker_msg m;
	int rc = wait_for(args->supervisor, clock_ms() + SUPERVISOR_WAIT_MS,
			  err);

	if (rc < 0)
		return err_while(err, "waiting for the agent's end");
	if (recv(args->supervisor, &m, sizeof(m), 0) != sizeof(m) ||
	    m.word != word)
		return err_set(err, -EPIPE, "the supervisor is gone");
	*out = m;
	return 0;
}

static int hear_word(const struct worker_args *args, enum worker_word word,
		     struct err *err)
{
	struct worker_msg ignored;

	return hear_msg(args, word, &ignored, err);
}

/* The kernel holds what was reviewed. */
static int verify_filter(struct gate *g, struct err *err)
{
	return ruleset_verify(g->now.ruleset, err) < 0
		       ? err_while(err, PLAN_RULESET)
		       : 0;
}

static int make_link(struct gate *g, const struct worker_args *args, bool ipv6,
		     struct err *err)
{
	int rc;

	if (args->vectors.link == PLANFILE_BRIDGE) {
		rc = verify_filter(g, err);
		return rc < 0 ? rc : link_bridge_up(ipv6, err);
	}
	if ((rc = hear_word(args, WORKER_AGENT, err)) < 0 ||
	    (rc = link_gate_up(getppid(), link_facts_uplink(&g->facts)->mtu,
			       ipv6, err)) < 0 ||
	    (rc = tell_supervisor(args, WORKER_LINK, ipv6, err)) < 0 ||
	    /* while the other makes the agent's end */
	    (rc = verify_filter(g, err)) < 0)
		return rc;
	return hear_msg(args, WORKER_UP, &g->agent, err);
}

/* After the link: what the agent sends there finds its way by then. */
static int open_machine(struct gate *g, const struct worker_args *args,
			struct err *err)
{
	const struct planfile_ports *ports = &args->vectors.host;
	struct addr addr;
	int rc;

	/* Records have its name, whether that was asked for or not. */
	if (addr_parse(STR(LINK_MACHINE_V4), &addr))
		resolved_addr(&g->seen, STR(LINK_MACHINE_NAME), &addr);

	rc = machine_open(ports->v, ports->n, GATE_PORTS, err);
	return rc < 0 ? err_while(err, "ports of the host") : 0;
}

static void find_asked(void *data, const char *name, bool private_ok,
		       const struct addr *addr)
{
	struct gate *g = data;

	asking_found(&g->asking, name, private_ok, addr);
}

static void init_resolver(struct gate *g, bool ipv6)
{
	resolved_init(&g->seen);
	g->dns.names = &g->now.names;
	g->dns.hosts = &g->hosts;
	g->dns.seen = &g->seen;
	g->dns.pins = &g->l7.pins;
	g->dns.on_record = report_record;
	g->dns.on_answer = report_answer;
	g->dns.on_error = report_error;
	g->dns.on_found = find_asked;
	g->dns.data = g;
	g->dns.ipv6 = ipv6;
}

static int open_resolver(struct gate *g, bool ipv6, struct err *err)
{
	static const struct dns_gate_ends v4 = {LINK_GATE_V4, LINK_AGENT_V4},
					  v6 = {LINK_GATE_V6, LINK_AGENT_V6};
	int rc;

	init_resolver(g, ipv6);
	g->dns.sets = &g->sets;
	g->counted = flows_counted();
	if ((rc = nftset_open(&g->sets, err)) < 0 ||
	    (rc = nflog_open(&g->permitted, GATE_LOG_GRANTED, err)) < 0 ||
	    (rc = nflog_open(&g->refused, GATE_LOG_REFUSED, err)) < 0 ||
	    (rc = flows_open(&g->flows, err)) < 0)
		return rc;
	return dns_gate_open(&g->dns, &v4, ipv6 ? &v6 : NULL, err);
}

/* Once is enough. */
static int take_standins(struct gate *g, struct err *err)
{
	int rc = g->standins ? 0 : standins_new(&g->standins, err);

	g->dns.standins = g->standins;
	return rc;
}

/* Where something is asked about, for an HAProxy that is about to start. */
static int open_asking(struct gate *g, const struct names_map *names,
		       struct err *err)
{
	int rc;

	if (!names->n_ask)
		return 0;
	g->asking.names = &g->now.names;
	g->asking.dns = &g->dns;
	g->asking.l7 = &g->l7;
	g->asking.on_question = report_question;
	g->asking.on_answered = report_answered;
	g->asking.data = g;
	if ((rc = take_standins(g, err)) == 0)
		rc = asking_open(&g->asking, GATE_ASK, err);
	return rc < 0 ? err_while(err, "asking people") : 0;
}

/* Before HAProxy, which passes on to it. */
static int open_way(struct gate *g, struct err *err)
{
	struct onward_proxy proxy = {.addr = g->hosts.proxy,
				     .port = g->hosts.proxy_port,
				     .broker = g->dns.broker,
				     .past = &g->now.names.past};
	int rc;

	g->way.pidfd = -1;
	if (!g->now.names.proxied)
		return 0;
	if (!g->hosts.proxy_port)
		return err_set(
			err, -EPROTO,
			"the plan leaves by a proxy, and nobody has named one");
	g->hosts.resolver = g->now.names.upstream_addr;
	g->hosts.resolver_port = g->now.names.upstream_port;
	snprintf(proxy.login, sizeof(proxy.login), "%s",
		 g->l7.credentials.login);
	if ((rc = take_standins(g, err)) == 0 && (rc = l7_failures(err)) == 0)
		rc = onward_start(&proxy, g->standins, &g->way, err);
	explicit_bzero(&proxy, sizeof(proxy));
	return rc < 0 ? err_while(err, "the way to the proxy") : 0;
}

static int start_l7(struct gate *g, struct err *err)
{
	int rc;

	l7_init(&g->l7);
	g->l7.names = &g->now.names;
	g->l7.on_line = report_logline;
	g->l7.on_lost = report_lost;
	g->l7.on_error = report_error;
	g->l7.on_renewal = report_renewal;
	g->l7.data = g;
	if (roots_added() && ((rc = roots_write(true, err)) < 0 ||
			      (rc = l7_authority(&g->l7, err)) < 0))
		return rc;
	rc = l7_start(&g->l7, err);
	/* in a Pod all waits for it: what is not its is made meanwhile */
	return rc == 0 && uplink_of_pod(g->uplink.kind) ? l7_begin(&g->l7, err)
							: rc;
}

/* Deny first: the ruleset is in the kernel before there is a link. */
static int make_filter(struct gate *g, struct err *err)
{
	return ruleset_load(g->now.ruleset, err) < 0
		       ? err_while(err, PLAN_RULESET)
		       : 0;
}

static int fill_filter(struct gate *g, bool ipv6, struct err *err)
{
	int rc = ruleset_hosts(g->now.ruleset, &g->hosts, err);

	malloc_trim(0); /* what libnftables took is not needed again */
	return rc == 0 && g->l7.plan.wanted && ipv6 ? link_tproxy_up(err) : rc;
}

/* What a launcher would do for the agent: what it trusts, and ways in. */
static int open_pod(struct gate *g, const struct worker_args *args,
		    struct err *err)
{
	const struct planfile_ports *ports = &args->vectors.published;
	int rc = 0;

	if (args->roots)
		rc = roots_share(args->roots, &g->l7.ca, err);
	if (rc == 0)
		rc = podports_open(&g->uplink.pod, ports->v, ports->n,
				   g->pod_ports, err);
	return rc;
}

/*
 * Where the agent is in another Pod nothing is filtered or joined: HAProxy and
 * the resolver listen at this Pod's address, and names lead there.
 */
static int set_up_apart(struct gate *g, const struct worker_args *args,
			bool *out_ipv6, struct err *err)
{
	static const struct dns_gate_ends v4 = {"0.0.0.0", NULL},
					  v6 = {"::", NULL};
	int rc;

	if ((rc = uplink_find(&g->uplink, &g->facts, &g->hosts, out_ipv6,
			      err)) < 0 ||
	    (rc = apart_hosts(&args->vectors, &g->hosts, err)) < 0)
		return rc;
	g->l7.ports.own = true;
	g->l7.ports.ipv6 = *out_ipv6;
	g->l7.ports.family = apart_family(&g->facts);
	g->dns.door = args->vectors.door;
	g->dns.n_door = args->vectors.n_door;
	g->dns.proxy_port = GATE_PORT_NAMES;
	if ((rc = start_l7(g, err)) < 0)
		return rc;
	init_resolver(g, *out_ipv6);
	return dns_gate_open(&g->dns, &v4, *out_ipv6 ? &v6 : NULL, err);
}

/*
 * HAProxy takes longest: its ports are there, and it starts once the agent may
 * begin, too.
 */
static int set_up_linked(struct gate *g, const struct worker_args *args,
			 bool *out_ipv6, struct err *err)
{
	int rc;

	if ((rc = start_l7(g, err)) < 0 || (rc = make_filter(g, err)) < 0 ||
	    (rc = uplink_find(&g->uplink, &g->facts, &g->hosts, out_ipv6,
			      err)) < 0 ||
	    (rc = fill_filter(g, *out_ipv6, err)) < 0 ||
	    (rc = make_link(g, args, *out_ipv6, err)) < 0 ||
	    (rc = open_resolver(g, *out_ipv6, err)) < 0)
		return rc;
	return open_machine(g, args, err);
}

static int set_up(struct gate *g, const struct worker_args *args,
		  bool *out_ipv6, struct err *err)
{
	bool apart = args->uplink == UPLINK_APART;
	int rc;

	if ((rc = uplink_leave(&g->uplink, err)) < 0 ||
	    (rc = generation_load(args->plan, !apart, args->resolver, &g->now,
				  &g->l7.plan, err)) < 0 ||
	    (rc = read_hello(g, args, err)) < 0 ||
	    (rc = find_broker(g, err)) < 0 || (rc = open_way(g, err)) < 0 ||
	    (rc = open_asking(g, &g->now.names, err)) < 0)
		return rc;
	rc = apart ? set_up_apart(g, args, out_ipv6, err)
		   : set_up_linked(g, args, out_ipv6, err);
	/* In a Pod others hear of "ready", too, and a trial is all there is of
	 * it. Else the agent may begin: what goes by HAProxy waits in the
	 * queues of its ports until that serves. */
	if (rc == 0 &&
	    (uplink_of_pod(args->uplink) || g->l7.credentials.trial))
		rc = l7_wait(&g->l7, err);
	if (rc < 0 ||
	    (args->uplink == UPLINK_POD && (rc = open_pod(g, args, err)) < 0))
		return rc;
	return caps_drop(apart ? CAPS_NONE : CAPS_GATE, err);
}

/* The roots that HAProxy trusts, so that the agent can trust no fewer. */
static int tell_roots(struct gate *g, struct err *err)
{
	char line[RECORD_MAX];
	struct str roots, rest;
	int rc = roots_added()
			 ? planfile_read(GATE_DIR, "roots.pem", &roots, err)
			 : planfile_read(ROOTS_DIR, ROOTS_FILE, &roots, err);

	for (rest = roots; rc == 0 && rest.n;) {
		struct str piece = str_slice(rest, 0, RECORD_ROOTS_MAX);

		outlog_line(&g->out, line, record_roots(piece, line));
		outlog_drain(&g->out, ROOTS_WAIT_MS);
		rest = str_slice(rest, piece.n, rest.n);
	}
	if (rc == 0)
		planfile_free(roots);
	return rc;
}

/*
 * The agent trusts the session's CA from its first moment on; with roots
 * beside the system's also where nothing is decrypted yet.
 */
static int tell_ready(struct gate *g, bool ipv6, int64_t ms, struct err *err)
{
	char line[RECORD_MAX], ca[CA_CERT_MAX];
	bool pod = uplink_of_pod(g->uplink.kind);
	/* in a Pod nobody reads it for the agent: roots_share() */
	bool tells = !pod && (g->l7.plan.decrypts || roots_added());
	int rc = 0;

	if (tells && ((rc = tell_roots(g, err)) < 0 ||
		      (rc = ca_pem(&g->l7.ca, ca, err)) < 0))
		return rc;
	outlog_line(&g->out, line,
		    record_ready(
			    &(struct record_ready){
				    .ipv6 = ipv6,
				    .ms = ms,
				    .ca = tells ? ca : NULL,
				    .session = pod ? hello_pod_session() : NULL,
				    .netns = g->agent.netns,
				    .pidns = g->agent.pidns},
			    line));
	outlog_drain(&g->out, REPORT_DRAIN_MS);
	return 0;
}

/* --- the loop ------------------------------------------------------------ */

static int read_nflog(struct gate *g, struct nflog *from, struct err *err)
{
	uint64_t lost;
	int rc = nflog_read(from, report_packet, g, &lost, err);

	if (lost)
		outlog_lost(&g->out, lost);
	return rc;
}

static int read_nflogs(struct gate *g, struct err *err)
{
	int rc = read_nflog(g, &g->permitted, err);

	return rc < 0 ? rc : read_nflog(g, &g->refused, err);
}

/* b: -1 where it has no time. */
static int sooner(int a, int b)
{
	return b >= 0 && b < a ? b : a;
}

static int wait_ms(const struct gate *g, int64_t now_ms)
{
	int least = dns_gate_wait_ms(&g->dns, now_ms);
	int out = outlog_wait_ms(&g->out, now_ms);

	least = sooner(least, l7_wait_ms(&g->l7, now_ms));
	least = sooner(least, change_wait_ms(&g->change));
	least = sooner(least, asking_wait_ms(&g->asking, now_ms));
	/* What is due waits for the launcher, not for a time. */
	return out > 0 ? sooner(least, out) : least;
}

/* --- another plan -------------------------------------------------------- */

static int settle_records(void *data, struct err *err)
{
	struct gate *g = data;

	(void)l7log_read(&g->l7.log, g->l7.on_line, g->l7.data);
	return read_nflogs(g, err);
}

static void resume_asking(void *data, int64_t now_ms)
{
	struct gate *g = data;

	asking_changed(&g->asking, now_ms);
}

static void init_change(struct gate *g, const struct worker_args *args)
{
	g->change = (struct change){.plan = args->plan,
				    .resolver = args->resolver,
				    .now = &g->now,
				    .l7 = &g->l7,
				    .dns = &g->dns,
				    .settle = settle_records,
				    .on_applied = resume_asking,
				    .data = g};
}

/* why_not NULL: it was done. */
static void tell_change(struct gate *g, uint32_t number, int64_t begun_ms,
			const char *why_not)
{
	char line[RECORD_MAX];

	outlog_line(&g->out, line,
		    record_change(
			    &(struct record_change){.generation = number,
						    .ms = clock_ms() - begun_ms,
						    .why_not = why_not},
			    line));
}

static void begin_change(struct gate *g, const struct worker_msg *m)
{
	int64_t now_ms = clock_ms();
	struct err err;
	int rc = change_begin(&g->change, m->generation, m->cut, now_ms, &err);

	if (rc == 0) {
		g->asked = m->generation;
		rc = open_asking(g, &g->change.next.names, &err);
		if (rc < 0)
			change_drop(&g->change);
	}
	if (rc < 0)
		tell_change(g, m->generation, now_ms, err.text);
}

/* True when it cannot be what the launcher says. */
static bool take_renewed(struct gate *g, char *text, size_t n)
{
	struct err err;
	int rc = l7_renewed(&g->l7, (struct str){text, n}, &err);

	explicit_bzero(text, n);
	if (rc < 0)
		report_error(g, err.text);
	return rc < 0;
}

/* False when it is nothing that the launcher says. */
static bool take_told(struct gate *g, const struct worker_msg *m)
{
	switch ((enum worker_word)m->word) {
	case WORKER_CHANGE:
		begin_change(g, m);
		return true;
	case WORKER_LISTENS:
		asking_listens(&g->asking, m->listens);
		return true;
	case WORKER_ANSWER:
		asking_answer(&g->asking, m->question, (enum asking_end)m->end,
			      clock_ms());
		return true;
	case WORKER_AGENT:
	case WORKER_LINK:
	case WORKER_UP:
	case WORKER_READY:
	case WORKER_OPEN:
	case WORKER_RENEWED:
		break;
	}
	return false;
}

/* True when the supervisor is gone, or wants the session to end. */
static bool on_supervisor(struct gate *g, const struct worker_args *args)
{
	static char got[sizeof(struct worker_msg) + GATE_RENEWED_MAX];
	ssize_t n = recv(args->supervisor, got, sizeof(got), 0);
	struct worker_msg m;

	if (n < (ssize_t)sizeof(m))
		return true;
	memcpy(&m, got, sizeof(m));
	if (m.word == WORKER_RENEWED)
		return take_renewed(g, got + sizeof(m), (size_t)n - sizeof(m));
	return n != sizeof(m) || !take_told(g, &m);
}

/* Negative: neither plan is enforced as it should be. It may be on its way. */
static int go_on(struct gate *g, struct err *err)
{
	int rc = change_step(&g->change, clock_ms(), err);

	if (rc != 1 && rc != -ECANCELED)
		return rc;
	tell_change(g, g->asked, g->change.begun_ms,
		    rc == 1 ? NULL : err->text);
	return 0;
}

static int serve_session(struct gate *g, const struct worker_args *args,
			 struct err *err)
{
	struct pollfd p[SLOT_DNS + DNS_GATE_POLL];

	for (;;) {
		int64_t now_ms = clock_ms();

		p[SLOT_SUPERVISOR] =
			(struct pollfd){args->supervisor, POLLIN, 0};
		p[SLOT_PERMITTED] =
			(struct pollfd){nflog_fd(&g->permitted), POLLIN, 0};
		p[SLOT_REFUSED] =
			(struct pollfd){nflog_fd(&g->refused), POLLIN, 0};
		p[SLOT_FLOWS] = (struct pollfd){flows_fd(&g->flows), POLLIN, 0};
		p[SLOT_OUT] = (struct pollfd){
			outlog_wait_ms(&g->out, now_ms) == 0 ? g->out.fd : -1,
			POLLOUT, 0};
		p[SLOT_WAY] = (struct pollfd){g->way.pidfd, POLLIN, 0};
		l7_poll(&g->l7, p + SLOT_L7);
		asking_poll(&g->asking, p + SLOT_ASKING);
		dns_gate_poll(&g->dns, p + SLOT_DNS);
		if (poll(p, ARRAY_LEN(p), wait_ms(g, now_ms)) < 0 &&
		    errno != EINTR)
			return err_set(err, -errno, "poll: %s",
				       strerror(errno));
		if (p[SLOT_SUPERVISOR].revents && on_supervisor(g, args))
			return 0;
		if (p[SLOT_WAY].revents)
			return err_set(err, -EPIPE,
				       "the way to the proxy ended");
		if ((p[SLOT_PERMITTED].revents || p[SLOT_REFUSED].revents) &&
		    read_nflogs(g, err) < 0)
			return err->code;
		if (p[SLOT_FLOWS].revents &&
		    flows_read(&g->flows, report_flow, g, err) < 0)
			return err->code;
		if (l7_step(&g->l7, p + SLOT_L7, clock_ms(), err) < 0)
			return err->code;
		if (go_on(g, err) < 0)
			return err->code;
		report_idle(g, clock_ms());
		asking_step(&g->asking, p + SLOT_ASKING, clock_ms());
		dns_gate_step(&g->dns, p + SLOT_DNS, clock_ms());
		if (p[SLOT_OUT].revents)
			outlog_write(&g->out);
		report_folded(g);
	}
}

/* The session may begin; in a Pod the fence goes now, and the ports are
 * PID 1's. */
static int begin_session(struct gate *g, const struct worker_args *args,
			 bool ipv6, struct err *err)
{
	uint32_t n = args->vectors.published.n;
	int rc = tell_supervisor(args, WORKER_READY, ipv6, err);

	if (rc < 0 || !uplink_of_pod(args->uplink))
		return rc;
	if (n)
		rc = forward_hand(args->supervisor, g->pod_ports, n, err);
	for (uint32_t i = 0; i < n; i++)
		close(g->pod_ports[i]);
	return rc < 0 ? rc : hear_word(args, WORKER_OPEN, err);
}

/* Of what was forwarded; asking for what is left walks a table that all of the
 * machine's networks share. */
static int end_flows(struct gate *g, struct err *err)
{
	int rc = flows_read(&g->flows, report_flow, g, err);

	return rc < 0 ? rc : flows_rest(&g->flows, report_rest, g, err);
}

static int end_packets(struct gate *g, struct err *err)
{
	int rc;

	if ((rc = link_gate_down(err)) < 0 || (rc = read_nflogs(g, err)) < 0)
		return rc;
	return g->uplink.broker ? 0 : end_flows(g, err);
}

/* The link goes first, the rules with the namespace. */
static void end_session(struct gate *g)
{
	char line[RECORD_MAX];
	struct err err;

	if (g->uplink.kind != UPLINK_APART && end_packets(g, &err) < 0)
		report_error(g, err.text);
	l7_end(&g->l7);
	if (uplink_return(&g->uplink, &err) < 0)
		report_error(g, err.text);
	report_idle(g, INT64_MAX);
	outlog_finish(&g->out);
	report_folded(g);
	outlog_line(&g->out, line, record_done(line));
	outlog_finish(&g->out);
}

int worker_run(const struct worker_args *args)
{
	struct gate *g = &gate;
	bool ipv6 = false;
	struct err err, last;
	int rc;

	/* A supervisor that died before this is seen as a closed pair. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	g->out.fd = STDOUT_FILENO;
	g->uplink.kind = args->uplink;
	g->uplink.broker = args->broker;
	if (set_up(g, args, &ipv6, &err) < 0 ||
	    begin_session(g, args, ipv6, &err) < 0 ||
	    tell_ready(g, ipv6, clock_ms() - args->start_ms, &err) < 0) {
		worker_complain(err.text);
		if (uplink_return(&g->uplink, &last) < 0)
			worker_complain(last.text);
		return 1;
	}
	init_change(g, args);
	rc = serve_session(g, args, &err);
	if (rc < 0)
		report_error(g, err.text);
	end_session(g);
	return rc < 0;
}

int worker_check(const char *plan)
{
	struct addr unknown = {.family = ADDR_V4};
	struct planfile_vectors v;
	struct gate *g = &gate;
	struct err err;

	/* nothing is asked here */
	if (planfile_vectors(plan, &v, &err) == 0 &&
	    generation_load(plan, v.link != PLANFILE_APART, &unknown, &g->now, &g->l7.plan, &err) == 0 &&
	    (v.link == PLANFILE_APART ||
	     ruleset_check(g->now.ruleset, &err) == 0) &&
	    haproxy_check_plan(&g->l7.plan, plan, &err) == 0)
		return 0;
	worker_complain(err.text);
	return 1;
}
