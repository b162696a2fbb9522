/*
 * What the worker tells of a decision: which names and which rule it finds for
 * what resolver, packet filter and HAProxy saw, and what there is no room for.
 */
#include "runtime/gate/report.h"

#include "compiler/base/sys/clock.h"
#include "tests/check.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#define NET "g-0000000009"
#define ANY "g-000000000a"

static struct gate g; /* too large for a stack */
static struct err err;
static char text[OUTLOG_BYTES + 1];

/* What was told since, as a text. */
static const char *told(void)
{
	size_t n = g.out.n;

	for (size_t i = 0; i < n; i++)
		text[i] = g.out.ring[(g.out.head + i) % OUTLOG_BYTES];
	text[n] = '\0';
	g.out.n = g.out.head = 0;
	return text;
}

/* One line, with these parts in any order, and none of those behind NULL. */
static bool tells(const char *first, ...)
{
	const char *line = told(), *part = first;
	bool ok = true, wanted = true;
	va_list more;

	va_start(more, first);
	for (; part || wanted; part = va_arg(more, const char *)) {
		if (part)
			ok = ok && (strstr(line, part) != NULL) == wanted;
		else
			wanted = false;
	}
	va_end(more);
	if (!ok || strchr(line, '\n') != line + strlen(line) - 1)
		fprintf(stderr, "%s: %s\n", first, line);
	return ok && line[0] && strchr(line, '\n') == line + strlen(line) - 1;
}

static bool tells_nothing(void)
{
	return !told()[0];
}

static struct addr addr_of(const char *a)
{
	struct addr out = {.family = ADDR_V4};

	CHECK(addr_parse(str_of(a), &out));
	return out;
}

static void leads(const char *name, const char *to)
{
	struct addr a = addr_of(to);

	resolved_addr(&g.seen, str_of(name), &a);
}

static void begin(void)
{

	g.out.fd = -1;
	g.counted = true;
	g.now.number = 1;
	l7_init(&g.l7);
	resolved_init(&g.seen);
	leads("a.test", "11.0.0.1");
	leads("b.test", "11.0.0.2");
	leads("a.test", "11.0.0.2");
	leads("a.test", "10.1.0.7");
	/* which nothing grants */
	leads("c.test", "11.0.0.3");
	leads("a.test", "11.0.0.4");
	leads("c.test", "11.0.0.4");
	leads("d.test", "11.0.0.4");
	leads("e.test", "11.0.0.4");
	CHECK(names_parse(STR("membrane-names 2\nupstream udp 8.8.8.8 53\n"
			      "cover 10.9.0.0/16\n"
			      "ports 1 tcp/443\nports 2 tcp/80,udp/53\n"
			      "ports a1 tcp/7000\n"
			      "name a.test 1 - g-0000000001\n"
			      "name b.test 2 - g-0000000002\n"
			      "ask b.test a1 60 - - a-0000000001\n"
			      "asknet 10.7.0.0/16 a1 1 - a-0000000002\n"),
			  &g.now.names, &err) == 0);
	CHECK(provenance_parse(
		      STR("{\"version\":1,\"rules\":{"
			  "\"g-0000000001\":{\"text\":\"a.test:443\","
			  "\"source\":\"p\",\"line\":3},"
			  "\"" NET
			  "\":{\"text\":\"10.1.0.0/16 tcp/22,tcp/443\","
			  "\"source\":\"p\",\"line\":9},"
			  "\"" ANY "\":{\"text\":\"* tcp/443,tcp/8080\","
			  "\"source\":\"p\",\"line\":10},"
			  "\"d-0000000009\":{\"text\":\"10.2.0.0/16 tcp/22\","
			  "\"source\":\"p\",\"line\":11}}}"),
		      &g.now.provenance, &err) == 0);
	CHECK(profiles_parse(STR("membrane-profiles 1\n"
				 "1 a.test g-0000000001\n"
				 "2 10.1.0.0/16 " NET "\n"
				 "3 b.test g-0000000002\n"),
			     &g.l7.plan.profiles, &err) == 0);
	g.l7.plan.generation = 1;
}

/* --- packets -------------------------------------------------------------- */

