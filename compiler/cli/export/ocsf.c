/*
 * OCSF 1.5: Process Activity, Network Activity, HTTP Activity, DNS Activity and
 * File System Activity, with the profile security_control where the gate or
 * the view decided. What its classes have no name for is in "unmapped".
 */
#include "compiler/cli/export/parts.h"

#include "compiler/base/question.h"
#include "compiler/cli/traces/trace_line.h"
#include "version.h"

#include <fcntl.h>
#include <string.h>

#define OCSF_VERSION "1.5.0"

enum ocsf_class {
	OCSF_FILE = 1001,
	OCSF_PROCESS = 1007,
	OCSF_NETWORK = 4001,
	OCSF_HTTP = 4002,
	OCSF_DNS = 4003,
};

/* Numbers that several classes share. */
enum { ACTIVITY_OTHER = 99 };
enum { PROCESS_LAUNCH = 1, PROCESS_TERMINATE = 2 };
enum {
	NETWORK_OPEN = 1,
	NETWORK_FAIL = 4,
	NETWORK_REFUSE = 5,
	NETWORK_TRAFFIC = 6
};
enum { DNS_QUERY = 1, DNS_RESPONSE = 2 };
enum {
	FILE_CREATE = 1,
	FILE_READ = 2,
	FILE_UPDATE = 3,
	FILE_DELETE = 4,
	FILE_RENAME = 5,
	FILE_SET_ATTRIBUTES = 6
};
enum { SEVERITY_INFORMATIONAL = 1, SEVERITY_LOW = 2 };
enum { STATUS_UNKNOWN = 0, STATUS_SUCCESS = 1, STATUS_FAILURE = 2 };
enum { ACTION_ALLOWED = 1, ACTION_DENIED = 2 };
enum { DISPOSITION_ALLOWED = 1, DISPOSITION_BLOCKED = 2 };
enum { DIRECTION_OUTBOUND = 2 };
enum { FILE_TYPE_UNKNOWN = 0, DEVICE_TYPE_UNKNOWN = 0 };

static void put_int(cJSON *o, const char *key, double n)
{
	cJSON_AddNumberToObject(o, key, n);
}

static cJSON *put_object(cJSON *o, const char *key)
{
	cJSON *in = json_object();

	json_put(o, key, in);
	return in;
}

/* What every event has. decided: by the gate or the view. */
static cJSON *new_event(struct exporting *x, enum ocsf_class class,
			unsigned activity, uint64_t at_ns, bool is_bad,
			bool decided)
{
	cJSON *o = json_object(), *metadata, *product, *profiles;

	put_int(o, "category_uid", class / 1000);
	put_int(o, "class_uid", class);
	put_int(o, "activity_id", activity);
	put_int(o, "type_uid", class * 100 + activity);
	put_int(o, "time", (double)(at_ns / 1000000));
	put_int(o, "severity_id",
		is_bad ? SEVERITY_LOW : SEVERITY_INFORMATIONAL);
	put_int(o, "status_id", is_bad ? STATUS_FAILURE : STATUS_SUCCESS);
	metadata = put_object(o, "metadata");
	json_put_cstr(metadata, "version", OCSF_VERSION);
	product = put_object(metadata, "product");
	json_put_cstr(product, "name", "membrane");
	json_put_cstr(product, "vendor_name", "membrane");
	json_put_cstr(product, "version", MEMBRANE_VERSION);
	export_text(x, metadata, "correlation_uid",
		    x->past.id.n ? x->past.id : x->past.label);
	if (decided) {
		profiles = json_array();
		json_push_str(profiles, STR("security_control"));
		json_put(metadata, "profiles", profiles);
	}
	return o;
}

/* Where it happened: the sandbox, which goes by its session. */
static void put_device(struct exporting *x, cJSON *o)
{
	cJSON *device = put_object(o, "device");

	put_int(device, "type_id", DEVICE_TYPE_UNKNOWN);
	export_text(x, device, "uid",
		    x->past.id.n ? x->past.id : x->past.label);
	json_put_cstr(device, "hostname", "membrane");
}

