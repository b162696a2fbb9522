#include "runtime/gate/worker.h"

#include "runtime/gate/caps.h"
#include "runtime/gate/change.h"
#include "runtime/gate/clock.h"
#include "runtime/gate/dns_gate.h"
#include "runtime/gate/flows.h"
#include "runtime/gate/hello.h"
#include "runtime/gate/l7.h"
#include "runtime/gate/link.h"
#include "runtime/gate/nflog.h"
#include "runtime/gate/onward.h"
#include "runtime/gate/outlog.h"
#include "runtime/gate/ruleset.h"
#include "runtime/gate/trial.h"

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#define HELLO_WAIT_MS	   30000
#define SUPERVISOR_WAIT_MS 10000
#define DRAIN_MS	   100 /* what is left to tell when the session ends */
#define ROOTS_WAIT_MS	   2000
#define CUT_PATH_BYTES	   160

enum slot {
	SLOT_SUPERVISOR,
	SLOT_NFLOG,
	SLOT_FLOWS,
	SLOT_OUT,
	SLOT_L7,
	SLOT_DNS = SLOT_L7 + L7_POLL,
};

struct gate {
	struct worker_msg agent; /* its namespaces, for a tracer */
	struct generation now;
	struct change change;
	uint32_t asked; /* the generation that it is to be */
	struct names_hosts hosts;
	struct link_facts facts;
	struct nftset sets;
	struct seen seen;
	struct dns_gate dns;
	struct l7 l7;
	struct nflog nflog;
	struct flows flows;
	bool counted; /* the kernel counts the bytes of flows */
	struct outlog out;
	struct onward onward;
	uint64_t answers_lost; /* not yet told */
};

/* One per process, and too large for a stack. */
static struct gate gate;

void worker_complain(const char *message)
{
	char line[RECORD_MAX];
	size_t n = record_error(message, line);

	(void)!write(STDOUT_FILENO, line, n);
}

/* --- records ------------------------------------------------------------- */

static void on_record(void *data, const struct record *given)
{
	struct gate *g = data;
	struct record r = *given;
	char line[RECORD_MAX];
	struct logline cut;
	size_t n;

	clock_gettime(CLOCK_REALTIME, &r.time);
	if (!r.generation)
		r.generation = g->now.number;
	if (r.id.n)
		r.rule = provenance_find(&g->now.provenance, r.id);
	n = record_decision(&r, line);
	if (n == 0 && r.flow) {
		/* A long path is better cut than the record lost. */
		cut = *r.flow;
		snprintf(cut.path, sizeof(cut.path), "%.*s", CUT_PATH_BYTES,
			 r.flow->path);
		r.flow = &cut;
		n = record_decision(&r, line);
	}
	outlog_line(&g->out, line, n);
}

/* Never in the way of a decision. */
static void on_answer(void *data, const struct record_answer *given)
{
	struct gate *g = data;
	struct record_answer r = *given;
	char line[RECORD_MAX];
	size_t n;

	if (!outlog_has_room(&g->out)) {
		g->answers_lost++;
		return;
	}
	if (g->answers_lost)
		outlog_line(&g->out, line,
			    record_answers_lost(g->answers_lost, line));
	g->answers_lost = 0;
	clock_gettime(CLOCK_REALTIME, &r.time);
	n = record_answer(&r, line);
	if (n)
		outlog_line(&g->out, line, n);
	else
		g->answers_lost++;
}

static void on_flow(void *data, const struct flow *flow)
{
	struct gate *g = data;
	char line[RECORD_MAX];
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	outlog_line(&g->out, line, record_end(flow, &now, line));
}

/* At the end there may be many at once, and nothing else to wait for. */
static void on_rest(void *data, const struct flow *flow)
{
	struct gate *g = data;

	if (!outlog_has_room(&g->out))
		outlog_drain(&g->out, DRAIN_MS);
	on_flow(g, flow);
}

static void on_lost(void *data, uint64_t n)
{
	struct gate *g = data;

	outlog_lost(&g->out, n);
}

static void on_error(void *data, const char *message)
{
	struct gate *g = data;
	char line[RECORD_MAX];

	outlog_line(&g->out, line, record_error(message, line));
}

/* Does one of the line's classes hold the packet's port? */
static bool line_permits(const struct gate *g, const struct names_line *line,
			 const struct packet *p)
{
	const struct names_classes *c = &line->classes;

	for (unsigned k = names_class_next(c, 1); k;
	     k = names_class_next(c, k + 1))
		if (p->has_port &&
		    classes_have(&g->now.classes, k, p->proto, p->dport))
			return true;
	return false;
}