static void packet(const char *prefix, uint8_t proto, const char *to,
		   uint16_t port)
{
	struct packet p = {.proto = proto,
			   .has_port = port != 0,
			   .sport = 999,
			   .dport = port,
			   .dst = addr_of(to)};

	report_packet(&g, str_of(prefix), &p);
}

static void permitted_packets(void)
{
	packet("membrane:allow:", IPPROTO_TCP, "11.0.0.1", 443);
	CHECK(tells("\"verdict\":\"allow\"", "\"kind\":\"connect\"",
		    "\"name\":\"a.test\"", "\"id\":\"g-0000000001\"",
		    "\"line\":3", "\"reason\":\"granted\"", NULL, "counted",
		    "generation", "\"names\"", "T1970", "1970-", NULL));
	/* both led there: the grant is the one's that has the port */
	packet("membrane:allow:", IPPROTO_TCP, "11.0.0.2", 80);
	CHECK(tells("\"names\":[\"a.test\",\"b.test\"]",
		    "\"id\":\"g-0000000002\"", NULL, "\"line\"", NULL));
	/* a network before names, and names before '*' */
	packet("membrane:allow:", IPPROTO_TCP, "10.1.2.3", 22);
	CHECK(tells("\"id\":\"" NET "\"", "\"line\":9", NULL, "\"name", NULL));
	packet("membrane:allow:", IPPROTO_TCP, "10.1.0.7", 443);
	CHECK(tells("\"id\":\"" NET "\"", "\"name\":\"a.test\"", NULL, NULL));
	packet("membrane:allow:", IPPROTO_TCP, "11.0.0.1", 8080);
	CHECK(tells("\"id\":\"" ANY "\"", "\"name\":\"a.test\"", NULL, NULL));
	packet("membrane:allow:", IPPROTO_TCP, "11.0.0.3", 999);
	CHECK(tells("\"name\":\"c.test\"", NULL, "\"id\"", NULL));
	/* by no port at all: the newest name's */
	packet("membrane:allow:", IPPROTO_TCP, "11.0.0.2", 999);
	CHECK(tells("\"id\":\"g-0000000001\"", NULL, NULL));
	packet("membrane:allow:", IPPROTO_ICMP, "11.0.0.1", 0);
	CHECK(tells("\"id\":\"g-0000000001\"", NULL, "\"port\"", NULL));
	packet("membrane:allow:", IPPROTO_TCP, "11.9.9.9", 999);
	CHECK(tells("\"verdict\":\"allow\"", NULL, "\"id\"", NULL));
	packet("membrane:allow:g-0000000077", IPPROTO_TCP, "11.0.0.1", 443);
	CHECK(tells("\"id\":\"g-0000000077\"", NULL, "\"line\"", NULL));
	g.counted = false;
	packet("membrane:allow:", IPPROTO_TCP, "11.0.0.1", 443);
	CHECK(tells("\"counted\":false", NULL, NULL));
	packet("membrane:floor:", IPPROTO_TCP, "11.0.0.1", 443);
	CHECK(tells("\"reason\":\"floor\"", NULL, "counted", "\"id\"", NULL));
	g.counted = true;
}

