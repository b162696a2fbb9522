#include "runtime/launch/session/summary.h"

#include "compiler/base/json.h"
#include "compiler/plan/gate.h"

#include <errno.h>
#include <string.h>

#define DEST_MAX   80u /* printed bytes of a destination */
#define METHOD_MAX 20u
/* A name that was refused is connected to by no port: what most mean. */
#define PORT_ASSUMED 443u
#define PURPOSES_MAX 4u	 /* names in their line */
#define PURPOSE_MAX  60u /* printed bytes of a reason */
#define WIDTH_MAX    40u /* of its column; longer ones push the rest right */

enum proto { PROTO_NONE, PROTO_TCP, PROTO_UDP, PROTO_OTHER };

struct entry {
	struct str dest; /* name, or address where no name is known */
	bool is_name;
	enum reason reason;
	enum proto proto; /* NONE: only asked for, never connected to */
	uint16_t port;
	struct str method, path; /* where they are what was refused */
	struct str source;	 /* of the rule that denied */
	struct str purpose;	 /* why it is refused on purpose, or empty */
	uint32_t line;
	/* one lookup asks for A and for AAAA: count it once */
	uint64_t connects, asked_a, asked_aaaa, asked_other;
};

struct summary {
	struct arena *a;
	summary_can_grant *can_grant;
	summary_purpose *purpose; /* NULL: nothing is */
	const void *purpose_of;
	VEC(struct entry) entries; /* in the order first seen */
	uint64_t allowed, beyond;
};

struct summary *summary_new(struct arena *a, summary_can_grant *can)
{
	struct summary *s = arena_new_of(a, struct summary);

	s->a = a;
	s->can_grant = can;
	return s;
}

void summary_purposes(struct summary *s, summary_purpose *why, const void *of)
{
	s->purpose = why;
	s->purpose_of = of;
}

static struct str member_text(const cJSON *o, const char *key)
{
	const cJSON *m = cJSON_GetObjectItemCaseSensitive(o, key);

	if (cJSON_IsArray(m))
		m = cJSON_GetArrayItem(m, 0);
	return cJSON_IsString(m) ? str_of(m->valuestring) : STR("");
}

static enum proto proto_of(struct str text)
{
	if (str_is(text, "tcp"))
		return PROTO_TCP;
	return str_is(text, "udp") ? PROTO_UDP : PROTO_OTHER;
}

/* The same thing refused for the same reason; a question goes with any port. */
static bool is_same_entry(const struct entry *e, const struct entry *now)
{
	if (!str_eq(e->dest, now->dest) || e->reason != now->reason ||
	    !str_eq(e->method, now->method) || !str_eq(e->path, now->path))
		return false;
	if (e->proto == PROTO_NONE || now->proto == PROTO_NONE)
		return true;
	return e->proto == now->proto && e->port == now->port;
}

/* A record may stand for several that were alike. */
static uint64_t times_of(const cJSON *d)
{
	uint64_t n = json_find_u64(d, "count", UINT32_MAX);

	return n ? n : 1;
}

static void count_refusal(struct entry *e, const cJSON *d, bool is_connect)
{
	struct str type = member_text(d, "type");

	if (is_connect)
		e->connects += times_of(d);
	else if (str_is(type, "A"))
		e->asked_a += times_of(d);
	else if (str_is(type, "AAAA"))
		e->asked_aaaa += times_of(d);
	else
		e->asked_other += times_of(d);
}

static uint64_t total_of(const struct entry *e)
{
	return e->connects + e->asked_other +
	       (e->asked_a > e->asked_aaaa ? e->asked_a : e->asked_aaaa);
}

/* Was there one like it? */
static bool fold_entry(struct summary *s, const struct entry *now,
		       const cJSON *d, bool is_connect)
{
	struct entry *found = NULL;
	bool known;

	vec_each(e, &s->entries)
		if (!found && is_same_entry(e, now))
			found = e;
	known = found != NULL;
	if (!found && s->entries.n >= SUMMARY_ENTRIES_MAX) {
		s->beyond += times_of(d);
		return true;
	}
	if (!found) {
		found = vec_push(s->a, &s->entries);
		*found = *now;
		found->dest = arena_str(s->a, now->dest);
		found->method = arena_str(s->a, now->method);
		found->path = arena_str(s->a, now->path);
		found->source = arena_str(s->a, now->source);
		if (s->purpose && now->is_name &&
		    now->reason == REASON_NO_GRANT)
			found->purpose = s->purpose(s->purpose_of, now->dest);
	}
	if (found->proto == PROTO_NONE) {
		found->proto = now->proto;
		found->port = now->port;
	}
	count_refusal(found, d, is_connect);
	return known;
}