/*
 * The grant behind the names that led to an address: one that has the port,
 * else the first of the newest name.
 */
static struct str grant_of(const struct gate *g, const struct record *r,
			   const struct packet *p, bool only_permitting)
{
	struct str first = {0};

	for (unsigned k = 0; k < r->n_names; k++) {
		struct names_match m;

		if (!names_match(&g->now.names, str_of(r->names[k]), &m))
			continue;
		for (uint32_t i = 0; i < m.n_lines && i < NAMES_MATCH_MAX; i++)
			if (line_permits(g, m.lines[i], p))
				return m.lines[i]->id;
		if (!first.n)
			first = m.lines[0]->id;
	}
	return only_permitting ? (struct str){0} : first;
}

static struct str packet_rule(const struct gate *g, char kind, bool net,
			      const struct packet *p)
{
	const struct provenance_rule *rule =
		provenance_packet(&g->now.provenance, kind, p);

	return rule && (rule->is_net || !net) ? str_of(rule->id)
					      : (struct str){0};
}

/* What let it pass, in the order of the packet filter: networks, names, '*'. */
static struct str permitted_by(const struct gate *g, const struct record *r,
			       const struct packet *p)
{
	struct str id = packet_rule(g, 'g', true, p);

	if (!id.n)
		id = grant_of(g, r, p, true);
	if (!id.n)
		id = packet_rule(g, 'g', false, p);
	return id.n ? id : grant_of(g, r, p, false);
}

static void on_packet(void *data, struct str prefix,
		      const struct packet *packet)
{
	struct seen_name *names[RECORD_NAMES_MAX];
	struct record r = {.kind = RECORD_CONNECT, .packet = packet};
	struct record_prefix p;
	struct gate *g = data;

	if (!record_prefix(prefix, &p))
		return;
	r.n_names =
		seen_names_of(&g->seen, &packet->dst, names, RECORD_NAMES_MAX);
	r.allow = p.allow;
	r.uncounted = p.allow && !g->counted;
	r.reason = record_reason(
		&p, packet,
		r.n_names || names_covered(&g->now.names, &packet->dst));
	r.id = p.id;
	for (unsigned i = 0; i < r.n_names; i++) {
		r.names[i] = names[i]->name;
		names[i]->used |= p.allow;
	}
	if (!r.id.n && p.allow)
		r.id = permitted_by(g, &r, packet);
	else if (!r.id.n && r.reason != p.reason)
		r.id = grant_of(g, &r, packet, false);
	else if (!r.id.n && r.reason == REASON_DENIED)
		r.id = packet_rule(g, 'd', false, packet);
	on_record(g, &r);
}

/* The names that a connection is about: its own, or those of its address. */
static unsigned names_of(struct gate *g, const struct logline *l,
			 struct seen_name *out[RECORD_NAMES_MAX])
{
	unsigned n = 0;

	if (l->has_addr)
		n = seen_names_of(&g->seen, &l->addr, out, RECORD_NAMES_MAX);
	for (unsigned i = 0; l->name[0] && i < n; i++)
		if (strcmp(out[i]->name, l->name) == 0)
			out[i]->used |= l->allow;
	if (!l->name[0] && l->allow)
		for (unsigned i = 0; i < n; i++)
			out[i]->used = true;
	return l->name[0] ? 0 : n;
}

static void record_line(struct gate *g, pid_t pid, const struct logline *l)
{
	const struct profiles *profiles;
	struct packet packet = {.proto = IPPROTO_TCP,
				.has_port = l->port != 0,
				.dport = l->port,
				.dst = l->addr};
	struct seen_name *names[RECORD_NAMES_MAX];
	struct record r = {.allow = l->allow, .reason = l->reason, .flow = l};

	profiles = l7_profiles_of(&g->l7, pid, &r.generation);
	r.n_names = names_of(g, l, names);
	r.kind = l->kind == LOGLINE_REQUEST ? RECORD_REQUEST : RECORD_CONNECT;
	r.packet = l->has_addr ? &packet : NULL;
	for (unsigned i = 0; i < r.n_names; i++)
		r.names[i] = names[i]->name;
	if (l->name[0])
		r.names[r.n_names++] = l->name;
	if (l->rule[0])
		r.id = profiles_find(profiles, str_of(l->rule),
				     str_of(r.n_names ? r.names[0] : ""),
				     l->has_addr ? &l->addr : NULL);
	if (!r.id.n && l->allow && l->kind == LOGLINE_CONNECT && !l->tls)
		r.id = permitted_by(g, &r, &packet);
	else if (!r.id.n)
		r.id = grant_of(g, &r, &packet, false);
	on_record(g, &r);
}

