#include "runtime/gate/record/record.h"

#include "compiler/base/question.h"
#include "compiler/plan/gate.h"

#include <arpa/inet.h>
#include <cjson/cJSON.h>
#include <netinet/in.h>
#include <string.h>

static void add_text(cJSON *o, const char *key, const char *text)
{
	cJSON_AddStringToObject(o, key, text);
}

static size_t print_line(cJSON *o, char buf[RECORD_MAX])
{
	size_t n = 0;

	/* One byte less than there is: room for the LF. */
	if (cJSON_PrintPreallocated(o, buf, RECORD_MAX - 1, false)) {
		n = strlen(buf);
		buf[n++] = '\n';
	}
	cJSON_Delete(o);
	return n;
}

static void add_packet(cJSON *o, const struct packet *p)
{
	char proto[8], addr[ADDR_TEXT_MAX];

	add_text(o, "proto", packet_proto_text(p->proto, proto));
	add_text(o, "addr", addr_text(&p->dst, addr));
	if (p->has_port)
		cJSON_AddNumberToObject(o, "port", p->dport);
	if (p->sport)
		cJSON_AddNumberToObject(o, "sport", p->sport);
}

static const char *kind_text(enum record_kind kind)
{
	switch (kind) {
	case RECORD_CONNECT:
		return "connect";
	case RECORD_RESOLVE:
		return "resolve";
	case RECORD_REQUEST:
		return "request";
	}
	return "";
}

static void add_flow(cJSON *o, const struct logline *l)
{
	cJSON_AddBoolToObject(o, "tls", l->tls);
	if (l->method[0])
		add_text(o, "method", l->method);
	if (l->path[0])
		add_text(o, "path", l->path);
	if (l->status)
		cJSON_AddNumberToObject(o, "status", l->status);
	cJSON_AddNumberToObject(o, "sent", (double)l->up);
	cJSON_AddNumberToObject(o, "received", (double)l->down);
	if (l->reason == REASON_UPSTREAM && l->error[0])
		add_text(o, "error", l->error);
	if (l->reason == REASON_BAD_REQUEST && strlen(l->error) > 1)
		add_text(o, "detail", l->error);
}

size_t record_decision(const struct record *r, char buf[RECORD_MAX])
{
	cJSON *o = cJSON_CreateObject();
	char text[ADDR_TEXT_MAX];

	add_text(o, "event", "decision");
	add_text(o, "time", clock_text(&r->time, text));
	add_text(o, "kind", kind_text(r->kind));
	add_text(o, "verdict", r->allow ? "allow" : "deny");
	add_text(o, "reason", reason_name(r->reason));
	if (r->packet)
		add_packet(o, r->packet);
	else if (r->addr)
		add_text(o, "addr", addr_text(r->addr, text));
	/* Of all others it is the agent. */
	if (r->packet && r->reason == REASON_FORGED_SOURCE)
		add_text(o, "src", addr_text(&r->packet->src, text));
	if (r->n_names)
		add_text(o, "name", r->names[0]);
	if (r->n_names > 1)
		cJSON_AddItemToObject(
			o, "names",
			cJSON_CreateStringArray((const char *const *)r->names,
						(int)r->n_names));
	if (r->flow)
		add_flow(o, r->flow);
	if (r->uncounted)
		cJSON_AddBoolToObject(o, "counted", false);
	if (r->type)
		add_text(o, "type", r->type);
	if (r->id.n) {
		char id[32];

		snprintf(id, sizeof(id), "%.*s", STR_ARG(r->id));
		add_text(o, "id", id);
	}
	if (r->rule) {
		add_text(o, "source", r->rule->source);
		cJSON_AddNumberToObject(o, "line", r->rule->line);
	}
	if (r->generation > 1)
		cJSON_AddNumberToObject(o, "generation", r->generation);
	return print_line(o, buf);
}

size_t record_folded(struct str line, const struct timespec *time,
		     uint64_t count, char buf[RECORD_MAX])
{
	cJSON *o = cJSON_ParseWithLength(line.p, line.n);
	char text[ADDR_TEXT_MAX];

	if (!o)
		return 0;
	cJSON_ReplaceItemInObjectCaseSensitive(
		o, "time", cJSON_CreateString(clock_text(time, text)));
	if (count > 1)
		cJSON_AddNumberToObject(o, "count", (double)count);
	return print_line(o, buf);
}

size_t record_change(const struct record_change *c, char buf[RECORD_MAX])
{
	cJSON *o = cJSON_CreateObject();

	add_text(o, "event", "generation");
	cJSON_AddNumberToObject(o, "generation", c->generation);
	cJSON_AddBoolToObject(o, "ok", c->why_not == NULL);
	cJSON_AddNumberToObject(o, "ms", (double)c->ms);
	if (c->why_not)
		add_text(o, "message", c->why_not);
	return print_line(o, buf);
}