int summary_add(struct summary *s, const cJSON *d, enum summary_news *out_news,
		struct err *err)
{
	struct str kind = member_text(d, "kind"),
		   verdict = member_text(d, "verdict");
	struct str name = member_text(d, "name"), addr = member_text(d, "addr");
	bool is_connect = str_is(kind, "connect") || str_is(kind, "request");
	struct entry now = {0};

	if (!is_connect && !str_is(kind, "resolve"))
		return err_set(err, -EPROTO,
			       "a decision of unknown kind '%.40s'", kind.p);
	if (str_is(verdict, "allow")) {
		s->allowed++;
		*out_news = SUMMARY_PERMITTED;
		return 0;
	}
	if (!str_is(verdict, "deny"))
		return err_set(err, -EPROTO, "a decision with verdict '%.40s'",
			       verdict.p);
	if (!reason_parse(member_text(d, "reason"), &now.reason))
		return err_set(err, -EPROTO,
			       "a decision for an unknown reason '%.40s'",
			       member_text(d, "reason").p);
	now.is_name = name.n > 0;
	now.dest = now.is_name ? name : addr;
	if (is_connect) {
		now.proto = proto_of(member_text(d, "proto"));
		now.port = (uint16_t)json_find_u64(d, "port", 65535);
	}
	if (now.reason == REASON_METHOD || now.reason == REASON_PATH ||
	    now.reason == REASON_SCHEME) {
		now.method = member_text(d, "method");
		now.path = member_text(d, "path");
	}
	now.source = member_text(d, "source");
	now.line = (uint32_t)json_find_u64(d, "line", UINT32_MAX);
	*out_news = fold_entry(s, &now, d, is_connect) ? SUMMARY_KNOWN
						       : SUMMARY_NEW;
	return 0;
}

void summary_escape(struct buf *out, struct str text, size_t max)
{
	for (size_t i = 0; i < text.n; i++) {
		unsigned char c = (unsigned char)text.p[i];

		if (i >= max) {
			buf_adds(out, "…");
			return;
		}
		if (c >= ' ' && c < 0x7f)
			buf_addc(out, (char)c);
		else
			buf_addf(out, "\\x%02x", c);
	}
}

/* "api.example.com:443", "[2001:db8::1]:443", "8.8.8.8:53/udp". */
static void print_dest(const struct entry *e, struct buf *out)
{
	bool v6 = !e->is_name && str_find(e->dest, ':', 0) < e->dest.n;

	if (e->method.n) {
		summary_escape(out, e->method, METHOD_MAX);
		buf_addc(out, ' ');
	}
	if (e->dest.n == 0)
		buf_adds(out, "(unknown)");
	if (v6 && e->port)
		buf_addc(out, '[');
	summary_escape(out, e->dest, DEST_MAX);
	if (v6 && e->port)
		buf_addc(out, ']');
	if (e->port)
		buf_addf(out, ":%u", e->port);
	if (e->proto == PROTO_UDP)
		buf_adds(out, "/udp");
	summary_escape(out, e->path, DEST_MAX);
}

static bool made_of(struct str text, const char *set)
{
	for (size_t i = 0; i < text.n; i++)
		if (!strchr(set, text.p[i]))
			return false;
	return text.n > 0;
}

#define UPPER "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define LOWER "abcdefghijklmnopqrstuvwxyz"
#define DIGIT "0123456789"

/* The rule that lets the request through, and no other path or method. */
static bool print_rule(const struct entry *e, struct buf *out)
{
	if (!e->is_name || !made_of(e->method, UPPER) ||
	    !made_of(e->path, UPPER LOWER DIGIT "/-_.~"))
		return false;
	buf_addf(
		out,
		"{dest: %.*s, ports: [%u], http: [{methods: [%.*s], paths: [%.*s]}]}",
		STR_ARG(e->dest), e->port, STR_ARG(e->method),
		STR_ARG(e->path));
	return true;
}

/* Why no line in a policy is advised for the name, or NULL. */
static const char *why_none(const struct summary *s, const struct entry *e)
{
	if (!e->is_name)
		return NULL;
	if (!s->can_grant || !s->can_grant(s->a, e->dest))
		return "no policy can grant such a name";
	/* What is granted already is no stranger. */
	if (e->reason != REASON_NO_GRANT ||
	    str_find(e->dest, '.', 0) < e->dest.n)
		return NULL;
	return str_is(e->dest, GATE_AGENT_HOST)
		       ? "the sandbox's own host name"
		       : "one label is no public name: grant it by hand where your own resolver knows it";
}