static void on_logline(void *data, pid_t pid, const struct logline *l)
{
	struct gate *g = data;

	/* What the gate itself asked: proof.h. */
	if (!l->has_addr)
		return;
	switch (l->kind) {
	case LOGLINE_CONNECT:
		break;
	case LOGLINE_REQUEST:
		onward_request(&g->onward, l);
		break;
	case LOGLINE_ONWARD:
		/* In the clear the first bytes were a request's. */
		if (!l->tls || onward_end(&g->onward, l, clock_ms()))
			return;
		break;
	}
	record_line(g, pid, l);
}

static void record_idle(struct gate *g, int64_t now_ms)
{
	struct logline l;

	while (onward_due(&g->onward, now_ms, &l))
		record_line(g, 0, &l);
}

/* --- set-up -------------------------------------------------------------- */

static int read_uplink(struct gate *g, bool *ipv6, struct err *err)
{
	int rc = link_facts_read(&g->facts, err);

	if (rc < 0)
		return rc;
	if (!link_facts_uplink(&g->facts))
		return err_set(err, -ENETUNREACH, "no default route");
	for (uint32_t i = 0; i < g->facts.n_gateways; i++)
		(void)names_hosts_add(&g->hosts, &g->facts.gateways[i]);
	*ipv6 = link_facts_ipv6(&g->facts);
	return link_forwarding(ipv6, err);
}

/* Wait for one descriptor. */
static int wait_for(int fd, int64_t deadline_ms, struct err *err)
{
	struct pollfd p = {fd, POLLIN, 0};
	int64_t left_ms = deadline_ms - clock_ms();

	if (left_ms <= 0 || poll(&p, 1, (int)left_ms) == 0)
		return err_set(err, -ETIMEDOUT, "timed out");
	return 0;
}

static int read_hello(struct gate *g, struct err *err)
{
	int64_t deadline_ms = clock_ms() + HELLO_WAIT_MS;
	static char line[HELLO_BYTES_MAX];
	size_t n = 0;
	int rc;

	while (n == 0 || line[n - 1] != '\n') {
		ssize_t got;

		if ((rc = wait_for(STDIN_FILENO, deadline_ms, err)) < 0)
			return rc;
		got = read(STDIN_FILENO, line + n, sizeof(line) - n);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return err_set(err, -EPROTO, "no whole line");
		n += (size_t)got;
	}
	rc = hello_parse((struct str){line, n - 1}, &g->hosts,
			 &g->l7.credentials, err);
	explicit_bzero(line, sizeof(line));
	return rc;
}

static int tell(const struct worker_args *args, enum worker_word word,
		bool ipv6, struct err *err)
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

static int hear(const struct worker_args *args, enum worker_word word,
		struct err *err)
{
	struct worker_msg ignored;

	return hear_msg(args, word, &ignored, err);
}

static int make_link(struct gate *g, const struct worker_args *args, bool ipv6,
		     struct err *err)
{
	int rc;

	if (args->link == PLANFILE_BRIDGE)
		return link_bridge_up(ipv6, err);
	if ((rc = hear(args, WORKER_AGENT, err)) < 0 ||
	    (rc = link_gate_up(getppid(), link_facts_uplink(&g->facts)->mtu,
			       ipv6, err)) < 0 ||
	    (rc = tell(args, WORKER_LINK, ipv6, err)) < 0)
		return rc;
	return hear_msg(args, WORKER_UP, &g->agent, err);
}

static int open_resolver(struct gate *g, bool ipv6, struct err *err)
{
	int rc;

	seen_init(&g->seen);
	g->dns.names = &g->now.names;
	g->dns.hosts = &g->hosts;
	g->dns.sets = &g->sets;
	g->dns.seen = &g->seen;
	g->dns.pins = &g->l7.pins;
	g->dns.on_record = on_record;
	g->dns.on_answer = on_answer;
	g->dns.on_error = on_error;
	g->dns.data = g;
	g->dns.ipv6 = ipv6;
	g->counted = flows_counted();
	if ((rc = nftset_open(&g->sets, err)) < 0 ||
	    (rc = nflog_open(&g->nflog, err)) < 0 ||
	    (rc = flows_open(&g->flows, err)) < 0)
		return rc;
	return dns_gate_open(&g->dns, LINK_GATE_V4, ipv6 ? LINK_GATE_V6 : NULL,
			     err);
}