static void put_process(struct exporting *x, cJSON *o, const char *key,
			const struct trace_event *e, bool with_command)
{
	cJSON *p = put_object(o, key), *parent;

	put_int(p, "pid", (double)e->pid);
	export_text(x, p, "name", e->comm);
	if (with_command)
		export_text(x, p, "cmd_line", trace_command(x->line, e));
	if (e->ppid <= 0)
		return;
	parent = put_object(p, "parent_process");
	put_int(parent, "pid", (double)e->ppid);
}

static void put_actor(struct exporting *x, cJSON *o,
		      const struct trace_event *e)
{
	put_process(x, put_object(o, "actor"), "process", e, false);
}

static void put_file(struct exporting *x, cJSON *o, const char *key,
		     struct str path)
{
	cJSON *f = put_object(o, key);
	size_t dir = str_parent(path).n;
	struct str name = str_slice(path, dir, path.n);

	name = str_slice(name, str_starts(name, STR("/")), name.n);
	export_text(x, f, "name", name.n ? name : STR("/"));
	export_text(x, f, "path", path);
	put_int(f, "type_id", FILE_TYPE_UNKNOWN);
}

static void put_endpoint(struct exporting *x, cJSON *o, struct str name,
			 struct str addr, uint64_t port)
{
	cJSON *end = put_object(o, "dst_endpoint");

	export_text(x, end, "hostname", name);
	export_text(x, end, "ip", addr);
	if (port)
		put_int(end, "port", (double)port);
	if (name.n == 0 && addr.n == 0)
		json_put_cstr(end, "name", "unknown");
}

static void put_transport(cJSON *o, struct str proto)
{
	cJSON *c = put_object(o, "connection_info");

	put_int(c, "direction_id", DIRECTION_OUTBOUND);
	if (str_is(proto, "tcp") || str_is(proto, "udp")) {
		json_put_str(c, "protocol_name", proto);
		put_int(c, "protocol_num", str_is(proto, "tcp") ? 6 : 17);
	}
}

/* --- the trace ------------------------------------------------------------ */

static void process_event(struct exporting *x, const struct trace_event *e,
			  bool launch)
{
	cJSON *o = new_event(x, OCSF_PROCESS,
			     launch ? PROCESS_LAUNCH : PROCESS_TERMINATE,
			     e->at_ns, e->ret < 0, false);

	put_device(x, o);
	put_actor(x, o, e);
	put_process(x, o, "process", e, launch);
	if (!launch)
		put_int(o, "exit_code", (double)trace_exit(e).code);
	export_put(x, o);
}

/* By the word of the story. */
static const struct {
	const char *what;
	unsigned activity;
} file_words[] = {
	{"read", FILE_READ},
	{"write", FILE_UPDATE},
	{"create", FILE_CREATE},
	{"delete", FILE_DELETE},
	{"rename", FILE_RENAME},
	{"link", FILE_CREATE},
	{"symlink", FILE_CREATE},
	{"mode", FILE_SET_ATTRIBUTES},
	{"owner", FILE_SET_ATTRIBUTES},
};

static void file_event(struct exporting *x, const struct trace_event *e,
		       const struct trace_line *l)
{
	static const char *const to[] = {"new_path", "newpath", "target"};
	unsigned activity = ACTIVITY_OTHER;
	struct str second = {0};
	cJSON *o;

	for (size_t i = 0; i < ARRAY_LEN(file_words); i++)
		if (strcmp(file_words[i].what, l->what) == 0)
			activity = file_words[i].activity;
	for (size_t i = 0; i < ARRAY_LEN(to) && second.n == 0; i++)
		second = trace_arg(e, to[i]);
	o = new_event(x, OCSF_FILE, activity, e->at_ns, e->ret < 0, false);
	if (activity == ACTIVITY_OTHER)
		json_put_cstr(o, "activity_name", l->what);
	put_device(x, o);
	put_actor(x, o, e);
	put_file(x, o, "file", trace_object(e).path);
	if (second.n)
		put_file(x, o, "file_result", second);
	export_put(x, o);
}

