#include "runtime/gate/report.h"

#include "compiler/base/sys/clock.h"

#include <netinet/in.h>
#include <string.h>

#define CUT_PATH_BYTES 160

void report_folded(struct gate *g)
{
	char line[RECORD_MAX];

	while (g->folded.n && outlog_has_room(&g->out))
		outlog_line(&g->out, line, fold_take(&g->folded, line));
}

/* Refusals are told one by one as long as there is room for all. */
static bool is_folded(struct gate *g, const struct record *r)
{
	if (r->allow)
		return false;
	report_folded(g);
	if (outlog_has_room(&g->out))
		return false;
	if (!fold_add(&g->folded, r))
		outlog_lost(&g->out, 1);
	return true;
}

void report_record(void *data, const struct record *given)
{
	struct gate *g = data;
	struct record r = *given;
	char line[RECORD_MAX];
	struct logline cut;
	size_t n;

	clock_gettime(CLOCK_REALTIME, &r.time);
	if (!r.generation)
		r.generation = g->now.number;
	r.rule = provenance_find(&g->now.provenance, r.id);
	if (is_folded(g, &r))
		return;
	n = record_decision(&r, line);
	if (n == 0 && r.flow) {
		/* A long path is better cut than the record lost. */
		cut = *r.flow;
		snprintf(cut.path, sizeof(cut.path), "%.*s", CUT_PATH_BYTES,
			 r.flow->path);
		r.flow = &cut;
		n = record_decision(&r, line);
	}
	/* Somebody may be waiting to learn of a refusal. */
	if (r.allow)
		outlog_line_later(&g->out, line, n);
	else
		outlog_line(&g->out, line, n);
}

void report_answer(void *data, const struct record_answer *given)
{
	struct gate *g = data;
	struct record_answer r = *given;
	char line[RECORD_MAX];

	if (!outlog_has_room(&g->out)) {
		g->answers_lost++;
		return;
	}
	if (g->answers_lost)
		outlog_line(&g->out, line,
			    record_answers_lost(g->answers_lost, line));
	g->answers_lost = 0;
	clock_gettime(CLOCK_REALTIME, &r.time);
	outlog_line(&g->out, line, record_answer(&r, line));
}

void report_flow(void *data, const struct flow *flow)
{
	struct gate *g = data;
	char line[RECORD_MAX];
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	outlog_line_later(&g->out, line, record_end(flow, &now, line));
}

void report_rest(void *data, const struct flow *flow)
{
	struct gate *g = data;

	if (!outlog_has_room(&g->out))
		outlog_drain(&g->out, REPORT_DRAIN_MS);
	report_flow(g, flow);
}

void report_lost(void *data, uint64_t n)
{
	struct gate *g = data;

	outlog_lost(&g->out, n);
}

void report_error(void *data, const char *message)
{
	struct gate *g = data;
	char line[RECORD_MAX];

	outlog_line(&g->out, line, record_error(message, line));
}

bool report_renewal(void *data, const struct renewal_ask *ask)
{
	struct gate *g = data;
	char line[RECORD_MAX];
	size_t n =
		record_renewal(&(struct record_renewal){.id = ask->id,
							.n = ask->n,
							.addr = &ask->addr,
							.is_form = ask->is_form,
							.agent = ask->agent,
							.body = ask->body},
			       line);

	if (n == 0)
		return false;
	outlog_line(&g->out, line, n);
	return true;
}

bool report_question(void *data, const struct question *q, uint16_t sport,
		     uint32_t wait_s)
{
	struct gate *g = data;
	struct record_question r = {
		.id = q->number,
		.wait_s = wait_s,
		.rule = q->key.rule,
		.from = provenance_find(&g->now.provenance,
					str_of(q->key.rule)),
		.name = q->key.name,
		.addr = &q->key.addr,
		.port = q->key.port,
		.sport = sport,
		.tls = q->key.tls,
		.method = q->key.method,
		.path = q->key.path,
	};
	char line[RECORD_MAX];
	size_t n;

	clock_gettime(CLOCK_REALTIME, &r.time);
	n = record_question(&r, line);
	if (n == 0)
		return false;
	outlog_line(&g->out, line, n);
	return true;
}

void report_answered(void *data, uint32_t number, enum asking_end end)
{
	struct gate *g = data;
	struct record_answered r = {.id = number,
				    .answer = asking_end_text(end)};
	char line[RECORD_MAX];

	clock_gettime(CLOCK_REALTIME, &r.time);
	outlog_line(&g->out, line, record_answered(&r, line));
}