static void refused_packets(void)
{
	packet("membrane:no-grant:", IPPROTO_TCP, "11.0.0.1", 22);
	CHECK(tells("\"verdict\":\"deny\"", "\"reason\":\"port\"",
		    "\"id\":\"g-0000000001\"", "\"name\":\"a.test\"", NULL,
		    NULL));
	packet("membrane:no-grant:", IPPROTO_TCP, "11.5.5.5", 22);
	CHECK(tells("\"reason\":\"no-grant\"", NULL, "\"id\"", "\"name", NULL));
	/* not a name's, but granted at other ports */
	packet("membrane:no-grant:", IPPROTO_TCP, "10.9.1.1", 22);
	CHECK(tells("\"reason\":\"port\"", NULL, "\"id\"", NULL));
	packet("membrane:no-grant:", IPPROTO_UDP, "10.9.1.1", 22);
	CHECK(tells("\"reason\":\"udp\"", NULL, NULL));
	packet("membrane:no-grant:", IPPROTO_ICMP, "11.0.0.1", 0);
	CHECK(tells("\"reason\":\"protocol\"", "\"id\":\"g-0000000001\"", NULL,
		    NULL));
	packet("membrane:denied:", IPPROTO_TCP, "10.2.0.1", 22);
	CHECK(tells("\"reason\":\"denied\"", "\"id\":\"d-0000000009\"",
		    "\"line\":11", NULL, NULL));
	packet("membrane:denied:", IPPROTO_TCP, "10.1.0.1", 22);
	CHECK(tells("\"reason\":\"denied\"", NULL, "\"id\"", NULL));
	packet("membrane:denied:d-0000000007", IPPROTO_TCP, "10.2.0.1", 22);
	CHECK(tells("\"id\":\"d-0000000007\"", NULL, NULL));
	packet("membrane:floor:", IPPROTO_TCP, "10.2.0.1", 22);
	CHECK(tells("\"reason\":\"floor\"", NULL, "\"id\"", NULL));
	packet("membrane:no-grant:g-0000000077", IPPROTO_TCP, "11.0.0.1", 22);
	CHECK(tells("\"reason\":\"port\"", "\"id\":\"g-0000000077\"", NULL,
		    NULL));
	packet("other:", IPPROTO_TCP, "10.2.0.1", 22);
	CHECK(tells_nothing());
}

/* A name that led to what was let out is kept in use. */
static void used_names(void)
{
	struct resolved_name *n = resolved_name(&g.seen, STR("a.test"));

	n->used = false;
	packet("membrane:no-grant:", IPPROTO_TCP, "11.0.0.1", 22);
	CHECK(!n->used);
	packet("membrane:allow:", IPPROTO_TCP, "11.0.0.1", 443);
	CHECK(n->used);
	(void)told();
}

/* --- lines of HAProxy's --------------------------------------------------- */

static struct logline line_to(const char *addr, uint16_t port)
{
	return (struct logline){.kind = LOGLINE_CONNECT,
				.allow = true,
				.reason = REASON_GRANTED,
				.has_addr = true,
				.addr = addr_of(addr),
				.port = port,
				.sport = 1000};
}

static void connections(void)
{
	struct logline l = line_to("11.0.0.2", 443);

	strcpy(l.name, "a.test");
	strcpy(l.rule, "1");
	l.tls = true;
	l.up = 5;
	report_logline(&g, 0, &l);
	CHECK(tells("\"kind\":\"connect\"", "\"name\":\"a.test\"",
		    "\"id\":\"g-0000000001\"", "\"sent\":5", "\"port\":443",
		    "\"sport\":1000", "\"addr\":\"11.0.0.2\"", "\"tls\":true",
		    "\"proto\":\"tcp\"", NULL, "\"names\"", NULL));
	/* without one of its own: those of its address, and by its network */
	l.name[0] = '\0';
	report_logline(&g, 0, &l);
	CHECK(tells("\"names\":[\"a.test\",\"b.test\"]", NULL, NULL));
	l = line_to("10.1.2.3", 22);
	strcpy(l.rule, "2");
	report_logline(&g, 0, &l);
	CHECK(tells("\"id\":\"" NET "\"", NULL, "\"name", NULL));
	/* another protocol has no rule: what the packet filter let pass */
	l.rule[0] = '\0';
	report_logline(&g, 0, &l);
	CHECK(tells("\"id\":\"" NET "\"", NULL, NULL));
	l = line_to("11.0.0.1", 8080);
	report_logline(&g, 0, &l);
	CHECK(tells("\"id\":\"" ANY "\"", NULL, NULL));
	/* but TLS has, and what is refused was meant for the name's */
	l.tls = true;
	report_logline(&g, 0, &l);
	CHECK(tells("\"id\":\"g-0000000001\"", NULL, NULL));
	l.tls = l.allow = false;
	l.reason = REASON_PORT;
	report_logline(&g, 0, &l);
	CHECK(tells("\"id\":\"g-0000000001\"", "\"verdict\":\"deny\"", NULL,
		    NULL));
	/* as many names as are told */
	l = line_to("11.0.0.4", 443);
	report_logline(&g, 0, &l);
	CHECK(tells("\"names\":[\"e.test\",\"d.test\",\"c.test\",\"a.test\"]",
		    NULL, NULL));
	/* what the gate itself asked, and what only went on */
	l.has_addr = false;
	report_logline(&g, 0, &l);
	l = line_to("11.0.0.1", 443);
	l.asked = 7;
	g.asking.conns[1000].serial = 7;
	report_logline(&g, 0, &l);
	CHECK(tells_nothing() && g.asking.conns[1000].over);
}