/* The entry of `allow` for it, or false where no line would help. */
static bool print_grant(const struct summary *s, const struct entry *e,
			struct buf *out)
{
	bool v6 = !e->is_name && str_find(e->dest, ':', 0) < e->dest.n;

	if (e->dest.n == 0 || e->proto == PROTO_OTHER || why_none(s, e))
		return false;
	if (e->reason == REASON_PRIVATE_ADDRESS && e->is_name) {
		buf_addf(out, "{dest: %.*s, private: true}", STR_ARG(e->dest));
		return true;
	}
	if (e->method.n && e->port)
		return print_rule(e, out);
	if (e->reason != REASON_NO_GRANT && e->reason != REASON_PORT &&
	    e->reason != REASON_UDP)
		return false;
	if (e->proto == PROTO_UDP)
		buf_addf(out,
			 v6 ? "{dest: \"%.*s\", ports: [%u/udp]}"
			    : "{dest: %.*s, ports: [%u/udp]}",
			 STR_ARG(e->dest), e->port);
	else if (v6)
		buf_addf(out, e->port ? "\"[%.*s]:%u\"" : "\"%.*s\"",
			 STR_ARG(e->dest), e->port);
	else if (e->port || e->is_name)
		buf_addf(out, "%.*s:%u", STR_ARG(e->dest),
			 e->port ? e->port : PORT_ASSUMED);
	else
		buf_add(out, e->dest);
	return true;
}

/* One that 'membrane allow' takes as it is, in any shell. */
static bool is_word(struct str grant)
{
	return grant.n && grant.p[0] != '{' && grant.p[0] != '"';
}

static void print_remedy(const struct summary *s, const struct entry *e,
			 struct buf *out)
{
	const char *why = why_none(s, e);
	struct buf grant;

	buf_init(&grant, s->a);
	if (print_grant(s, e, &grant)) {
		buf_addf(out, "add to 'allow' in .membrane.yaml:  - %s",
			 grant.p);
	} else if (e->reason == REASON_UPSTREAM && e->proto == PROTO_NONE) {
		/* Not the line that allows the name: that is as it should be.
		 */
		buf_adds(
			out,
			"the resolver did not answer: 'dns_resolver' names another");
	} else if (e->source.n && e->line) {
		buf_addf(out, "%s (", reason_about(e->reason));
		summary_escape(out, e->source, DEST_MAX);
		buf_addf(out, ":%u)", e->line);
	} else if (why && e->reason == REASON_NO_GRANT) {
		buf_adds(out, why);
	} else {
		buf_adds(out, reason_about(e->reason));
	}
}

bool summary_newest(const struct summary *s, struct arena *a,
		    const cJSON *record, struct refusal *out)
{
	const struct entry *e = &s->entries.v[s->entries.n - 1];
	struct buf what, advice, grant, at;

	if (e->purpose.n)
		return false;
	buf_init(&what, a);
	buf_init(&advice, a);
	buf_init(&grant, a);
	buf_init(&at, a);
	print_dest(e, &what);
	*out = (struct refusal){.reason = e->reason, .record = record};
	if (e->is_name)
		out->place = third_party_of(e->dest,
					    member_text(record, "method"),
					    member_text(record, "path"));
	if (print_grant(s, e, &grant)) {
		out->grant = buf_str(&grant);
		out->word = is_word(out->grant) ? out->grant : STR("");
	}
	if (e->source.n && e->line) {
		summary_escape(&at, e->source, DEST_MAX);
		buf_addf(&at, ":%u", e->line);
		out->at = buf_str(&at);
	}
	if (out->grant.n || !out->at.n)
		print_remedy(s, e, &advice);
	else
		buf_adds(&advice, reason_about(e->reason));
	out->what = buf_str(&what);
	out->advice = buf_str(&advice);
	return true;
}

static size_t widest_column(const struct summary *s, unsigned *out_digits,
			    unsigned *out_reason)
{
	size_t width = 0;
	unsigned lines = 0;

	*out_digits = *out_reason = 0;
	vec_each(e, &s->entries) {
		struct buf b;
		unsigned digits = 1;

		if (e->purpose.n)
			continue;
		if (lines++ >= SUMMARY_LINES_MAX)
			break;
		buf_init(&b, s->a);
		print_dest(e, &b);
		if (b.n > width && b.n <= WIDTH_MAX)
			width = b.n;
		for (uint64_t n = total_of(e); n >= 10; n /= 10)
			digits++;
		if (digits > *out_digits)
			*out_digits = digits;
		if (strlen(reason_name(e->reason)) > *out_reason)
			*out_reason = (unsigned)strlen(reason_name(e->reason));
	}
	return width;
}