static void socket_event(struct exporting *x, const struct trace_event *e)
{
	struct trace_object t = trace_object(e);
	bool sends = trace_kind(e) == TRACE_SEND, failed = e->ret < 0;
	cJSON *o;

	/* Sockets of files are no network. */
	if (t.port == 0)
		return;
	o = new_event(x, OCSF_NETWORK,
		      sends    ? NETWORK_TRAFFIC
		      : failed ? NETWORK_FAIL
			       : NETWORK_OPEN,
		      e->at_ns, failed, false);
	put_actor(x, o, e);
	put_device(x, o);
	put_endpoint(x, o, STR(""), t.addr, t.port);
	put_transport(o, sends ? STR("udp") : STR(""));
	export_put(x, o);
}

/* RFC 6895, section 2.3, as the trace spells them. */
static const char *const rcodes[] = {"NOERROR",	 "FORMERR", "SERVFAIL",
				     "NXDOMAIN", "NOTIMP",  "REFUSED"};
static const char *const rcode_names[] = {"NoError",  "FormError", "ServError",
					  "NXDomain", "NotImp",	   "Refused"};

static void put_answers(struct exporting *x, cJSON *o,
			const struct trace_event *e)
{
	struct str code = trace_arg(e, "dns_response.response_code");
	cJSON *list = json_array(), *one;

	for (uint32_t i = 0; i < e->n; i++) {
		if (!str_is(e->leaf[i].key, "dns_response.dns_answer.answer"))
			continue;
		one = json_object();
		export_text(x, one, "rdata",
			    e->leaf[i].text.n ? e->leaf[i].text : STR("-"));
		json_push(list, one);
	}
	json_put(o, "answers", list);
	for (unsigned i = 0; i < ARRAY_LEN(rcodes); i++)
		if (str_is(code, rcodes[i])) {
			put_int(o, "rcode_id", i);
			json_put_cstr(o, "rcode", rcode_names[i]);
		}
}

static void dns_event(struct exporting *x, const struct trace_event *e)
{
	bool answer = trace_is_answer(e);
	struct str refused = trace_arg(e, "dns_response.refused");
	struct str name = trace_object(e).name;
	struct str type =
		trace_arg(e, answer ? "dns_response.query_data.query_type"
				    : "dns_questions.query_type");
	cJSON *o, *query;

	if (name.n == 0)
		return;
	o = new_event(x, OCSF_DNS, answer ? DNS_RESPONSE : DNS_QUERY, e->at_ns,
		      refused.n > 0, false);
	put_actor(x, o, e);
	put_device(x, o);
	query = put_object(o, "query");
	export_text(x, query, "hostname", name);
	export_text(x, query, "type", type);
	put_endpoint(x, o, STR("resolver"), trace_arg(e, "metadata.dst_ip"),
		     53);
	if (answer)
		put_answers(x, o, e);
	export_text(x, o, "status_detail", refused);
	export_put(x, o);
}

void ocsf_event(struct exporting *x, const struct trace_event *e)
{
	struct trace_line l;

	if (!trace_line(x->line, e, &l))
		return;
	switch (trace_kind(e)) {
	case TRACE_EXEC:
		process_event(x, e, true);
		return;
	case TRACE_EXIT:
		process_event(x, e, false);
		return;
	case TRACE_FILE:
		file_event(x, e, &l);
		return;
	case TRACE_CONNECT:
	case TRACE_SEND:
		socket_event(x, e);
		return;
	case TRACE_DNS:
		dns_event(x, e);
		return;
	case TRACE_FORK:
	case TRACE_LISTEN:
	case TRACE_ATTEMPT:
	case TRACE_ITSELF:
	case TRACE_OTHER:
	case TRACE_KINDS:
		return;
	}
}

/* --- decisions ------------------------------------------------------------ */

/* A process that is on record beside what it did. */
static void put_by(struct exporting *x, cJSON *actor, const cJSON *by)
{
	cJSON *p;

	if (!cJSON_IsObject(by))
		return;
	p = put_object(actor, "process");
	put_int(p, "pid", (double)json_find_u64(by, "pid", UINT32_MAX));
	export_text(x, p, "name", json_find_str(by, "name"));
	export_text(x, p, "cmd_line", json_find_str(by, "command"));
}

