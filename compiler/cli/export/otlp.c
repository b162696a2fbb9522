/*
 * OpenTelemetry: processes as spans below one of the session, decisions and
 * events as log records, in the JSON encoding of OTLP: identifiers in hex,
 * 64-bit numbers as text, enumerations as numbers. Names of attributes are
 * those of the semantic conventions where there is one. A line is ready to be
 * posted to /v1/logs or to /v1/traces.
 */
#include "compiler/cli/export/parts.h"

#include "compiler/base/question.h"
#include "compiler/base/sha256.h"
#include "compiler/cli/account/logs_line.h"
#include "compiler/cli/text/view.h"
#include "compiler/cli/traces/trace_line.h"
#include "version.h"

#include <inttypes.h>

#define BATCH	      64u /* records on a line */
#define TRACE_HEX     32u
#define SPAN_HEX      16u
#define KIND_INTERNAL 1
#define STATUS_ERROR  2
#define SEVERITY_INFO 9
#define SEVERITY_WARN 13

static void put_hex(struct exporting *x, cJSON *o, const char *key, size_t n,
		    struct str of)
{
	char hex[SHA256_HEX_MAX];

	json_put_str(o, key,
		     arena_str(x->line,
			       str_slice(str_of(sha256_hex(of, hex)), 0, n)));
}

static struct str session_of(struct exporting *x)
{
	return x->past.id.n ? x->past.id : x->past.label;
}

static void put_trace_id(struct exporting *x, cJSON *o)
{
	put_hex(x, o, "traceId", TRACE_HEX,
		arena_fmt(x->line, "membrane %.*s", STR_ARG(session_of(x))));
}

/* Of a process; 0: of the session itself. */
static void put_span_id(struct exporting *x, cJSON *o, const char *key,
			uint32_t node)
{
	put_hex(x, o, key, SPAN_HEX,
		arena_fmt(x->line, "membrane %.*s %u", STR_ARG(session_of(x)),
			  node));
}

static void put_ns(struct exporting *x, cJSON *o, const char *key, uint64_t ns)
{
	json_put_str(o, key, arena_fmt(x->line, "%" PRIu64, ns));
}

/* --- attributes ----------------------------------------------------------- */

static cJSON *new_attribute(cJSON *list, const char *key)
{
	cJSON *o = json_object(), *value = json_object();

	json_put_cstr(o, "key", key);
	json_put(o, "value", value);
	json_push(list, o);
	return value;
}

static void put_text(struct exporting *x, cJSON *list, const char *key,
		     struct str s)
{
	if (s.n)
		export_text(x, new_attribute(list, key), "stringValue", s);
}

static void put_number(struct exporting *x, cJSON *list, const char *key,
		       int64_t n)
{
	json_put_str(new_attribute(list, key), "intValue",
		     arena_fmt(x->line, "%" PRId64, n));
}

static cJSON *new_resource(struct exporting *x)
{
	cJSON *o = json_object(), *list = json_array();

	put_text(x, list, "service.name", STR("membrane"));
	put_text(x, list, "service.version", STR(MEMBRANE_VERSION));
	put_text(x, list, "membrane.session.id", session_of(x));
	if (x->past.about.known) {
		put_text(x, list, "membrane.engine",
			 str_of(x->past.about.engine));
		put_text(x, list, "membrane.workspace",
			 str_of(x->past.about.workspace));
	}
	json_put(o, "attributes", list);
	return o;
}

/* A line of one kind: "resourceLogs", "scopeLogs", "logRecords". */
static void put_wrapped(struct exporting *x, const char *resources,
			const char *scopes, const char *records, cJSON *list)
{
	cJSON *root = json_object(), *of = json_array(), *one = json_object();
	cJSON *in = json_array(), *scoped = json_object();
	cJSON *scope = json_object();

	json_put_cstr(scope, "name", "membrane");
	json_put_cstr(scope, "version", MEMBRANE_VERSION);
	json_put(scoped, "scope", scope);
	json_put(scoped, records, list);
	json_push(in, scoped);
	json_put(one, "resource", new_resource(x));
	json_put(one, scopes, in);
	json_push(of, one);
	json_put(root, resources, of);
	export_put(x, root);
}

/* --- log records ---------------------------------------------------------- */

static void flush_batch(struct exporting *x)
{
	if (x->batch)
		put_wrapped(x, "resourceLogs", "scopeLogs", "logRecords",
			    x->batch);
	x->batch = NULL;
	x->batched = 0;
}

static void push_record(struct exporting *x, cJSON *record)
{
	if (!x->batch)
		x->batch = json_array();
	json_push(x->batch, record);
	if (++x->batched == BATCH)
		flush_batch(x);
}

static cJSON *new_record(struct exporting *x, uint64_t at_ns, bool is_warning,
			 struct str body)
{
	cJSON *o = json_object(), *text = json_object();