/* Those that are meant, in one line. */
static void print_purposes(const struct summary *s, struct buf *out)
{
	const char *before = "  on purpose: ";
	unsigned n = 0;

	vec_each(e, &s->entries) {
		if (!e->purpose.n || n++ >= PURPOSES_MAX)
			continue;
		buf_adds(out, before);
		print_dest(e, out);
		buf_adds(out, " (");
		summary_escape(out, e->purpose, PURPOSE_MAX);
		buf_addc(out, ')');
		before = ", ";
	}
	if (n > PURPOSES_MAX)
		buf_addf(out, " and %u more", n - PURPOSES_MAX);
	if (n)
		buf_addc(out, '\n');
}

void summary_print(const struct summary *s, const char *log, bool colour,
		   struct buf *out)
{
	const char *bold = colour ? "\033[1m" : "";
	const char *yellow = colour ? "\033[33m" : "";
	const char *off = colour ? "\033[0m" : "";
	uint64_t all = s->entries.n + s->beyond;
	unsigned digits, reason, lines = 0;
	size_t width = widest_column(s, &digits, &reason);

	if (all == 0)
		return;
	buf_addf(out, "membrane: %llu destination%s refused\n",
		 (unsigned long long)all, all == 1 ? " was" : "s were");
	vec_each(e, &s->entries) {
		struct buf dest;

		if (e->purpose.n)
			continue;
		if (lines++ >= SUMMARY_LINES_MAX)
			continue;
		buf_init(&dest, s->a);
		print_dest(e, &dest);
		buf_addf(out, "  %s%-*s%s  %*llu×  %s%-*s%s  ", bold,
			 (int)width, dest.p, off, (int)digits,
			 (unsigned long long)total_of(e), yellow, (int)reason,
			 reason_name(e->reason), off);
		print_remedy(s, e, out);
		buf_addc(out, '\n');
	}
	if (lines + s->beyond > SUMMARY_LINES_MAX)
		buf_addf(out, "  and %llu more: %s\n",
			 (unsigned long long)(lines + s->beyond -
					      SUMMARY_LINES_MAX),
			 log);
	print_purposes(s, out);
}

uint64_t summary_each(const struct summary *s, summary_visit *visit, void *ctx)
{
	vec_each(e, &s->entries) {
		struct buf dest, grant, remedy;
		struct summary_row row = {.reason = e->reason,
					  .count = total_of(e),
					  .source = e->source,
					  .line = e->line,
					  .purpose = e->purpose};

		buf_init(&dest, s->a);
		buf_init(&grant, s->a);
		buf_init(&remedy, s->a);
		print_dest(e, &dest);
		print_remedy(s, e, &remedy);
		row.dest = buf_str(&dest);
		row.remedy = buf_str(&remedy);
		if (e->purpose.n == 0 && print_grant(s, e, &grant))
			row.grant = buf_str(&grant);
		visit(ctx, &row);
	}
	return s->beyond;
}

struct str summary_advised(const struct summary *s)
{
	vec_each(e, &s->entries) {
		struct buf grant;

		buf_init(&grant, s->a);
		if (!e->purpose.n && print_grant(s, e, &grant) &&
		    is_word(buf_str(&grant)))
			return buf_str(&grant);
	}
	return STR("");
}

cJSON *summary_json(const struct summary *s)
{
	static const char *const protos[] = {NULL, "tcp", "udp", "other"};
	cJSON *list = cJSON_CreateArray();

	vec_each(e, &s->entries) {
		cJSON *o = cJSON_CreateObject();

		cJSON_AddStringToObject(o, e->is_name ? "name" : "addr",
					e->dest.p);
		if (e->proto != PROTO_NONE)
			cJSON_AddStringToObject(o, "proto", protos[e->proto]);
		if (e->port)
			cJSON_AddNumberToObject(o, "port", e->port);
		if (e->method.n)
			cJSON_AddStringToObject(o, "method", e->method.p);
		if (e->path.n)
			cJSON_AddStringToObject(o, "path", e->path.p);
		cJSON_AddStringToObject(o, "reason", reason_name(e->reason));
		if (e->source.n) {
			json_put_str(o, "source", e->source);
			json_put_u64(o, "line", e->line);
		}
		cJSON_AddNumberToObject(o, "count", (double)total_of(e));
		if (e->purpose.n)
			cJSON_AddStringToObject(o, "purpose",
						arena_cstr(s->a, e->purpose));
		cJSON_AddItemToArray(list, o);
	}
	return list;
}