/* Of whom one was told, at the first refusal of each place: whose that was, and
 * whether that is sure. */
static void put_refused(struct exporting *x, cJSON *o, const cJSON *d)
{
	struct str line = abouts_find(x->past.abouts, d);
	cJSON *about = cJSON_ParseWithLength(line.p, line.n);
	const cJSON *by = cJSON_GetObjectItemCaseSensitive(about, "process");
	cJSON *actor = cJSON_GetObjectItemCaseSensitive(o, "actor");

	if (cJSON_IsObject(by)) {
		put_by(x, actor ? actor : put_object(o, "actor"), by);
		json_put_bool(put_object(o, "unmapped"), "process_sure",
			      json_find_true(by, "sure"));
	}
	cJSON_Delete(about);
}

static void put_decided(struct exporting *x, cJSON *o, const cJSON *d)
{
	bool allow = str_is(json_find_str(d, "verdict"), "allow");
	struct str source = json_find_str(d, "source"),
		   id = json_find_str(d, "id");
	uint64_t line = json_find_u64(d, "line", UINT32_MAX);
	cJSON *rule;

	put_int(o, "action_id", allow ? ACTION_ALLOWED : ACTION_DENIED);
	put_int(o, "disposition_id",
		allow ? DISPOSITION_ALLOWED : DISPOSITION_BLOCKED);
	export_text(x, o, "status_detail", json_find_str(d, "reason"));
	if (json_find_u64(d, "count", UINT32_MAX) > 1)
		put_int(o, "count",
			(double)json_find_u64(d, "count", UINT32_MAX));
	if (!allow)
		put_refused(x, o, d);
	if (id.n == 0 && source.n == 0)
		return;
	rule = put_object(o, "firewall_rule");
	export_text(x, rule, "uid", id);
	if (source.n)
		export_text(x, rule, "name",
			    arena_fmt(x->line, "%.*s:%llu", STR_ARG(source),
				      (unsigned long long)line));
}

static void put_traffic(cJSON *o, const cJSON *d)
{
	uint64_t sent, received;
	cJSON *t;

	if (!json_get_u64(d, "sent", JSON_WHOLE_MAX, &sent) ||
	    !json_get_u64(d, "received", JSON_WHOLE_MAX, &received))
		return;
	t = put_object(o, "traffic");
	put_int(t, "bytes_out", (double)sent);
	put_int(t, "bytes_in", (double)received);
}

static void put_flow(struct exporting *x, cJSON *o, const cJSON *d)
{
	put_endpoint(x, o, json_find_str(d, "name"), json_find_str(d, "addr"),
		     json_find_u64(d, "port", UINT16_MAX));
	put_transport(o, json_find_str(d, "proto"));
	put_traffic(o, d);
}

static unsigned method_activity(struct str method)
{
	static const char *const methods[] = {"CONNECT", "DELETE",  "GET",
					      "HEAD",	 "OPTIONS", "POST",
					      "PUT",	 "TRACE",   "PATCH"};

	for (unsigned i = 0; i < ARRAY_LEN(methods); i++)
		if (str_is(method, methods[i]))
			return i + 1;
	return ACTIVITY_OTHER;
}

static void request_decision(struct exporting *x, const cJSON *d, bool bad)
{
	struct str method = json_find_str(d, "method"),
		   path = json_find_str(d, "path");
	unsigned activity = method_activity(method);
	uint64_t status = json_find_u64(d, "status", 999);
	cJSON *o =
		new_event(x, OCSF_HTTP, activity, export_time_ns(d), bad, true);
	cJSON *request = put_object(o, "http_request"), *url, *response;

	if (activity == ACTIVITY_OTHER)
		export_text(x, o, "activity_name",
			    method.n ? method : STR("unknown"));
	export_text(x, request, "http_method", method);
	url = put_object(request, "url");
	json_put_cstr(url, "scheme",
		      json_find_true(d, "tls") ? "https" : "http");
	export_text(x, url, "hostname", json_find_str(d, "name"));
	export_text(x, url, "path", str_slice(path, 0, str_find(path, '?', 0)));
	if (status) {
		response = put_object(o, "http_response");
		put_int(response, "code", (double)status);
	}
	put_flow(x, o, d);
	put_decided(x, o, d);
	export_put(x, o);
}