static void used_by_lines(void)
{
	struct resolved_name *a = resolved_name(&g.seen, STR("a.test")),
			     *b = resolved_name(&g.seen, STR("b.test"));
	struct logline l = line_to("11.0.0.2", 443);

	a->used = b->used = false;
	l.allow = false;
	report_logline(&g, 0, &l);
	strcpy(l.name, "a.test");
	report_logline(&g, 0, &l);
	CHECK(!a->used && !b->used);
	l.allow = true;
	report_logline(&g, 0, &l);
	CHECK(a->used && !b->used);
	a->used = false;
	l.name[0] = '\0';
	report_logline(&g, 0, &l);
	CHECK(a->used && b->used);
	(void)told();
}

/* An earlier HAProxy's line is by the plan that it had. */
static void generations(void)
{
	struct logline l = line_to("11.0.0.1", 443);
	struct l7_past *past = &g.l7.past[2];

	strcpy(l.name, "a.test");
	strcpy(l.rule, "1");
	l.tls = true;
	past->haproxy.pid = 77;
	past->generation = 2;
	CHECK(profiles_parse(
		      STR("membrane-profiles 1\n1 a.test g-00000000ff\n"),
		      &past->profiles, &err) == 0);
	g.now.number = g.l7.plan.generation = 3;
	report_logline(&g, 77, &l);
	CHECK(tells("\"id\":\"g-00000000ff\"", "\"generation\":2", NULL, NULL));
	report_logline(&g, 78, &l);
	CHECK(tells("\"id\":\"g-0000000001\"", "\"generation\":3", NULL, NULL));
	packet("membrane:allow:", IPPROTO_TCP, "11.0.0.1", 443);
	CHECK(tells("\"generation\":3", NULL, NULL));
	profiles_free(&past->profiles);
	past->haproxy.pid = 0;
	g.now.number = g.l7.plan.generation = 1;
}

/* A connection is told of when it carried no request. */
static void requests(void)
{
	struct logline r = line_to("11.0.0.1", 443), end = r;

	r.kind = LOGLINE_REQUEST;
	r.tls = end.tls = true;
	strcpy(r.name, "a.test");
	strcpy(r.rule, "1");
	strcpy(r.method, "GET");
	strcpy(r.path, "/x");
	end.kind = LOGLINE_REQUESTLESS;
	report_logline(&g, 0, &r);
	CHECK(tells("\"kind\":\"request\"", "\"path\":\"/x\"",
		    "\"method\":\"GET\"", "\"id\":\"g-0000000001\"", NULL,
		    NULL));
	report_logline(&g, 0, &end);
	report_idle(&g, INT64_MAX);
	CHECK(tells_nothing());
	/* without TLS the first bytes were a request's, told by itself */
	end.tls = false;
	report_logline(&g, 0, &end);
	report_idle(&g, INT64_MAX);
	CHECK(tells_nothing());
	end.tls = true;
	report_logline(&g, 0, &end);
	CHECK(tells_nothing());
	report_idle(&g, 0);
	CHECK(tells_nothing());
	report_idle(&g, INT64_MAX);
	CHECK(tells("\"kind\":\"connect\"", "\"name\":\"a.test\"",
		    "\"id\":\"g-0000000001\"", NULL, "\"path\"", NULL));
	report_idle(&g, INT64_MAX);
	CHECK(tells_nothing());
	/* more than can wait are told at once */
	for (uint16_t i = 0; i < REQUESTLESS_MAX; i++) {
		end.sport = 2000 + i;
		report_logline(&g, 0, &end);
	}
	CHECK(tells_nothing());
	end.sport = 3000;
	report_logline(&g, 0, &end);
	CHECK(tells("\"kind\":\"connect\"", "\"sport\":3000", NULL, NULL));
	report_idle(&g, INT64_MAX);
	(void)told();
	/* in the clear, by no rule: no packet of any protocol */
	r = line_to("11.0.0.1", 8080);
	r.kind = LOGLINE_REQUEST;
	report_logline(&g, 0, &r);
	CHECK(tells("\"kind\":\"request\"", "\"id\":\"g-0000000001\"", NULL,
		    NULL));
}