/* The text of an address, and its port. */
static void add_end(cJSON *o, const char *addr, const char *port,
		    const struct sockaddr_storage *s)
{
	const struct sockaddr_in *in = (const struct sockaddr_in *)s;
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)s;
	bool v6 = s->ss_family == AF_INET6;
	char text[INET6_ADDRSTRLEN] = "";

	inet_ntop(s->ss_family,
		  v6 ? (const void *)&in6->sin6_addr
		     : (const void *)&in->sin_addr,
		  text, sizeof(text));
	add_text(o, addr, text);
	cJSON_AddNumberToObject(o, port,
				ntohs(v6 ? in6->sin6_port : in->sin_port));
}

static void add_records(cJSON *o, const struct dns_answer *a, size_t max)
{
	struct dns_shown shown[RECORD_ANSWERS_MAX];
	size_t n = a ? dns_msg_show(a, shown, max) : 0;
	cJSON *list = cJSON_AddArrayToObject(o, "records");

	for (size_t i = 0; i < n && i < max; i++) {
		cJSON *one = cJSON_CreateObject();

		add_text(one, "type", shown[i].type);
		cJSON_AddNumberToObject(one, "ttl", shown[i].ttl_s);
		add_text(one, "data", shown[i].data);
		cJSON_AddItemToArray(list, one);
	}
}

static const char *rcode_text(ldns_pkt_rcode rcode)
{
	const ldns_lookup_table *t = ldns_lookup_by_id(ldns_rcodes, (int)rcode);

	return t ? t->name : "";
}

static cJSON *answer_object(const struct record_answer *r, size_t max)
{
	cJSON *o = cJSON_CreateObject();
	char ns[32], type[16], name[DNS_MSG_NAME_TEXT_MAX];

	add_text(o, "event", "answer");
	snprintf(ns, sizeof(ns), "%llu",
		 (unsigned long long)r->time.tv_sec * 1000000000u +
			 (unsigned long long)r->time.tv_nsec);
	cJSON_AddRawToObject(o, "time_ns", ns); /* a double would round it */
	cJSON_AddBoolToObject(o, "tcp", r->tcp);
	add_end(o, "client", "port", r->client);
	add_end(o, "server", "server_port", r->server);
	cJSON_AddNumberToObject(o, "id", r->q->id);
	cJSON_AddNumberToObject(o, "bytes", (double)r->bytes);
	dns_msg_name_text(r->q, name);
	add_text(o, "name", name);
	add_text(o, "type", dns_msg_type_text(r->q->type, type));
	add_text(o, "rcode", rcode_text(r->rcode));
	if (r->refused)
		add_text(o, "refused", reason_name(r->reason));
	cJSON_AddBoolToObject(o, "cut", r->cut);
	add_records(o, r->answer, max);
	return o;
}

size_t record_answer(const struct record_answer *r, char buf[RECORD_MAX])
{
	size_t n = 0;

	/* Long records may not fit all together. */
	for (size_t max = RECORD_ANSWERS_MAX; n == 0 && max; max /= 2)
		n = print_line(answer_object(r, max), buf);
	return n;
}

size_t record_answers_lost(uint64_t n, char buf[RECORD_MAX])
{
	cJSON *o = cJSON_CreateObject();

	add_text(o, "event", "answer");
	cJSON_AddNumberToObject(o, "missing", (double)n);
	return print_line(o, buf);
}

size_t record_lost(uint64_t n, char buf[RECORD_MAX])
{
	cJSON *o = cJSON_CreateObject();

	add_text(o, "event", "lost");
	cJSON_AddNumberToObject(o, "count", (double)n);
	return print_line(o, buf);
}

static void add_counter(cJSON *o, const char *way, const char *packets,
			const struct flow_counter *c)
{
	cJSON_AddNumberToObject(o, way, (double)c->bytes);
	cJSON_AddNumberToObject(o, packets, (double)c->packets);
}

size_t record_end(const struct flow *f, const struct timespec *time,
		  char buf[RECORD_MAX])
{
	cJSON *o = cJSON_CreateObject();
	char text[ADDR_TEXT_MAX];

	add_text(o, "event", "end");
	add_text(o, "time", clock_text(time, text));
	add_text(o, "kind", kind_text(RECORD_CONNECT));
	add_packet(o, &f->packet);
	add_counter(o, "sent", "sent_packets", &f->sent);
	add_counter(o, "received", "received_packets", &f->received);
	return print_line(o, buf);
}

size_t record_done(char buf[RECORD_MAX])
{
	cJSON *o = cJSON_CreateObject();

	add_text(o, "event", "done");
	return print_line(o, buf);
}