static void flow_decision(struct exporting *x, const cJSON *d, bool is_end,
			  bool bad)
{
	cJSON *o = new_event(x, OCSF_NETWORK,
			     is_end ? NETWORK_TRAFFIC
			     : bad  ? NETWORK_REFUSE
				    : NETWORK_OPEN,
			     export_time_ns(d), bad, !is_end);

	put_flow(x, o, d);
	if (!is_end)
		put_decided(x, o, d);
	export_put(x, o);
}

static void resolve_decision(struct exporting *x, const cJSON *d, bool bad)
{
	cJSON *o = new_event(x, OCSF_DNS, DNS_RESPONSE, export_time_ns(d), bad,
			     true);
	cJSON *query = put_object(o, "query"), *answers, *one;
	struct str name = json_find_str(d, "name"),
		   addr = json_find_str(d, "addr");

	export_text(x, query, "hostname", name.n ? name : STR("."));
	export_text(x, query, "type", json_find_str(d, "type"));
	put_endpoint(x, o, STR("resolver"), STR(""), 53);
	if (addr.n) {
		answers = json_array();
		one = json_object();
		export_text(x, one, "rdata", addr);
		json_push(answers, one);
		json_put(o, "answers", answers);
	}
	put_decided(x, o, d);
	export_put(x, o);
}

/* Of the view, which knows of no process: who was seen there, if anybody. */
static void path_decision(struct exporting *x, const cJSON *d, bool is_write)
{
	cJSON *o = new_event(x, OCSF_FILE, is_write ? FILE_UPDATE : FILE_READ,
			     export_time_ns(d), true, true);
	cJSON *actor = put_object(o, "actor");

	json_put_cstr(actor, "app_name", "agent");
	put_device(x, o);
	put_file(x, o, "file", json_find_str(d, "path"));
	put_decided(x, o, d);
	export_put(x, o);
}

/* --- questions ------------------------------------------------------------ */

/* Of those that wait; id 0: room for one. NULL: a damaged record's. */
static cJSON **asked_slot(struct exporting *x, uint64_t id)
{
	for (size_t i = 0; i < ARRAY_LEN(x->asked); i++)
		if (json_find_u64(x->asked[i], "id", UINT32_MAX) == id)
			return &x->asked[i];
	return NULL;
}

/* Whose it is, as the trace had it, and who answered. */
static void put_persons(struct exporting *x, cJSON *o, const cJSON *q,
			const cJSON *d)
{
	const cJSON *by = cJSON_GetObjectItemCaseSensitive(q, "process");
	const cJSON *who = cJSON_GetObjectItemCaseSensitive(d, "who");
	cJSON *actor;

	if (!cJSON_IsObject(by) && !who)
		return;
	actor = put_object(o, "actor");
	put_by(x, actor, by);
	if (who)
		export_text(x, put_object(actor, "user"), "name",
			    json_find_str(who, "name"));
}

/* What no class of OCSF's has a member for. */
static void put_unmapped(struct exporting *x, cJSON *o, const cJSON *q,
			 const cJSON *d)
{
	const cJSON *by = cJSON_GetObjectItemCaseSensitive(q, "process");
	const cJSON *place = cJSON_GetObjectItemCaseSensitive(q, "third_party");
	cJSON *more = put_object(o, "unmapped"), *read;

	put_int(more, "question",
		(double)json_find_u64(d, "id", UINT32_MAX));
	export_text(x, more, "answer", json_find_str(d, "answer"));
	if (cJSON_IsObject(by))
		json_put_bool(more, "process_sure", json_find_true(by, "sure"));
	if (!place)
		return;
	read = put_object(more, "third_party");
	export_text(x, read, "kind", json_find_str(place, "kind"));
	export_text(x, read, "what", json_find_str(place, "what"));
}