static bool line_permits(const struct gate *g, const struct names_line *line,
			 const struct packet *p)
{
	char buf[8];

	/* No class has the port of what has none, 0. */
	return names_permits(&g->now.names, line,
			     packet_proto_text(p->proto, buf), p->dport);
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

void report_packet(void *data, struct str prefix, const struct packet *packet)
{
	struct resolved_name *names[RECORD_NAMES_MAX];
	struct record r = {.kind = RECORD_CONNECT, .packet = packet};
	struct record_prefix p;
	struct gate *g = data;

	if (!record_prefix(prefix, &p))
		return;
	r.n_names = resolved_names_of(&g->seen, &packet->dst, names,
				      RECORD_NAMES_MAX);
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
	report_record(g, &r);
}

/* The names that a connection is about: its own, or those of its address. */
static unsigned names_of(struct gate *g, const struct logline *l,
			 struct resolved_name *out[RECORD_NAMES_MAX])
{
	unsigned n =
		resolved_names_of(&g->seen, &l->addr, out, RECORD_NAMES_MAX);

	for (unsigned i = 0; l->name[0] && i < n; i++)
		if (strcmp(out[i]->name, l->name) == 0)
			out[i]->used |= l->allow;
	if (!l->name[0] && l->allow)
		for (unsigned i = 0; i < n; i++)
			out[i]->used = true;
	return l->name[0] ? 0 : n;
}

/* What would have been asked about it. */
static struct str asked_rule(struct gate *g, const struct record *r,
			     const struct logline *l)
{
	const struct names_ask *ask = NULL;

	for (unsigned i = 0; !ask && i < r->n_names; i++)
		ask = names_asked(&g->now.names, str_of(r->names[i]), l->port);
	if (!ask)
		ask = names_asked_addr(&g->now.names, &l->addr, l->port);
	return ask ? ask->line.id : (struct str){0};
}

/* Whether that there was no answer decided, or a person's. */
static bool was_asked(const struct logline *l)
{
	return l->reason == REASON_ANSWERED ||
	       l->reason == REASON_NOT_ANSWERED ||
	       l->reason == REASON_ANSWERED_NO ||
	       l->reason == REASON_NOT_ASKED || l->reason == REASON_TOO_MANY;
}

/* Of another protocol than TLS and HTTP HAProxy knows neither rule nor name. */
static void take_answer(struct gate *g, struct record *r,
			const struct logline *l)
{
	const struct question *x =
		asking_question_of(&g->asking, l->sport, l->port);

	if (!x)
		return;
	r->reason = REASON_ANSWERED;
	r->id = str_of(x->key.rule);
	r->n_names = x->key.name[0] != '\0';
	r->names[0] = x->key.name;
}

/* Of one that has an address. */
static void record_line(struct gate *g, pid_t pid, const struct logline *l)
{
	const struct profiles *profiles;
	struct packet packet = {.proto = IPPROTO_TCP,
				.has_port = l->port != 0,
				.sport = l->sport,
				.dport = l->port,
				.dst = l->addr};
	struct resolved_name *names[RECORD_NAMES_MAX];
	struct record r = {.allow = l->allow,
			   .reason = l->reason,
			   .packet = &packet,
			   .flow = l};

	profiles = l7_profiles_of(&g->l7, pid, &r.generation);
	r.n_names = names_of(g, l, names);
	r.kind = l->kind == LOGLINE_REQUEST ? RECORD_REQUEST : RECORD_CONNECT;
	for (unsigned i = 0; i < r.n_names; i++)
		r.names[i] = names[i]->name;
	if (l->name[0])
		r.names[r.n_names++] = l->name;
	r.id = profiles_find(profiles, str_of(l->rule),
			     str_of(r.n_names ? r.names[0] : ""), &l->addr);
	if (!r.id.n && l->allow && l->kind == LOGLINE_CONNECT && !l->tls)
		take_answer(g, &r, l);
	if (!r.id.n && was_asked(l))
		r.id = asked_rule(g, &r, l);
	else if (!r.id.n && l->allow && l->kind == LOGLINE_CONNECT && !l->tls)
		r.id = permitted_by(g, &r, &packet);
	else if (!r.id.n)
		r.id = grant_of(g, &r, &packet, false);
	report_record(g, &r);
}

void report_logline(void *data, pid_t pid, const struct logline *l)
{
	struct gate *g = data;

	/* What the gate itself asked: reader_probe.h. */
	if (!l->has_addr)
		return;
	if (l->asked) {
		asking_closed(&g->asking, l->sport, l->asked);
		return;
	}
	switch (l->kind) {
	case LOGLINE_CONNECT:
		break;
	case LOGLINE_REQUEST:
		requestless_request(&g->onward, l);
		break;
	case LOGLINE_REQUESTLESS:
		/* In the clear the first bytes were a request's. */
		if (!l->tls || requestless_end(&g->onward, l, clock_ms()))
			return;
		break;
	}
	record_line(g, pid, l);
}

void report_idle(struct gate *g, int64_t now_ms)
{
	struct logline l;

	while (requestless_due(&g->onward, now_ms, &l))
		record_line(g, 0, &l);
}