size_t record_ready(const struct record_ready *r, char buf[RECORD_MAX])
{
	cJSON *o = cJSON_CreateObject();

	add_text(o, "event", "ready");
	if (r->session)
		add_text(o, "session", r->session);
	cJSON_AddBoolToObject(o, "ipv6", r->ipv6);
	cJSON_AddNumberToObject(o, "ms", (double)r->ms);
	if (r->ca)
		add_text(o, "ca", r->ca);
	if (r->netns) {
		cJSON_AddNumberToObject(o, "netns", r->netns);
		cJSON_AddNumberToObject(o, "pidns", r->pidns);
	}
	return print_line(o, buf);
}

size_t record_roots(struct str pem, char buf[RECORD_MAX])
{
	cJSON *o = cJSON_CreateObject();
	char text[RECORD_ROOTS_MAX + 1];

	snprintf(text, sizeof(text), "%.*s", STR_ARG(pem));
	add_text(o, "event", "roots");
	add_text(o, "pem", text);
	return print_line(o, buf);
}

size_t record_error(const char *message, char buf[RECORD_MAX])
{
	cJSON *o = cJSON_CreateObject();

	add_text(o, "event", "error");
	add_text(o, "message", message);
	return print_line(o, buf);
}

static void add_str(cJSON *o, const char *key, struct str s)
{
	char text[RECORD_MAX];

	snprintf(text, sizeof(text), "%.*s", STR_ARG(s));
	add_text(o, key, text);
}

size_t record_renewal(const struct record_renewal *r, char buf[RECORD_MAX])
{
	cJSON *o = cJSON_CreateObject();
	char addr[ADDR_TEXT_MAX];

	add_text(o, "event", "renewal");
	cJSON_AddNumberToObject(o, "id", r->id);
	cJSON_AddNumberToObject(o, "n", r->n);
	add_text(o, "addr", addr_text(r->addr, addr));
	cJSON_AddBoolToObject(o, "form", r->is_form);
	add_str(o, "agent", r->agent);
	add_str(o, "body", r->body);
	return print_line(o, buf);
}

/* What both begin with that are about a question. */
static cJSON *about_question(const char *event, const struct timespec *time,
			     uint32_t id)
{
	cJSON *o = cJSON_CreateObject();
	char text[CLOCK_TEXT_MAX];

	add_text(o, "event", event);
	add_text(o, "time", clock_text(time, text));
	cJSON_AddNumberToObject(o, "id", id);
	return o;
}

size_t record_question(const struct record_question *q, char buf[RECORD_MAX])
{
	cJSON *o = about_question(QUESTION_EVENT, &q->time, q->id);
	char text[ADDR_TEXT_MAX];

	add_text(o, "rule", q->rule);
	if (q->from) {
		add_text(o, "source", q->from->source);
		cJSON_AddNumberToObject(o, "line", q->from->line);
	}
	if (q->name[0])
		add_text(o, "name", q->name);
	else
		add_text(o, "addr", addr_text(q->addr, text));
	cJSON_AddNumberToObject(o, "port", q->port);
	if (q->method[0]) {
		cJSON_AddBoolToObject(o, "tls", q->tls);
		add_text(o, "method", q->method);
		add_text(o, "path", q->path);
	}
	cJSON_AddNumberToObject(o, "wait_s", q->wait_s);
	cJSON_AddNumberToObject(o, "sport", q->sport);
	return print_line(o, buf);
}

size_t record_answered(const struct record_answered *r, char buf[RECORD_MAX])
{
	cJSON *o = about_question(ANSWERED_EVENT, &r->time, r->id);

	add_text(o, "answer", r->answer);
	return print_line(o, buf);
}

bool record_prefix(struct str prefix, struct record_prefix *out)
{
	static const struct str head = STR_INIT(GATE_LOG_PREFIX);
	struct record_prefix p = {0};
	struct str word;
	size_t colon;

	if (!str_starts(prefix, head))
		return false;
	colon = str_find(prefix, ':', head.n);
	if (colon == prefix.n)
		return false;
	word = str_slice(prefix, head.n, colon);
	p.allow = str_is(word, GATE_LOG_ALLOW);
	p.reason = REASON_GRANTED;
	if (!p.allow && !reason_parse(word, &p.reason))
		return false;
	p.id = str_trim(str_slice(prefix, colon + 1, prefix.n));
	*out = p;
	return true;
}

enum reason record_reason(const struct record_prefix *p,
			  const struct packet *packet, bool known)
{
	if (p->reason != REASON_NO_GRANT)
		return p->reason;
	if (packet->proto != IPPROTO_TCP && packet->proto != IPPROTO_UDP)
		return REASON_PROTOCOL;
	if (!known)
		return REASON_NO_GRANT;
	return packet->proto == IPPROTO_UDP ? REASON_UDP : REASON_PORT;
}