/* Nothing but what passed without a rule, as neither TLS nor a request. */
static void others_answers(struct logline l)
{
	struct logline o = l;

	o.tls = true;
	report_logline(&g, 0, &o);
	CHECK(tells("\"reason\":\"granted\"", NULL, NULL));
	o = l;
	o.allow = false;
	o.reason = REASON_PORT;
	report_logline(&g, 0, &o);
	CHECK(tells("\"reason\":\"port\"", NULL, NULL));
	o = l;
	o.kind = LOGLINE_REQUEST;
	report_logline(&g, 0, &o);
	CHECK(tells("\"reason\":\"granted\"", NULL, NULL));
	o = l;
	strcpy(o.rule, "2");
	report_logline(&g, 0, &o);
	CHECK(tells("\"reason\":\"granted\"", "\"id\":\"" NET "\"", NULL,
		    NULL));
}

/* What was asked, or would have been. */
static void asked(void)
{
	static const enum reason reasons[] = {
		REASON_NOT_ANSWERED, REASON_ANSWERED_NO, REASON_NOT_ASKED,
		REASON_TOO_MANY, REASON_ANSWERED};
	struct logline l = line_to("11.0.0.2", 7000);
	struct question *x = &g.asking.questions.v[3];

	l.tls = true;
	for (size_t i = 0; i < ARRAY_LEN(reasons); i++) {
		l.allow = reasons[i] == REASON_ANSWERED;
		l.reason = reasons[i];
		report_logline(&g, 0, &l);
		CHECK(tells("\"id\":\"a-0000000001\"", NULL, NULL));
	}
	strcpy(l.name, "b.test"); /* it was another rule all the same */
	strcpy(l.rule, "3");
	report_logline(&g, 0, &l);
	CHECK(tells("\"id\":\"g-0000000002\"", NULL, NULL));
	l.name[0] = l.rule[0] = '\0';
	l.addr = addr_of("10.7.1.1");
	report_logline(&g, 0, &l);
	CHECK(tells("\"id\":\"a-0000000002\"", NULL, "\"name", NULL));
	l.port = 7001;
	report_logline(&g, 0, &l);
	CHECK(tells("\"verdict\":\"allow\"", NULL, "\"id\"", NULL));
	/* of another protocol than TLS the answer itself is looked for */
	x->state = QUESTION_YES;
	x->number = 5;
	strcpy(x->key.rule, "a-0000000001");
	strcpy(x->key.name, "b.test");
	x->key.port = 7000;
	g.asking.conns[1000].question = 5;
	l = line_to("10.1.2.3", 7000);
	report_logline(&g, 0, &l);
	CHECK(tells("\"reason\":\"answered\"", "\"id\":\"a-0000000001\"",
		    "\"name\":\"b.test\"", NULL, NULL));
	x->key.name[0] = '\0';
	report_logline(&g, 0, &l);
	CHECK(tells("\"reason\":\"answered\"", NULL, "\"name", NULL));
	others_answers(l);
	l.port = 22; /* another one by then */
	report_logline(&g, 0, &l);
	CHECK(tells("\"reason\":\"granted\"", "\"id\":\"" NET "\"", NULL,
		    NULL));
	g.asking.conns[1000].question = 0;
	x->state = QUESTION_FREE;
}

/* --- room ----------------------------------------------------------------- */