static void put_rule(struct exporting *x, cJSON *o, const cJSON *q)
{
	struct str source = json_find_str(q, "source");
	cJSON *rule;

	if (!q)
		return;
	rule = put_object(o, "firewall_rule");
	export_text(x, rule, "uid", json_find_str(q, "rule"));
	if (source.n)
		export_text(x, rule, "name",
			    arena_fmt(x->line, "%.*s:%llu", STR_ARG(source),
				      (unsigned long long)json_find_u64(
					      q, "line", UINT32_MAX)));
}

/* q: the question, which d is, or ends. */
static void asked_event(struct exporting *x, const cJSON *q, const cJSON *d)
{
	struct str method = json_find_str(q, "method"),
		   path = json_find_str(q, "path");
	bool ends = str_is(json_find_str(d, "event"), ANSWERED_EVENT);
	bool yes = question_is_yes(json_find_str(d, "answer"));
	cJSON *o = new_event(x, method.n ? OCSF_HTTP : OCSF_NETWORK,
			     ACTIVITY_OTHER, export_time_ns(d), ends && !yes,
			     true);
	cJSON *request, *url;

	json_put_cstr(o, "activity_name", ends ? "Answer" : "Ask");
	if (!ends)
		cJSON_SetNumberValue(cJSON_GetObjectItemCaseSensitive(
					     o, "status_id"),
				     STATUS_UNKNOWN);
	else
		put_int(o, "action_id", yes ? ACTION_ALLOWED : ACTION_DENIED);
	put_persons(x, o, q, d);
	put_device(x, o);
	if (method.n) {
		request = put_object(o, "http_request");
		export_text(x, request, "http_method", method);
		url = put_object(request, "url");
		json_put_cstr(url, "scheme",
			      json_find_true(q, "tls") ? "https" : "http");
		export_text(x, url, "hostname", json_find_str(q, "name"));
		export_text(x, url, "path",
			    str_slice(path, 0, str_find(path, '?', 0)));
	}
	put_endpoint(x, o, json_find_str(q, "name"), json_find_str(q, "addr"),
		     json_find_u64(q, "port", UINT16_MAX));
	put_transport(o, STR("tcp"));
	put_rule(x, o, q);
	put_unmapped(x, o, q, d);
	export_put(x, o);
}

static void question(struct exporting *x, const cJSON *d)
{
	cJSON **slot = asked_slot(x, 0);

	asked_event(x, d, d);
	if (slot)
		*slot = cJSON_Duplicate(d, true);
}

static void answered(struct exporting *x, const cJSON *d)
{
	cJSON **slot = asked_slot(x, json_find_u64(d, "id", UINT32_MAX));

	asked_event(x, slot ? *slot : NULL, d);
	if (!slot)
		return;
	cJSON_Delete(*slot);
	*slot = NULL;
}

void ocsf_end(struct exporting *x)
{
	for (size_t i = 0; i < ARRAY_LEN(x->asked); i++)
		cJSON_Delete(x->asked[i]);
}

void ocsf_decision(struct exporting *x, const cJSON *d)
{
	struct str event = json_find_str(d, "event"),
		   kind = json_find_str(d, "kind");
	bool bad = str_is(json_find_str(d, "verdict"), "deny");

	if (str_is(event, "end"))
		flow_decision(x, d, true, false);
	else if (str_is(event, QUESTION_EVENT))
		question(x, d);
	else if (str_is(event, ANSWERED_EVENT))
		answered(x, d);
	else if (!str_is(event, "decision"))
		return;
	else if (str_is(kind, "request"))
		request_decision(x, d, bad);
	else if (str_is(kind, "resolve"))
		resolve_decision(x, d, bad);
	else if (str_is(kind, "connect"))
		flow_decision(x, d, false, bad);
	else if (str_is(kind, "read") || str_is(kind, "write"))
		path_decision(x, d, str_is(kind, "write"));
}