static int start_l7(struct gate *g, bool ipv6, struct err *err)
{
	int rc;

	l7_init(&g->l7);
	g->l7.names = &g->now.names;
	g->l7.on_line = on_logline;
	g->l7.on_lost = on_lost;
	g->l7.on_error = on_error;
	g->l7.data = g;
	if (g->l7.plan.wanted && ipv6 && (rc = link_tproxy_up(err)) < 0)
		return rc;
	return l7_start(&g->l7, err);
}

/*
 * Deny first: the ruleset is in the kernel before there is a link. HAProxy
 * starts while the link is made and the resolver opens, and answers before
 * the agent is let in.
 */
static int set_up(struct gate *g, const struct worker_args *args,
		  bool *out_ipv6, struct err *err)
{
	int rc;

	if ((rc = generation_load(args->plan, &g->now, &g->l7.plan, err)) < 0 ||
	    (rc = read_uplink(g, out_ipv6, err)) < 0)
		return rc;
	if ((rc = ruleset_load(g->now.ruleset, err)) < 0)
		return err_while(err, "ruleset.nft");
	if ((rc = read_hello(g, err)) < 0)
		return err_while(err, "the launcher's line");
	if ((rc = ruleset_hosts(g->now.ruleset, &g->hosts, err)) < 0 ||
	    (rc = start_l7(g, *out_ipv6, err)) < 0 ||
	    (rc = make_link(g, args, *out_ipv6, err)) < 0 ||
	    (rc = open_resolver(g, *out_ipv6, err)) < 0 ||
	    (rc = l7_wait(&g->l7, err)) < 0)
		return rc;
	return caps_drop(CAPS_GATE, err);
}