static void long_paths(void)
{
	struct logline l = line_to("11.0.0.1", 443);
	char want[200] = "\"path\":\"";

	l.kind = LOGLINE_REQUEST;
	strcpy(l.name, "a.test");
	strcpy(l.rule, "1");
	memset(l.path, '/', LOGLINE_PATH_MAX);
	report_logline(&g, 0, &l);
	CHECK(strlen(told()) > LOGLINE_PATH_MAX);
	/* each of these takes six bytes */
	memset(l.path, 1, LOGLINE_PATH_MAX);
	report_logline(&g, 0, &l);
	for (int i = 0; i < 3; i++)
		strcat(want, "\\u0001");
	CHECK(tells(want, "\"name\":\"a.test\"", NULL, NULL));
	CHECK(strlen(text) > 160 * 6 && strlen(text) < 161 * 6 + 400);
}

/* What does not fit whatever is cut is not told, and that is. */
static void too_long(void)
{
	static char name[RECORD_MAX];
	struct record r = {.n_names = 1, .names = {name}};

	memset(name, 'x', sizeof(name) - 1);
	report_record(&g, &r);
	CHECK(tells_nothing() && g.out.n_lost == 1);
	g.out.n_lost = 0;
}

/* Who is refused may wait for the line; who passes does not. */
static void batches(void)
{
	packet("membrane:allow:", IPPROTO_TCP, "11.0.0.1", 443);
	CHECK(g.out.due_ms > 0);
	packet("membrane:floor:", IPPROTO_TCP, "11.0.0.1", 443);
	CHECK(g.out.due_ms == 0);
	(void)told();
}

/* Refusals of one kind are counted while there is no room; nothing else is. */
static void folded(void)
{
	g.out.n = OUTLOG_BYTES / 2;
	for (int i = 0; i < 3; i++)
		packet("membrane:floor:", IPPROTO_TCP, "11.0.0.1", 443);
	CHECK(g.out.n == OUTLOG_BYTES / 2 && g.folded.n == 1);
	report_folded(&g);
	CHECK(g.out.n == OUTLOG_BYTES / 2);
	packet("membrane:allow:", IPPROTO_TCP, "11.0.0.1", 443);
	CHECK(g.out.n > OUTLOG_BYTES / 2);
	g.out.n = 0;
	report_folded(&g);
	CHECK(tells("\"count\":3", "\"reason\":\"floor\"", NULL, "1970", NULL));
	CHECK(g.folded.n == 0);
	/* one at a time, what was folded first */
	g.out.n = OUTLOG_BYTES / 2;
	packet("membrane:floor:", IPPROTO_TCP, "11.0.0.1", 443);
	g.out.n = 0;
	packet("membrane:floor:", IPPROTO_TCP, "11.0.0.1", 444);
	CHECK(strstr(told(), "443") && strstr(strstr(text, "443"), "444"));
	/* more kinds than there is room for are lost, and that is told */
	g.out.n = OUTLOG_BYTES / 2;
	for (uint16_t i = 0; i < FOLD_ENTRIES + 2; i++)
		packet("membrane:floor:", IPPROTO_TCP, "11.0.0.1",
		       (uint16_t)(2000 + i));
	CHECK(g.folded.n == FOLD_ENTRIES && g.out.n_lost == 2);
	report_lost(&g, 5);
	CHECK(g.out.n_lost == 7);
	g.out.n = g.out.n_lost = g.folded.n = 0;
}

static void answers(void)
{
	struct sockaddr_storage end = {.ss_family = AF_INET};
	struct dns_query q;
	struct record_answer a = {.client = &end, .server = &end, .q = &q};

	CHECK(dns_msg_query_for("a.test", LDNS_RR_TYPE_A, &q));
	report_answer(&g, &a);
	CHECK(tells("\"event\":\"answer\"", "\"name\":\"a.test\"", NULL,
		    "\"time_ns\":0", NULL));
	g.out.n = OUTLOG_BYTES / 2;
	report_answer(&g, &a);
	report_answer(&g, &a);
	CHECK(g.out.n == OUTLOG_BYTES / 2 && g.answers_lost == 2);
	g.out.n = 0;
	report_answer(&g, &a);
	CHECK(strstr(told(), "\"missing\":2") && g.answers_lost == 0 &&
	      strstr(strchr(text, '\n'), "\"name\":\"a.test\""));
	report_answer(&g, &a);
	CHECK(tells("\"event\":\"answer\"", NULL, "missing", NULL));
}