	put_ns(x, o, "timeUnixNano", at_ns);
	put_ns(x, o, "observedTimeUnixNano", at_ns);
	cJSON_AddNumberToObject(o, "severityNumber",
				is_warning ? SEVERITY_WARN : SEVERITY_INFO);
	json_put_cstr(o, "severityText", is_warning ? "WARN" : "INFO");
	json_put_cstr(text, "stringValue", "");
	if (body.n) {
		cJSON_DeleteItemFromObject(text, "stringValue");
		export_text(x, text, "stringValue", body);
	}
	json_put(o, "body", text);
	put_trace_id(x, o);
	return o;
}

static void put_what(struct exporting *x, cJSON *list,
		     const struct trace_event *e)
{
	struct trace_object o = trace_object(e);
	enum trace_kind kind = trace_kind(e);

	put_text(x, list, "file.path", o.path);
	put_text(x, list, "dns.question.name", o.name);
	put_text(x, list,
		 kind == TRACE_CONNECT || kind == TRACE_SEND
			 ? "server.address"
			 : "network.local.address",
		 o.addr);
	if (o.port)
		put_number(x, list,
			   kind == TRACE_CONNECT || kind == TRACE_SEND
				   ? "server.port"
				   : "network.local.port",
			   o.port);
	if (kind == TRACE_EXEC)
		put_text(x, list, "process.command_line",
			 trace_command(x->line, e));
	if (kind == TRACE_EXIT)
		put_number(x, list, "process.exit.code", trace_exit(e).code);
	put_text(x, list, "membrane.refused",
		 trace_arg(e, "dns_response.refused"));
}

void otlp_event(struct exporting *x, const struct trace_event *e, uint32_t node)
{
	struct trace_line l;
	cJSON *o, *list;

	if (x->form == EXPORT_OTLP_SPANS || !trace_line(x->line, e, &l))
		return;
	o = new_record(x, e->at_ns,
		       trace_kind(e) == TRACE_ATTEMPT || e->ret < 0,
		       arena_fmt(x->line, "%s %.*s", l.what, STR_ARG(l.text)));
	list = json_array();
	put_text(x, list, "event.name", e->name);
	put_number(x, list, "process.pid", e->pid);
	put_number(x, list, "process.parent_pid", e->ppid);
	put_text(x, list, "process.executable.name", e->comm);
	put_number(x, list, "user.id", e->uid);
	put_what(x, list, e);
	put_text(x, list, "error.type", l.error ? str_of(l.error) : STR(""));
	json_put(o, "attributes", list);
	if (node)
		put_span_id(x, o, "spanId", node);
	push_record(x, o);
}

/* Members of a decision, and what they are called. */
static const struct {
	const char *member, *attribute;
} texts[] =
	{
		{"kind", "membrane.decision.kind"},
		{"verdict", "membrane.decision.verdict"},
		{"reason", "membrane.decision.reason"},
		{"id", "membrane.rule.id"},
		{"source", "membrane.policy.source"},
		{"name", "server.address"},
		{"addr", "network.peer.address"},
		{"proto", "network.transport"},
		{"type", "dns.question.type"},
		{"method", "http.request.method"},
		{"path", "url.path"},
		{"error", "error.type"},
},
  numbers[] = {
	  {"line", "membrane.policy.line"},
	  {"port", "server.port"},
	  {"sport", "client.port"},
	  {"status", "http.response.status_code"},
	  {"sent", "membrane.bytes.sent"},
	  {"received", "membrane.bytes.received"},
	  {"count", "membrane.decision.count"},
	  {"generation", "membrane.policy.generation"},
};

static struct str decision_body(struct exporting *x, const cJSON *o)
{
	struct str name = json_find_str(o, "name"),
		   addr = json_find_str(o, "addr"),
		   path = json_find_str(o, "path");
	bool is_file = str_is(json_find_str(o, "kind"), "read") ||
		       str_is(json_find_str(o, "kind"), "write");

	return arena_fmt(x->line, "%s %s %.*s",
			 str_is(json_find_str(o, "event"), "end")
				 ? "end"
				 : json_find_str(o, "verdict").p,
			 json_find_str(o, "kind").p,
			 STR_ARG(is_file  ? path
				 : name.n ? name
					  : addr));
}

static struct str question_body(struct exporting *x, const cJSON *o)
{
	bool is_answer = str_is(json_find_str(o, "event"), ANSWERED_EVENT);
	struct buf b;

	buf_init(&b, x->line);
	buf_adds(&b, is_answer ? "answered " : "asks ");
	if (is_answer)
		logs_line_answer(&b, o);
	else
		logs_line_question(&b, o);
	return buf_str(&b);
}