/* The roots that HAProxy trusts, so that the agent can trust no fewer. */
static int tell_roots(struct gate *g, struct err *err)
{
	char line[RECORD_MAX];
	struct str roots, rest;
	int rc = planfile_read("/etc/ssl/certs", "ca-certificates.crt", &roots,
			       err);

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

/* The agent trusts the session's CA from its first moment on. */
static int tell_ready(struct gate *g, bool ipv6, int64_t ms, struct err *err)
{
	char line[RECORD_MAX], ca[CA_CERT_MAX];
	int rc = 0;

	if (g->l7.plan.decrypts && ((rc = tell_roots(g, err)) < 0 ||
				    (rc = ca_pem(&g->l7.ca, ca, err)) < 0))
		return rc;
	outlog_line(&g->out, line,
		    record_ready(
			    &(struct record_ready){
				    .ipv6 = ipv6,
				    .ms = ms,
				    .ca = g->l7.plan.decrypts ? ca : NULL,
				    .netns = g->agent.netns,
				    .pidns = g->agent.pidns},
			    line));
	outlog_drain(&g->out, DRAIN_MS);
	return 0;
}

/* --- the loop ------------------------------------------------------------ */

static int read_nflog(struct gate *g, struct err *err)
{
	uint64_t lost;
	int rc = nflog_read(&g->nflog, on_packet, g, &lost, err);

	if (lost)
		outlog_lost(&g->out, lost);
	return rc;
}

static int wait_ms(const struct gate *g, int64_t now_ms)
{
	int least = dns_gate_wait_ms(&g->dns, now_ms);
	int l7 = l7_wait_ms(&g->l7, now_ms);
	int change = change_wait_ms(&g->change);

	least = l7 < least ? l7 : least;
	return change >= 0 && change < least ? change : least;
}

/* --- another plan -------------------------------------------------------- */

static int settle(void *data, struct err *err)
{
	struct gate *g = data;

	(void)l7log_read(g->l7.log, g->l7.on_line, g->l7.data);
	return read_nflog(g, err);
}

static void init_change(struct gate *g, const struct worker_args *args)
{
	g->change = (struct change){.plan = args->plan,
				    .now = &g->now,
				    .l7 = &g->l7,
				    .dns = &g->dns,
				    .settle = settle,
				    .data = g};
}

/* NULL: it was done. */
static void tell_change(struct gate *g, uint32_t number, const char *why_not)
{
	char line[RECORD_MAX];

	outlog_line(
		&g->out, line,
		record_change(&(struct record_change){.generation = number,
						      .ms = clock_ms() -
							    g->change.begun_ms,
						      .why_not = why_not},
			      line));
}

/* True when the supervisor is gone, or wants the session to end. */
static bool on_supervisor(struct gate *g, const struct worker_args *args)
{
	struct worker_msg m;
	struct err err;

	if (recv(args->supervisor, &m, sizeof(m), 0) != sizeof(m) ||
	    m.word != WORKER_CHANGE)
		return true;
	if (change_begin(&g->change, m.generation, m.cut, clock_ms(), &err) < 0)
		tell_change(g, m.generation, err.text);
	else
		g->asked = m.generation;
	return false;
}

/* Negative: neither plan is enforced as it should be. */
static int go_on(struct gate *g, struct err *err)
{
	int rc = change_step(&g->change, clock_ms(), err);

	if (rc == 0)
		return 0;
	if (rc < 0 && rc != -ECANCELED)
		return rc;
	tell_change(g, g->asked, rc < 0 ? err->text : NULL);
	return 0;
}

static int serve(struct gate *g, const struct worker_args *args,
		 struct err *err)
{
	struct pollfd p[SLOT_DNS + DNS_GATE_POLL];

	for (;;) {
		int64_t now_ms = clock_ms();

		p[SLOT_SUPERVISOR] =
			(struct pollfd){args->supervisor, POLLIN, 0};
		p[SLOT_NFLOG] = (struct pollfd){nflog_fd(&g->nflog), POLLIN, 0};
		p[SLOT_FLOWS] = (struct pollfd){flows_fd(&g->flows), POLLIN, 0};
		p[SLOT_OUT] = (struct pollfd){
			outlog_pending(&g->out) ? g->out.fd : -1, POLLOUT, 0};
		l7_poll(&g->l7, p + SLOT_L7);
		dns_gate_poll(&g->dns, p + SLOT_DNS);
		if (poll(p, ARRAY_LEN(p), wait_ms(g, now_ms)) < 0 &&
		    errno != EINTR)
			return err_set(err, -errno, "poll: %s",
				       strerror(errno));
		if (p[SLOT_SUPERVISOR].revents && on_supervisor(g, args))
			return 0;
		if (p[SLOT_NFLOG].revents && read_nflog(g, err) < 0)
			return err->code;
		if (p[SLOT_FLOWS].revents &&
		    flows_read(&g->flows, on_flow, g, err) < 0)
			return err->code;
		if (l7_step(&g->l7, p + SLOT_L7, clock_ms(), err) < 0)
			return err->code;
		if (go_on(g, err) < 0)
			return err->code;
		record_idle(g, clock_ms());
		dns_gate_step(&g->dns, p + SLOT_DNS, clock_ms());
		if (p[SLOT_OUT].revents)
			outlog_write(&g->out);
	}
}

int worker_run(const struct worker_args *args)
{
	struct gate *g = &gate;
	bool ipv6 = false;
	struct err err;
	int rc;

	/* A supervisor that died before this is seen as a closed pair. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	g->out.fd = STDOUT_FILENO;
	if (set_up(g, args, &ipv6, &err) < 0 ||
	    tell(args, WORKER_READY, ipv6, &err) < 0 ||
	    tell_ready(g, ipv6, clock_ms() - args->start_ms, &err) < 0) {
		worker_complain(err.text);
		return 1;
	}
	init_change(g, args);
	rc = serve(g, args, &err);
	if (rc < 0)
		on_error(g, err.text);
	/* The link goes first, the rules with the namespace. */
	if (link_gate_down(&err) < 0 ||
	    read_nflog(g, &err) < 0 ||
	    flows_read(&g->flows, on_flow, g, &err) < 0 ||
	    flows_rest(&g->flows, on_rest, g, &err) < 0)
		on_error(g, err.text);
	l7_end(&g->l7);
	record_idle(g, INT64_MAX);
	outlog_drain(&g->out, DRAIN_MS);
	return rc < 0;
}

int worker_check(const char *plan)
{
	struct gate *g = &gate;
	struct err err;

	if (generation_load(plan, &g->now, &g->l7.plan, &err) == 0 &&
	    ruleset_check(g->now.ruleset, &err) == 0 &&
	    trial_haproxy(&g->l7.plan, plan, &err) == 0)
		return 0;
	worker_complain(err.text);
	return 1;
}