/* At the end who reads is waited for, where there is no room. */
static void rests(const struct flow *f)
{
	int out[2];

	CHECK(pipe(out) == 0 && fcntl(out[1], F_SETPIPE_SZ, OUTLOG_BYTES) > 0);
	g.out.fd = out[1];
	g.out.n = OUTLOG_BYTES / 2;
	memset(g.out.ring, 'x', g.out.n);
	report_rest(&g, f);
	CHECK(strstr(told(), "\"event\":\"end\"") == text + 1);
	g.out.n = OUTLOG_BYTES / 4;
	report_rest(&g, f);
	CHECK(g.out.n > OUTLOG_BYTES / 4);
	(void)told();
	close(out[0]);
	close(out[1]);
	g.out.fd = -1;
}

static void flows(void)
{
	struct flow f = {.packet = {.proto = IPPROTO_TCP,
				    .has_port = true,
				    .sport = 9,
				    .dport = 22,
				    .dst = addr_of("10.1.2.3")},
			 .sent = {2, 100},
			 .received = {1, 60}};
	char now_is[8 + CLOCK_TEXT_MAX] = "";
	struct timespec now;
	const char *line;

	clock_gettime(CLOCK_REALTIME, &now);
	memcpy(now_is, "\"time\":\"", 8);
	clock_text(&now, now_is + 8);
	report_flow(&g, &f);
	line = strstr(told(), "\"time\":\"");
	CHECK(line && strncmp(line, now_is, strlen(now_is)) >= 0);
	clock_gettime(CLOCK_REALTIME, &now);
	clock_text(&now, now_is + 8);
	CHECK(line && strncmp(line, now_is, strlen(now_is)) <= 0);
	report_rest(&g, &f);
	CHECK(tells("\"event\":\"end\"", "10.1.2.3", NULL, NULL));
	rests(&f);
	report_error(&g, "what \"went\" wrong");
	CHECK(tells("{\"event\":\"error\",\"message\":\"what "
		    "\\\"went\\\" wrong\"}\n",
		    NULL, NULL));
}

static void questions(void)
{
	static char body[RECORD_MAX];
	struct renewal_ask r = {.id = 4,
				.n = 2,
				.addr = addr_of("11.0.0.1"),
				.is_form = true,
				.agent = STR("curl"),
				.body = STR("a=b")};
	struct question q = {.number = 9, .key = {.port = 443, .tls = true}};

	CHECK(report_renewal(&g, &r));
	CHECK(tells("\"id\":4", "\"n\":2", "11.0.0.1", "curl", "a=b", NULL,
		    NULL));
	memset(body, 1, sizeof(body));
	r.body = (struct str){body, sizeof(body)};
	CHECK(!report_renewal(&g, &r) && tells_nothing());
	strcpy(q.key.rule, "g-0000000001");
	strcpy(q.key.name, "a.test");
	strcpy(q.key.method, "GET");
	strcpy(q.key.path, "/x");
	CHECK(report_question(&g, &q, 1234, 60));
	CHECK(tells("\"id\":9", "a.test", "\"line\":3", "1234", "60", "443",
		    "GET", "/x", "g-0000000001", NULL, "1970", NULL));
	memset(q.key.path, 1, sizeof(q.key.path) - 1);
	CHECK(report_question(&g, &q, 1234, 60) ==
	      (sizeof(q.key.path) * 6 < RECORD_MAX - 400));
	(void)told();
	report_answered(&g, 9, ASKING_YES);
	CHECK(tells("\"id\":9", "\"yes\"", NULL, "1970", NULL));
}

int main(void)
{
	begin();
	permitted_packets();
	refused_packets();
	used_names();
	connections();
	used_by_lines();
	generations();
	requests();
	asked();
	long_paths();
	too_long();
	batches();
	folded();
	answers();
	flows();
	questions();
	names_free(&g.now.names);
	provenance_free(&g.now.provenance);
	profiles_free(&g.l7.plan.profiles);
	return check_status();
}