/* What waited for a person, whose it was, and what became of it. */
static void put_question(struct exporting *x, cJSON *list, const cJSON *d)
{
	const cJSON *by = cJSON_GetObjectItemCaseSensitive(d, "process");
	const cJSON *place = cJSON_GetObjectItemCaseSensitive(d, "third_party");
	const cJSON *who = cJSON_GetObjectItemCaseSensitive(d, "who");
	uint64_t pid;

	put_number(x, list, "membrane.question.id",
		   (int64_t)json_find_u64(d, "id", UINT32_MAX));
	put_text(x, list, "membrane.rule.id", json_find_str(d, "rule"));
	put_text(x, list, "membrane.question.answer",
		 json_find_str(d, "answer"));
	put_text(x, list, "user.name", json_find_str(who, "name"));
	put_text(x, list, "process.executable.name", json_find_str(by, "name"));
	put_text(x, list, "process.command_line", json_find_str(by, "command"));
	if (json_get_u64(by, "pid", UINT32_MAX, &pid))
		put_number(x, list, "process.pid", (int64_t)pid);
	put_text(x, list, "membrane.third_party.kind",
		 json_find_str(place, "kind"));
	put_text(x, list, "membrane.third_party.what",
		 json_find_str(place, "what"));
}

/* False: it is no event that has a record. */
static bool find_event(struct str event, struct str *out)
{
	static const struct {
		const char *event;
		struct str name;
	} known[] = {
		{"decision", STR_INIT("membrane.decision")},
		{"end", STR_INIT("membrane.flow.end")},
		{QUESTION_EVENT, STR_INIT("membrane.question")},
		{ANSWERED_EVENT, STR_INIT("membrane.answered")},
	};

	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		if (str_is(event, known[i].event)) {
			*out = known[i].name;
			return true;
		}
	return false;
}

void otlp_decision(struct exporting *x, const cJSON *d)
{
	struct str event = json_find_str(d, "event"), name;
	bool is_asked =
		str_is(event, QUESTION_EVENT) || str_is(event, ANSWERED_EVENT);
	cJSON *o, *list;
	uint64_t n;

	if (x->form == EXPORT_OTLP_SPANS || !find_event(event, &name))
		return;
	o = new_record(x, export_time_ns(d),
		       str_is(json_find_str(d, "verdict"), "deny"),
		       is_asked ? question_body(x, d) : decision_body(x, d));
	list = json_array();
	put_text(x, list, "event.name", name);
	if (is_asked)
		put_question(x, list, d);
	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		put_text(x, list, texts[i].attribute,
			 json_find_str(d, texts[i].member));
	for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
		if (json_get_u64(d, numbers[i].member, JSON_WHOLE_MAX, &n))
			put_number(x, list, numbers[i].attribute, (int64_t)n);
	json_put(o, "attributes", list);
	push_record(x, o);
}

/* --- spans ---------------------------------------------------------------- */

static cJSON *new_span(struct exporting *x, uint32_t node, struct str name,
		       uint64_t begun_ns, uint64_t ended_ns)
{
	cJSON *o = json_object();

	put_trace_id(x, o);
	put_span_id(x, o, "spanId", node);
	export_text(x, o, "name", name);
	cJSON_AddNumberToObject(o, "kind", KIND_INTERNAL);
	put_ns(x, o, "startTimeUnixNano", begun_ns);
	put_ns(x, o, "endTimeUnixNano",
	       ended_ns < begun_ns ? begun_ns : ended_ns);
	return o;
}

static void put_process(struct exporting *x, cJSON *spans, uint32_t i)
{
	const struct process_node *n = &x->processes.nodes.v[i];
	struct str name =
		str_slice(n->command, 0, str_find(n->command, ' ', 0));
	cJSON *o = new_span(x, i, name.n ? name : STR("(forked)"), n->begun_ns,
			    n->has_ended ? n->ended_ns : n->last_ns);
	cJSON *list = json_array(), *status;

	put_span_id(x, o, "parentSpanId", n->parent);
	put_number(x, list, "process.pid", n->pid);
	put_text(x, list, "process.command_line", n->command);
	if (n->has_ended)
		put_number(x, list, "process.exit.code", n->end.code);
	if (n->end.signal)
		put_number(x, list, "membrane.process.signal", n->end.signal);
	if (!n->has_ended)
		json_put_bool(new_attribute(list, "membrane.process.no_end"),
			      "boolValue", true);
	json_put(o, "attributes", list);
	if (n->end.code || n->end.signal) {
		status = json_object();
		cJSON_AddNumberToObject(status, "code", STATUS_ERROR);
		json_put(o, "status", status);
	}
	json_push(spans, o);
}

static void put_spans(struct exporting *x)
{
	cJSON *spans = json_array();
	unsigned n = 1;

	json_push(spans,
		  new_span(x, 0, STR("session"), x->first_ns, x->last_ns));
	for (uint32_t i = 1; i < x->processes.nodes.n && !x->unwritten; i++) {
		put_process(x, spans, i);
		if (++n < BATCH)
			continue;
		put_wrapped(x, "resourceSpans", "scopeSpans", "spans", spans);
		spans = json_array();
		n = 0;
		arena_free(x->line);
		x->line = arena_new();
	}
	if (n)
		put_wrapped(x, "resourceSpans", "scopeSpans", "spans", spans);
	else
		cJSON_Delete(spans);
}

void otlp_end(struct exporting *x)
{
	flush_batch(x);
	if (x->form != EXPORT_OTLP_LOGS && x->processes.nodes.n > 1)
		put_spans(x);
}
